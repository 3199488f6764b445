"""Cases of statuses, bodies, redirects and politeness that the fetcher decides."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

import pytest

from recrawl.core.visit import Outcome
from recrawl.fetch.politeness import DAY, Politeness
from recrawl.ports.fetcher import PageRequest
from recrawl.testing.rig import FetchRig
from recrawl.testing.site import Answer

Case = Callable[[str], dict[str, Any]]


@pytest.fixture
async def rig() -> AsyncIterator[FetchRig]:
    async with FetchRig() as rig:
        yield rig


async def test_st_003(case: Case, rig: FetchRig) -> None:
    """A server that throttles without saying for how long is left alone ever longer."""
    data = case("st-003")
    expected = data["expected"]
    statuses = data["input"]["status_sequence"]
    rig.site.route("/", [*(Answer("", status) for status in statuses), Answer("page")])

    for _ in range(len(statuses) + 1):
        await rig.fetch("/")

    starts = [asked.at for asked in rig.site.requests]
    waits = [(b - a) / 1000 for a, b in pairwise(starts)]
    assert waits == expected["host_wait_s"]
    assert rig.row("127.0.0.1").n_errors == 0
    assert DAY == Politeness().wait(1000) == expected["cap_s"]


async def test_st_003_rest(case: Case, rig: FetchRig) -> None:
    """After half an hour of rest beyond its wait, a host's back-off starts anew."""
    quiet = case("st-003")["expected"]["reset_after_quiet_s"]
    rig.site.route("/", Answer("", 429))
    for _ in range(3):
        await rig.fetch("/")

    rig.clock.advance((rig.row("127.0.0.1").ready_at - rig.clock.now()) / 1000 + quiet + 1)
    fetched = await rig.fetch("/")

    assert rig.row("127.0.0.1").ready_at == fetched.fetched_at + 60_000


async def test_st_011(case: Case, rig: FetchRig) -> None:
    """A body that unpacks to a gigabyte stops at the limit, in little memory."""
    data = case("st-011")
    size, limit = data["input"]["expands_to_bytes"], data["input"]["limit_bytes"]
    rig.settings["max_size"] = limit
    packed = gzip.compress(bytes(1 << 24)) * (size >> 24)
    rig.site.route("/", Answer(packed, headers=data["input"]["headers"]))

    tracemalloc.start()
    fetched = await rig.fetch("/")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert (fetched.outcome, fetched.reason) == (
        Outcome.PARSE_FAILED,
        data["expected"]["outcome"],
    )
    assert peak < data["expected"]["peak_memory_below_bytes"]


async def test_rd_002(case: Case, rig: FetchRig) -> None:
    """Exactly so many hops; one more is the failure of the source, and the target is not asked."""
    data = case("rd-002")["input"]
    chain = data["chain"].split(" -> ")
    rig.settings["max_redirects"] = data["max"]
    for path, target in pairwise(chain):
        rig.site.route(path, Answer("", 301, {"Location": target}))
    rig.site.route(chain[-1], Answer("page"))

    exceeded, fits = await rig.fetch(chain[0]), await rig.fetch(chain[1])

    assert (exceeded.outcome, exceeded.reason) == (Outcome.RETRY, "too_many_redirects")
    assert fits.outcome is Outcome.REDIR_PERM
    assert fits.hops[-1].target == rig.site.url(chain[-1])
    assert [asked.path for asked in rig.site.requests[: len(chain) - 1]] == chain[:-1]


async def test_pol_001(case: Case, rig: FetchRig) -> None:
    """Pages of one host leave one after another; another host does not wait for them."""
    data = case("pol-001")
    rig.settings["min_delay"] = float(data["input"]["host_delay_s"])
    urls = [urlsplit(url) for url in data["input"]["due"]]
    for url in urls:
        rig.site.route(url.path, Answer("page"), host=url.hostname)
    start = rig.clock.now()

    answers = await asyncio.gather(
        *(
            rig.fetcher.fetch(
                PageRequest(rig.site.url(url.path, url.hostname)), rig.row(str(url.hostname))
            )
            for url in urls
        )
    )

    starts = [(row.host, (fetched.fetched_at - start) / 1000) for fetched, row in answers]
    assert [at for host, at in starts if host == "a.example"] == data["expected"][
        "a.example_starts_s"
    ]
    assert [at for host, at in starts if host == "b.example"] == [
        data["expected"]["b.example_start_s"]
    ]
