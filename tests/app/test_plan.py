"""The learned schedule in the crawler: budget, price, siblings, restarts."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import numpy as np
import pytest

from recrawl.app.learned import Lesson
from recrawl.app.plan import Plan
from recrawl.core.budget import Budget
from recrawl.core.interval import Bounds
from recrawl.estimation.bulk_edits import BulkEdits
from recrawl.planning.records import pack_groups
from recrawl.schedules.optimal import Optimal
from recrawl.simulation.compare import Conditions, compare
from recrawl.simulation.worlds import World
from recrawl.testing.factories import DAY

DAY_S = 86_400.0


def changing(times: np.ndarray) -> Any:
    """Return a page that changes at these instants [ms]."""
    return lambda request, now: b"version %d" % np.searchsorted(times, now)


def plan_of(world: Any, **settings: Any) -> Plan:
    """Return a plan for the world's store, and let its pages be scheduled by it."""
    budget = settings.pop("budget", None)
    schedule = Optimal(**settings)
    world.policy = world.policy_with(schedule=schedule, bounds=Bounds(60.0, 90 * DAY_S, 0.0))
    return Plan(world.store, schedule, budget=budget, policy_of=world.policy_of)


async def run_until(world: Any, days: float, plan: Plan) -> None:
    """Run a crawler until so many days have passed."""
    end = world.clock.now() + round(days * DAY)
    crawler = world.crawler(plan=plan)
    task = asyncio.create_task(crawler.run())
    async with asyncio.timeout(60):
        while world.clock.now() < end and not task.done():
            await asyncio.sleep(0)
        crawler.stop()
        await task


def site_of(world: Any, n: int, *, hosts: int = 4, spread: float = 20.0) -> dict[str, np.ndarray]:
    """Put n pages into the world, of change rates around 0.45 a day and so far apart."""
    rng = np.random.default_rng(3)
    start = world.clock.now()
    changes = {}
    for i in range(n):
        url = f"https://h{i % hosts}.example/d{i}/"
        rate = 0.45 * spread ** (rng.random() - 0.5)
        changes[url] = start + np.sort(rng.uniform(0, 200 * DAY, rng.poisson(200 * rate)))
        world.site[url] = changing(changes[url])
    world.add(*changes)
    return changes


