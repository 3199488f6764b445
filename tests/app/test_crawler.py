from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from recrawl.app.targets import RedirectTargets
from recrawl.core.columns import NEVER
from recrawl.core.visit import Outcome
from recrawl.ports.fetcher import NOT_READY, Fetched
from recrawl.schedules.fixed import Fixed
from recrawl.testing.factories import DAY

A, B, C = (f"https://{name}.example/" for name in "abc")


async def until(claim: Any) -> None:
    """Let others run until a claim holds; the test fails if it never does."""
    async with asyncio.timeout(10):
        while not claim():
            await asyncio.sleep(0)


class GateFetcher:
    """Holds every request until the gate is open, and notes down how many are under way."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.gate = asyncio.Event()
        self.now: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.most_hosts = 0

    async def fetch(self, request: Any, host: Any) -> Any:
        self.now[host.host] += 1
        self.most[host.host] = max(self.most[host.host], self.now[host.host])
        self.most_hosts = max(self.most_hosts, len(+self.now))
        try:
            await self.gate.wait()
            for _ in range(3):
                await asyncio.sleep(0)
            return await self.inner.fetch(request, host)
        finally:
            self.now[host.host] -= 1

    async def close(self) -> None:
        pass


async def test_once_visits_what_is_due_and_ends(world):
    """Pages due at the start are visited once, those due later are not."""
    world.site = {A: b"a", B: b"b", C: b"c"}
    world.add(A, B)
    world.clock.advance(10)
    world.add(C)
    world.clock.advance(-5)

    totals = await world.run_once()

    assert sorted(world.asked()) == [A, B]
    assert (totals.n_fetched, totals.n_new, totals.n_errors) == (2, 2, 0)
    assert world.store.status(world.clock.now()).n_leased == 0
    assert [report.url for report in world.reports] == [A, B]


async def test_once_ends_with_short_intervals(world):
    """Pages that come due again during the run are left to the next one."""
    world.site = {A: lambda *_: world.clock.advance(120) or b"a"}
    world.policy = world.policy_with(schedule=Fixed(default_interval=60.0), interval=60.0)
    world.add(A)

    totals = await world.run_once()

    assert totals.n_fetched == 1


async def test_an_empty_store_ends_at_once(world):
    """Nothing to do is done."""
    assert (await world.run_once()).n_fetched == 0


async def test_a_whole_history(world):
    """New, unchanged, changed, failing, gone, returned, moved, returned: each event once."""
    answers = [b"one", b"one", b"two", 500, 404, 404, b"two", C, C, b"two"]
    world.site = {A: lambda *_: answers.pop(0), C: b"target"}
    world.policy = world.policy_with(schedule=Fixed(default_interval=86_400.0))
    world.add(A)

    for _ in range(10):
        await world.run_once(redirects=RedirectTargets("none"))
        await world.clock.sleep_until(world.page(A).state.next_fetch_at)

    assert answers == []
    assert world.kinds() == ["new", "changed", "gone", "returned", "moved", "returned"]
    assert [event.sequence for event in world.store.changes()] == [1, 2, 3, 4, 5, 6]
    outcomes = Counter(outcome for outcome, _ in world.visits(A))
    assert outcomes == {"SUCCESS": 5, "RETRY": 1, "GONE": 2, "REDIR_PERM": 2}


async def test_a_redirects_target_is_visited_in_the_same_run(world):
    """It is due since its source was."""
    target = f"{A}new"
    world.site = {A: target, target: b"here"}
    world.add(A)

    await world.run_once()

    assert world.asked() == [A, target]
    assert world.kinds() == ["moved", "new"]
    assert world.page(target).depth == 1


async def test_the_answer_of_before_is_not_extracted(world):
    """The same bytes again are unchanged without asking the extractor, here there is none."""
    world.site = {A: b"a"}
    world.add(A)
    await world.run_once()
    world.clock.advance(3 * 86_400)

    totals = await world.run_once(extractor=None)

    assert totals.n_unchanged == 1
    assert world.visits(A) == [("SUCCESS", ""), ("SUCCESS", "")]
    assert world.page(A).title == "a"


async def test_lost_leases_are_counted(world):
    """Of two visits, the second after the page was forced meanwhile, one is written."""

    def force(request: Any, now: int) -> bytes:
        if len(world.asked()) == 1:
            world.store.update([world.page(A)])
        world.clock.advance(1)
        return b"a"

    world.site = {A: force}
    world.add(A)

    totals = await world.run_once()

    assert (totals.n_lost, totals.n_fetched) == (1, 1)
    assert world.asked() == [A, A]
    assert world.kinds() == ["new"]


async def test_a_host_that_asks_for_a_long_wait_is_left_to_the_next_run(world):
    """The host's other pages stay due; other hosts are done."""
    urls = [f"{A}{i}" for i in range(3)]
    world.site = {**dict.fromkeys(urls, 503), B: b"b"}
    world.add(*urls, B)
    store, row = world.store, world.store.hosts([world.page(urls[0]).state.host_key])
    store.save_hosts([replace(one, n_errors=4, ready_at=world.clock.now()) for one in row.values()])

    totals = await world.run_once()

    assert world.asked().count(B) == 1
    assert len(world.asked()) == 2
    assert totals.n_new == totals.n_errors == 1
    assert store.status(world.clock.now()).n_due == 2
    assert store.status(world.clock.now()).n_leased == 0


