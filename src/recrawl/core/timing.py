"""What a schedule is, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from recrawl.core.states import PageStates, Seconds, Times
from recrawl.core.visit import Visits

__all__ = ["Learner", "Schedule", "Timing"]


@dataclass(frozen=True, slots=True)
class Timing:
    """When n pages are fetched next, each array of shape ``(n,)``.

    Parameters
    ----------
    interval : ndarray of float64
        The new fetch interval. [s]
    next_fetch_at : ndarray of int64
        When the page is due; NEVER for not again. [ms]
    modified_at : ndarray of int64
        When the content is taken to have changed last; the update keeps the old value where
        the visit saw no change. [ms]
    """

    interval: Seconds
    next_fetch_at: Times
    modified_at: Times


class Schedule(Protocol):
    """Decides when each page is fetched next.

    Row-wise and pure: permuted rows give permuted rows, and any split gives the same rows.
    Bounds, guards and jitter are not a schedule's business; ``core.interval`` wraps any schedule.
    """

    def first(self, states: PageStates, now: int) -> Timing:
        """Return the timing of pages that were just added.

        - ``states.interval`` is NaN where the user gave none.
        - Nothing is fetched by this call; pages are usually due at ``now``.
        """
        ...

    def after(self, states: PageStates, visits: Visits) -> Timing:
        """Return the timing after one visit a page.

        - ``states`` is already merged with the visit (status, retries); ``states.interval`` is
          still the one before.
        - ``visits.observation`` is filled in.
        - A visit that failed is scheduled too: every row gets a time or NEVER.
        """
        ...


class Learner(Protocol):
    """Writes what visits teach into the pages' columns, for a schedule to read."""

    def learn(self, before: PageStates, merged: PageStates, visits: Visits) -> PageStates:
        """Return ``merged`` with the learned columns after one visit a page.

        - ``before`` are the states before the visit, ``merged`` those that it left.
        - ``visits.observation`` is filled in, and ``visits.modified_at`` can be believed.
        - Row-wise and pure, as a schedule is.
        """
        ...
