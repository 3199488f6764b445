"""Cases of robots.txt."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from typing import Any

import pytest

from recrawl.core.visit import Outcome
from recrawl.fetch.politeness import Politeness
from recrawl.stores.memory import MemoryStore
from recrawl.testing.rig import FetchRig
from recrawl.testing.site import Answer

Case = Callable[[str], dict[str, Any]]


@pytest.fixture
async def rig() -> AsyncIterator[FetchRig]:
    async with FetchRig(robots_txt=True, store=MemoryStore()) as rig:
        for path in ("/", "/x", "/y"):
            rig.site.route(path, Answer("page"))
        yield rig


async def test_rb_002(case: Case, rig: FetchRig) -> None:
    """The status of robots.txt goes before its body: 500 allows nothing for now."""
    data = case("rb-002")
    rig.site.route(
        "/robots.txt", Answer(data["input"]["robots_body"], data["input"]["robots_status"])
    )

    fetched = await rig.fetch("/")

    assert data["expected"]["allowed"] is False
    assert (fetched.outcome, fetched.reason) == (Outcome.RETRY, "robots_unavailable")
    assert rig.site.asked("/") == []


async def test_rb_003(case: Case, rig: FetchRig) -> None:
    """404 means no rules, for a day at most."""
    data = case("rb-003")
    rig.site.route("/robots.txt", Answer("", data["input"]["robots_status"]))

    first = await rig.fetch("/")
    rig.clock.advance(data["expected"]["cache_s_max"])
    await rig.fetch("/")

    assert (first.outcome is Outcome.SUCCESS) == data["expected"]["allowed"]
    assert len(rig.site.asked("/robots.txt")) == 2


async def test_rb_004(case: Case, rig: FetchRig) -> None:
    """A long Crawl-delay is kept to, and no page is dropped for it."""
    data = case("rb-004")
    delay = data["input"]["crawl_delay_s"]
    rig.site.route("/robots.txt", Answer(f"User-agent: *\nCrawl-delay: {delay}"))

    fetched = [await rig.fetch(path) for path in ("/x", "/y")]

    starts = [asked.at for asked in rig.site.requests]
    assert [b - a for a, b in pairwise(starts)] == [
        1000 * data["expected"]["effective_delay_s"]
    ] * 2
    dropped = [one for one in fetched if one.outcome is not Outcome.SUCCESS]
    assert len(dropped) == data["expected"]["pages_dropped"]


async def test_rb_005(case: Case, rig: FetchRig) -> None:
    """A tiny Crawl-delay does not make us faster than we want to be."""
    data = case("rb-005")
    rig.settings["min_delay"] = float(data["input"]["own_min_delay_s"])
    delay = data["input"]["crawl_delay_s"]
    rig.site.route("/robots.txt", Answer(f"User-agent: *\nCrawl-delay: {delay}"))

    await rig.fetch("/x")

    starts = [asked.at for asked in rig.site.requests]
    assert starts[1] - starts[0] == 1000 * data["expected"]["effective_delay_s"]
    assert Politeness(rig.settings["min_delay"]).delay(delay) == rig.settings["min_delay"]


async def test_rb_006(case: Case, rig: FetchRig) -> None:
    """Rules that a redirect led to are those of the host that redirects, not of the target."""
    data = case("rb-006")["input"]
    target = rig.site.url("/files/robots-a.txt", "b.example")
    assert "/files/robots-a.txt (Disallow: /)" in data["a.example/robots.txt"]
    rig.site.route("/robots.txt", Answer("", 301, {"Location": target}), host="a.example")
    rig.site.route("/files/robots-a.txt", Answer("User-agent: *\nDisallow: /"), host="b.example")
    rig.site.route(
        "/robots.txt", Answer(f"User-agent: *\n{data['b.example/robots.txt']}"), host="b.example"
    )
    rig.site.route("/", Answer("page"), host="b.example")

    of_a, of_b = await rig.fetch("/", "a.example"), await rig.fetch("/", "b.example")

    assert of_a.reason == "robots"
    assert of_b.outcome is Outcome.SUCCESS


async def test_rb_007(case: Case, rig: FetchRig) -> None:
    """A malformed Crawl-delay is skipped, the other lines count."""
    data = case("rb-007")
    rig.site.route("/robots.txt", Answer(data["input"]["robots"]))

    denied, fetched = await rig.fetch("/x"), await rig.fetch("/y")

    assert rig.row("127.0.0.1").crawl_delay is data["expected"]["delay"]
    assert (denied.outcome, fetched.outcome) == (Outcome.DENIED, Outcome.SUCCESS)