async def test_a_host_that_asks_for_a_short_wait_is_waited_for(world):
    """A run over what is due sits out what is less than a minute."""
    world.site = {A: b"a", f"{A}2": b"b"}
    world.add(A, f"{A}2")
    fetcher = type(world.fetcher)(world._answer, world.clock, min_delay=30.0)

    totals = await world.run_once(fetcher=fetcher)

    assert totals.n_fetched == 2
    assert [at for at, _ in fetcher.requests][1] - fetcher.requests[0][0] == 30_000


async def test_a_host_given_back_is_not_asked_too_early(world):
    """Its pages may be leased anew before its last visit is written: the newest row counts."""
    urls = [f"{A}{i}" for i in range(4)]
    world.site = dict.fromkeys(urls, b"x")
    world.add(*urls)
    fetcher = type(world.fetcher)(world._answer, world.clock, min_delay=20.0)

    await world.run_once(fetcher=fetcher, pause=0.01)

    left = [at for at, _ in fetcher.requests]
    assert [later - earlier for earlier, later in pairwise(left)] == [20_000] * 3


async def test_not_ready_is_no_visit(world):
    """A host that turns out to want a long wait gives the page back, its row kept."""
    world.add(A)
    now = world.clock.now()

    class Fetcher:
        async def fetch(self, request: Any, host: Any) -> Any:
            fetched = Fetched(Outcome.RETRY, now, reason=NOT_READY)
            return fetched, replace(host, ready_at=now + 3_600_000, crawl_delay=3600.0)

    totals = await world.run_once(fetcher=Fetcher())

    assert totals.n_fetched == 0
    assert world.visits(A) == []
    (row,) = world.store.hosts([world.page(A).state.host_key]).values()
    assert (row.ready_at, row.crawl_delay) == (now + 3_600_000, 3600.0)
    status = world.store.status(now)
    assert (status.n_leased, status.n_due) == (0, 1)


@pytest.mark.parametrize("requests_per_host", [1, 3])
async def test_hosts_side_by_side_pages_of_a_host_in_turn(world, requests_per_host):
    """Many hosts at once, and no host is asked more often at once than allowed."""
    urls = [f"https://{host}.example/{i}" for host in range(10) for i in range(6)]
    world.site = dict.fromkeys(urls, b"x")
    world.add(*urls)
    fetcher = GateFetcher(world.fetcher)
    crawler = world.crawler(fetcher=fetcher, hosts=8, requests_per_host=requests_per_host)

    task = asyncio.create_task(crawler.run(once=True))
    await until(lambda: len(+fetcher.now) == 8)
    fetcher.gate.set()
    totals = await asyncio.wait_for(task, 20)

    assert totals.n_fetched == 60
    assert set(fetcher.most.values()) == {requests_per_host}
    assert fetcher.most_hosts == 8
    assert sorted(world.asked()) == sorted(urls)


async def test_no_page_waits_behind_another_host(world):
    """With a thousand due pages on one host, others get their turn at once."""
    many = [f"{A}{i}" for i in range(300)]
    world.site = {**dict.fromkeys(many, b"x"), B: b"b", C: b"c"}
    world.add(*many)
    world.clock.advance(1)
    world.add(B, C)

    await world.run_once(pages_per_host=8, batch=16)

    assert max(world.asked().index(B), world.asked().index(C)) < 30
    assert len(world.asked()) == 302


@pytest.mark.parametrize("lease", [1.0, 4.0, 60.0])
async def test_short_leases_are_enough(world, lease):
    """Half a lease at least is there to start visits in, so that no page is only passed on."""
    urls = [f"{A}{i}" for i in range(5)]
    world.site = dict.fromkeys(urls, b"x")
    world.add(*urls)

    totals = await world.run_once(lease=lease)

    assert (totals.n_fetched, totals.n_lost) == (5, 0)


async def test_no_visit_starts_late_in_its_lease(world):
    """What cannot end in time is given back and leased anew, so that no visit is lost."""
    urls = [f"{A}{i}" for i in range(6)]
    world.site = dict.fromkeys(urls, lambda *_: world.clock.advance(20) or b"x")
    world.add(*urls)

    totals = await world.run_once(lease=60.0, visit=30.0)

    assert (totals.n_fetched, totals.n_lost) == (6, 0)
    assert sorted(world.asked()) == urls


