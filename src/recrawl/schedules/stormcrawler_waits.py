"""What StormCrawler's schedulers do for every status but FETCHED, and what they share."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Protocol

import numpy as np

from recrawl.core.columns import NEVER
from recrawl.core.interval import LONGEST_INTERVAL, SHORTEST_INTERVAL
from recrawl.core.numeric import round_half_up
from recrawl.core.states import PageStates, PageStatus, Seconds, Times
from recrawl.core.timing import Timing
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.schedules import lifecycle
from recrawl.schedules.stormcrawler_minutes import (
    NEVER_MINUTES,
    CrawlStatus,
    Minutes,
    due_at,
    to_minutes,
)

__all__ = [
    "Waits",
    "due_after",
    "first",
    "known",
    "modified_at",
    "put_failures",
    "require_waits",
    "seconds_of",
]

_ALLOWED = "0.001 s to 100 years, or inf for never"

#: What the original would call each outcome; a 204 there is a FETCH_ERROR.
_STATUS_AFTER = np.zeros(max(Outcome) + 1, dtype=np.int8)
_STATUS_AFTER[Outcome.SUCCESS] = CrawlStatus.FETCHED
_STATUS_AFTER[Outcome.NOTMODIFIED] = CrawlStatus.FETCHED
_STATUS_AFTER[Outcome.REDIR_TEMP] = CrawlStatus.REDIRECTION
_STATUS_AFTER[Outcome.REDIR_PERM] = CrawlStatus.REDIRECTION
_STATUS_AFTER[Outcome.RETRY] = CrawlStatus.FETCH_ERROR
_STATUS_AFTER[Outcome.EMPTY] = CrawlStatus.FETCH_ERROR
_STATUS_AFTER[Outcome.GONE] = CrawlStatus.ERROR
_STATUS_AFTER[Outcome.PARSE_FAILED] = CrawlStatus.ERROR
_STATUS_AFTER[Outcome.DENIED] = CrawlStatus.ERROR


class Waits(Protocol):
    """The settings that both schedulers have, in seconds."""

    @property
    def name(self) -> str:
        """Name of the schedule."""
        ...

    @property
    def default_interval(self) -> float:
        """Wait after content, 304 and redirects."""
        ...

    @property
    def retry_interval(self) -> float:
        """Wait after a failure that may pass."""
        ...

    @property
    def error_interval(self) -> float:
        """Wait after any other failure."""
        ...

    @property
    def exact(self) -> bool:
        """Whether they are the original's minutes."""
        ...


def require_waits(schedule: Waits) -> None:
    """Refuse waits that are out of range."""
    for setting in ("default_interval", "retry_interval", "error_interval"):
        value = getattr(schedule, setting)
        is_good = SHORTEST_INTERVAL <= value <= LONGEST_INTERVAL or value == math.inf
        lifecycle.require(is_good, schedule.name, setting, value, _ALLOWED)


def first(schedule: Waits, states: PageStates, now: int) -> Timing:
    """Return the timing of pages that were just added: due at once."""
    timing = lifecycle.first(
        states, now, default_interval=schedule.default_interval, exact=schedule.exact
    )
    interval = seconds_of(to_minutes(timing.interval)) if schedule.exact else timing.interval
    return replace(timing, interval=known(interval))


def put_failures(
    schedule: Waits, timing: Timing, states: PageStates, visits: Visits, *, kept: Seconds
) -> None:
    """Write the timing of all visits but content and 304 over what is there.

    ============== ================================= =====================================
    status         wait, exact                       wait, guarded
    ============== ================================= =====================================
    REDIRECTION    default_interval                  the page's interval
    FETCH_ERROR    retry_interval                    retry_interval, or the page's interval
                                                     if it is shorter
    ERROR          error_interval                    error_interval, unless set by hand
    ============== ================================= =====================================

    The interval becomes ``kept``.  A page that failed too often is an ERROR.
    """
    status = _STATUS_AFTER[visits.outcome]
    is_gone = (status == CrawlStatus.FETCH_ERROR) & (states.status == PageStatus.GONE)
    np.copyto(status, CrawlStatus.ERROR, where=is_gone)
    failed = np.flatnonzero(status != CrawlStatus.FETCHED)
    if failed.size == 0:
        return
    status, fetched_at, kept = status[failed], visits.fetched_at[failed], kept[failed]
    if schedule.exact:
        waits = np.zeros(len(CrawlStatus))
        waits[CrawlStatus.REDIRECTION] = schedule.default_interval
        waits[CrawlStatus.FETCH_ERROR] = schedule.retry_interval
        waits[CrawlStatus.ERROR] = schedule.error_interval
        timing.next_fetch_at[failed] = due_at(to_minutes(waits)[status], fetched_at)
    else:
        is_free = ~lifecycle.fixed_mask(states.fixed_interval[failed])
        wait = kept.copy()
        is_retry = status == CrawlStatus.FETCH_ERROR
        is_retry &= is_free | (visits.outcome[failed] == Outcome.RETRY)
        if math.isinf(schedule.retry_interval):
            is_retry &= is_free
        else:
            is_retry &= wait > schedule.retry_interval
        np.copyto(wait, schedule.retry_interval, where=is_retry)
        np.copyto(wait, schedule.error_interval, where=is_free & (status == CrawlStatus.ERROR))
        timing.next_fetch_at[failed] = due_after(wait, fetched_at)
    timing.interval[failed] = known(kept)
    lost = failed[status != CrawlStatus.REDIRECTION]
    timing.modified_at[lost] = states.modified_at[lost]


def seconds_of(minutes: Minutes) -> Seconds:
    """Return minutes as seconds, infinite for never."""
    return np.where(minutes == NEVER_MINUTES, np.inf, minutes * 60.0)


def known(interval: Seconds) -> Seconds:
    """Return the interval as it is stored: unknown, not infinite."""
    return np.where(np.isinf(interval), np.nan, interval)


def due_after(wait: Seconds, fetched_at: Times) -> Times:
    """Return when pages are due, NEVER after an infinite wait."""
    due = fetched_at + round_half_up(wait * 1000)
    return np.where(np.isinf(wait), np.int64(NEVER), due)


def modified_at(visits: Visits) -> Times:
    """Return when the content is taken to have changed last: as ``fixed`` does."""
    is_new = (visits.modified_at <= 0) | (visits.observation == Observation.CHANGED)
    return np.where(is_new, visits.fetched_at, visits.modified_at)
