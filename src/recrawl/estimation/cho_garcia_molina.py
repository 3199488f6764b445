"""How often a page changes, from visits that only say whether it did: Cho and Garcia-Molina."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.core.states import Mask, Rates, Seconds
from recrawl.errors import InputError
from recrawl.estimation._checks import require_all

__all__ = ["bias_reduced", "irregular", "last_modified"]

#: The logarithm of a rate is found when a step moves it by no more than this.
_TOLERANCE = 1e-11
#: Half the widest bracket, in logarithms: rates beyond are not numbers of this world.
_REACH = 40.0


def bias_reduced(n_visits: ArrayLike, n_changes: ArrayLike, interval: ArrayLike) -> Rates:
    """Return change rates from visits at about even distances.

    Parameters
    ----------
    n_visits : ndarray, shape (n,)
        Visits that could see a change, so the first of a page does not count; 0 or more.
    n_changes : ndarray, shape (n,)
        Those that saw one, 0 to ``n_visits``.
    interval : ndarray, shape (n,)
        Mean time between two visits, more than 0; without visits it does not matter. [s]

    Returns
    -------
    ndarray of float64, shape (n,)
        Expected changes a page; 0 where no change was seen, NaN where there was no visit. [1/s]

    Raises
    ------
    InputError
        If there are more changes than visits, or an interval is not positive.

    Notes
    -----
    ``-log((n - X + 1/2) / (n + 1/2)) / I`` with n visits, X changes and the interval I
    [ChoGM2003b]_.  The plain ratio ``X / n`` counts a page that changed five times between two
    visits once; the logarithm makes up for it, and the halves keep it finite when every visit
    saw a change.  The rate is bounded by ``log(2 n + 1) / I`` then.
    """
    n, x, length = _counts(n_visits, n_changes, "interval", interval)
    rate: Rates = -np.log1p(-x / (n + 0.5)) / length
    return rate


def irregular(page: ArrayLike, elapsed: ArrayLike, is_changed: ArrayLike, n: int) -> Rates:
    """Return the most likely change rates from visits at any distances.

    Parameters
    ----------
    page : ndarray of int, shape (m,)
        Which page a visit was of, 0 to ``n - 1``.
    elapsed : ndarray, shape (m,)
        Time since the visit before, more than 0. [s]
    is_changed : ndarray of bool, shape (m,)
        Whether the visit saw a change.
    n : int
        Number of pages.

    Returns
    -------
    ndarray of float64, shape (n,)
        Expected changes a page: 0 where no visit saw one, infinite where all did, NaN where
        there was no visit. [1/s]

    Raises
    ------
    InputError
        If a page is out of range or a time is not positive and finite.

    Notes
    -----
    The root D of ``sum over changed I / (exp(D I) - 1) = sum over unchanged I`` [ChoGM2003b]_.
    The left side falls from infinity to 0, so there is one root; Newton's method finds it on the
    logarithm of D within a bracket.
    """
    row, length, changed = _visits(page, elapsed, is_changed, n)
    n_changes = np.bincount(row[changed], minlength=n)
    quiet = _sums(row[~changed], length[~changed], n)
    total = _sums(row, length, n)
    rate = np.where(total > 0, 0.0, math.nan)
    rate[(n_changes > 0) & (quiet == 0)] = math.inf
    mixed = np.flatnonzero((n_changes > 0) & (quiet > 0))
    if mixed.size:
        place = np.full(n, -1, dtype=np.int64)
        place[mixed] = np.arange(mixed.size)
        kept = changed & (place[row] >= 0)
        start = np.log(n_changes[mixed] / total[mixed])
        rate[mixed] = np.exp(_root(place[row[kept]], length[kept], quiet[mixed], start))
    return rate


def last_modified(n_visits: ArrayLike, n_changes: ArrayLike, exposure: ArrayLike) -> Rates:
    """Return change rates from visits that say when the page changed last.

    Parameters
    ----------
    n_visits : ndarray, shape (n,)
        Visits that could see a change, so the first of a page does not count; 0 or more.
    n_changes : ndarray, shape (n,)
        Those that saw one, 0 to ``n_visits``.
    exposure : ndarray, shape (n,)
        Sum of the times that are known to be quiet: from the last change to the visit, or from
        one visit to the next where there was no change; 0 or more. [s]

    Returns
    -------
    ndarray of float64, shape (n,)
        Expected changes a page; 0 where no change was seen, NaN where there was no visit. [1/s]

    Raises
    ------
    InputError
        If there are more changes than visits, or an exposure is not positive.

    Notes
    -----
    ``X' / T`` with ``X' = (X - 1) - X / (n log(1 - X / n))`` [ChoGM2003b]_: looking back from a
    visit, the last change comes after an exponential time, cut off at the visit before.  Without
    changes X' is 0, and with a change at each visit ``X - 1``, which is unbiased there.  One
    change at one visit therefore says nothing yet: 0.
    """
    n, x, length = _counts(n_visits, n_changes, "exposure", exposure)
    with np.errstate(divide="ignore", invalid="ignore"):
        corrected = x - 1 - x / (n * np.log1p(-x / n))
    rate: Rates = np.where(x == 0, 0.0, corrected) / length
    return rate


def _counts(
    n_visits: ArrayLike, n_changes: ArrayLike, name: str, time: ArrayLike
) -> tuple[Seconds, Seconds, Seconds]:
    """Return visits, changes and the time of that name as arrays, checked; no time is NaN."""
    n = np.asarray(n_visits, dtype=np.float64)
    x = np.asarray(n_changes, dtype=np.float64)
    require_all("n_visits", n, n >= 0, "0 or more")
    require_all("n_changes", x, (x >= 0) & (x <= n), "0 to n_visits")
    length = np.where(n > 0, np.asarray(time, dtype=np.float64), math.nan)
    require_all(name, length, (n == 0) | (length > 0), "more than 0 s")
    return n, x, length


def _visits(
    page: ArrayLike, elapsed: ArrayLike, is_changed: ArrayLike, n: int
) -> tuple[NDArray[np.int64], Seconds, Mask]:
    """Return the visits as arrays, checked."""
    row = np.asarray(page, dtype=np.int64)
    length = np.asarray(elapsed, dtype=np.float64)
    changed = np.asarray(is_changed, dtype=bool)
    if not row.shape == length.shape == changed.shape:
        raise InputError(
            f"page, elapsed and is_changed have the shapes {row.shape}, {length.shape} and"
            f" {changed.shape}; give one value a visit in each"
        )
    require_all("page", row, (row >= 0) & (row < n), f"0 to {n - 1}")
    require_all("elapsed", length, (length > 0) & (length < math.inf), "more than 0 s, finite")
    return row, length, changed


def _sums(page: NDArray[np.int64], values: Seconds, n: int) -> Seconds:
    """Return the sum of the values of each page."""
    return np.bincount(page, weights=values, minlength=n).astype(np.float64)


def _root(page: NDArray[np.int64], elapsed: Seconds, quiet: Seconds, start: Seconds) -> Seconds:
    """Return the logarithms of the rates at which the likelihood's derivative is 0."""
    n = len(quiet)
    low, high = start - _REACH, start + _REACH
    log_rate, moved = start, math.inf
    while moved > _TOLERANCE:
        scaled = np.exp(log_rate)[page] * elapsed
        # Beyond 700 the exponential overflows, and the term is 0 to the last bit.
        grown = np.expm1(np.minimum(scaled, 700.0))
        term = elapsed / grown
        loud = _sums(page, term, n)
        slope = _sums(page, term * scaled * (1 + 1 / grown), n)
        is_low = loud >= quiet
        low, high = np.where(is_low, log_rate, low), np.where(is_low, high, log_rate)
        # On log(loud), which is nearly straight: the plain difference converges slowly far off.
        guess = log_rate + np.log(loud / quiet) * loud / slope
        inside = (guess >= low) & (guess <= high)
        following = np.where(inside, guess, (low + high) / 2)
        moved = float(np.abs(following - log_rate).max())
        log_rate = following
    return log_rate
