"""StormCrawler's arithmetic: whole minutes in int32, rates in float32, -1 for never."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recrawl.core.columns import NEVER
from recrawl.core.numeric import to_int
from recrawl.core.states import Seconds, Small, Times
from recrawl.core.visit import Observation

__all__ = ["NEVER_MINUTES", "CrawlStatus", "Minutes", "adapt", "due_at", "to_minutes"]

Minutes: TypeAlias = NDArray[np.int32]

#: What stands for never among minutes; exactly this number, -2 is two minutes ago.
NEVER_MINUTES: Final = -1


class CrawlStatus(IntEnum):
    """StormCrawler's statuses, under their names there."""

    DISCOVERED = 0
    FETCHED = 1
    REDIRECTION = 2
    FETCH_ERROR = 3
    ERROR = 4


@np.errstate(over="ignore", invalid="ignore")
def adapt(
    minutes: Minutes,
    observation: Small,
    *,
    inc_rate: float,
    dec_rate: float,
    least: int,
    most: int,
) -> Minutes:
    """Return the intervals after visits that saw a change or none.

    Parameters
    ----------
    minutes : ndarray of int32, shape (n,)
        Intervals before, any numbers: -1 is no exception here. [min]
    observation : ndarray of int8, shape (n,)
        ``Observation``; UNKNOWN leaves the interval.
    inc_rate, dec_rate : float
        Rates of growth and of decrease, any numbers.
    least, most : int
        Least and greatest interval. [min]

    Notes
    -----
    StormCrawler's AdaptiveScheduler.schedule: each operation is rounded to float32 and the sum is
    cut to an integer.  The greatest interval holds for growth only; towards the least the
    interval is drawn, from either side, and it is no bound.
    """
    one, decrease = np.float32(1), np.float32(dec_rate)
    factor = np.ones(3, dtype=np.float32)
    factor[Observation.CHANGED] = one - decrease
    factor[Observation.UNCHANGED] = one + np.float32(inc_rate)
    term = np.zeros(3, dtype=np.float32)
    term[Observation.CHANGED] = decrease * np.float32(least)
    changed: NDArray[np.float32] = minutes.astype(np.float32)
    changed *= factor[observation]
    changed += term[observation]
    adapted = to_int(changed)
    # Numbers beyond 2**24 lose digits in float32, also where the factor is 1.
    np.copyto(adapted, minutes, where=observation == Observation.UNKNOWN)
    is_long = (observation == Observation.UNCHANGED) & (adapted > most)
    np.copyto(adapted, np.int32(most), where=is_long)
    return adapted


def due_at(minutes: Minutes, now: Times | int) -> Times:
    """Return when pages are due: so many minutes after ``now`` [ms], NEVER for -1."""
    due = now + minutes.astype(np.int64) * 60_000
    return np.where(minutes == NEVER_MINUTES, np.int64(NEVER), due)


def to_minutes(seconds: Seconds | float) -> Minutes:
    """Return seconds as whole minutes, cut towards zero; infinity is never."""
    values = np.asarray(seconds, dtype=np.float64)
    minutes = to_int(np.atleast_1d(values / 60.0)).reshape(values.shape)
    return np.where(np.isposinf(values), np.int32(NEVER_MINUTES), minutes)
