"""The event loop: budgets, caps, order, births, and the same answer however it is run."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.columns import NEVER
from recrawl.core.interval import Bounds
from recrawl.core.states import PageStates
from recrawl.core.timing import Schedule, Timing
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.errors import InputError
from recrawl.schedules.fixed import Fixed
from recrawl.schedules.nutch import NutchAdaptive
from recrawl.simulation.changes import ChangeIndex
from recrawl.simulation.due import earliest, earliest_capped
from recrawl.simulation.log import Log
from recrawl.simulation.nutch_harness import HarnessTotals, run_harness
from recrawl.simulation.run import START_AT, simulate
from recrawl.simulation.worlds import World, world

DAY = 86_400.0


def same(first: Log, second: Log) -> bool:
    return all(
        getattr(first, f.name).tobytes() == getattr(second, f.name).tobytes() for f in fields(Log)
    )


@dataclass(frozen=True)
class Never:
    """Fetches each page once."""

    def first(self, states: PageStates, now: int) -> Timing:
        n = len(states)
        return Timing(np.full(n, DAY), np.full(n, now), states.modified_at)

    def after(self, states: PageStates, visits: Visits) -> Timing:
        return Timing(states.interval, np.full(len(states), NEVER), states.modified_at)


@dataclass(frozen=True)
class Halving:
    """Halves all intervals each day, and remembers when it was asked."""

    asked: list[tuple[int, float | None, int]]
    interval: float = 4 * DAY

    def first(self, states: PageStates, now: int) -> Timing:
        return Fixed(default_interval=self.interval).first(states, now)

    def after(self, states: PageStates, visits: Visits) -> Timing:
        due = visits.fetched_at + int(self.interval * 1000)
        return Timing(np.full(len(states), self.interval), due, states.modified_at)

    def replan(self, states: PageStates, now: int, budget: float | None) -> Schedule:
        self.asked.append((now, budget, int(states.n_visits.sum())))
        return replace(self, interval=self.interval / 2)


@pytest.mark.parametrize("budget", [None, 40 / DAY])
def test_partitions_change_nothing(budget: float | None):
    """A run in 1, 3 and 17 parts is the same to the last bit, and so is a second one."""
    made = world("S11", 100, horizon=30 * DAY, seed=5)
    schedule = NutchAdaptive(default_interval=2 * DAY)

    runs = [simulate(made, schedule, budget=budget, n_parts=k) for k in (1, 1, 3, 17)]

    assert all(same(runs[0], run) for run in runs[1:])


def test_without_a_budget_pages_do_not_touch_each_other():
    """Partitions of the world by themselves make the visits that the whole makes."""
    whole = world("S1", 60, horizon=30 * DAY, seed=5)
    schedule = NutchAdaptive(default_interval=2 * DAY)
    log = simulate(whole, schedule)
    edges = [0, 20, 21, 60]

    for low, high in pairwise(edges):
        rows = np.flatnonzero((log.page >= low) & (log.page < high))
        part = simulate(whole.take(np.arange(low, high)), schedule)
        assert part.page.tolist() == (log.page[rows] - low).tolist()
        assert part.at.tolist() == log.at[rows].tolist()


def test_a_budget_is_spent_to_the_last_fetch():
    """Pages that are not yet due are taken where none is, and fractions add up."""
    made = world("never", 50, horizon=10 * DAY)

    log = simulate(made, Fixed(), budget=2.5 / DAY)

    # All pages at the start; then 25 fetches, but for the tick that would begin at the horizon.
    assert len(log) in (50 + 24, 50 + 25)
    assert (np.diff(log.at) >= 0).all()
    assert np.bincount(log.page).max() == 2


def test_another_seed_is_another_order_among_equals():
    """Pages due at one instant are taken in an order that the seed gives."""
    made = world("never", 50, horizon=DAY)

    orders = [
        simulate(made, Fixed(), budget=20 / DAY, seed=s).page[50:].tolist() for s in (0, 0, 1)
    ]

    assert orders[0] == orders[1] != orders[2]


def test_pages_never_due_are_left_alone_whatever_the_budget():
    """NEVER is no due time that a rich crawl may take early."""
    made = world("never", 5, horizon=2 * DAY)

    assert len(simulate(made, Never(), budget=100 / DAY)) == 5


@pytest.mark.parametrize("budget", [None, 1000 / DAY])
def test_hosts_have_caps(budget: float | None):
    """No host gets more fetches in a tick than its cap, but for the first pass."""
    made = World.of(5 * DAY, [0] * 30, [], host=np.arange(30) % 3)

    log = simulate(made, Fixed(default_interval=DAY), budget=budget, host_cap=2)

    later = log.at > 0
    keys = log.at[later] * 3 + made.host[log.page[later]]
    assert np.unique(keys, return_counts=True)[1].max() == 2
    assert later.sum() > 30


def test_a_schedule_plans_each_day():
    """It sees all pages, the time and the budget before the first fetch and then daily."""
    asked: list[tuple[int, float | None, int]] = []
    made = world("never", 3, horizon=3 * DAY)

    log = simulate(made, Halving(asked), tick=DAY / 4)

    day = 86_400_000
    assert [now for now, _, _ in asked] == [START_AT, START_AT + day, START_AT + 2 * day]
    assert [budget for _, budget, _ in asked] == [None] * 3
    assert [n for _, _, n in asked] == [0, 3, 3]
    assert log.interval[0] == 2 * DAY


def test_pages_come_and_go():
    """A page is first fetched when it is born, and a visit after its end finds it gone."""
    made = World.of(6 * DAY, [0, 0], [], born_at=[0, 2.1 * DAY], gone_at=[3 * DAY, np.inf])

    log = simulate(made, Fixed(default_interval=DAY), tick=DAY)

    assert log.at[log.page == 1].min() == 3 * DAY * 1000
    is_gone = (log.page == 0) & (log.at >= 3 * DAY * 1000)
    assert (log.outcome[is_gone] == Outcome.GONE).all()
    assert is_gone.any()


def test_what_the_crawler_sees():
    """Changes by signature, 304 where the server dates pages, and noise at every fetch."""
    made = World.of(
        4 * DAY,
        [1, 1, 0, 0],
        [1.5 * DAY, 1.5 * DAY],
        has_last_modified=[False, True, False, True],
        is_noisy=[False, False, True, True],
    )

    log = simulate(made, Fixed(default_interval=DAY), tick=DAY)

    u, c, s = Observation.UNKNOWN, Observation.CHANGED, Observation.UNCHANGED
    seen = [log.observation[log.page == page].tolist() for page in range(4)]
    assert seen == [[u, s, c, s], [u, s, c, s], [u, c, c, c], [u, c, c, c]]
    assert log.outcome[log.page == 1].tolist() == [
        Outcome.SUCCESS,
        Outcome.NOTMODIFIED,
        Outcome.SUCCESS,
        Outcome.NOTMODIFIED,
    ]


def test_a_world_without_visits_gives_an_empty_log():
    """Pages that are born after the last tick are never fetched."""
    assert len(simulate(World.of(DAY, [0], [], born_at=[DAY]), Fixed(), tick=DAY)) == 0


@pytest.mark.parametrize(
    "wrong", [{"budget": -1.0}, {"tick": 0.0}, {"host_cap": 0}, {"n_parts": 0}], ids=str
)
def test_numbers_out_of_range_are_refused(wrong: dict[str, float]):
    """The message names the argument."""
    with pytest.raises(InputError, match=next(iter(wrong))):
        simulate(world("never", 1, horizon=DAY), Fixed(), **wrong)


def test_exact_mode_has_no_bounds():
    """Bounds with an exact rule are a contradiction."""
    with pytest.raises(InputError, match="exact"):
        simulate(world("never", 1, horizon=DAY), Fixed(), exact=True, bounds=Bounds())


@pytest.mark.parametrize(
    ("settings", "totals"),
    [
        ({}, HarnessTotals(2958, 27, 322, 527)),
        ({"sync_delta": False}, HarnessTotals(3550, 27, 322, 535)),
        (
            {"inc_rate": 0.2, "dec_rate": 0.2, "sync_delta_rate": 0.2},
            HarnessTotals(3049, 23, 322, 563),
        ),
    ],
    ids=["nutch-default.xml", "no sync", "code"],
)
def test_the_harness_of_nutch_gives_its_totals(settings: dict[str, float], totals: HarnessTotals):
    """A page that changes each 31 days, looked at daily for 10,000 days, by simulate itself."""
    made = world("fixed:31d", 1, horizon=10_000 * DAY)

    log, found = run_harness(NutchAdaptive(exact=True, **settings), made, step=DAY)

    assert found == totals
    assert len(log) == totals.fetched


@given(
    st.lists(st.integers(0, 9) | st.just(NEVER), max_size=20),
    st.integers(0, 25),
    st.integers(1, 3),
    st.integers(0, 9) | st.just(NEVER - 1),
)
def test_the_queue_gives_the_earliest(due: list[int], n: int, cap: int, until: int):
    """What is chosen is what sorting everything chooses, with caps and without."""
    times = np.array(due, dtype=np.int64)
    host = np.arange(len(due)) % 2
    order = sorted((t, i) for i, t in enumerate(due) if t != NEVER)
    taken: list[int] = []
    for t, i in order:
        if len(taken) < n and t <= until and sum(host[j] == host[i] for j in taken) < cap:
            taken.append(i)

    assert sorted(earliest(times, n)) == sorted(i for _, i in order[:n])
    assert earliest_capped(times, host, n, cap, until=until).tolist() == taken


def test_a_large_host_in_front_does_not_hide_the_others():
    """The queue is looked at further where one host's pages stand first."""
    due = np.arange(40)
    host = (np.arange(40) >= 30).astype(np.int64)

    assert earliest_capped(due, host, 2, 1).tolist() == [0, 30]


def test_an_index_that_does_not_fit_is_refused():
    """Pages and milliseconds share 63 bits."""
    with pytest.raises(InputError, match="too many"):
        ChangeIndex.of(World.of(2.0**53, [0] * 8, []))
