"""What every schedule of Nutch's family does around the interval: first fetch, failures, due.

Nutch's AbstractFetchSchedule as functions over columns.  Its ``forceRefetch`` is
``core.update.force_refetch``, because the update itself calls it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recrawl.core.interval import LONGEST_INTERVAL, SHORTEST_INTERVAL
from recrawl.core.numeric import round_half_up, round_to_int
from recrawl.core.states import Mask, PageStates, PageStatus, Seconds, Small, Times
from recrawl.core.timing import Timing
from recrawl.core.visit import Outcome, Visits, is_usable
from recrawl.errors import InputError

__all__ = [
    "first",
    "fixed_mask",
    "from_visit",
    "gone",
    "known_interval",
    "last_fetch_at",
    "put_failures",
    "require",
    "require_intervals",
    "require_order",
    "require_rate",
    "retry",
    "should_fetch",
    "timing_after",
]


def first(states: PageStates, now: int, *, default_interval: float, exact: bool) -> Timing:
    """Return the timing of pages that were just added: due at once.

    Parameters
    ----------
    states : PageStates
        The new pages.
    now : int
        The present. [ms]
    default_interval : float
        Interval of a page that brings none. [s]
    exact : bool
        Nutch's initializeSchedule: the default whatever the page brings.
    """
    n = len(states)
    if exact:
        interval = np.full(n, float(default_interval))
    else:
        interval = known_interval(states.interval, states.fixed_interval, default_interval)
    return Timing(interval, np.full(n, now, dtype=np.int64), states.modified_at)


def gone(
    interval: Seconds, fetched_at: Times, *, interval_max: float, exact: bool
) -> tuple[Seconds, Times]:
    """Return interval and next fetch of pages that are gone.

    Parameters
    ----------
    interval : ndarray of float64, shape (n,)
        Interval before. [s]
    fetched_at : ndarray of int64, shape (n,)
        Start of the visit. [ms]
    interval_max : float
        The interval grows by half while that stays below this; then it is 0.9 of it. [s]
    exact : bool
        Round the interval to whole seconds, as Nutch stores it.

    Notes
    -----
    Nutch's setPageGoneSchedule, in float32 as there.  A page that is gone for good costs a
    fetch each 0.9 ``interval_max`` in the end, and never less.
    """
    grown = interval.astype(np.float32) * np.float32(1.5)
    most = np.float32(interval_max)
    longer = np.where(grown < most, grown, most * np.float32(0.9))
    kept = round_to_int(longer).astype(np.float64) if exact else longer.astype(np.float64)
    return kept, fetched_at + round_half_up(kept * 1000)


def retry(
    interval: Seconds, fetched_at: Times, *, retry_interval: float, exact: bool
) -> tuple[Seconds, Times]:
    """Return interval and next fetch of pages that failed and are tried again.

    The interval stays.  The wait is ``retry_interval`` [s], and in guarded mode not longer than
    the interval: a page fetched each hour is not left for a day because of one time-out.
    Nutch's setPageRetrySchedule.
    """
    wait = np.full(len(interval), float(retry_interval))
    if not exact:
        wait = np.fmin(wait, interval)
    return interval, fetched_at + round_half_up(wait * 1000)


def put_failures(
    timing: Timing,
    states: PageStates,
    visits: Visits,
    *,
    default_interval: float,
    interval_max: float,
    retry_interval: float,
    exact: bool,
) -> None:
    """Write the timing of the visits that gave no usable answer over what is there.

    Parameters
    ----------
    timing : Timing
        Made by the caller, who has not given it away yet: it is written into.
    states : PageStates
        Merged states of the pages, with the interval of before.
    visits : Visits
        Their visits; those with a usable answer are left alone.
    default_interval, interval_max, retry_interval : float
        See ``known_interval``, ``gone`` and ``retry``. [s]
    exact : bool
        Take the interval as it is, also 0, and ignore ``fixed_interval``.

    Notes
    -----
    Gone and unreadable pages follow ``gone``, and so does a page that failed too often; other
    temporary failures follow ``retry``.  A denied or empty page waits for its interval.
    Columns read: fixed_interval, interval, modified_at, status.
    """
    failed = np.flatnonzero(~is_usable(visits.outcome))
    if failed.size == 0:
        return
    outcome, fetched_at = visits.outcome[failed], visits.fetched_at[failed]
    interval, fixed = states.interval[failed], states.fixed_interval[failed]
    if not exact:
        interval = known_interval(interval, fixed, default_interval)
    is_retry = outcome == Outcome.RETRY
    is_gone = (outcome == Outcome.GONE) | (outcome == Outcome.PARSE_FAILED)
    is_gone |= is_retry & (states.status[failed] == PageStatus.GONE)
    if not exact:
        is_gone &= ~fixed_mask(fixed)
    longer, gone_at = gone(interval, fetched_at, interval_max=interval_max, exact=exact)
    _, retry_at = retry(interval, fetched_at, retry_interval=retry_interval, exact=exact)
    next_fetch_at = fetched_at + round_half_up(interval * 1000)
    next_fetch_at = np.where(is_retry, retry_at, next_fetch_at)
    timing.interval[failed] = np.where(is_gone, longer, interval)
    timing.next_fetch_at[failed] = np.where(is_gone, gone_at, next_fetch_at)
    timing.modified_at[failed] = states.modified_at[failed]


def from_visit(visits: Visits, interval: Seconds, is_new: Mask) -> Timing:
    """Return the timing of visits that all gave an answer; see ``timing_after``."""
    return Timing(
        interval=interval,
        next_fetch_at=visits.fetched_at + round_half_up(interval * 1000),
        modified_at=np.where(is_new, visits.fetched_at, visits.modified_at),
    )


def timing_after(
    schedule: Any, states: PageStates, visits: Visits, interval: Seconds, *, is_new: Mask
) -> Timing:
    """Return the timing of pages whose interval runs from the start of the visit.

    Parameters
    ----------
    schedule : schedule
        Its ``default_interval``, ``interval_max`` and ``retry_interval`` are those of
        ``put_failures``.
    states : PageStates
        Merged states of the pages.
    visits : Visits
        Their visits.
    interval : ndarray of float64, shape (n,)
        The new intervals. [s]
    is_new : ndarray of bool, shape (n,)
        Where the content is taken to be as old as the visit.
    """
    timing = from_visit(visits, interval, is_new)
    put_failures(
        timing,
        states,
        visits,
        default_interval=schedule.default_interval,
        interval_max=schedule.interval_max,
        retry_interval=schedule.retry_interval,
        exact=getattr(schedule, "exact", False),
    )
    return timing


def known_interval(
    interval: Seconds, fixed_interval: NDArray[np.float32], default_interval: float
) -> Seconds:
    """Return the interval to start from: set by hand, learned, or else the default.

    An interval that is NaN, 0 or negative means "use the default" (case sch-006). [s]
    """
    learned = np.where(interval > 0, interval, default_interval)
    return np.where(fixed_mask(fixed_interval), fixed_interval.astype(np.float64), learned)


def fixed_mask(fixed_interval: NDArray[np.float32]) -> Mask:
    """Return where an interval was set by hand that can be used."""
    is_fixed: Mask = (fixed_interval >= SHORTEST_INTERVAL) & (fixed_interval <= LONGEST_INTERVAL)
    return is_fixed


def last_fetch_at(status: Small, next_fetch_at: Times, interval: Seconds) -> Times:
    """Return when the pages were fetched last, worked out from the plan; 0 if unfetched.

    Nutch keeps only the next fetch, so it has a calculateLastFetchTime. [ms]
    """
    planned = next_fetch_at - round_half_up(interval * 1000)
    return np.where(status == PageStatus.UNFETCHED, 0, planned)


def should_fetch(
    next_fetch_at: Times, interval: Seconds, now: int, *, interval_max: int
) -> tuple[Mask, Times, Seconds]:
    """Return which pages are due, and their next fetch and interval after Nutch's repair.

    Parameters
    ----------
    next_fetch_at : ndarray of int64, shape (n,)
        The plan. [ms]
    interval : ndarray of float64, shape (n,)
        The intervals. [s]
    now : int
        The present. [ms]
    interval_max : int
        A plan further away than this is taken for broken and brought to ``now``. [s]

    Notes
    -----
    Nutch's shouldFetch, which changes what it is asked about.  A page is due at ``now`` itself.
    """
    is_broken = next_fetch_at - now > interval_max * 1000
    cut = round_to_int(np.array([interval_max], dtype=np.float32) * np.float32(0.9))
    interval = np.where(is_broken & (interval > interval_max), cut.astype(np.float64), interval)
    next_fetch_at = np.where(is_broken, np.int64(now), next_fetch_at)
    return next_fetch_at <= now, next_fetch_at, interval


def require(
    is_good: bool,
    schedule: str,
    setting: str,
    value: float,
    allowed: str,
    *,
    has_exact: bool = True,
) -> None:
    """Raise InputError for a setting of a schedule that is not usable."""
    if not is_good:
        hint = "; exact mode takes whatever the original takes" if has_exact else ""
        raise InputError(
            f"schedule {schedule}: {setting} is {value:.15g}, allowed is {allowed}{hint}",
            value=value,
        )


def require_intervals(schedule: Any, *settings: str) -> None:
    """Raise InputError for an interval among a schedule's settings that is out of range."""
    for setting in settings:
        value = getattr(schedule, setting)
        is_good = SHORTEST_INTERVAL <= value <= LONGEST_INTERVAL
        has_exact = hasattr(schedule, "exact")
        allowed = "0.001 s to 100 years"
        require(is_good, schedule.name, setting, value, allowed, has_exact=has_exact)


def require_order(schedule: Any) -> None:
    """Raise InputError for a schedule whose least interval is above its greatest."""
    low, high = schedule.min_interval, schedule.max_interval
    require(low <= high, schedule.name, "min_interval", low, f"up to max_interval, {high:.15g}")


def require_rate(schedule: str, setting: str, value: float) -> None:
    """Raise InputError for a rate that makes the interval grow or shrink and is not usable.

    A rate of decrease of 1 would leave no interval at all.
    """
    is_decrease = setting.endswith("dec_rate")
    require(
        0 < value < 1 if is_decrease else 0 < value <= 1,
        schedule,
        setting,
        value,
        "above 0 and below 1" if is_decrease else "above 0 and up to 1",
    )
