"""The planner in a simulated crawl."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.core.states import PageStates, PageStatus
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.errors import InputError
from recrawl.planning.planner import Planner
from recrawl.schedules.optimal import Optimal
from recrawl.simulation.compare import Conditions, compare
from recrawl.simulation.run import simulate
from recrawl.simulation.worlds import World, world

SECONDS = 86_400.0
#: Half a day between looks at the queue: enough to tell schedules apart. [s]
TURN = 43_200.0
DAY = 86_400_000
NOW = 1_700_000_000_000


def planner(states: PageStates, budget: float = 1.0) -> Planner:
    """Return a planner that has looked at some pages; the budget is in fetches a day."""
    return Planner(Optimal()).replan(states, NOW, budget / SECONDS)


def pages(n: int, **columns: object) -> PageStates:
    """Return n pages of one host and group, just visited."""
    given = {
        "page_key": np.arange(1, n + 1), "host_key": 1, "group_key": 1, "fetched_at": NOW,
        "checked_at": columns.get("fetched_at", NOW), "next_fetch_at": NOW + 10 * DAY,
        "status": PageStatus.FETCHED,
    }  # fmt: skip
    return PageStates.of(n, **{**given, **columns})


def test_it_asks_for_a_budget():
    """Without one, and without a price, there is nothing to share out."""
    with pytest.raises(InputError, match=r"optimal shares out a budget .* such as 0\.1/page/day"):
        Planner(Optimal()).replan(pages(2), NOW, None)


def test_a_price_needs_no_budget():
    """Whoever knows what a fetch costs fetches what is worth it, and the price stays."""
    states = pages(2, fetched_at=NOW - np.array([1, 90]) * DAY)
    planned = Planner(Optimal(price=3 * SECONDS)).replan(states, NOW, None)

    chosen, _ = planned.pick(states, NOW, 2)

    assert chosen.tolist() == [1]
    assert planned.schedule.price == 3 * SECONDS


@pytest.mark.parametrize("budget", [0.0, 1e9])
def test_a_budget_of_nothing_or_of_more_than_all(budget: float):
    """Nothing is worth a fetch that cannot be, and everything one that is for free."""
    states = pages(3)
    planned = planner(states, budget)

    chosen, due = planned.pick(states, NOW + DAY, 3 if budget else 0)

    assert len(chosen) == (3 if budget else 0)
    assert ((due <= NOW + DAY) == bool(budget)).all()
    assert not np.isnan(planned.schedule.price)


def test_a_target_finds_its_price_and_asks_all_when_it_falls():
    """As fresh as wanted by what is known; who is worth more than a lower price comes earlier."""
    states = pages(20, group_key=np.arange(1, 21))
    calm = Planner(Optimal(max_age=20 * SECONDS)).replan(states, NOW, None)
    eager = Planner(Optimal(freshness=0.9, max_age=SECONDS)).replan(states, NOW, None)
    waits = SECONDS * np.array([1 / 40, 1])

    rows, due = eager.asked(states, NOW + DAY)

    assert eager.schedule.price < calm.schedule.price
    interval = eager.schedule.interval(states)[0]
    expected = (1 - np.exp(-interval * waits[0] / SECONDS**2)) / (interval * waits[0] / SECONDS**2)
    assert expected >= 0.899
    assert (due < states.next_fetch_at[rows]).all()
    assert rows.size == 20
    assert not planner(states).asked(states, NOW)[0].size


def test_what_visits_find_corrects_a_target():
    """Pages that always changed make more fetches than their rates as known now would ask for."""
    states = pages(20, group_key=np.arange(1, 21))
    prices = []
    for observation in (Observation.UNCHANGED, Observation.CHANGED):
        planned = Planner(Optimal(freshness=0.9)).replan(states, NOW, None)
        visits = Visits.of(
            20, page_key=states.page_key, fetched_at=NOW + DAY, outcome=Outcome.SUCCESS,
            observation=observation,
        )  # fmt: skip
        planned.absorb(states, states, visits, NOW + DAY)
        prices.append(planned.replan(states, NOW + DAY, None).schedule.price)

    assert prices[1] < prices[0]


def test_the_first_price_spends_the_budget():
    """At even distances all pages together make as many fetches as are allowed."""
    states = pages(20, group_key=np.arange(1, 21))

    schedule = planner(states, budget=2.0).schedule

    assert (SECONDS / schedule.interval(states)).sum() == pytest.approx(2.0, rel=0.01)


def test_the_most_worth_is_picked_first():
    """Importance and waiting decide; the others go back with their due times."""
    states = pages(4, importance=[1, 9, 1, 1], fetched_at=NOW - np.array([1, 1, 30, 20]) * DAY)
    planned = planner(states)

    chosen, due = planned.pick(states, NOW, 2)

    assert chosen.tolist() == [2, 3]
    assert due[0] > due[3] > due[2]


def test_a_page_never_visited_is_worth_everything():
    """It goes before all others."""
    states = pages(3, fetched_at=[NOW - 30 * DAY, -(2**63), NOW - 40 * DAY])

    chosen, _ = planner(states).pick(states, NOW, 1)

    assert chosen.tolist() == [1]


def test_the_price_follows_what_is_fetched():
    """It rises where everything is worth more, and falls where nothing is."""
    states = pages(10)
    long_ago = states.fetched_at - 60 * DAY
    waiting = states.with_columns({"fetched_at": long_ago, "checked_at": long_ago})
    high, low = planner(states), planner(states)
    price = high.schedule.price

    high.pick(waiting, NOW, 5)
    low.pick(states, NOW + DAY // 10, 5)

    assert low.schedule.price < price < high.schedule.price < 2 * price


def test_a_cap_of_hosts_is_kept():
    """No host has more than its share of one turn."""
    states = pages(6, host_key=[1, 1, 1, 1, 2, 2], fetched_at=NOW - np.arange(9, 3, -1) * DAY)

    chosen, _ = planner(states).pick(states, NOW, 4, host_cap=2)

    assert sorted(chosen.tolist()) == [0, 1, 4, 5]


def test_changed_siblings_bring_the_others_forward():
    """Those that wait are due earlier, and pages of other groups are left alone."""
    states = pages(10, group_key=[1] * 8 + [2] * 2)
    planned = planner(states, budget=0.5)
    now = NOW + 5 * DAY
    before = states.take(np.arange(3))
    visits = Visits.of(
        3, page_key=[1, 2, 3], fetched_at=now, outcome=Outcome.SUCCESS,
        observation=Observation.CHANGED,
    )  # fmt: skip
    states.fetched_at[:3] = states.checked_at[:3] = now
    states.next_fetch_at[3:] = NOW + 300 * DAY

    rows, due = planned.absorb(states, before, visits, now)

    assert set(rows.tolist()) >= {3, 4, 5, 6, 7}
    assert not set(rows.tolist()) & {8, 9}
    assert (due[np.isin(rows, [3, 4, 5, 6, 7])] < NOW + 300 * DAY).all()


def test_pages_alone_move_nobody():
    """A page without siblings tells of nobody else."""
    states = pages(2, group_key=[1, 2])
    visit = Visits.of(1, page_key=1, fetched_at=NOW + 1, outcome=Outcome.SUCCESS)

    rows, due = planner(states).absorb(states, states.take([0]), visit, NOW + 1)

    assert not rows.size
    assert not due.size


@pytest.fixture(scope="module")
def small() -> World:
    """Return a world of a few hundred pages."""
    return world("S1", 300, horizon=60 * SECONDS, seed=3)


def test_it_keeps_pages_fresher_than_rates_that_adapt(small: World):
    """On independent pages of unequal importance: fresher than uniform and StormCrawler."""
    conditions = Conditions(budget=30 / SECONDS, tick=TURN, start=30 * SECONDS)

    found = compare(["optimal", "uniform", "stormcrawler"], [small], conditions)

    stale = [result.row()["stale_weighted"] for result in found]
    assert stale[0] < 0.95 * min(stale[1:])


def test_the_budget_is_spent_to_the_last_fetch(small: World):
    """Something is always worth more than nothing, so that every fetch is made."""
    log = simulate(small, Planner(Optimal()), budget=30 / SECONDS, tick=TURN)

    assert (log.at > 0).sum() == 30 * 60 - 30 // 2
    assert (log.at == 0).sum() == 300


def test_parts_do_not_matter(small: World):
    """Stepped whole and in seven parts, each visit is the same."""
    whole, parts = (
        simulate(small, Planner(Optimal()), budget=30 / SECONDS, tick=TURN, n_parts=n)
        for n in (1, 7)
    )

    for name in ("page", "at", "outcome", "observation", "interval"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))


def test_pages_edited_together_are_fetched_together():
    """Twenty sites of twenty pages, rewritten now and then: far fresher than in equal turns."""
    rng = np.random.default_rng(5)
    edits = [np.sort(rng.uniform(0, 200, 4)) * SECONDS for _ in range(20)]
    site = np.repeat(np.arange(20), 20)
    made = World.of(
        200 * SECONDS, [4] * 400, np.concatenate([edits[k] for k in site]), host=site, group=site
    )
    conditions = Conditions(budget=20 / SECONDS, tick=TURN, start=40 * SECONDS)

    ours, uniform = compare(["optimal", "uniform"], [made], conditions)

    assert ours.row()["stale"] < 0.6 * uniform.row()["stale"]
