"""Intervals by status, and intervals that follow change: StormCrawler's two schedulers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recrawl.core.columns import NEVER
from recrawl.core.states import PageStates, Seconds, Times
from recrawl.core.timing import Timing
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.schedules import lifecycle
from recrawl.schedules.stormcrawler_minutes import NEVER_MINUTES, adapt, due_at, to_minutes
from recrawl.schedules.stormcrawler_waits import (
    due_after,
    first,
    known,
    modified_at,
    put_failures,
    require_waits,
    seconds_of,
)

__all__ = ["StormCrawlerAdaptive", "StormCrawlerDefault"]

#: Rows worked on at a time: the dozen columns of a block stay in the cache.
_BLOCK = 16_384
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class StormCrawlerDefault:
    """Waits by what the last visit came to: content, a failure that may pass, or one that may not.

    Parameters
    ----------
    default_interval : float
        Wait after content, 304 and redirects, if the page has no interval of its own
        (fetchInterval.default); inf for never. [s]
    retry_interval : float
        Wait after a failure that may pass, if the interval is not shorter
        (fetchInterval.fetch.error); inf for never. [s]
    error_interval : float
        Wait after any other failure (fetchInterval.error); inf for never. [s]
    exact : bool
        As StormCrawler: whole minutes, any setting, the same intervals for all pages.

    Raises
    ------
    InputError
        If a setting is out of range and the mode is not exact.

    Notes
    -----
    The defaults are those of the original's code; the settings that it ships never fetch a page
    again after an error.  In exact mode a setting is cut to whole minutes, and -1 minute is never
    too, as it is there.  Guarded mode uses a page's own interval where it has one, and keeps it.

    Columns read: fixed_interval, interval, modified_at, status.  Written: interval, modified_at,
    next_fetch_at.

    References
    ----------
    StormCrawler, DefaultScheduler.schedule.
    """

    name: ClassVar[str] = "stormcrawler-default"

    default_interval: float = _DAY
    retry_interval: float = 7200.0
    error_interval: float = 31 * _DAY
    exact: bool = False

    def __post_init__(self) -> None:
        if not self.exact:
            require_waits(self)

    def first(self, states: PageStates, now: int) -> Timing:
        """Return the timing of pages that were just added: due at once."""
        return first(self, states, now)

    def after(self, states: PageStates, visits: Visits) -> Timing:
        """Return the timing after one visit a page: the wait of its status."""
        if self.exact:
            minutes = np.full(len(visits), to_minutes(self.default_interval))
            interval = seconds_of(minutes)
            due = due_at(minutes, visits.fetched_at)
        else:
            interval = lifecycle.known_interval(
                states.interval, states.fixed_interval, self.default_interval
            )
            due = due_after(interval, visits.fetched_at)
        timing = Timing(known(interval), due, modified_at(visits))
        put_failures(self, timing, states, visits, kept=interval)
        return timing


@dataclass(frozen=True, slots=True)
class StormCrawlerAdaptive:
    """Draws the interval of a page that changed towards the least, and lengthens that of another.

    Parameters
    ----------
    default_interval : float
        First interval of a page, and in exact mode the wait after redirects
        (fetchInterval.default); inf for never. [s]
    retry_interval : float
        Wait after a failure that may pass, if the interval is not shorter
        (fetchInterval.fetch.error); inf for never. [s]
    error_interval : float
        Wait after any other failure (fetchInterval.error); inf for never. [s]
    min_interval, max_interval : float
        Least and greatest interval. [s]
    inc_rate : float
        The interval grows by this share when the page did not change, more than 0, up to 1.
    dec_rate : float
        Weight of the least interval against the page's when the page changed, more than 0, up
        to 1.
    exact : bool
        Agree with the original bit for bit, whatever the settings.

    Raises
    ------
    InputError
        If a setting is out of range and the mode is not exact.

    Notes
    -----
    An unchanged page: ``interval * (1 + inc_rate)``.  A changed one:
    ``interval * (1 - dec_rate) + min_interval * dec_rate``.

    Guarded mode departs from the original in these places:

    - The interval keeps its fraction, so that short ones can grow (exact: whole minutes,
      case sch-017).
    - Never is no number (exact: -1 minute goes through the arithmetic, case sch-018).
    - Both limits hold for every interval that was adapted (exact: the greatest holds only for
      growth, and the least is never enforced).
    - A failure or a redirect leaves the learned interval (exact: it is forgotten, NaN, and the
      next content counts as the first).
    - Content that cannot be compared leaves it too (exact: back to the default).

    Columns read: fixed_interval, interval, modified_at, status.  Written: interval, modified_at,
    next_fetch_at.

    References
    ----------
    StormCrawler, AdaptiveScheduler.schedule.
    """

    name: ClassVar[str] = "stormcrawler-adaptive"

    default_interval: float = _DAY
    retry_interval: float = 7200.0
    error_interval: float = 31 * _DAY
    min_interval: float = 3600.0
    max_interval: float = 14 * _DAY
    inc_rate: float = 0.5
    dec_rate: float = 0.5
    exact: bool = False

    def __post_init__(self) -> None:
        if self.exact:
            return
        require_waits(self)
        lifecycle.require_intervals(self, "min_interval", "max_interval")
        for setting in ("inc_rate", "dec_rate"):
            value = getattr(self, setting)
            lifecycle.require(0 < value <= 1, self.name, setting, value, "above 0 and up to 1")
        lifecycle.require_order(self)

    def first(self, states: PageStates, now: int) -> Timing:
        """Return the timing of pages that were just added: due at once."""
        return first(self, states, now)

    def after(self, states: PageStates, visits: Visits) -> Timing:
        """Return the timing after one visit a page."""
        n = len(visits)
        timing = Timing(np.empty(n), np.empty(n, np.int64), modified_at(visits))
        work = self._exact if self.exact else self._guarded
        for start in range(0, n, _BLOCK):
            rows = slice(start, start + _BLOCK)
            timing.interval[rows], timing.next_fetch_at[rows] = work(states, visits, rows)
        kept = np.full(n, np.nan) if self.exact else self._before(states, slice(None))
        put_failures(self, timing, states, visits, kept=kept)
        return timing

    def _before(self, states: PageStates, rows: slice) -> Seconds:
        """Return the intervals to start from; infinite where there is none and none by default."""
        return lifecycle.known_interval(
            states.interval[rows], states.fixed_interval[rows], self.default_interval
        )

    def _guarded(self, states: PageStates, visits: Visits, rows: slice) -> tuple[Seconds, Times]:
        """Return interval and next fetch of a block, as if all had been fetched."""
        before = self._before(states, rows)
        observation = visits.observation[rows]
        factor = np.array([1.0, 1.0 - self.dec_rate, 1.0 + self.inc_rate])
        term = np.array([0.0, self.min_interval * self.dec_rate, 0.0])
        interval = before * factor[observation]
        interval += term[observation]
        np.clip(interval, self.min_interval, self.max_interval, out=interval)
        is_kept = lifecycle.fixed_mask(states.fixed_interval[rows]) | np.isinf(before)
        is_kept |= observation == Observation.UNKNOWN
        np.copyto(interval, before, where=is_kept)
        return known(interval), due_after(interval, visits.fetched_at[rows])

    def _exact(self, states: PageStates, visits: Visits, rows: slice) -> tuple[Seconds, Times]:
        """Return interval and next fetch of a block, as if all had been fetched."""
        before, observation = states.interval[rows], visits.observation[rows]
        default = to_minutes(self.default_interval)
        is_unset = np.isnan(before)
        minutes = to_minutes(before)
        np.copyto(minutes, default, where=is_unset)
        minutes = adapt(
            minutes,
            observation,
            inc_rate=self.inc_rate,
            dec_rate=self.dec_rate,
            least=int(to_minutes(self.min_interval)),
            most=int(to_minutes(self.max_interval)),
        )
        # Forgotten with the interval is the signature, so content has nothing to compare with.
        is_first = is_unset & (visits.outcome[rows] == Outcome.SUCCESS)
        is_first |= observation == Observation.UNKNOWN
        np.copyto(minutes, default, where=is_first)
        # -1 minute is a number here, and in the past; only the default can mean never.
        interval = minutes.astype(np.float64) * 60
        due = visits.fetched_at[rows] + minutes.astype(np.int64) * 60_000
        if default == NEVER_MINUTES:
            interval = np.where(is_first, before, interval)
            due = np.where(is_first, np.int64(NEVER), due)
        return interval, due
