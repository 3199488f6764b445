"""Bounds, guards and jitter: what wraps any schedule."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.core.columns import NEVER, NO_TIME
from recrawl.core.numeric import round_half_up
from recrawl.core.states import Keys, PageStates, Seconds, Times
from recrawl.core.timing import Timing
from recrawl.core.visit import Observation, Visits
from recrawl.errors import InputError

__all__ = ["LONGEST_INTERVAL", "SHORTEST_INTERVAL", "Bounds", "believable", "bound"]

#: Intervals are kept to the millisecond. [s]
SHORTEST_INTERVAL = 0.001
#: A hundred years: far from overflow in int64 milliseconds, and longer than anyone waits. [s]
LONGEST_INTERVAL = 36_525 * 86_400.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """How soon and how late a page may be fetched again, whatever the schedule says.

    Parameters
    ----------
    min_interval, max_interval : float or ndarray, shape (n,)
        Least and greatest wait after a visit, at least a millisecond and at most a hundred
        years. [s]
    jitter : float or ndarray, shape (n,)
        The wait is moved by up to this fraction, earlier or later, 0 to 1.  It keeps pages that
        were added together from coming due together.

    Raises
    ------
    InputError
        If a value is out of range, or ``min_interval`` is greater than ``max_interval``.
    """

    min_interval: float | Seconds = 60.0
    max_interval: float | Seconds = 7_776_000.0
    jitter: float | Seconds = 0.1

    def __post_init__(self) -> None:
        low, high = np.asarray(self.min_interval), np.asarray(self.max_interval)
        for name, values in (("min_interval", low), ("max_interval", high)):
            is_usable = (values >= SHORTEST_INTERVAL) & (values <= LONGEST_INTERVAL)
            _require(
                is_usable, values, f"{name} is not from {SHORTEST_INTERVAL} to {LONGEST_INTERVAL} s"
            )
        _require(
            low <= high, low, "min_interval is greater than max_interval; raise one or lower one"
        )
        jitter = np.asarray(self.jitter)
        _require((jitter >= 0) & (jitter <= 1), jitter, "jitter is not from 0 to 1")

    def take(self, index: ArrayLike) -> Bounds:
        """Return the bounds of the rows at ``index``; what is one number stays one."""
        chosen = np.asarray(index)
        columns = [
            value[chosen] if isinstance(value, np.ndarray) and value.ndim else value
            for value in (self.min_interval, self.max_interval, self.jitter)
        ]
        return Bounds(*columns)


def bound(
    timing: Timing,
    bounds: Bounds,
    *,
    page_key: Keys,
    fetched_at: Times,
    fixed_interval: NDArray[np.float32],
) -> Timing:
    """Return the timing within the bounds, moved by the jitter.

    Parameters
    ----------
    timing : Timing
        What the schedule answered after the visit.
    bounds : Bounds
        The bounds.
    page_key : ndarray of int64, shape (n,)
        The pages; with ``fetched_at`` they seed the jitter.
    fetched_at : ndarray of int64, shape (n,)
        Start of the visit. [ms]
    fixed_interval : ndarray of float32, shape (n,)
        Intervals set by hand, NaN for none; a row with a usable one is passed through. [s]

    Returns
    -------
    Timing
        ``next_fetch_at`` lies in ``[fetched_at + min_interval, fetched_at + max_interval]``, the
        interval in ``[min_interval, max_interval]`` and without jitter.  NEVER stays NEVER.

    Notes
    -----
    It is the next fetch itself that is clamped, not only the interval: a schedule may shift the
    one against the other (cases sch-002, sch-003).  The jittered wait is drawn evenly from the
    part of ``wait * [1 - jitter, 1 + jitter]`` that lies within the bounds, so that pages at a
    bound do not pile up there.  A user who sets an interval means it: such a page is left alone.
    """
    low = np.asarray(bounds.min_interval, dtype=np.float64)
    high = np.asarray(bounds.max_interval, dtype=np.float64)
    # In float64 the difference cannot wrap, and it is exact up to 285,000 years.
    wait = (timing.next_fetch_at.astype(np.float64) - fetched_at) / 1000
    wait = np.clip(wait, low, high)
    earliest = np.maximum(wait * (1 - np.asarray(bounds.jitter)), low)
    latest = np.minimum(wait * (1 + np.asarray(bounds.jitter)), high)
    wait = earliest + _fraction(page_key, fetched_at) * (latest - earliest)
    next_fetch_at = fetched_at + round_half_up(wait * 1000)
    is_fixed = (fixed_interval >= SHORTEST_INTERVAL) & (fixed_interval <= LONGEST_INTERVAL)
    is_free = ~is_fixed & (timing.next_fetch_at != NEVER)
    return Timing(
        interval=np.where(is_free, np.clip(timing.interval, low, high), timing.interval),
        next_fetch_at=np.where(is_free, next_fetch_at, timing.next_fetch_at),
        modified_at=timing.modified_at,
    )


def believable(states: PageStates, visits: Visits) -> Visits:
    """Return the visits with the modified time that a schedule may believe.

    Parameters
    ----------
    states : PageStates
        States before the visit.
    visits : Visits
        One visit a page, ``observation`` filled in.

    Returns
    -------
    Visits
        ``modified_at`` later than the fetch is unknown (case sch-005).  Where it is unknown, and
        where the visit saw no change, it is the one remembered: servers that stamp every answer
        with the present would otherwise make each page look new (case sch-014).
    """
    is_credible = visits.modified_at <= visits.fetched_at
    given = np.where(is_credible, visits.modified_at, NO_TIME)
    is_remembered = (states.modified_at != NO_TIME) & (states.modified_at <= visits.fetched_at)
    is_unchanged = visits.observation == Observation.UNCHANGED
    takes_old = is_remembered & ((given == NO_TIME) | is_unchanged)
    return replace(visits, modified_at=np.where(takes_old, states.modified_at, given))


def _require(is_good: ArrayLike, values: NDArray[np.float64], message: str) -> None:
    """Raise InputError with the first value that is not good."""
    bad = np.atleast_1d(~np.asarray(is_good))
    if bad.any():
        value = np.broadcast_to(values, bad.shape)[bad][0]
        raise InputError(f"bounds: {message}: {value:g}", value=float(value))


def _fraction(page_key: Keys, fetched_at: Times) -> Seconds:
    """Return numbers in [0, 1) that look random and depend on page and visit only.

    The finaliser of splitmix64, twice; its three constants are the published ones.
    """
    mixed = _mix(_mix(page_key.astype(np.uint64)) ^ fetched_at.astype(np.uint64))
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
