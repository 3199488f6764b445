"""Fixed fetches each page at its own interval."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.core.columns import NO_TIME
from recrawl.core.states import PageStates
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.errors import InputError
from recrawl.schedules.fixed import Fixed
from recrawl.testing.factories import DAY, NOW
from recrawl.testing.schedule import ScheduleContract


class TestFixed(ScheduleContract):
    def make_schedule(self) -> Fixed:
        return Fixed()


def visit(**columns: object) -> Visits:
    return Visits.of(1, **{"fetched_at": NOW, "outcome": Outcome.SUCCESS, **columns})


@pytest.mark.parametrize("observation", Observation)
def test_the_interval_stays_whatever_was_seen(observation: Observation) -> None:
    """Change makes no difference to the interval."""
    timing = Fixed().after(PageStates.of(1, interval=100), visit(observation=observation))

    assert timing.interval.tolist() == [100]
    assert timing.next_fetch_at.tolist() == [NOW + 100_000]


def test_a_page_without_interval_gets_the_default() -> None:
    """NaN and 0 stand for the default interval."""
    states = PageStates.of(2, interval=[np.nan, 0])
    visits = Visits.of(2, fetched_at=NOW, outcome=Outcome.SUCCESS)

    assert Fixed(default_interval=60).after(states, visits).interval.tolist() == [60, 60]


@pytest.mark.parametrize(
    ("observation", "modified_at", "expected"),
    [
        (Observation.UNKNOWN, NO_TIME, NOW),
        (Observation.UNKNOWN, NOW - 5, NOW - 5),
        (Observation.CHANGED, NOW - 5, NOW),
    ],
)
def test_content_that_is_new_or_undated_is_dated_by_the_fetch(
    observation: Observation, modified_at: int, expected: int
) -> None:
    """The modified time is the server's, unless it is unknown or the content just changed."""
    timing = Fixed().after(
        PageStates.of(1), visit(observation=observation, modified_at=modified_at)
    )

    assert timing.modified_at.tolist() == [expected]


def test_exact_mode_ignores_an_interval_set_by_hand() -> None:
    """The original's default schedule does not look at fixedInterval."""
    states = PageStates.of(1, interval=100, fixed_interval=7)

    assert Fixed(exact=True).after(states, visit()).interval.tolist() == [100]


@pytest.mark.parametrize("setting", ["default_interval", "interval_max", "retry_interval"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), 1e12])
def test_a_setting_out_of_range_is_refused(setting: str, value: float) -> None:
    """A setting that would lose pages or crawl without pause is named, with what is allowed."""
    with pytest.raises(InputError, match=f"fixed: {setting} is .*, allowed is 0.001 s to"):
        Fixed(**{setting: value})


def test_exact_mode_takes_what_the_original_takes() -> None:
    """An interval of 0 is the original's default in code: due again at once."""
    timing = Fixed(default_interval=0, exact=True).after(PageStates.of(1, interval=0), visit())

    assert timing.next_fetch_at.tolist() == [NOW]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    ("observation", "modified_at"),
    [(Observation.CHANGED, NOW - 30 * DAY), (Observation.UNKNOWN, NO_TIME)],
)
def test_the_documented_modified_time_is_the_one_given(
    exact: bool, observation: Observation, modified_at: int
) -> None:
    """The interface hands on what it is given; the code takes the time of the fetch instead."""
    visits = Visits.of(
        1,
        fetched_at=NOW,
        outcome=Outcome.SUCCESS,
        observation=observation,
        modified_at=modified_at,
    )
    states = PageStates.of(1, interval=86_400)

    documented = Fixed(variant="documented", exact=exact).after(states, visits)
    code = Fixed(exact=exact).after(states, visits)

    assert (documented.modified_at[0], code.modified_at[0]) == (modified_at, NOW)
