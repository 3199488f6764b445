"""The schedule that learns: fetch a page when that is worth what a fetch costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from recrawl.core.columns import NEVER, NO_TIME
from recrawl.core.interval import LONGEST_INTERVAL
from recrawl.core.numeric import round_half_up
from recrawl.core.states import Importances, Mask, PageStates, Seconds, Times
from recrawl.core.timing import Timing
from recrawl.core.visit import Observation, Visits
from recrawl.schedules import lifecycle
from recrawl.schedules.crawl_value import crawl_value, value_table
from recrawl.schedules.signal_value import Outlook, changes_at_signal_value, signal_value

__all__ = ["Knowledge", "Optimal"]


class Knowledge(Protocol):
    """What is known of the pages of a collection."""

    def outlook(self, states: PageStates, now: Times) -> Outlook:
        """Return what to expect of each page from an instant on, shape (n,), in ms."""
        ...

    def probe_wait(self, states: PageStates) -> Seconds:
        """Return how soon a page is to be fetched to learn what it is, shape (n,); infinite if not.

        In seconds after the last visit.
        """
        ...


@dataclass(frozen=True, slots=True)
class Optimal:
    """Fetches each page when the crawl value of its expected changes reaches one price.

    Parameters
    ----------
    eta : float
        Weight of the stale time against the freshness: 0, or 0.001 to 1.  More than 0 lets no
        page wait for ever.
    default_interval : float
        Interval while there is no price, and longest one after the first visit where there is no
        budget: a page is looked at twice before it is thought to be slow. [s]
    max_interval : float
        Greatest interval. [s]
    interval_max : float
        Where the interval of gone pages stops growing; see ``lifecycle.gone``. [s]
    retry_interval : float
        Wait after a temporary failure, if the interval is not shorter. [s]
    freshness : float
        Mean freshness wanted where there is no budget, 0 to below 1; 0 for no such wish.
    max_age : float
        Mean age wanted where there is no budget; 0 for no such wish. [s]
    price : float
        The multiplier that all pages share, of importance times stale time a fetch; 0 for not yet
        known. [s]
    knowledge : Knowledge, optional
        Tells the change rates.

    Raises
    ------
    InputError
        If a setting is out of range.

    Notes
    -----
    Columns read: fixed_interval, importance, interval, modified_at, status and those that the
    knowledge reads.  Written: interval, modified_at, next_fetch_at.

    References
    ----------
    Olston2008, equation 4; Azar2018; BusaFekete2025.
    """

    name: ClassVar[str] = "optimal"

    eta: float = 0.3
    default_interval: float = 86_400.0
    max_interval: float = 7_776_000.0
    interval_max: float = 7_776_000.0
    retry_interval: float = 86_400.0
    freshness: float = 0.0
    max_age: float = 0.0
    price: float = 0.0
    knowledge: Knowledge | None = None

    def __post_init__(self) -> None:
        lifecycle.require_intervals(
            self, "default_interval", "max_interval", "interval_max", "retry_interval"
        )
        value_table(self.eta)
        for setting, most in (("freshness", 1.0), ("max_age", LONGEST_INTERVAL)):
            value = getattr(self, setting)
            allowed = f"0 for none, to below {most:g}"
            lifecycle.require(
                0 <= value < most, self.name, setting, value, allowed, has_exact=False
            )
        lifecycle.require(
            self.price >= 0, self.name, "price", self.price, "0 s or more", has_exact=False
        )

    @property
    def has_target(self) -> bool:
        """Whether a freshness or an age decides what a fetch must be worth."""
        return self.freshness > 0 or self.max_age > 0

    def first(self, states: PageStates, now: int) -> Timing:
        """Return the timing of pages that were just added: due at once."""
        return lifecycle.first(states, now, default_interval=self.default_interval, exact=False)

    def after(self, states: PageStates, visits: Visits) -> Timing:
        """Return the timing after one visit a page."""
        interval = self.interval(states)
        fixed = states.fixed_interval
        np.copyto(interval, fixed, where=lifecycle.fixed_mask(fixed))
        is_new = (visits.observation == Observation.CHANGED) | (visits.modified_at <= 0)
        return lifecycle.timing_after(self, states, visits, interval, is_new=is_new)

    def interval(self, states: PageStates) -> Seconds:
        """Return how long pages wait that were just seen. [s]."""
        if self.knowledge is None or self.price == 0:
            return np.full(len(states), self.default_interval)
        outlook = self.knowledge.outlook(states, states.fetched_at)
        table = value_table(self.eta)
        interval = table.interval(
            outlook.rate, states.importance, self.price, longest=self.max_interval
        ).astype(np.float64)
        told = np.flatnonzero(outlook.is_told)
        if told.size:
            worth = self._worth(states.importance[told], outlook.take(told))
            interval[told] = np.minimum(worth / outlook.drift[told], self.max_interval)
        if self.has_target:
            is_young = states.n_visits <= 1
            np.minimum(interval, self.default_interval, where=is_young, out=interval)
        return np.minimum(interval, self.knowledge.probe_wait(states))

    def value(self, states: PageStates, changes: Seconds, outlook: Outlook) -> Seconds:
        """Return what a fetch of each page is worth now. [s].

        Parameters
        ----------
        states : PageStates
            The pages.
        changes : ndarray of float64, shape (n,)
            Changes to be expected since the last visit.
        outlook : Outlook
            What is to be expected from now on.
        """
        value: Seconds = states.importance * crawl_value(changes, self.eta) / outlook.rate
        told = np.flatnonzero(outlook.is_told)
        if told.size:
            value[told] = states.importance[told] * signal_value(
                changes[told], outlook.take(told), self.eta
            )
        return value

    def due(self, states: PageStates, changes: Seconds, outlook: Outlook, now: int) -> Times:
        """Return when the value of each page reaches the price, which may be past. [ms].

        Parameters are those of ``value``; pages that are ``is_set`` keep their due times.
        """
        wait = (self._worth(states.importance, outlook) - changes) / outlook.drift
        is_young = self.has_target & (states.n_visits <= 1)
        longest = np.where(is_young, self.default_interval, self.max_interval)
        latest = states.fetched_at + round_half_up(longest * 1000)
        wait_ms = round_half_up(np.clip(wait, -1e10, 1e10) * 1000)
        due = np.maximum(np.minimum(now + wait_ms, latest), states.fetched_at + 1)
        return np.where(self.is_set(states), states.next_fetch_at, due)

    def _worth(self, importance: Importances, outlook: Outlook) -> Seconds:
        """Return the changes at which a fetch of each page is worth the price."""
        weight, never = importance.astype(np.float64), np.full(len(importance), np.inf)
        ratio = np.divide(self.price, weight, out=never, where=weight > 0)
        worth = value_table(self.eta).changes(ratio * outlook.rate).astype(np.float64)
        told = np.flatnonzero(outlook.is_told)
        # The search takes its steps even for no pages, which is most of the time of a small turn.
        if told.size:
            worth[told] = changes_at_signal_value(ratio[told], outlook.take(told), self.eta)
        return worth

    def is_set(self, states: PageStates) -> Mask:
        """Return the pages whose turn no value moves, shape (n,).

        Those never to be fetched, those with an interval or a turn set by hand, those that could
        not be fetched last time, which wait as failures do, and those fetched to learn what they
        are.
        """
        is_failed = (states.checked_at < states.fetched_at) | (states.checked_at == NO_TIME)
        fixed = lifecycle.fixed_mask(states.fixed_interval)
        is_forced = states.next_fetch_at <= states.fetched_at
        is_set: Mask = is_failed | fixed | is_forced | (states.next_fetch_at == NEVER)
        if self.knowledge is not None:
            is_set |= np.isfinite(self.knowledge.probe_wait(states))
        return is_set
