"""What happens to a page's timing around and besides the interval."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.core.states import PageStates, PageStatus
from recrawl.core.timing import Timing
from recrawl.core.visit import Outcome, Visits
from recrawl.schedules import lifecycle
from recrawl.testing.factories import NOW

HOUR = 3600.0
SETTINGS = {"default_interval": 1000.0, "interval_max": 10_000.0, "retry_interval": 86_400.0}


def after(
    outcome: Outcome, interval: float, *, exact: bool = False, **columns: object
) -> tuple[float, float]:
    """Return the interval and the wait after a failure of one page. [s]."""
    states = PageStates.of(1, interval=interval, **columns)
    visits = Visits.of(1, fetched_at=NOW, outcome=outcome)
    timing = Timing(np.zeros(1), np.zeros(1, np.int64), np.zeros(1, np.int64))
    lifecycle.put_failures(timing, states, visits, exact=exact, **SETTINGS)
    return timing.interval[0], (timing.next_fetch_at[0] - NOW) / 1000


@pytest.mark.parametrize("outcome", [Outcome.GONE, Outcome.PARSE_FAILED])
@pytest.mark.parametrize(("interval", "longer"), [(100, 150), (6000, 9000), (7000, 9000)])
def test_a_page_that_is_gone_waits_half_as_long_again(
    outcome: Outcome, interval: float, longer: float
) -> None:
    """The interval grows by half, and no further than 0.9 of the most."""
    assert after(outcome, interval) == (longer, longer)


def test_exact_mode_rounds_the_interval_of_a_page_that_is_gone() -> None:
    """Half as long again as 3 s is 4.5 s, which is stored and waited for as 5 s."""
    assert after(Outcome.GONE, 3, exact=True) == (5, 5)
    assert after(Outcome.GONE, 3) == (4.5, 4.5)


def test_a_temporary_failure_is_tried_again_after_a_day() -> None:
    """The interval stays, only this wait is a day."""
    assert after(Outcome.RETRY, 30 * 86_400) == (30 * 86_400, 86_400)


def test_a_page_fetched_often_is_tried_again_as_soon_as_usual() -> None:
    """A page with an interval of an hour waits an hour; in exact mode it waits a day."""
    assert after(Outcome.RETRY, HOUR) == (HOUR, HOUR)
    assert after(Outcome.RETRY, HOUR, exact=True) == (HOUR, 86_400)


def test_a_page_that_failed_too_often_waits_as_one_that_is_gone() -> None:
    """The merged status decides between trying again and giving up."""
    assert after(Outcome.RETRY, 100, status=PageStatus.GONE) == (150, 150)


@pytest.mark.parametrize("outcome", [Outcome.DENIED, Outcome.EMPTY])
def test_a_denied_or_empty_page_waits_for_its_interval(outcome: Outcome) -> None:
    """Nothing was learned, so nothing changes."""
    assert after(outcome, 500) == (500, 500)


@pytest.mark.parametrize("outcome", [Outcome.GONE, Outcome.DENIED])
def test_an_interval_set_by_hand_does_not_grow(outcome: Outcome) -> None:
    """The user's interval holds for a page that is gone as well."""
    assert after(outcome, 500, fixed_interval=70) == (70, 70)


def test_exact_mode_ignores_an_interval_set_by_hand() -> None:
    """The original's failures look at the stored interval only."""
    assert after(Outcome.GONE, 500, exact=True, fixed_interval=70) == (750, 750)


@pytest.mark.parametrize("interval", [np.nan, 0, -5])
def test_a_page_without_interval_starts_from_the_default(interval: float) -> None:
    """Unknown, 0 and negative all mean the default."""
    assert after(Outcome.DENIED, interval) == (1000, 1000)


def test_first_gives_the_default_to_all_in_exact_mode() -> None:
    """Nutch overwrites the interval of a page it initialises."""
    timing = lifecycle.first(
        PageStates.of(2, interval=[5, np.nan]), NOW, default_interval=7, exact=True
    )

    assert timing.interval.tolist() == [7, 7]


def test_the_last_fetch_is_worked_out_from_the_plan() -> None:
    """It is the next fetch less the interval, and 0 for a page that was never fetched."""
    at = lifecycle.last_fetch_at(
        np.array([PageStatus.FETCHED, PageStatus.UNFETCHED], np.int8),
        np.array([NOW, NOW]),
        np.array([60.0, 60.0]),
    )

    assert at.tolist() == [NOW - 60_000, 0]


def test_a_plan_too_far_away_is_brought_to_now() -> None:
    """Such a page is due, and its interval is cut if it is too long as well."""
    is_due, next_fetch_at, interval = lifecycle.should_fetch(
        np.array([NOW, NOW + 1, NOW + 100_000, NOW + 100_001]),
        np.array([50.0, 50, 101, 101]),
        NOW,
        interval_max=100,
    )

    assert is_due.tolist() == [True, False, False, True]
    assert next_fetch_at.tolist() == [NOW, NOW + 1, NOW + 100_000, NOW]
    assert interval.tolist() == [50, 50, 101, 90]