async def test_stop_lets_requests_end_and_gives_the_rest_back(world):
    """What is under way is committed; no further request leaves."""
    urls = [f"{A}{i}" for i in range(5)]
    world.site = dict.fromkeys(urls, b"x")
    world.add(*urls)
    fetcher = GateFetcher(world.fetcher)
    crawler = world.crawler(fetcher=fetcher)

    task = asyncio.create_task(crawler.run())
    await until(lambda: +fetcher.now)
    crawler.stop()
    crawler.stop()
    fetcher.gate.set()
    totals = await asyncio.wait_for(task, 10)

    assert crawler.is_stopping
    assert (totals.n_fetched, len(world.asked())) == (1, 1)
    status = world.store.status(world.clock.now())
    assert (status.n_leased, status.n_visits, status.n_due) == (0, 1, 4)


async def test_stop_gives_up_after_the_grace(world):
    """A request that does not end is cut, and its page given back."""
    world.add(A)
    fetcher = GateFetcher(world.fetcher)
    crawler = world.crawler(fetcher=fetcher, grace=0.01)

    task = asyncio.create_task(crawler.run())
    await until(lambda: +fetcher.now)
    crawler.stop()
    await asyncio.wait_for(task, 10)

    status = world.store.status(world.clock.now())
    assert (status.n_leased, status.n_visits, status.n_due) == (0, 0, 1)


async def test_stop_ends_a_wait(world):
    """A crawler that waits for the next page ends at once."""

    class StandingClock(type(world.clock)):
        async def sleep_until(self, at: int, stop: asyncio.Event | None = None) -> None:
            assert stop is not None
            await stop.wait()

    world.clock = StandingClock()
    world.add(A)
    world.clock.advance(-3600)
    crawler = world.crawler()

    task = asyncio.create_task(crawler.run())
    await until(lambda: world.idle_until)
    crawler.stop()
    totals = await asyncio.wait_for(task, 10)

    assert totals.n_fetched == 0
    assert world.idle_until == [world.page(A).state.next_fetch_at]


async def test_cancelling_cuts_what_is_under_way(world):
    """The lease comes back, and the cancellation is passed on, without waiting for the grace."""
    world.add(A, B)
    fetcher = GateFetcher(world.fetcher)
    task = asyncio.create_task(world.crawler(fetcher=fetcher, grace=1000.0).run())
    await until(lambda: len(+fetcher.now) == 2)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 10)

    assert world.store.status(world.clock.now()).n_leased == 0
    assert world.store.status(world.clock.now()).n_due == 2


async def test_a_cancellation_right_after_a_stop_is_not_lost(world):
    """Two interrupts at once end the run at once."""
    world.add(A)
    fetcher = GateFetcher(world.fetcher)
    crawler = world.crawler(fetcher=fetcher, grace=1000.0)
    task = asyncio.create_task(crawler.run())
    await until(lambda: +fetcher.now)

    crawler.stop()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 10)

    assert world.store.status(world.clock.now()).n_leased == 0


async def test_pages_added_by_others_are_seen(world):
    """A crawler with nothing to do looks again every now and then."""
    crawler = world.crawler(poll=5.0)
    world.site = {A: b"a"}

    task = asyncio.create_task(crawler.run())
    await until(lambda: len(world.idle_until) > 2)
    world.add(A)
    await until(lambda: world.reports)
    crawler.stop()
    await asyncio.wait_for(task, 10)

    assert world.idle_until[0] == NEVER
    assert world.asked() == [A]


async def test_thirty_days_in_a_blink(world):
    """A page that never changes is fetched ever more seldom; one that does, more often."""
    world.site = {A: b"same", B: lambda _, now: str(now // DAY).encode()}
    world.add(A, B)
    end = world.clock.now() + 30 * DAY
    crawler = world.crawler()

    class Watch:
        def visit(self, report: Any) -> None:
            pass

        def idle(self, next_due_at: int) -> None:
            if next_due_at > end:
                crawler.stop()

    crawler._observer = Watch()
    await asyncio.wait_for(crawler.run(), 20)

    asked = Counter(world.asked())
    # 1 d at first, then 1.4 times longer each time: 1, 1, 1.4, 2, 2.7, 3.8, 5.4, 7.5, ...
    assert 7 <= asked[A] <= 9
    assert world.page(A).state.interval > 5 * 86_400
    # Changes daily: a fetch a day at least, once the interval has found its place.
    assert 30 <= asked[B] <= 60
    assert world.page(B).state.interval <= 86_400
    assert world.store.status(end).n_leased == 0


async def test_an_observer_hears_of_each_visit_after_its_commit(world):
    """What is told is in the store already."""
    world.site = {A: b"a", B: 404}
    world.add(A, B)
    known = []

    class Watch:
        def visit(self, report: Any) -> None:
            known.append((report.url, len(world.visits(report.url))))

        def idle(self, next_due_at: int) -> None:
            pass

    await world.run_once(observer=Watch())

    assert sorted(known) == [(A, 1), (B, 1)]
