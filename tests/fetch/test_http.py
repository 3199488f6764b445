from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from recrawl.core.columns import NO_TIME
from recrawl.core.visit import Outcome
from recrawl.errors import ConfigError
from recrawl.fetch.conditional import http_date
from recrawl.fetch.http import HttpFetcher
from recrawl.testing.clock import ManualClock
from recrawl.testing.fetcher import FetcherContract, FetcherWorld
from recrawl.testing.rig import FetchRig
from recrawl.testing.site import Answer, LoopbackSite, conditional

NOV_6 = "Sun, 06 Nov 1994 08:49:37 GMT"


async def test_a_page_comes_with_all_that_is_known_of_it(rig: FetchRig, site: LoopbackSite) -> None:
    """Body, status, headers, times and sizes of a plain success."""
    site.route("/p?q=%2F", Answer("hello", headers={"Last-Modified": NOV_6, "X-A": "1"}))

    fetched = await rig.fetch("/p?q=%2F")

    assert fetched.outcome is Outcome.SUCCESS
    assert (fetched.status_code, fetched.body, fetched.reason) == (200, b"hello", "")
    assert fetched.headers["x-a"] == "1"
    assert (fetched.fetched_at, fetched.modified_at) == (rig.clock.now(), 784_111_777_000)
    assert (fetched.n_bytes, fetched.elapsed, fetched.hops) == (5, 0.0, ())


async def test_a_request_says_who_we_are_and_what_we_take(
    rig: FetchRig, site: LoopbackSite
) -> None:
    """User-Agent, Accept, languages and codings go out; cookies and referers do not."""
    site.route("/", Answer("x", headers={"Set-Cookie": "a=b"}))

    await rig.fetch("/")
    await rig.fetch("/")

    headers = site.requests[-1].headers
    assert headers["user-agent"] == "recrawl/0 (+https://crawl.example.org/)"
    assert headers["accept-language"] == "en,*;q=0.5"
    assert "gzip" in headers["accept-encoding"]
    assert "text/html" in headers["accept"]
    assert not {"cookie", "referer", "if-none-match", "cache-control"} & set(headers)


@pytest.mark.parametrize(
    ("status", "outcome", "reason"),
    [
        (200, Outcome.SUCCESS, ""),
        (201, Outcome.SUCCESS, ""),
        (202, Outcome.RETRY, "http_202"),
        (203, Outcome.SUCCESS, ""),
        (204, Outcome.EMPTY, "http_204"),
        (206, Outcome.RETRY, "http_206"),
        (300, Outcome.RETRY, "http_300"),
        (304, Outcome.RETRY, "unexpected_304"),
        (400, Outcome.RETRY, "http_400"),
        (401, Outcome.RETRY, "http_401"),
        (403, Outcome.RETRY, "http_403"),
        (404, Outcome.GONE, "http_404"),
        (410, Outcome.GONE, "http_410"),
        (429, Outcome.RETRY, "http_429"),
        (451, Outcome.RETRY, "http_451"),
        (500, Outcome.RETRY, "http_500"),
        (503, Outcome.RETRY, "http_503"),
        (599, Outcome.RETRY, "http_599"),
    ],
)
async def test_each_status_has_its_outcome(
    rig: FetchRig, site: LoopbackSite, status: int, outcome: Outcome, reason: str
) -> None:
    """Only content is a success, only 404 and 410 mean gone; no error has a body."""
    site.route("/", Answer(b"" if status in (204, 304) else b"x", status))

    fetched = await rig.fetch("/")

    assert (fetched.outcome, fetched.reason, fetched.status_code) == (outcome, reason, status)
    assert fetched.body == (b"x" if outcome is Outcome.SUCCESS else b"")


@pytest.mark.parametrize("body", [b"", b" \r\n\t"])
async def test_a_page_without_content_is_empty(
    rig: FetchRig, site: LoopbackSite, body: bytes
) -> None:
    """200 with nothing, or with white space only, is no content."""
    site.route("/", Answer(body))

    fetched = await rig.fetch("/")

    assert (fetched.outcome, fetched.reason, fetched.body) == (Outcome.EMPTY, "empty", b"")


