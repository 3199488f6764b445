"""Cases of conditional requests: what goes out, and what a 304 is worth."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from recrawl.core.columns import NO_TIME
from recrawl.core.visit import Outcome
from recrawl.fetch.conditional import conditional_headers, http_date, parse_date
from recrawl.testing.rig import FetchRig
from recrawl.testing.site import Answer, conditional

Case = Callable[[str], dict[str, Any]]


@pytest.fixture
async def rig() -> AsyncIterator[FetchRig]:
    async with FetchRig() as rig:
        yield rig


async def fetch_twice(rig: FetchRig, headers: dict[str, str]) -> dict[str, str]:
    """Fetch a page that answers with the headers, then again with its validators."""
    rig.site.route("/", Answer("page", headers=headers))
    first = await rig.fetch("/")
    await rig.fetch(
        "/",
        etag=first.headers.get("etag"),
        last_modified=first.headers.get("last-modified"),
    )
    sent = rig.site.requests[-1].headers
    return {
        name: sent[name.lower()]
        for name in ("If-None-Match", "If-Modified-Since")
        if name.lower() in sent
    }


async def test_http_001(case: Case, rig: FetchRig) -> None:
    """A Last-Modified that is no date is kept and not sent; the ETag is."""
    data = case("http-001")
    headers = data["input"]["headers"]
    rig.site.route("/", Answer("page", headers=headers))

    fetched = await rig.fetch("/")
    sent = await fetch_twice(rig, headers)

    assert fetched.modified_at == NO_TIME
    assert fetched.headers["last-modified"] == headers["Last-Modified"]
    assert sent == data["expected"]["next_request_headers"]


async def test_http_002(case: Case, rig: FetchRig) -> None:
    """A foreign zone goes back in GMT, and leaves later dates as they are."""
    data = case("http-002")

    sent = await fetch_twice(rig, data["input"]["headers"])
    later = await fetch_twice(rig, {"Last-Modified": "Thu, 19 Jul 2018 01:06:14 GMT"})

    assert sent["If-Modified-Since"] in data["expected"]["if_modified_since"]
    assert later["If-Modified-Since"] == "Thu, 19 Jul 2018 01:06:14 GMT"


async def test_http_003(case: Case, rig: FetchRig) -> None:
    """An ISO date from another crawler goes out as HTTP writes dates."""
    data = case("http-003")
    rig.site.route("/", Answer("page"))

    await rig.fetch("/", last_modified=data["input"]["stored_last_modified"])

    sent = rig.site.requests[-1].headers
    assert sent["if-modified-since"] == data["expected"]["if_modified_since"]


def test_http_004(case: Case) -> None:
    """A time is written in GMT, never with -0000."""
    data = case("http-004")

    text = http_date(1000 * data["input"]["timestamp"])

    assert text == data["expected"]["if_modified_since"]
    assert text != data["expected"]["wrong"]


async def test_http_005(case: Case, rig: FetchRig) -> None:
    """A strict server gets its own text back and answers 304."""
    data = case("http-005")
    stored = data["input"]["stored"]
    rig.clock.advance((parse_date(stored["fetched_at"]) - rig.clock.now()) / 1000 + 3600)
    rig.site.route("/", conditional("page", last_modified=stored["last_modified"]))

    fetched = await rig.fetch("/", last_modified=stored["last_modified"])

    sent = rig.site.requests[-1].headers
    assert sent["if-modified-since"] == data["expected"]["if_modified_since"]
    assert fetched.status_code == data["expected"]["response"]


async def test_http_006(case: Case, rig: FetchRig) -> None:
    """A weak ETag goes back with its prefix; a 304 with the strong form is a 304."""
    data = case("http-006")
    answer = data["input"]["next_response"]
    rig.site.route(
        "/",
        [
            Answer("page", headers=data["input"]["headers"]),
            Answer(status=answer["status"], headers=answer["headers"]),
        ],
    )

    first = await rig.fetch("/")
    second = await rig.fetch("/", etag=first.headers["etag"])

    sent = rig.site.requests[-1].headers
    assert sent["if-none-match"] == data["expected"]["if_none_match"]
    assert second.outcome is Outcome.NOTMODIFIED


async def test_http_010(case: Case, rig: FetchRig) -> None:
    """A 304 that nobody asked for is a failure that may pass; the retry passes caches by."""
    data = case("http-010")
    answer = data["input"]["response"]
    rig.site.route("/", [Answer(answer["body"], answer["status"]), Answer("page")])

    unasked = await rig.fetch("/")
    retry = await rig.fetch("/", no_cache=True)

    assert (unasked.outcome, unasked.reason) == (Outcome.RETRY, "unexpected_304")
    assert data["expected"]["state"].endswith(unasked.reason)
    sent = rig.site.requests[-1].headers
    assert sent["cache-control"] == "no-cache"
    assert "if-none-match" not in sent
    assert retry.outcome is Outcome.SUCCESS


async def test_http_016(case: Case, rig: FetchRig) -> None:
    """A modification after the answer itself is not believed and not sent back."""
    data = case("http-016")
    headers = data["input"]["headers"]
    rig.site.route("/", Answer("page", headers=headers))

    fetched = await rig.fetch("/")
    sent = conditional_headers(None, headers["Last-Modified"], parse_date(headers["Date"]))

    assert (fetched.modified_at != NO_TIME) == data["expected"]["last_modified_usable"]
    assert bool(sent) == data["expected"]["if_modified_since_sent"]
    assert await fetch_twice(rig, headers) == {}


async def test_http_017(case: Case, rig: FetchRig) -> None:
    """A server with ETags only is asked with them."""
    data = case("http-017")

    sent = await fetch_twice(rig, data["input"]["headers"])

    assert sent == data["expected"]["next_request_headers"]
