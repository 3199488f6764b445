"""The contract suite of schedules, and random pages to run it on.

A schedule's test file subclasses ``ScheduleContract`` and gets every test::

    class TestMySchedule(ScheduleContract):
        def make_schedule(self):
            return MySchedule()
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from recrawl.core.columns import NEVER, NO_KEY, NO_SCHEME, NO_TIME, SIGNATURE_BYTES
from recrawl.core.states import Announced, PageStates, PageStatus
from recrawl.core.timing import Schedule, Timing
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.testing.factories import DAY, NOW

__all__ = ["ScheduleContract", "differing_columns", "random_pages"]


def random_pages(n: int, seed: int = 0) -> tuple[PageStates, Visits]:
    """Return n pages in every state, and a visit of each with every outcome.

    Parameters
    ----------
    n : int
        Number of pages.
    seed : int
        Another seed, other pages.

    Examples
    --------
    >>> states, visits = random_pages(3)
    >>> len(states), len(visits)
    (3, 3)
    """
    rng = np.random.default_rng(seed)
    page_key = rng.permutation(n) + 1
    signatures = np.array([bytes([i]) * SIGNATURE_BYTES for i in range(3)], dtype="V16")
    fetched_at = NOW + rng.integers(0, DAY, n)

    def some(values: Any, share: float, other: Any) -> Any:
        return np.where(rng.random(n) < share, values, other)

    states = PageStates.of(
        n,
        page_key=page_key,
        host_key=rng.integers(1, 5, n),
        status=rng.choice(list(PageStatus), n),
        announced=rng.choice(list(Announced), n),
        next_fetch_at=fetched_at - rng.integers(0, DAY, n),
        interval=some(rng.uniform(1, 1e7, n), 0.9, np.nan),
        fixed_interval=some(rng.uniform(60, 1e6, n), 0.1, np.nan),
        retries=rng.integers(0, 5, n),
        n_visits=rng.integers(0, 100, n),
        n_changes=rng.integers(0, 100, n),
        fetched_at=fetched_at - rng.integers(1, 100 * DAY, n),
        modified_at=some(NOW - rng.integers(0, 1000 * DAY, n), 0.8, NO_TIME),
        changed_at=some(NOW - rng.integers(0, 1000 * DAY, n), 0.8, NO_TIME),
        redirect_key=some(rng.integers(1, 4, n), 0.3, NO_KEY),
        signature=rng.choice(signatures, n),
        signature_scheme=rng.choice([NO_SCHEME, 1, 2], n),
        mime_key=rng.integers(0, 4, n),
        moved_layers=rng.integers(0, 16, n),
        **_learned(n, seed),
    )
    visits = Visits.of(
        n,
        page_key=page_key,
        fetched_at=fetched_at,
        outcome=rng.choice(list(Outcome), n),
        observation=rng.choice(list(Observation), n),
        modified_at=some(NOW - rng.integers(-10 * DAY, 1000 * DAY, n), 0.6, NO_TIME),
        redirect_key=some(rng.integers(1, 4, n), 0.5, NO_KEY),
        signature=rng.choice(signatures, n),
        signature_scheme=rng.choice([NO_SCHEME, 1, 2], n),
        mime_key=rng.integers(0, 4, n),
    )
    return states, visits


def _learned(n: int, seed: int) -> dict[str, Any]:
    """Return the group of each page and what visits taught of it; of some, nothing yet."""
    # Numbers of their own: the other columns stay what they were before these were there.
    rng = np.random.default_rng([seed, 1])
    is_known = rng.random(n) < 0.8

    def known(lowest: float, highest: float) -> Any:
        return np.where(is_known, np.exp(rng.uniform(np.log(lowest), np.log(highest), n)), 0.0)

    return {
        "group_key": rng.integers(0, 6, n),
        "rate_shape": known(0.05, 50),
        "rate_exposure": known(1e3, 1e9),
        "bulk_shape": known(0.05, 50),
        "bulk_exposure": known(0.05, 50),
    }


def differing_columns(first: Any, second: Any) -> list[str]:
    """Return the names of the columns in which two sets of rows differ; NaN equals NaN."""
    return [
        column.name
        for column in fields(first)
        if getattr(first, column.name).tobytes() != getattr(second, column.name).tobytes()
    ]


def _take(timing: Timing, index: Any) -> Timing:
    return Timing(*(getattr(timing, f.name)[index] for f in fields(timing)))


class ScheduleContract:
    """What holds for every schedule in guarded mode."""

    n_pages = 500

    def make_schedule(self) -> Schedule:
        """Return the schedule under test."""
        raise NotImplementedError

    def test_every_row_gets_a_time(self) -> None:
        """Whatever the outcome, each page has an interval and is due after the visit, or never."""
        states, visits = random_pages(self.n_pages)

        timing = self.make_schedule().after(states, visits)

        is_later = (timing.next_fetch_at > visits.fetched_at) & (timing.next_fetch_at <= NEVER)
        assert is_later.all()
        assert (timing.interval > 0).all()
        assert np.isfinite(timing.interval).all()

    def test_columns_have_their_types(self) -> None:
        """The answer has the types and the shape that the state has."""
        states, visits = random_pages(3)

        timing = self.make_schedule().after(states, visits)

        found = [(f.name, getattr(timing, f.name).dtype.name) for f in fields(timing)]
        assert found == [
            ("interval", "float64"),
            ("next_fetch_at", "int64"),
            ("modified_at", "int64"),
        ]
        assert {getattr(timing, f.name).shape for f in fields(timing)} == {(3,)}

    def test_permuted_rows_give_permuted_rows(self) -> None:
        """No page's timing depends on its place in the batch."""
        states, visits = random_pages(self.n_pages)
        order = np.random.default_rng(1).permutation(self.n_pages)
        schedule = self.make_schedule()

        permuted = schedule.after(states.take(order), visits.take(order))

        assert differing_columns(permuted, _take(schedule.after(states, visits), order)) == []

    @pytest.mark.parametrize("size", [1, 7])
    def test_any_split_gives_the_same_rows(self, size: int) -> None:
        """A batch in parts, down to single pages, gives what the whole gives."""
        states, visits = random_pages(50)
        schedule = self.make_schedule()
        whole = schedule.after(states, visits)

        for start in range(0, 50, size):
            rows = np.arange(50)[start : start + size]
            part = schedule.after(states.take(rows), visits.take(rows))
            assert differing_columns(part, _take(whole, rows)) == []

    def test_no_rows_give_no_rows(self) -> None:
        """An empty batch is answered by an empty one."""
        states, visits = random_pages(0)

        assert len(self.make_schedule().after(states, visits).interval) == 0
        assert len(self.make_schedule().first(states, NOW).interval) == 0

    def test_arguments_are_left_alone(self) -> None:
        """A schedule writes into no array that it was given."""
        states, visits = random_pages(self.n_pages)
        for rows in (states, visits):
            for column in fields(rows):
                getattr(rows, column.name).flags.writeable = False

        self.make_schedule().first(states, NOW)
        self.make_schedule().after(states, visits)

    def test_new_pages_are_due_at_once_with_the_interval_they_bring(self) -> None:
        """A page that was just added is due now; its own interval is kept."""
        states = PageStates.of(3, interval=[np.nan, 60, 60], fixed_interval=[np.nan, np.nan, 90])

        timing = self.make_schedule().first(states, NOW)

        assert timing.next_fetch_at.tolist() == [NOW] * 3
        assert timing.interval[0] > 0
        assert timing.interval[1:].tolist() == [60, 90]

    def test_an_interval_set_by_hand_is_not_moved(self) -> None:
        """A fixed interval holds after every outcome, only a failure may be tried again sooner."""
        states, visits = random_pages(self.n_pages)
        states = states.with_columns({"fixed_interval": np.full(self.n_pages, 100_000)})

        timing = self.make_schedule().after(states, visits)

        wait = timing.next_fetch_at - visits.fetched_at
        may_retry = visits.outcome == Outcome.RETRY
        assert (timing.interval == 100_000).all()
        assert (wait[~may_retry] == 100_000_000).all()
        assert (wait[may_retry] <= 100_000_000).all()