async def test_the_budget_is_spent_evenly(world):
    """From cold start on each day has its fetches, but for the first period's, given at once."""
    site_of(world, 40)
    start = world.clock.now()

    await run_until(world, 15, plan_of(world, budget=Budget(20, DAY_S)))

    days = Counter((at - start) // DAY for at, _ in world.fetcher.requests)
    assert days[0] == pytest.approx(40, abs=1)
    for day in range(1, 15):
        assert days[day] == pytest.approx(20, abs=1)


async def test_a_restart_goes_on_with_price_and_budget(world):
    """Runs of a day each make as many fetches as one long run: none begins with a full purse."""
    site_of(world, 40)
    budget = Budget(20, DAY_S)
    await run_until(world, 3, plan_of(world, budget=budget))
    before = world.store.get_meta("price")
    n_before = len(world.fetcher.requests)

    for _ in range(5):
        await run_until(world, 1, plan_of(world, budget=budget))

    assert before is not None
    assert len(world.fetcher.requests) - n_before == pytest.approx(100, abs=2)


async def test_two_crawlers_look_at_all_pages_once(world):
    """What one has surveyed the other knows, and both pay out of one budget."""
    site_of(world, 10)
    one, other = (plan_of(world, budget=Budget(15, DAY_S)) for _ in range(2))
    now = world.clock.now()
    await one.survey(now)

    assert not other.wants_survey(now)
    assert other.learned.surveyed == one.learned.surveyed
    n = sum(len(p.lease("x", now, ttl=60.0, limit=4, per_host=9)) for p in (one, other))
    assert n == 8
    left = [len(p.lease("x", now, ttl=60.0, limit=99, per_host=9)) for p in (other, one)]
    assert left == [2, 0]


async def test_a_large_group_is_asked_after_several_changes(world):
    """Asking all pages of a group costs a pass over them: it is saved up for."""
    plan = plan_of(world, budget=Budget(15, DAY_S))
    bulk = BulkEdits.of(np.array([1, 2, 3]), np.array([1, 2000, 9000]), world.clock.now())
    lesson = Lesson(pack_groups(bulk), [])

    asked = {key: [plan._may_ask(key, lesson) for _ in range(8)] for key in (1, 2, 3)}

    assert not any(asked[1])
    assert all(asked[2])
    assert asked[3] == [True, False, False, False, False, True, False, False]


async def test_once_spends_no_more_than_the_budget(world):
    """A run over what is due ends when the budget is spent; the rest stays due."""
    site_of(world, 40)

    totals = await world.run_once(plan=plan_of(world, budget=Budget(15, DAY_S)))
    again = await world.run_once(plan=plan_of(world, budget=Budget(15, DAY_S)))
    world.clock.advance(DAY_S / 3)
    later = await world.run_once(plan=plan_of(world, budget=Budget(15, DAY_S)))

    assert [run.n_fetched for run in (totals, again, later)] == [15, 0, 5]


async def test_another_budget_is_another_price(world):
    """A price is found anew when the settings it was made for change."""
    site_of(world, 40)
    await run_until(world, 3, plan_of(world, budget=Budget(20, DAY_S)))
    prices = []
    for amount in (20, 2, 200):
        plan = plan_of(world, budget=Budget(amount, DAY_S))
        await plan.survey(world.clock.now())
        schedule = plan.schedule_of(world.policy, None, world.clock.now())
        prices.append(schedule.price)

    assert prices[1] > 5 * prices[0] > 5 * prices[2]


async def test_the_crawler_does_what_the_simulator_says(world):
    """On the same pages both keep the same share of copies fresh."""
    start, changes = world.clock.now(), site_of(world, 40, spread=400)
    simulated = [(times[times < start + 45 * DAY] - start) / 1000 for times in changes.values()]
    same = World.of(
        45 * DAY_S, [len(times) for times in simulated], np.concatenate(simulated), group=range(40)
    )
    conditions = Conditions(budget=20 / DAY_S, start=15 * DAY_S)
    expected = 1 - compare(["optimal"], [same], conditions)[0].row()["stale"]
    plan = plan_of(world, budget=Budget(20, DAY_S))

    await run_until(world, 15, plan)
    begin = world.clock.now()
    await run_until(world, 30, plan)

    found = share_fresh(world, changes, begin, world.clock.now())
    assert found == pytest.approx(expected, abs=0.025)


async def test_a_change_brings_siblings_forward(world):
    """Pages of one directory that are rewritten together are found soon after the first of them."""
    start = world.clock.now()
    edits = start + np.array([15, 30, 45, 60]) * DAY
    for i in range(16):
        world.site[f"https://a.example/docs/{i}"] = changing(edits)
        # Pages alone, that have no siblings to learn from.
        world.site[f"https://b.example/{i}/x"] = changing(edits)
    world.add(*world.site)

    await run_until(world, 70, plan_of(world, budget=Budget(4, DAY_S)))

    delays: dict[str, list[float]] = {"a.example": [], "b.example": []}
    for change in world.store.changes(limit=10_000):
        if change.kind.value == "changed" and change.at > edits[1]:
            made = edits[np.searchsorted(edits, change.at) - 1]
            delays[change.url.split("/")[2]].append((change.at - made) / DAY)
    together, alone = (np.mean(delays[host]) for host in delays)
    assert together < 0.75 * alone


async def test_a_target_needs_no_budget(world):
    """Pages are kept about as fresh as wanted, and more fetches are made for more."""
    changes = site_of(world, 12)
    spent, fresh = [], []
    for wanted in (0.6, 0.9):
        await run_until(world, 20, plan_of(world, freshness=wanted))
        begin, n_before = world.clock.now(), len(world.fetcher.requests)
        await run_until(world, 20, plan_of(world, freshness=wanted))
        spent.append(len(world.fetcher.requests) - n_before)
        fresh.append(share_fresh(world, changes, begin, world.clock.now()))

    print(spent, fresh)
    assert spent[1] > 2 * spent[0]
    assert fresh == pytest.approx([0.6, 0.9], abs=0.08)


async def test_failures_wait_as_failures_do(world):
    """A page that cannot be fetched is neither asked again and again nor forgotten."""
    site_of(world, 4)
    world.site["https://bad.example/"] = 503
    world.add("https://bad.example/")

    await run_until(world, 10, plan_of(world, budget=Budget(8, DAY_S)))

    n_asked = world.asked().count("https://bad.example/")
    assert 3 <= n_asked <= 11


async def test_no_page_comes_before_its_least_interval(world):
    """A budget for more than all pages can use is not spent on the same pages over and over."""
    site_of(world, 3)

    await run_until(world, 0.1, plan_of(world, budget=Budget(100_000, DAY_S)))

    times: dict[str, list[int]] = {}
    for at, request in world.fetcher.requests:
        times.setdefault(request.url, []).append(at)
    assert min(np.diff(at).min() for at in times.values()) >= 60_000
    assert len(world.fetcher.requests) > 200


async def test_pages_of_other_schedules_come_when_they_are_due(world):
    """A rule may leave pages to another schedule; they count in the budget all the same."""
    site_of(world, 10)
    plan = plan_of(world, budget=Budget(20, DAY_S))
    url = "https://h0.example/d0/"
    world.policies[url] = world.policy_with()

    await run_until(world, 6, plan)

    assert world.asked().count(url) >= 4
    assert len(world.fetcher.requests) == pytest.approx(20 + 20 * 6, abs=4)


def share_fresh(world: Any, changes: dict[str, np.ndarray], begin: int, end: int) -> float:
    """Return the share of time in which copies were right."""
    total = 0.0
    for url, times in changes.items():
        visits = [at for at, request in world.fetcher.requests if request.url == url]
        edges = np.unique(np.concatenate([[begin, end], times, visits]))
        edges = edges[(edges >= begin) & (edges <= end)]
        last_visit = np.array(visits)[np.searchsorted(visits, edges[:-1], side="right") - 1]
        is_fresh = np.searchsorted(times, edges[:-1], side="right") == np.searchsorted(
            times, last_visit, side="right"
        )
        total += (np.diff(edges) * is_fresh).sum()
    return total / (end - begin) / len(changes)


async def test_signals_bring_pages_forward_once_they_have_proved_true(world):
    """Where each change is signalled, changes are found far sooner than without signals."""
    delays = []
    for is_told in (False, True):
        start = world.clock.now()
        host = "told" if is_told else "untold"
        rng = np.random.default_rng(4)
        changes = {
            f"https://{host}.example/{i}": start + np.sort(rng.uniform(0, 40 * DAY, 4))
            for i in range(10)
        }
        world.store = type(world.store)()
        for url, times in changes.items():
            world.site[url] = changing(times)
        world.add(*changes)
        plan = plan_of(world, budget=Budget(2, DAY_S))
        plan_hears = sorted((at, url) for url, times in changes.items() for at in times)
        for at, url in plan_hears:
            await run_until(world, max(at - world.clock.now(), 0) / DAY, plan)
            if is_told:
                plan.hear([world.page(url)], world.clock.now())
        found = [c for c in world.store.changes(limit=10_000) if c.kind.value == "changed"]
        late = [
            c.at - changes[c.url][np.searchsorted(changes[c.url], c.at) - 1]
            for c in found
            if c.at > start + 20 * DAY
        ]
        delays.append(np.mean(late) / DAY)

    assert delays[1] < 0.6 * delays[0]
    assert plan.hear([], world.clock.now()) == []
