"""No request leaves before its host's time."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from recrawl.core.url import host_key
from recrawl.core.visit import Outcome
from recrawl.fetch import turns
from recrawl.fetch.conditional import http_date
from recrawl.ports.fetcher import PageRequest
from recrawl.ports.store import HostRow
from recrawl.testing.rig import FetchRig
from recrawl.testing.site import Answer, LoopbackSite


async def test_a_request_waits_until_its_host_is_ready(rig: FetchRig, site: LoopbackSite) -> None:
    """The row's time is heeded, and moved on by the delay."""
    rig.settings["min_delay"] = 2.0
    site.route("/", Answer("x"))
    ready_at = rig.clock.now() + 5000
    rig.rows["127.0.0.1"] = replace(rig.row("127.0.0.1"), ready_at=ready_at)

    fetched = await rig.fetch("/")

    assert site.requests[0].at == fetched.fetched_at == ready_at
    assert rig.row("127.0.0.1").ready_at == ready_at + 2000


@pytest.mark.parametrize("n_at_once", [1, 3])
async def test_calls_for_one_host_are_apart_even_with_old_rows(
    rig: FetchRig, site: LoopbackSite, n_at_once: int
) -> None:
    """Calls side by side, each with the row from before, leave one delay after another."""
    rig.settings |= {"min_delay": 2.0, "requests_per_host": n_at_once}
    for i in range(3):
        site.route(f"/{i}", Answer("x"))
    row, start = rig.row("127.0.0.1"), rig.clock.now()

    answers = await asyncio.gather(
        *(rig.fetcher.fetch(PageRequest(site.url(f"/{i}")), row) for i in range(3))
    )

    assert [fetched.fetched_at - start for fetched, _ in answers] == [0, 2000, 4000]
    assert max(after.ready_at for _, after in answers) == start + 6000


@pytest.mark.parametrize(("n_at_once", "timeout"), [(1, 0.2), (2, 60.0)])
async def test_so_many_requests_are_under_way_at_once(
    rig: FetchRig, site: LoopbackSite, n_at_once: int, timeout: float
) -> None:
    """A slow answer holds up the next request only where one at a time is allowed."""
    rig.settings |= {"requests_per_host": n_at_once, "timeout": timeout}
    site.route("/slow", Answer(hang=True))
    site.route("/", Answer("x"))
    row = rig.row("127.0.0.1")

    slow = asyncio.create_task(rig.fetcher.fetch(PageRequest(site.url("/slow")), row))
    while not site.requests:
        await asyncio.sleep(0)
    fetched, _ = await rig.fetcher.fetch(PageRequest(site.url("/")), row)

    assert fetched.outcome is Outcome.SUCCESS
    assert slow.done() == (n_at_once == 1)
    slow.cancel()
    await asyncio.wait([slow])


@pytest.mark.parametrize("status", [429, 503])
async def test_retry_after_holds_the_host(rig: FetchRig, site: LoopbackSite, status: int) -> None:
    """Seconds and dates count from the answer on, for all pages of the host."""
    rig.settings["min_delay"] = 1.0
    start = rig.clock.now()
    date = http_date(start + 86_400_000)  # the server's clock is a day ahead
    site.route(
        "/",
        [
            Answer("x", status, {"Retry-After": "90"}),
            Answer("x", status, {"Retry-After": http_date(start + 86_520_000), "Date": date}),
            Answer("x"),
        ],
    )

    outcomes = [(await rig.fetch("/")).outcome for _ in range(3)]

    assert outcomes == [Outcome.RETRY, Outcome.RETRY, Outcome.SUCCESS]
    assert [asked.at - start for asked in site.requests] == [0, 90_000, 210_000]
    assert rig.row("127.0.0.1").n_errors == 0


