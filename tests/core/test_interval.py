"""Bounds, guards and jitter hold for any schedule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.columns import NEVER, NO_TIME
from recrawl.core.interval import Bounds, believable, bound
from recrawl.core.states import PageStates
from recrawl.core.timing import Timing
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.errors import InputError
from recrawl.testing.factories import DAY, NOW
from recrawl.testing.schedule import differing_columns

STILL = Bounds(min_interval=100, max_interval=1000, jitter=0)


def bounded(
    bounds: Bounds,
    next_fetch_at: Any,
    *,
    interval: Any = 500.0,
    fixed_interval: float = np.nan,
    page_key: Any = None,
) -> Timing:
    """Return the bounded timing of pages visited now."""
    next_fetch_at = np.atleast_1d(np.asarray(next_fetch_at, dtype=np.int64))
    n = len(next_fetch_at)
    timing = Timing(
        np.broadcast_to(np.asarray(interval, dtype=np.float64), n), next_fetch_at, np.full(n, NOW)
    )
    return bound(
        timing,
        bounds,
        page_key=np.arange(1, n + 1) if page_key is None else page_key,
        fetched_at=np.full(n, NOW),
        fixed_interval=np.full(n, fixed_interval, np.float32),
    )


@pytest.mark.parametrize(
    ("wait", "expected"),
    [(500, 500), (1, 100), (-3600, 100), (5000, 1000), (100, 100), (1000, 1000)],
)
def test_the_next_fetch_itself_is_clamped(wait: int, expected: int) -> None:
    """A fetch in the past or too far away is brought within the bounds."""
    timing = bounded(STILL, NOW + wait * 1000)

    assert timing.next_fetch_at.tolist() == [NOW + expected * 1000]


def test_the_interval_is_clamped() -> None:
    """The interval that is kept lies within the bounds as well."""
    timing = bounded(STILL, [NOW] * 3, interval=[1, 500, 5000])

    assert timing.interval.tolist() == [100, 500, 1000]


@pytest.mark.parametrize("next_fetch_at", [NO_TIME, NO_TIME + 1, NEVER - 1])
def test_a_time_at_the_end_of_the_range_is_clamped(next_fetch_at: int) -> None:
    """Differences that int64 cannot hold do not wrap round."""
    wait = (bounded(STILL, next_fetch_at).next_fetch_at[0] - NOW) / 1000

    assert wait == (1000 if next_fetch_at > 0 else 100)


def test_never_stays_never() -> None:
    """A page that is not to be fetched again is left alone, and so is its interval."""
    timing = bounded(Bounds(), NEVER, interval=np.nan)

    assert timing.next_fetch_at.tolist() == [NEVER]
    assert np.isnan(timing.interval[0])


def test_an_interval_set_by_hand_is_not_moved() -> None:
    """Bounds and jitter are for schedules, not for users."""
    timing = bounded(
        Bounds(min_interval=100, max_interval=1000, jitter=1),
        NOW + 5_000,
        interval=5,
        fixed_interval=5,
    )

    assert timing.next_fetch_at.tolist() == [NOW + 5_000]
    assert timing.interval.tolist() == [5]


@pytest.mark.parametrize("fixed_interval", [0, -5, np.inf])
def test_an_interval_set_by_hand_that_cannot_be_used_is_bounded(fixed_interval: float) -> None:
    """Nothing that would crawl without pause passes the bounds."""
    timing = bounded(STILL, NOW - 5_000, fixed_interval=fixed_interval)

    assert timing.next_fetch_at.tolist() == [NOW + 100_000]


@given(
    wait=st.integers(-(2**60), 2**60),
    low=st.floats(0.001, 1e6),
    factor=st.floats(1, 1000),
    jitter=st.floats(0, 1),
    key=st.integers(-(2**63), 2**63 - 1),
)
def test_the_bounds_hold_whatever_comes(
    wait: int, low: float, factor: float, jitter: float, key: int
) -> None:
    """The next fetch lies within the bounds to the millisecond, jitter included."""
    bounds = Bounds(min_interval=low, max_interval=low * factor, jitter=jitter)

    timing = bounded(bounds, NOW + wait, page_key=np.array([key]))

    found = timing.next_fetch_at[0] - NOW
    assert round(low * 1000) - 1 <= found <= round(low * factor * 1000) + 1


def test_jitter_spreads_pages_evenly_around_their_wait() -> None:
    """Pages due together are moved apart by up to the share, early as often as late.

    The mean of 10,000 even draws from 900 to 1,100 s has a standard error of
    200 / sqrt(12 * 10,000) = 0.58 s; the threshold is 4 of them.
    """
    bounds = Bounds(min_interval=60, max_interval=1e6, jitter=0.1)

    timing = bounded(bounds, np.full(10_000, NOW + 1_000_000))

    wait = (timing.next_fetch_at - NOW) / 1000
    assert 900 <= wait.min() < 901
    assert 1099 < wait.max() <= 1100
    assert abs(wait.mean() - 1000) < 4 * 0.58


def test_jitter_does_not_pile_pages_up_at_a_bound() -> None:
    """Pages whose wait is the greatest are spread below it."""
    timing = bounded(Bounds(100, 1000, 0.1), np.full(1000, NOW + 9_000_000))

    wait = (timing.next_fetch_at - NOW) / 1000
    assert len(np.unique(wait)) > 990
    assert 900 <= wait.min() < 905
    assert 995 < wait.max() <= 1000


def test_jitter_depends_on_page_and_visit_only() -> None:
    """The same visit gives the same time again; another page another one."""
    first = bounded(Bounds(), [NOW + DAY] * 2)
    again = bounded(Bounds(), [NOW + DAY] * 2)

    assert differing_columns(first, again) == []
    assert first.next_fetch_at[0] != first.next_fetch_at[1]


def test_bounds_may_differ_from_page_to_page() -> None:
    """Arrays give each row its own bounds, and can be split with the rows."""
    bounds = Bounds(np.array([10.0, 100.0]), np.array([20.0, 200.0]), 0.0)

    timing = bounded(bounds, [NOW, NOW])
    second = bounded(bounds.take([1]), NOW)

    assert timing.next_fetch_at.tolist() == [NOW + 10_000, NOW + 100_000]
    assert second.next_fetch_at.tolist() == [NOW + 100_000]


def test_no_rows_are_bounded_to_no_rows() -> None:
    """An empty batch is answered by an empty one."""
    assert bounded(Bounds(), []).next_fetch_at.shape == (0,)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"min_interval": 0}, "min_interval is not from 0.001 to .* s: 0$"),
        ({"max_interval": 1e12}, "max_interval is not from 0.001 to .* s: 1e\\+12$"),
        ({"min_interval": np.nan}, "min_interval is not .* nan$"),
        ({"min_interval": 200, "max_interval": 100}, "greater than max_interval; .*: 200$"),
        ({"min_interval": np.array([1.0, 9.0]), "max_interval": 5}, "greater .*: 9$"),
        ({"jitter": 1.5}, "jitter is not from 0 to 1: 1.5$"),
        ({"jitter": -0.1}, "jitter is not from 0 to 1: -0.1$"),
    ],
)
def test_bounds_that_cannot_hold_are_refused(settings: dict[str, Any], message: str) -> None:
    """The message names the setting, what is allowed and the first bad value."""
    with pytest.raises(InputError, match=message):
        Bounds(**settings)


def believed(remembered: int, given_at: int, observation: Observation = Observation.UNKNOWN) -> int:
    """Return the modified time that a schedule sees."""
    visits = Visits.of(
        1,
        fetched_at=NOW,
        outcome=Outcome.SUCCESS,
        observation=observation,
        modified_at=given_at,
    )
    return int(believable(PageStates.of(1, modified_at=remembered), visits).modified_at[0])


def test_the_servers_modified_time_is_believed() -> None:
    """A time up to the fetch itself is taken as given."""
    assert believed(NOW - DAY, NOW - 5) == NOW - 5
    assert believed(NOW - DAY, NOW) == NOW


def test_a_modified_time_in_the_future_is_unknown() -> None:
    """The one remembered stands in, and if that is in the future too, none."""
    assert believed(NOW - DAY, NOW + 1) == NOW - DAY
    assert believed(NO_TIME, NOW + 1) == NO_TIME
    assert believed(NOW + DAY, NOW + 1) == NO_TIME


def test_without_a_modified_time_the_one_remembered_is_used() -> None:
    """Most pages have none."""
    assert believed(NOW - DAY, NO_TIME) == NOW - DAY


def test_an_unchanged_page_was_modified_when_it_was_before() -> None:
    """A server that stamps each answer with the present does not make its pages young."""
    assert believed(NOW - DAY, NOW, Observation.UNCHANGED) == NOW - DAY
    assert believed(NO_TIME, NOW - 5, Observation.UNCHANGED) == NOW - 5
