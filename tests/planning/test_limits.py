"""The learning schedule where its numbers end: nothing learned or due is ever NaN or infinite."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from recrawl.core.columns import NEVER, NO_TIME
from recrawl.core.interval import LONGEST_INTERVAL
from recrawl.core.states import PageStates, PageStatus, Times
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.estimation.gamma_poisson import change_probability, credible_interval
from recrawl.planning.planner import Planner
from recrawl.planning.survey import Survey
from recrawl.schedules.multiplier import longest_interval
from recrawl.schedules.optimal import Optimal
from recrawl.simulation.log import Log
from recrawl.simulation.run import simulate
from recrawl.simulation.worlds import World, world

SECONDS = 86_400.0
DAY = 86_400_000
NOW = 1_700_000_000_000
#: Half a day between looks at the queue. [s]
TURN = 43_200.0
LEARNED = ("rate_shape", "rate_exposure", "bulk_shape", "bulk_exposure", "surprise")
#: A wait no schedule goes beyond. [ms]
CENTURY = round(LONGEST_INTERVAL * 1000)


class Watched(Planner):
    """A planner that looks at all pages, whenever it has learned, for what is no number."""

    def absorb(
        self, states: PageStates, before: PageStates, visits: Visits, now: int
    ) -> tuple[NDArray[np.int64], Times]:
        """Learn, and refuse what is out of range."""
        rows, due = Planner.absorb(self, states, before, visits, now)
        require_sound(states, self, now)
        assert (np.abs(due - now) <= CENTURY).all()
        return rows, due


def require_sound(states: PageStates, planner: Planner, now: int) -> None:
    """Assert that all that was learned, the beliefs, the price and the due times are numbers."""
    changes, outlook = planner.knowledge.belief(states, now)
    for name in LEARNED:
        assert np.isfinite(getattr(states, name)).all(), name
    assert np.isfinite(changes).all()
    assert (changes >= 0).all()
    assert (np.isfinite(outlook.rate) & (outlook.rate > 0)).all()
    assert planner.schedule.price > 0
    assert (np.isfinite(states.interval) & (states.interval > 0)).all()
    is_open = states.next_fetch_at != NEVER
    wait = (states.next_fetch_at - np.maximum(states.fetched_at, now))[is_open]
    assert (np.abs(wait) <= CENTURY).all()


def crawled(
    made: World, budget: float, *, turn: float = TURN, **settings: float
) -> tuple[Log, Planner]:
    """Return the visits of a watched crawl with a budget a page and day, and its planner."""
    planner = Watched(Optimal(**settings))
    log = simulate(made, planner, budget=budget * len(made) / SECONDS, tick=turn)
    assert np.isfinite(log.interval).all()
    return log, planner


def pages(n: int, **columns: object) -> PageStates:
    """Return n pages of one host and group, visited at NOW."""
    given = {
        "page_key": np.arange(1, n + 1), "host_key": 1, "group_key": 1, "fetched_at": NOW,
        "checked_at": columns.get("fetched_at", NOW), "next_fetch_at": NOW + 10 * DAY,
        "interval": SECONDS, "status": PageStatus.FETCHED,
    }  # fmt: skip
    return PageStates.of(n, **{**given, **columns})


def planned(states: PageStates, budget: float = 1.0) -> Planner:
    """Return a planner with a budget of fetches a day."""
    return Planner(Optimal()).replan(states, NOW, budget / SECONDS)


def visited(
    planner: Planner, states: PageStates, at: int, observation: Observation, outcome: Outcome
) -> PageStates:
    """Return the pages after a visit each at an instant [ms]."""
    visits = Visits.of(
        len(states), page_key=states.page_key, fetched_at=at, outcome=outcome,
        observation=observation,
    )  # fmt: skip
    learned = planner.knowledge.learn(states, states, visits)
    is_read = observation != Observation.UNKNOWN
    known = {"fetched_at": visits.fetched_at, "n_visits": states.n_visits + 1}
    known |= {"checked_at": visits.fetched_at} if is_read else {}
    after = learned.with_columns(known)
    timing = replace(planner.schedule, knowledge=planner.knowledge).after(after, visits)
    after = after.with_columns(
        {"interval": timing.interval.astype(np.float32), "next_fetch_at": timing.next_fetch_at}
    )
    rows, due = planner.absorb(after, states, visits, at)
    after.next_fetch_at[rows] = due
    return after


@pytest.mark.parametrize("importance", ["equal", "pareto"])
@pytest.mark.parametrize("spec", ["never", "poisson:36000d", "fixed:60s", "noisy:40d"])
def test_rates_without_end(spec: str, importance: str):
    """Pages that never change, that change all the time, or that only seem to."""
    made = world(spec, 20, horizon=20 * SECONDS, importance=importance)

    log, planner = crawled(made, 0.3)

    # A fraction of a fetch is not made.
    assert (log.at > 0).sum() == math.floor(20 * 0.3 * 19.5)
    assert 0 < planner.schedule.price < math.inf


@pytest.mark.parametrize("observation", [Observation.CHANGED, Observation.UNCHANGED])
@pytest.mark.parametrize("elapsed", [1, 1000, DAY, CENTURY])
def test_many_visits_that_see_the_same(observation: Observation, elapsed: int):
    """A rate goes to a limit, to the millisecond and over a century, and beliefs stay numbers."""
    states, at = pages(4), NOW
    planner = planned(states)

    for _ in range(60):
        at += elapsed
        states = visited(planner, states, at, observation, Outcome.SUCCESS)

    require_sound(states, planner, at)
    own = planner.knowledge.own(states)
    assert np.isfinite(credible_interval(own)).all()
    assert (change_probability(own, 1e12) <= 1).all()


def test_two_visits_at_one_instant():
    """No time has passed, so nothing is learned, and nothing is worth a fetch again at once."""
    states = pages(3)
    planner = planned(states)
    states = visited(planner, states, NOW + DAY, Observation.CHANGED, Outcome.SUCCESS)

    again = visited(planner, states, NOW + DAY, Observation.CHANGED, Outcome.SUCCESS)

    for name in LEARNED:
        np.testing.assert_array_equal(getattr(again, name), getattr(states, name))
    require_sound(again, planner, NOW + DAY)
    assert (again.next_fetch_at > NOW + DAY).all()


@pytest.mark.parametrize("back", [1, DAY, 20_000 * DAY])
def test_a_clock_that_went_back(back: int):
    """A visit before the last one teaches nothing, and the crawl goes on from there."""
    states = pages(3)
    planner = planned(states)
    states = visited(planner, states, NOW + DAY, Observation.CHANGED, Outcome.SUCCESS)
    at = NOW + DAY - back

    again = visited(planner, states, at, Observation.CHANGED, Outcome.SUCCESS)
    planner.replan(again, at, 1 / SECONDS)
    chosen, due = planner.pick(again, at, 3)

    for name in LEARNED:
        np.testing.assert_array_equal(getattr(again, name), getattr(states, name))
    require_sound(again, planner, at)
    assert len(chosen) == 3
    assert (due > at).all()
    later = visited(planner, again, at + DAY, Observation.UNCHANGED, Outcome.SUCCESS)
    require_sound(later, planner, at + DAY)


def test_no_budget_at_all():
    """The first fetch of each page is made and no other, and no due time is lost for it."""
    made = world("poisson:5d", 10, horizon=20 * SECONDS)

    log, planner = crawled(made, 0.0)

    assert (log.at == 0).all()
    assert len(log) == 10
    assert planner.schedule.price == math.inf


@pytest.mark.parametrize("budget", [0.1, 5.0])
@pytest.mark.parametrize("spec", ["never", "poisson:5d"])
def test_one_page(spec: str, budget: float):
    """It has the whole budget, once at each look at the queue at most."""
    log, _ = crawled(world(spec, 1, horizon=30 * SECONDS), budget)

    assert (log.at > 0).sum() == math.floor(min(budget, 2.0) * 29.5)


def test_pages_that_are_all_alike():
    """Each has its turn: none is fetched much more often than another."""
    n = 16
    made = World.of(
        80 * SECONDS, [8] * n, np.tile(np.arange(5.0, 80, 10), n) * SECONDS, host=0, group=0
    )

    log, _ = crawled(made, 0.25)

    counts = np.bincount(log.page, minlength=n)
    assert counts.max() <= 1.5 * counts.min() + 1


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_pages_that_do_not_matter(share: float):
    """They are fetched with what is left over, and a budget for nothing of worth is no error."""
    made = world("poisson:5d", 20, horizon=30 * SECONDS)
    importance = np.where(np.arange(20) < 20 * share, 0, 1)

    log, planner = crawled(made.with_columns(importance=importance.astype(np.float32)), 0.2)

    page = log.page[log.at > 0]
    assert len(page) == math.floor(20 * 0.2 * 29.5)
    assert np.isfinite(planner.schedule.price)
    if share < 1:
        assert (page >= 10).mean() > 0.9


@pytest.mark.parametrize("budget", [1e-4, 0.01, 1.0])
def test_the_price_does_not_run_away(budget: float):
    """The longest interval is ten times that of even fetches, which leaves room to choose."""
    made = world("S1", 50, horizon=400 * SECONDS, seed=4)
    states = pages(50, host_key=made.host + 1, group_key=made.group + 1)
    first = planned(states, 50 * budget).schedule.price

    log, planner = crawled(made, budget, turn=10 * SECONDS)

    even = SECONDS / budget
    assert planner.schedule.max_interval >= min(10 * even, LONGEST_INTERVAL)
    assert planner.schedule.max_interval >= min(
        float(longest_interval(50, 50 * budget / SECONDS, 0.0)), LONGEST_INTERVAL
    )
    assert first / 1000 < planner.schedule.price < 1000 * first
    assert (log.interval <= planner.schedule.max_interval).all()


@pytest.mark.parametrize("outcome", [Outcome.RETRY, Outcome.GONE, Outcome.DENIED])
def test_a_page_that_was_never_fetched(outcome: Outcome):
    """Failures alone teach nothing of a page; it waits as failures do, whatever its siblings do."""
    states = pages(3, fetched_at=NO_TIME, next_fetch_at=NOW)
    planner = planned(states)
    at = NOW
    for _ in range(50):
        states = visited(planner, states, at, Observation.UNKNOWN, outcome)
        planner.replan(states, at, 1 / SECONDS)
        at += DAY

    chosen, due = planner.pick(states, at, 3)

    require_sound(states, planner, at)
    assert all((getattr(states, name) == 0).all() for name in LEARNED)
    np.testing.assert_array_equal(due, states.next_fetch_at)
    assert np.isfinite(planner.schedule.price)
    assert len(chosen) == 3


def test_a_collection_of_pages_that_are_gone():
    """A crawl that only ever hears that nothing is there goes on."""
    made = world("poisson:5d", 10, horizon=30 * SECONDS).with_columns(gone_at=np.zeros(10))

    log, _ = crawled(made, 0.2)

    assert (log.outcome == Outcome.GONE).all()


extremes = st.sampled_from([-1e9, -1.0, -1e-3, 0.0, 1e-3, 1.0, 1e6, 1e9])
#: bulk_shape is kept in two bytes.
narrow = st.sampled_from([-6e4, -1.0, 0.0, 1e-3, 1.0, 6e4])


@settings(deadline=None, max_examples=60)
@given(
    columns=st.tuples(extremes, extremes, narrow, extremes),
    n_signals=st.sampled_from([0, 1, 32_767]),
    surprise=st.sampled_from([-50.0, 0.0, 2.5, 4.0]),
    importance=st.sampled_from([0.0, 1e-30, 1.0, 1e30]),
    elapsed=st.sampled_from([-CENTURY, -1, 0, 1, 1000, DAY, CENTURY]),
    observation=st.sampled_from(list(Observation)),
    age=st.sampled_from([NO_TIME, -1, 0, 1, DAY, CENTURY]),
    budget=st.sampled_from([0.0, 1e-9, 1.0, 1e9]),
)
def test_whatever_was_learned_and_seen(
    columns: tuple[float, ...],
    n_signals: int,
    surprise: float,
    importance: float,
    elapsed: int,
    observation: Observation,
    age: int,
    budget: float,
):
    """No state, however odd, makes a visit teach or promise what is no number."""
    learned = dict(zip(LEARNED[:4], columns, strict=True))
    states = pages(3, **learned, surprise=surprise, importance=importance, n_signals=n_signals)
    planner = planned(states, budget)
    if n_signals:
        planner.knowledge.signals.hear(states.host_key[:1], NOW)
    at = NOW + elapsed
    visits = Visits.of(
        3, page_key=states.page_key, fetched_at=at, outcome=Outcome.SUCCESS,
        observation=observation, modified_at=age if age == NO_TIME else at - age,
    )  # fmt: skip

    after = planner.knowledge.learn(states, states, visits)
    planner.knowledge.absorb(states, visits)
    planner.replan(after, at, budget / SECONDS)
    chosen, due = planner.pick(after, at, 2)

    require_sound(after, planner, at)
    assert len(chosen) == 2
    assert (np.abs(due - at) <= 2 * CENTURY).all()
    assert not math.isnan(Survey.of(after, planner.knowledge).totals.rate.sum())
