"""Spends a budget on a collection: the price of a fetch, what to fetch, whose turn moves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from recrawl.core.interval import LONGEST_INTERVAL
from recrawl.core.states import PageStates, Times
from recrawl.core.turns import turns
from recrawl.core.visit import Visits
from recrawl.errors import InputError
from recrawl.planning.knowledge import Knowledge
from recrawl.schedules.multiplier import longest_interval, multiplier_for_budget
from recrawl.schedules.optimal import Optimal
from recrawl.schedules.totals import Totals

__all__ = ["Planner"]

#: A sibling's turn is moved if that changes its interval by more than these parts of it: earlier
#: at once, for a change may wait; later seldom, for who comes too early is asked again anyway.
_EARLIER, _LATER = 0.1, 0.3
#: The price moves by no more than this factor a time, so that one flood does not carry it away.
_LARGEST_STEP = math.e
#: What a budget for more than all pages can use makes of the price: it can still rise. [s]
_LEAST_PRICE = 1e-6


@dataclass(slots=True)
class Planner:
    """A learning crawl of one collection.

    Parameters
    ----------
    schedule : Optimal
        Its settings, and the price now.
    knowledge : Knowledge
        What is known.

    Notes
    -----
    Due times are set at a page's own visit and corrected at its siblings'; a page that comes due
    is asked once more what it is worth now.  So every page could be asked all the time, and few
    have to be: the price is the value at which the budget is spent, and follows the value of the
    last fetch that the budget allowed, slowly, in one round of the collection.
    """

    schedule: Optimal
    knowledge: Knowledge = field(default_factory=Knowledge.nothing)
    _n_pages: int = 1
    _has_budget: bool = False
    _order: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    _start: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, dtype=np.int64))

    def replan(self, states: PageStates, now: int, budget: float | None) -> Planner:
        """Look at all pages: learn hosts and groups anew, and find a first price.

        Raises
        ------
        InputError
            If there is neither a budget nor a price.
        """
        if budget is None and self.schedule.price == 0:
            raise InputError(
                f"{self.schedule.name} shares out a budget and none was given; give one such as"
                " 0.1/page/day"
            )
        self.knowledge = self.knowledge.renewed(states, now)
        self._n_pages, self._has_budget = len(states), budget is not None
        row = self.knowledge.bulk.rows(states.group_key)
        self._order = np.argsort(row, kind="stable")
        self._start = np.searchsorted(row[self._order], np.arange(len(self.knowledge.bulk) + 1))
        longest, price = self.schedule.max_interval, self.schedule.price
        if budget is not None and price == 0:
            longest = min(float(longest_interval(len(states), budget, longest)), LONGEST_INTERVAL)
            rate = self.knowledge.change_rate(states)
            totals = Totals.of(rate, states.importance)
            eta = self.schedule.eta
            price = max(
                multiplier_for_budget(totals, budget, eta=eta, longest=longest), _LEAST_PRICE
            )
        self.schedule = replace(
            self.schedule, knowledge=self.knowledge, price=price, max_interval=longest
        )
        return self

    def pick(
        self, states: PageStates, now: int, n: int, *, host_cap: int | None = None
    ) -> tuple[NDArray[np.int64], Times]:
        """Return which n candidates to fetch, the most worth first, and when each is due.

        Parameters
        ----------
        states : PageStates
            The candidates: all that are overdue, and some that are due next.
        now : int
            The present. [ms]
        n : int
            How many the budget allows; without one all that are worth the price are chosen.
        host_cap : int, optional
            How many of a host at most.

        Returns
        -------
        chosen : ndarray of int64
            Positions of at most n candidates.
        due : ndarray of int64
            When each candidate is due, by what is known now; the others go back with it. [ms]
        """
        changes, rate = self.knowledge.belief(states, now)
        due = self.schedule.due(states, changes, rate, now)
        value = self.schedule.value(states, changes, rate)
        value[states.fetched_at + round(self.schedule.max_interval * 1000) <= now] = np.inf
        order = np.argsort(-value, kind="stable")
        if host_cap is not None:
            order = order[turns(states.host_key[order]) < host_cap]
        if not self._has_budget:
            return order[due[order] <= now], due
        order = order[:n]
        if order.size:
            self._follow(float(value[order[-1]]), len(order))
        return order, due

    def _follow(self, value: float, n: int) -> None:
        """Let the price follow the value of the last fetch of n."""
        price = self.schedule.price
        if 0 < value < math.inf and price < math.inf:
            step = min(max(value / price, 1 / _LARGEST_STEP), _LARGEST_STEP)
            price *= step ** min(n / self._n_pages, 1.0)
            self.schedule = replace(self.schedule, price=price)

    def absorb(
        self, states: PageStates, before: PageStates, visits: Visits, now: int
    ) -> tuple[NDArray[np.int64], Times]:
        """Learn of the groups from visits, and return whose turn moves, and to when.

        Parameters
        ----------
        states : PageStates
            All pages, after the visits.
        before : PageStates
            The visited pages before.
        visits : Visits
            Their visits.
        now : int
            The present. [ms]
        """
        self.knowledge.absorb(before, visits)
        groups = np.unique(self.knowledge.bulk.rows(before.group_key))
        groups = groups[self.knowledge.bulk.n_pages[groups] > 1]
        if not groups.size:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        rows = np.concatenate([self._order[self._start[g] : self._start[g + 1]] for g in groups])
        pages = states.take(rows)
        changes, rate = self.knowledge.belief(pages, now)
        due = self.schedule.due(pages, changes, rate, now)
        wait = np.maximum(pages.next_fetch_at - pages.fetched_at, 1)
        moves = (pages.next_fetch_at - due > _EARLIER * wait) | (
            due - pages.next_fetch_at > _LATER * wait
        )
        return rows[moves], due[moves]
