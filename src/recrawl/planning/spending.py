"""A budget of fetches: what may be spent now, and when more may be."""

from __future__ import annotations

import math
from dataclasses import dataclass

from recrawl.core.budget import Budget
from recrawl.core.columns import NEVER

__all__ = ["Spending"]

#: Who could not spend for longer, or for two fetches, does not make up for it by many pages that
#: are not due.  [ms]
_LONGEST_IDLE = 60_000
#: What is missing of a fetch by rounding: instants are whole milliseconds.
_TINY = 1e-6


@dataclass(frozen=True, slots=True)
class Spending:
    """What is left of a budget.

    Parameters
    ----------
    left : float
        Fetches that may be made at ``at``.
    at : int
        When that was. [ms]
    paced_to : int
        Up to when the fetches made have used what came in. [ms]

    Notes
    -----
    The budget comes in evenly, and what is not spent is kept for one period at most: a crawler
    that was off for a month does not make up for it.  The first period begins with all of it.
    What was saved is for pages that are due; others are fetched as fast as the budget comes in.
    """

    left: float
    at: int
    paced_to: int

    @classmethod
    def begin(cls, budget: Budget, now: int) -> Spending:
        """Return the spending of a crawl that begins at ``now`` [ms]."""
        return cls(budget.most, now, now)

    def by(self, now: int, budget: Budget) -> Spending:
        """Return what is left by ``now`` [ms], with what has come in; never less than before."""
        income = max(now - self.at, 0) / 1000 * budget.rate
        left = min(self.left + income, budget.most)
        idle = max(_LONGEST_IDLE, round(2000 / budget.rate)) if budget.rate else _LONGEST_IDLE
        paced_to = min(max(self.paced_to, now - idle), now)
        return Spending(left, now, paced_to)

    @property
    def allowed(self) -> int:
        """How many fetches may be made."""
        return max(math.floor(self.left + _TINY), 0)

    def ahead(self, budget: Budget) -> int:
        """Return how many pages may be fetched before they are due."""
        came_in = (self.at - self.paced_to) / 1000 * budget.rate
        return min(self.allowed, math.floor(came_in + _TINY))

    def spend(self, n: int, budget: Budget) -> Spending:
        """Return what is left after n more fetches; fewer than 0 gives back."""
        used = n / budget.rate * 1000 if budget.rate else 0
        paced_to = min(self.paced_to + round(used), self.at)
        return Spending(self.left - n, self.at, paced_to)

    def next_at(self, budget: Budget) -> int:
        """Return when a page that is due may be fetched [ms]; NEVER with a budget of 0."""
        if budget.rate == 0:
            return NEVER
        missing = 0.0 if self.allowed else 1 - self.left
        return math.ceil(self.at + missing / budget.rate * 1000)

    def next_ahead_at(self, budget: Budget) -> int:
        """Return when a page may be fetched that is not due [ms]; NEVER with a budget of 0."""
        if budget.rate == 0:
            return NEVER
        return max(self.next_at(budget), math.ceil(self.paced_to + 1000 / budget.rate))
