"""Baselines: what they plan, by truth or by estimate, and that a plan is kept."""

from __future__ import annotations

import math

import numpy as np
import pytest

from recrawl.core.columns import NEVER, NO_TIME
from recrawl.core.interval import LONGEST_INTERVAL
from recrawl.core.states import PageStates
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.errors import InputError
from recrawl.simulation.baselines import BASELINES, ChoGarciaMolina, Planned
from recrawl.simulation.run import START_AT
from recrawl.simulation.worlds import World

DAY = 86_400.0
DAY_MS = 86_400_000


def world_of_rates(*a_day: float) -> World:
    n = len(a_day)
    return World.of(100 * DAY, np.zeros(n, int), [], true_rate=np.array(a_day) / DAY)


def states_of(n: int, **columns: object) -> PageStates:
    return PageStates.of(n, page_key=np.arange(1, n + 1), **columns)


def visits_of(states: PageStates, at: int, **columns: object) -> Visits:
    return Visits.of(
        len(states),
        page_key=states.page_key,
        fetched_at=at,
        outcome=Outcome.SUCCESS,
        **columns,
    )


@pytest.mark.parametrize(
    ("name", "a_day"),
    [
        ("uniform", [1.0] * 5),
        ("proportional", [1 / 3, 2 / 3, 1.0, 4 / 3, 5 / 3]),
        ("optimal-known", [1.15, 1.36, 1.35, 1.14, 0.0]),
        ("azar", [1.386, 1.374, 1.133, 0.772, 0.335]),
    ],
)
def test_known_rates_are_shared_out(name: str, a_day: list[float]):
    """Five pages that change 1 to 5 times a day get the five fetches as the allocation says."""
    world = world_of_rates(1.0, 2.0, 3.0, 4.0, 5.0)

    planned = BASELINES[name](world).replan(states_of(5), START_AT, 5 / DAY)

    assert planned.crawl_rate * DAY == pytest.approx(a_day, abs=0.005)


def test_the_oracle_follows_rates_that_switch():
    """The optimum is planned anew by the rates of the day; the others keep their first plan.

    What it gives up it looks at again, at a third of the mean rate, since rates may fall.
    """
    world = World.of(
        100 * DAY,
        [0, 0],
        [],
        true_rate=np.array([1.0, 0.0]) / DAY,
        switch_at=np.array([[50 * DAY], [50 * DAY]]),
        switch_rate=np.array([[0.0], [1.0]]) / DAY,
    )
    now = START_AT + 60 * DAY_MS

    plans = {}
    for name in ("optimal-known", "azar"):
        first = BASELINES[name](world).replan(states_of(2), START_AT, 1 / DAY)
        plans[name] = first.replan(states_of(2), now, 1 / DAY).crawl_rate * DAY

    assert plans["optimal-known"] == pytest.approx([1 / 6, 1.0])
    assert plans["azar"] == pytest.approx([1.0, 0.0])


def test_new_pages_are_due_at_once():
    """A page that was just added is fetched first of all."""
    timing = BASELINES["uniform"](world_of_rates(1.0)).first(states_of(1), START_AT)

    assert timing.next_fetch_at.tolist() == [START_AT]


def test_a_plan_is_kept_whatever_a_visit_saw():
    """The next fetch comes after the planned interval, and not at all at a rate of 0."""
    plan = Planned(np.array([1, 2]), np.array([0.5 / DAY, 0.0]))
    states = states_of(2)

    timing = plan.after(
        states, visits_of(states, START_AT, observation=[Observation.CHANGED, Observation.UNKNOWN])
    )

    assert timing.interval.tolist() == pytest.approx([2 * DAY, LONGEST_INTERVAL])
    assert timing.next_fetch_at.tolist() == [START_AT + 2 * DAY_MS, NEVER]
    assert timing.modified_at.tolist() == [START_AT, START_AT]


def test_a_plan_keeps_the_modified_time_of_an_unchanged_page():
    """What the server said stays where the visit saw no change."""
    states = states_of(1)
    visits = visits_of(
        states, START_AT, modified_at=START_AT - 5, observation=Observation.UNCHANGED
    )

    timing = Planned(states.page_key, np.array([1.0])).after(states, visits)

    assert timing.modified_at.tolist() == [START_AT - 5]