async def test_an_unchanged_page_is_not_sent_again(rig: FetchRig, site: LoopbackSite) -> None:
    """Validators go out byte for byte; the headers of the 304 come back."""
    site.route("/", conditional("x", etag='W/"é"', last_modified=NOV_6, headers={"X-B": "2"}))

    first = await rig.fetch("/")
    second = await rig.fetch(
        "/", etag=first.headers["etag"], last_modified=first.headers["last-modified"]
    )

    assert (second.outcome, second.reason, second.status_code) == (Outcome.NOTMODIFIED, "", 304)
    assert second.headers["x-b"] == "2"
    sent = site.requests[-1].headers
    assert sent["if-none-match"] == 'W/"é"'
    assert sent["if-modified-since"] == NOV_6


async def test_a_304_to_unusable_validators_is_unexpected(
    rig: FetchRig, site: LoopbackSite
) -> None:
    """If nothing could be sent back, the request was no conditional one."""
    site.route("/", Answer(status=304))

    fetched = await rig.fetch("/", last_modified="yesterday")

    assert fetched.reason == "unexpected_304"


async def test_caches_can_be_passed_by(rig: FetchRig, site: LoopbackSite) -> None:
    """A request for an uncached answer says so."""
    site.route("/", Answer("x"))

    await rig.fetch("/", no_cache=True)

    assert site.requests[-1].headers["cache-control"] == "no-cache"


async def test_a_kept_connection_that_was_closed_is_tried_once_more(
    rig: FetchRig, site: LoopbackSite
) -> None:
    """A connection that the server closed meanwhile costs one more request, at its time."""
    rig.settings["min_delay"] = 2.0
    closing = Answer(raw=b"")
    site.route("/", [Answer("x"), closing, Answer("y")])
    start = rig.clock.now()

    await rig.fetch("/")
    fetched = await rig.fetch("/")

    assert fetched.body == b"y"
    assert fetched.fetched_at == start + 4000
    assert [asked.at - start for asked in site.requests] == [0, 2000, 4000]


async def test_a_server_that_always_hangs_up_is_asked_once(
    rig: FetchRig, site: LoopbackSite
) -> None:
    """Without an earlier answer there was no kept connection, so nothing is sent twice."""
    site.route("/", Answer(raw=b""))

    await rig.fetch("/")

    assert len(site.requests) == 1


async def test_without_a_contact_only_loopback_is_fetched(
    rig: FetchRig, site: LoopbackSite
) -> None:
    """A public host is denied before anything is sent; loopback works."""
    rig.settings["user_agent"] = "recrawl/0"
    site.route("/", Answer("x"))

    public, local = await rig.fetch("/", "a.example"), await rig.fetch("/")

    assert (public.outcome, public.reason) == (Outcome.DENIED, "contact_missing")
    assert local.outcome is Outcome.SUCCESS
    assert [asked.host for asked in site.requests] == ["127.0.0.1"]


async def test_a_future_modified_time_is_unknown(rig: FetchRig, site: LoopbackSite) -> None:
    """Last-Modified later than the answer itself says nothing."""
    later = http_date(rig.clock.now() + 3_600_000)
    site.route("/", Answer("x", headers={"Last-Modified": later}))

    fetched = await rig.fetch("/")

    assert fetched.modified_at == NO_TIME
    assert fetched.headers["last-modified"] == later


@pytest.mark.parametrize(
    "settings",
    [
        {"timeout": 0},
        {"max_size": 0},
        {"max_redirects": 0},
        {"requests_per_host": 0},
        {"robots_max_age": 90_000},
        {"keepalive": -1},
        {"connect_timeout": float("nan")},
    ],
)
def test_a_value_out_of_range_is_refused(settings: dict[str, float]) -> None:
    """The message names the setting and its range."""
    with pytest.raises(ConfigError, match=rf"{next(iter(settings))} is .* allowed is"):
        HttpFetcher(clock=ManualClock(), user_agent="recrawl/0", **settings)


class TestHttpFetcher(FetcherContract):
    @pytest.fixture
    async def world(self) -> AsyncIterator[FetcherWorld]:
        async with FetchRig(min_delay=2.0) as rig:
            for host in ("a.example", "b.example"):
                rig.site.route("/", conditional("hello", etag='"v1"'), host=host)
            rig.site.route("/", Answer(raw=b""), host="c.example")
            yield FetcherWorld(
                fetcher=rig.fetcher,
                clock=rig.clock,
                delay=2.0,
                good=rig.site.url("/", "a.example"),
                gone=rig.site.url("/gone", "a.example"),
                broken=rig.site.url("/", "c.example"),
                other=rig.site.url("/", "b.example"),
                departures=lambda: [asked.at for asked in rig.site.requests],
            )