async def test_other_errors_do_not_read_retry_after(rig: FetchRig, site: LoopbackSite) -> None:
    """500 backs off; 404 does not count against the host at all."""
    site.route("/500", Answer("x", 500, {"Retry-After": "7"}))
    site.route("/404", Answer("x", 404, {"Retry-After": "7"}))
    start = rig.clock.now()

    await rig.fetch("/404")
    assert rig.row("127.0.0.1").ready_at == start
    await rig.fetch("/500")
    assert rig.row("127.0.0.1").ready_at == start + 60_000


async def test_a_newer_row_from_outside_is_taken_over(rig: FetchRig, site: LoopbackSite) -> None:
    """Another process may have asked the host since we did."""
    site.route("/", Answer("x"))
    await rig.fetch("/")
    ready_at = rig.clock.now() + 9000
    rig.rows["127.0.0.1"] = replace(rig.row("127.0.0.1"), ready_at=ready_at, n_errors=2)

    fetched = await rig.fetch("/")

    assert fetched.fetched_at == ready_at
    assert rig.row("127.0.0.1").n_errors == 0


async def test_an_own_back_off_can_be_set(rig: FetchRig, site: LoopbackSite) -> None:
    """First and longest wait are settings."""
    rig.settings |= {"backoff": 10.0, "max_backoff": 15.0}
    site.route("/", Answer("x", 500))
    start = rig.clock.now()

    for _ in range(4):
        await rig.fetch("/")

    assert [asked.at - start for asked in site.requests] == [0, 10_000, 25_000, 40_000]


async def test_hosts_do_not_wait_for_each_other(rig: FetchRig, site: LoopbackSite) -> None:
    """A host that must wait keeps no other from being asked."""
    site.route("/", Answer("x"), host="b.example")
    now = rig.clock.now()
    waiting = HostRow(host_key("a.example"), "a.example", ready_at=now + 3_600_000)
    stood = asyncio.Event()

    async def stand_still(at: int, stop: asyncio.Event | None = None) -> None:
        await stood.wait()

    rig.clock.sleep_until = stand_still
    held = asyncio.create_task(rig.fetcher.fetch(PageRequest(site.url("/", "a.example")), waiting))
    fetched = await rig.fetch("/", "b.example")
    held.cancel()

    assert fetched.fetched_at == now
    assert [asked.host for asked in site.requests] == ["b.example"]


async def test_a_cancelled_wait_gives_its_slot_back(rig: FetchRig, site: LoopbackSite) -> None:
    """A page given up while it waits does not block its host."""
    site.route("/", Answer("x"))
    real, row = rig.clock.sleep_until, rig.row("127.0.0.1")

    async def stand_still(at: int, stop: asyncio.Event | None = None) -> None:
        await asyncio.Event().wait()

    rig.clock.sleep_until = stand_still
    later = replace(row, ready_at=rig.clock.now() + 1000)
    held = asyncio.create_task(rig.fetcher.fetch(PageRequest(site.url("/")), later))
    await asyncio.sleep(0)
    held.cancel()
    with pytest.raises(asyncio.CancelledError):
        await held
    rig.clock.sleep_until = real

    fetched = await rig.fetch("/")

    assert fetched.outcome is Outcome.SUCCESS
    assert fetched.fetched_at == later.ready_at


async def test_idle_hosts_are_forgotten(
    rig: FetchRig, site: LoopbackSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory does not grow with every host ever seen; hosts that must wait are kept."""
    monkeypatch.setattr(turns, "_MANY_HOSTS", 10)
    rig.fetcher._paced._prune_at = 10
    rig.fallback = Answer("x")

    await rig.fetch("/", "slow.example")
    kept = rig.row("slow.example").host_key
    rig.fetcher._paced._turns[kept].row = replace(
        rig.row("slow.example"), ready_at=rig.clock.now() + 60_000
    )
    for i in range(50):
        await rig.fetch("/", f"h{i}.example")

    assert len(rig.fetcher._paced._turns) <= 11
    assert kept in rig.fetcher._paced._turns
