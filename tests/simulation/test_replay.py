"""Replays: pages that are watched for a time, with so many visits in each tick."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.update import UpdateRule
from recrawl.core.visit import Outcome
from recrawl.planning.planner import Planner
from recrawl.schedules.fixed import Fixed
from recrawl.schedules.nutch import NutchAdaptive
from recrawl.schedules.optimal import Optimal
from recrawl.simulation.log import Log
from recrawl.simulation.run import replay
from recrawl.simulation.worlds import World
from recrawl.simulation.worlds.world import millis_after, seconds_at

DAY = 86_400.0


def visits(log: Log, page: int) -> list[float]:
    """Return when a page was visited, in days."""
    return (log.at[log.page == page] / 1000 / DAY).tolist()


def watched() -> World:
    """Return three pages, watched from day 0 to 10, 3 to 10 and 0 to 5."""
    born, gone = np.array([0, 3, 0]) * DAY, np.array([10, 10, 5]) * DAY
    return World.of(10 * DAY, [1, 1, 1], [DAY, 4 * DAY, DAY], born_at=born, gone_at=gone)


def schedules() -> list[object]:
    return [
        pytest.param(lambda: Fixed(default_interval=DAY), id="schedule"),
        pytest.param(lambda: Planner(Optimal()), id="planner"),
    ]


@pytest.mark.parametrize("make", schedules())
def test_first_visits_are_made_beyond_what_is_allowed(make):
    """Each page is visited when it is first watched, though nothing is allowed."""
    log = replay(watched(), make(), np.zeros(9, dtype=np.int64), budget=1 / DAY, tick=DAY)

    assert [visits(log, page) for page in range(3)] == [[0], [3], [0]]


@pytest.mark.parametrize("make", schedules())
def test_a_page_is_left_alone_when_it_is_watched_no_longer(make):
    """Nobody visits a page after its end, so that none of its visits finds it gone."""
    log = replay(watched(), make(), np.full(9, 3), budget=3 / DAY, tick=DAY)

    assert max(visits(log, 2)) == 4
    assert min(visits(log, 1)) == 3
    assert max(visits(log, 1)) == 9
    assert set(log.outcome.tolist()) == {Outcome.SUCCESS}


def test_each_tick_has_its_own_visits():
    """So many are made as the tick allows, the first tick aside, which visits all there are."""
    allowed = np.array([0, 2, 0, 1, 2, 0, 0, 1, 0])

    log = replay(watched(), Fixed(default_interval=DAY), allowed, budget=1 / DAY, tick=DAY)

    by_day = np.bincount((log.at / 1000 / DAY).astype(int), minlength=10)
    assert by_day.tolist() == [2, 0, 2, 1, 1, 2, 0, 0, 1, 0]


def test_an_exact_rule_has_no_bounds():
    """What the original does with the interval is left to it."""
    log = replay(
        watched(), NutchAdaptive(exact=True), np.full(9, 1), budget=1 / DAY, tick=DAY,
        rule=UpdateRule(exact=True),
    )  # fmt: skip

    assert len(log) == 3 + 9


@given(st.lists(st.integers(0, 2**46), min_size=1))
def test_milliseconds_survive_the_way_through_seconds(millis):
    """A time in seconds is read as the same millisecond again, and never as a later one."""
    at = np.array(millis)

    assert (millis_after(seconds_at(at)) == at).all()