@pytest.mark.parametrize("keys", [[], [1], [1, 3]])
def test_a_page_without_a_plan_is_named(keys: list[int]):
    """A visit of a page that is not in the plan is refused."""
    states = states_of(2)
    plan = Planned(np.array(keys, dtype=np.int64), np.ones(len(keys)))

    with pytest.raises(InputError, match="no crawl rate is planned for the page"):
        plan.after(states, visits_of(states, START_AT))


def test_a_plan_has_its_pages_in_order():
    """Keys out of order could not be found again."""
    with pytest.raises(InputError, match="not in ascending order"):
        Planned(np.array([2, 1]), np.ones(2))


@pytest.mark.parametrize("name", list(BASELINES))
def test_a_baseline_needs_a_budget(name: str):
    """Without a budget there is nothing to share out."""
    with pytest.raises(InputError, match="shares out a budget and none was given"):
        BASELINES[name](world_of_rates(1.0)).replan(states_of(1), START_AT, None)


def learned(n_visits: list[int], n_changes: list[int], days: float) -> ChoGarciaMolina:
    """Return the plan after so many visits from the start on, the last ``days`` later."""
    schedule = BASELINES["cho-garcia-molina"](world_of_rates(*[0.0] * len(n_visits)))
    at_start = states_of(len(n_visits))
    fetched = states_of(len(n_visits), n_visits=1, fetched_at=START_AT)
    later = states_of(
        len(n_visits),
        n_visits=n_visits,
        n_changes=n_changes,
        fetched_at=START_AT + round(days * DAY_MS),
    )
    budget = 0.1 * len(n_visits) / DAY
    for now, states in ((0, at_start), (1, fetched), (days, later)):
        schedule = schedule.replan(states, START_AT + round(now * DAY_MS), budget)
    return schedule


def test_pages_of_which_nothing_is_known_are_fetched_alike():
    """Before the second visit all pages of one importance get the same share."""
    schedule = BASELINES["cho-garcia-molina"](world_of_rates(1.0, 5.0))

    planned = schedule.replan(states_of(2), START_AT, 0.2 / DAY)

    assert planned.crawl_rate * DAY == pytest.approx([0.1, 0.1])
    assert planned.first_at.tolist() == [NO_TIME, NO_TIME]


def test_what_was_seen_sets_the_rate():
    """A page that changed gets more than one that did not, which is not given up."""
    crawl_rate = learned([11, 11], [5, 0], 100.0).crawl_rate

    assert crawl_rate[0] > crawl_rate[1] > 0


def test_a_page_that_differs_each_time_is_taken_as_fast():
    """At every visit a change: too fast to be worth a fetch beside a page that is not."""
    crawl_rate = learned([41, 41], [40, 4], 20.0).crawl_rate

    assert crawl_rate[0] < crawl_rate[1]


def test_a_page_that_was_given_up_is_tried_again():
    """A page too fast to be worth a fetch keeps a third of the mean rate, and gets more later."""
    schedule = learned([41, 41], [40, 4], 20.0)
    states = states_of(2, n_visits=[41, 41], n_changes=[40, 4], fetched_at=START_AT + 20 * DAY_MS)

    later = schedule.replan(states, START_AT + 2000 * DAY_MS, 0.2 / DAY)

    assert schedule.crawl_rate[0] * DAY == pytest.approx(0.1 / 3)
    assert later.crawl_rate[0] > schedule.crawl_rate[0]


def test_importance_is_minded():
    """Of two pages alike the one that matters more is fetched more often."""
    schedule = BASELINES["cho-garcia-molina"](world_of_rates(0.0, 0.0))
    states = states_of(2, importance=[1.0, 9.0])

    crawl_rate = schedule.replan(states, START_AT, 0.2 / DAY).crawl_rate

    assert crawl_rate[1] > 2 * crawl_rate[0]
    assert crawl_rate.sum() * DAY == pytest.approx(0.2)


def test_the_first_visit_is_remembered():
    """It is the visit itself, or the last plan where there have been two since then."""
    schedule = BASELINES["cho-garcia-molina"](world_of_rates(0.0, 0.0))
    plans = [START_AT, START_AT + DAY_MS]
    states = states_of(2, n_visits=[1, 2], fetched_at=[START_AT + 5, START_AT + 9])

    for now, seen in zip(plans, (states_of(2), states), strict=True):
        schedule = schedule.replan(seen, now, 0.2 / DAY)

    assert schedule.first_at.tolist() == [START_AT + 5, START_AT]
    assert math.isfinite(schedule.crawl_rate.sum())
