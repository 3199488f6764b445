"""Intervals that grow by a share or are cut by one, plus a constant: Aronsson's message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recrawl.core.interval import LONGEST_INTERVAL
from recrawl.core.states import PageStates
from recrawl.core.timing import Timing
from recrawl.core.visit import Observation, Visits, is_usable
from recrawl.schedules import lifecycle

__all__ = ["Aronsson"]


@dataclass(frozen=True, slots=True)
class Aronsson:
    """Lengthens the interval of a page that did not change, cuts that of one that did, and adds.

    Parameters
    ----------
    default_interval : float
        Interval of a page that has none. [s]
    inc_rate : float
        The interval grows by this share when the page did not change.
    dec_rate : float
        The interval shrinks by this share when the page changed.
    constant : float
        Added to every interval. [s]
    interval_max : float
        Where the interval of gone pages stops growing; see ``lifecycle.gone``. [s]
    retry_interval : float
        Wait after a temporary failure, if the interval is not shorter. [s]
    exact : bool
        As in the message: a failure is treated as no change, and nothing has an upper limit.

    Raises
    ------
    InputError
        If a setting is out of range and the mode is not exact.

    Notes
    -----
    With changed as 0 or 1, the new interval is
    (1 + inc_rate (1 - changed) - dec_rate changed) times the old one, and the constant.

    A page that changes before every visit comes to ``constant / dec_rate``, an hour by default;
    the formula alone bounds nothing from above, which is what ``core.interval`` is for.

    Guarded mode departs from the message in these places:

    - After a failure it does as every schedule; see ``lifecycle.put_failures``.
    - A visit that cannot tell whether the page changed leaves the interval alone (exact: it is
      no change).
    - An interval set by hand is kept, and no interval is longer than a hundred years.

    Columns read: fixed_interval, interval, modified_at, status.  Written: interval, modified_at,
    next_fetch_at.

    References
    ----------
    Aronsson2004.
    """

    name: ClassVar[str] = "aronsson"

    default_interval: float = 86_400.0
    inc_rate: float = 0.2
    dec_rate: float = 0.5
    constant: float = 1800.0
    interval_max: float = 7_776_000.0
    retry_interval: float = 86_400.0
    exact: bool = False

    def __post_init__(self) -> None:
        if self.exact:
            return
        lifecycle.require_intervals(self, "default_interval", "interval_max", "retry_interval")
        lifecycle.require_rate(self.name, "inc_rate", self.inc_rate)
        lifecycle.require_rate(self.name, "dec_rate", self.dec_rate)
        is_good = 0 <= self.constant <= LONGEST_INTERVAL
        lifecycle.require(is_good, self.name, "constant", self.constant, "0 s to 100 years")

    def first(self, states: PageStates, now: int) -> Timing:
        """Return the timing of pages that were just added: due at once."""
        return lifecycle.first(
            states, now, default_interval=self.default_interval, exact=self.exact
        )

    def after(self, states: PageStates, visits: Visits) -> Timing:
        """Return the timing after one visit a page."""
        is_changed = (visits.observation == Observation.CHANGED) & is_usable(visits.outcome)
        is_known = ~np.isnan(states.interval) if self.exact else states.interval > 0
        before = np.where(is_known, states.interval, self.default_interval)
        interval = before * np.where(is_changed, 1 - self.dec_rate, 1 + self.inc_rate)
        interval += self.constant
        if not self.exact:
            np.copyto(interval, before, where=visits.observation == Observation.UNKNOWN)
            np.minimum(interval, LONGEST_INTERVAL, out=interval)
            fixed = states.fixed_interval
            np.copyto(interval, fixed, where=lifecycle.fixed_mask(fixed))
        is_new = is_changed | (visits.modified_at <= 0)
        if self.exact:
            return lifecycle.from_visit(visits, interval, is_new)
        return lifecycle.timing_after(self, states, visits, interval, is_new=is_new)
