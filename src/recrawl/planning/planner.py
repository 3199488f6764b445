"""Spends a budget on a collection in memory: the price of a fetch, what to fetch, who moves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from recrawl.core.states import PageStates, Times
from recrawl.core.visit import Observation, Visits
from recrawl.errors import InputError
from recrawl.planning.calibration import Calibration
from recrawl.planning.knowledge import Knowledge
from recrawl.planning.market import appraise, choose, follow, moved
from recrawl.planning.pricing import aimed, priced
from recrawl.planning.survey import Survey
from recrawl.schedules.optimal import Optimal

__all__ = ["Planner"]


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
    _calibration: Calibration = field(default_factory=Calibration)
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
        if budget is None and self.schedule.price == 0 and not self.schedule.has_target:
            raise InputError(
                f"{self.schedule.name} shares out a budget and none was given; give one such as"
                " 0.1/page/day, or freshness=0.9 or max_age=6h"
            )
        self.knowledge = self.knowledge.renewed(states, now)
        self._n_pages, self._has_budget = len(states), budget is not None
        row = self.knowledge.bulk.rows(states.group_key)
        self._order = np.argsort(row, kind="stable")
        self._start = np.searchsorted(row[self._order], np.arange(len(self.knowledge.bulk) + 1))
        if budget is not None and self.schedule.price == 0:
            self.schedule = priced(self.schedule, Survey.of(states, self.knowledge), budget)
        elif budget is None and self.schedule.has_target:
            survey = Survey.of(states, self.knowledge)
            self._calibration = self._calibration.renewed(survey.weight)
            self.schedule = aimed(self.schedule, survey, self._calibration.factor)
        self.schedule = replace(self.schedule, knowledge=self.knowledge)
        return self

    def asked(self, states: PageStates, now: int) -> tuple[NDArray[np.int64], Times]:
        """Return who is due earlier at the price now, and when, if a target moves the price."""
        if self._has_budget or not self.schedule.has_target:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        due = appraise(self.schedule, self.knowledge, states, now).due
        rows = np.flatnonzero(moved(states, due) & (due < states.next_fetch_at))
        return rows, due[rows]

    def hear(self, states: PageStates, now: int) -> Times:
        """Return when pages of which signals came are due by what these are worth.

        Parameters
        ----------
        states : PageStates
            The pages, the signals counted.
        now : int
            The present. [ms]

        Returns
        -------
        ndarray of int64
            Never later than before. [ms]
        """
        self.knowledge.hear(states, now)
        due = appraise(self.schedule, self.knowledge, states, now).due
        return np.minimum(due, states.next_fetch_at)

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
        found = appraise(self.schedule, self.knowledge, states, now)
        most = n if self._has_budget else None
        order = choose(found, now, most, host_key=states.host_key, host_cap=host_cap)
        if self._has_budget and order.size:
            share = len(order) / self._n_pages
            self.schedule = follow(self.schedule, float(found.value[order[-1]]), share)
        return order, found.due

    def absorb(
        self, states: PageStates, before: PageStates, visits: Visits, now: int
    ) -> tuple[NDArray[np.int64], Times]:
        """Learn of the groups from visits, and return whose turn moves, and to when.

        Only changes move others: who may wait longer is asked again when it comes due.

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
        self._calibration = self.knowledge.calibrated(self._calibration, before, visits)
        self.knowledge.absorb(before, visits)
        is_changed = visits.observation == Observation.CHANGED
        groups = np.unique(self.knowledge.bulk.rows(before.group_key[is_changed]))
        groups = groups[self.knowledge.bulk.n_pages[groups] > 1]
        if not groups.size:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        rows = np.concatenate([self._order[self._start[g] : self._start[g + 1]] for g in groups])
        pages = states.take(rows)
        due = appraise(self.schedule, self.knowledge, pages, now).due
        moves = moved(pages, due)
        return rows[moves], due[moves]
