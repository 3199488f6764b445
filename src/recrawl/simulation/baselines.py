"""Schedules that later ones are measured against: fixed shares of a budget, known or learned.

They hold a crawl rate a page and so need a world or a collection of known pages; they are for
simulations and not for crawls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from recrawl.core.columns import NEVER, NO_TIME
from recrawl.core.interval import LONGEST_INTERVAL
from recrawl.core.numeric import round_half_up
from recrawl.core.states import Keys, PageStates, Rates, Seconds, Times
from recrawl.core.timing import Schedule, Timing
from recrawl.core.visit import Observation, Visits
from recrawl.errors import InputError
from recrawl.estimation.azar import azar
from recrawl.estimation.cho_garcia_molina import bias_reduced
from recrawl.estimation.optimal_frequency import optimal_frequency
from recrawl.estimation.proportional import proportional
from recrawl.estimation.uniform import uniform
from recrawl.simulation.run import START_AT
from recrawl.simulation.worlds.world import World

__all__ = ["BASELINES", "Allocate", "ChoGarciaMolina", "Known", "Planned"]

#: Change rates [1/s], importances and budget [1/s] to crawl rates [1/s].
Allocate: TypeAlias = Callable[[ArrayLike, ArrayLike, float], Rates]

#: A page that a changing plan gave up is fetched at this part of the mean rate.
_GIVEN_UP = 1 / 3


@dataclass(frozen=True, slots=True)
class Planned:
    """Fetches each page at a rate of its own, at even distances.

    Parameters
    ----------
    page_key : ndarray of int64, shape (n,)
        The pages, in ascending order.
    crawl_rate : ndarray of float64, shape (n,)
        Fetches of each page, 0 for none after the first. [1/s]

    Notes
    -----
    Columns read: page_key.  Written: interval, modified_at, next_fetch_at.

    Raises
    ------
    InputError
        If the page keys are not in ascending order.
    """

    page_key: Keys
    crawl_rate: Rates

    def __post_init__(self) -> None:
        if (np.diff(self.page_key) <= 0).any():
            raise InputError("the page keys of a plan are not in ascending order")

    def first(self, states: PageStates, now: int) -> Timing:
        """Return the timing of pages that were just added: due at once."""
        due = np.full(len(states), now, dtype=np.int64)
        return Timing(states.interval, due, states.modified_at)

    def after(self, states: PageStates, visits: Visits) -> Timing:
        """Return the timing after one visit a page: the planned interval, whatever it saw."""
        interval = self._interval(states.page_key)
        wait = round_half_up(interval * 1000)
        next_fetch_at = np.where(interval < LONGEST_INTERVAL, visits.fetched_at + wait, NEVER)
        is_new = (visits.modified_at <= 0) | (visits.observation == Observation.CHANGED)
        modified_at = np.where(is_new, visits.fetched_at, visits.modified_at)
        return Timing(interval, next_fetch_at, modified_at)

    def _interval(self, page_key: Keys) -> Seconds:
        """Return the planned interval of these pages, at most ``LONGEST_INTERVAL`` [s]."""
        place = np.searchsorted(self.page_key, page_key)
        is_there = place < len(self.page_key)
        place = np.where(is_there, place, 0)
        is_there = is_there & (self.page_key[place] == page_key) if self.page_key.size else is_there
        if not is_there.all():
            missing = int(page_key[~is_there][0])
            raise InputError(f"no crawl rate is planned for the page {missing}", value=missing)
        with np.errstate(divide="ignore"):
            return np.minimum(1 / self.crawl_rate[place], LONGEST_INTERVAL)


@dataclass(frozen=True, slots=True)
class Known(Planned):
    """Shares the budget out by the true change rates.

    Parameters
    ----------
    page_key, crawl_rate : ndarray, shape (n,)
        The present plan, see ``Planned``; none before the first ``replan``.
    world : World
        Knows the change rates, and the importance of the pages.
    allocate : callable
        Makes crawl rates of change rates, importances and the budget.
    is_current : bool
        Plan anew each day by the rates of that day; otherwise once, by the first.  A page whose
        rate switches is fetched at a third of the mean rate where the day's plan gives it up.
    """

    world: World
    allocate: Allocate
    is_current: bool = False

    def replan(self, states: PageStates, now: int, budget: float | None) -> Known:
        """Return the plan for these pages from now on."""
        if len(self.page_key) and not self.is_current:
            return self
        rate = self.world.rate_at((now - START_AT) / 1000)
        crawl_rate = self.allocate(rate, self.world.importance, _required(budget))
        if self.is_current:
            switches = np.isfinite(self.world.switch_at).any(axis=1)
            crawl_rate = np.where(switches, _reconsidered(crawl_rate), crawl_rate)
        return replace(self, page_key=states.page_key, crawl_rate=crawl_rate)


@dataclass(frozen=True, slots=True)
class ChoGarciaMolina(Planned):
    """Estimates each page's change rate and shares the budget out as if it were the true one.

    Parameters
    ----------
    page_key, crawl_rate : ndarray, shape (n,)
        The present plan, see ``Planned``; none before the first ``replan``.
    first_at : ndarray of int64, shape (n,)
        The first visit of each page; NO_TIME before it. [ms]
    planned_at : int
        When the plan was made. [ms]
    unseen : float
        Where no change was seen, that many are taken as seen, more than 0 to 1.  Without them
        such a page would never be fetched again.
    prior_interval : float
        Time between two changes of a page of which nothing is known. [s]

    Notes
    -----
    Each day the bias-reduced estimator takes the visits of each page as if they had come at
    even distances [ChoGM2003b]_, and the plug-in optimum follows from it [ChoGM2000]_.  The time
    observed lasts to the present and not to the last visit, and a page given up as too fast is
    tried at a third of the mean rate: without that, bursts of changes double the stale share of
    real pages, and more.

    Columns read: fetched_at, importance, n_changes, n_visits, page_key.  Written: interval,
    modified_at, next_fetch_at.
    """

    first_at: Times
    planned_at: int = NO_TIME
    unseen: float = 0.5
    prior_interval: float = 40 * 86_400.0

    def replan(self, states: PageStates, now: int, budget: float | None) -> ChoGarciaMolina:
        """Return the plan for these pages from now on."""
        first_at = self.first_at if len(self.page_key) else np.full(len(states), NO_TIME)
        # Of a page visited twice since the last plan only the last visit is known.
        earliest = np.where(states.n_visits == 1, states.fetched_at, self.planned_at)
        is_new = (first_at == NO_TIME) & (states.n_visits > 0)
        first_at = np.where(is_new, earliest, first_at)
        rate = self._estimate(states, np.maximum(now - first_at, 1) / 1000)
        crawl_rate = optimal_frequency(rate, states.importance, _required(budget))
        return replace(
            self,
            page_key=states.page_key,
            crawl_rate=_reconsidered(crawl_rate),
            first_at=first_at,
            planned_at=now,
        )

    def _estimate(self, states: PageStates, observed: Seconds) -> Rates:
        """Return the change rate of each page by its visits in the time observed [1/s]."""
        n = np.maximum(states.n_visits - 1, 0)
        seen = np.where(n > 0, np.maximum(states.n_changes, self.unseen), 0)
        rate = bias_reduced(n, np.minimum(seen, n), observed / np.maximum(n, 1))
        return np.where(n > 0, rate, 1 / self.prior_interval)


def _reconsidered(crawl_rate: Rates) -> Rates:
    """Return the plan with a few fetches of the pages that it gave up, whose rate may fall."""
    return np.where(crawl_rate > 0, crawl_rate, crawl_rate.mean() * _GIVEN_UP)


def _required(budget: float | None) -> float:
    """Return the budget, or raise InputError where there is none."""
    if budget is None:
        raise InputError(
            "this schedule shares out a budget and none was given; give one such as 0.1/page/day"
        )
    return budget


def _known(allocate: Allocate, *, is_current: bool = False) -> Callable[[World], Schedule]:
    """Return what makes the schedule that knows the rates of a world."""

    def of(world: World) -> Schedule:
        return Known(_NO_KEYS, _NO_RATES, world, allocate, is_current)

    return of


_NO_KEYS: Keys = np.empty(0, dtype=np.int64)
_NO_RATES: Rates = np.empty(0)

#: What makes each baseline for a world.
BASELINES: Final[dict[str, Callable[[World], Schedule]]] = {
    "uniform": _known(uniform),
    "proportional": _known(proportional),
    "azar": _known(azar),
    "optimal-known": _known(optimal_frequency, is_current=True),
    "cho-garcia-molina": lambda world: ChoGarciaMolina(
        _NO_KEYS, _NO_RATES, np.full(len(world), NO_TIME)
    ),
}
