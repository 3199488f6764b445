"""What a fetch of a page is worth by the time since the last one, and when it is worth enough."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.core.poisson import changes_at_gain, gain, harm
from recrawl.core.states import Seconds
from recrawl.errors import InputError

__all__ = ["ValueTable", "changes_at_value", "crawl_value", "fetch_interval", "value_table"]

#: Rows worked on together: their buffers fit into the second cache.
_BLOCK = 16_384
#: Newton's method stops when no logarithm moves by more.
_TOLERANCE = 1e-12
#: The table begins at a value of 2^-34 and ends at 2^26, or, for eta 0, at a logarithm of 2^5.
_LOWEST, _HIGHEST, _HIGHEST_LOG = -34, 26, 5
#: Smallest eta above 0 of a table: below, its bend is too sharp for few points.
_LEAST_ETA = 1e-3


def crawl_value(changes: Seconds, eta: float) -> Seconds:
    """Return what a fetch is worth, in importance over change rate.

    Parameters
    ----------
    changes : ndarray, shape (n,)
        Changes expected since the last fetch: change rate times elapsed time, 0 or more.
    eta : float
        Weight of the stale time against the freshness, 0 to 1.

    Returns
    -------
    ndarray of float64, shape (n,)
        ``(1 - eta) (1 - (1 + x) exp(-x)) + eta (x - 1 + exp(-x))``.

    Notes
    -----
    Times importance over change rate it is an importance times a time.  At eta 0 it is what a
    fetch adds to the mean freshness [Olston2008]_, which stays below 1, so a page that changes
    too fast for its importance is never worth a fetch [ChoGM2000]_.  At eta 1 it is the expected
    stale time so far, the harmonic penalty of [Kolobov2019b]_ at even distances; from any eta
    above 0 on every page's turn comes.
    """
    return (1 - eta) * gain(changes) + eta * harm(changes)


def changes_at_value(value: ArrayLike, eta: float) -> Seconds:
    """Return the changes since the last fetch at which a fetch is worth this much.

    Parameters
    ----------
    value : ndarray, shape (n,)
        Values of ``crawl_value``, 0 or more.
    eta : float
        Weight of the stale time against the freshness: 0, or 1e-9 to 1.

    Returns
    -------
    ndarray of float64, shape (n,)
        Changes, whose value agrees to 1e-12 of itself; infinite where no wait is long enough, and
        NaN where the value is NaN or negative.

    Raises
    ------
    InputError
        If eta is out of range.

    Notes
    -----
    Newton's method on the logarithms of both, within a bracket: the value is at most half the
    square of the changes, and at least each of its two parts.
    """
    _require_eta(eta)
    y = np.asarray(value, dtype=np.float64)
    if eta == 0:
        return np.where(y >= 0, changes_at_gain(y), math.nan)
    x = np.where(y >= 0, y, math.nan)
    is_inside = (y > 0) & (y < math.inf)
    x[is_inside] = _solved(y[is_inside], eta)
    return x


def fetch_interval(
    change_rate: ArrayLike,
    importance: ArrayLike,
    multiplier: ArrayLike,
    *,
    eta: float,
    cost: ArrayLike = 1.0,
    shortest: ArrayLike = 0.0,
    longest: ArrayLike = math.inf,
) -> Seconds:
    """Return how long after a fetch the next one is worth its price.

    Parameters
    ----------
    change_rate : ndarray, shape (n,)
        Expected changes, 0 or more. [1/s]
    importance : float or ndarray, shape (n,)
        Weight of each page, 0 or more.
    multiplier : float or ndarray, shape (n,)
        Price of a fetch of cost 1: importance times time; 0 or more, infinite for none at all. [s]
    eta : float
        Weight of the stale time against the freshness: 0, or 1e-9 to 1.
    cost : float or ndarray, shape (n,)
        What a fetch costs, more than 0; the price is multiplied by it.
    shortest, longest : float or ndarray, shape (n,)
        What the intervals are kept between. [s]

    Returns
    -------
    ndarray of float64, shape (n,)
        Intervals; ``longest`` for pages that never change, do not matter or are never worth a
        fetch; NaN where an argument is NaN or a rate negative. [s]

    Notes
    -----
    ``x / D``, where ``crawl_value`` at x is multiplier times cost times D over importance.  For
    rates without limit the interval tends to ``multiplier cost / (importance eta)``.
    """
    rate = np.asarray(change_rate, dtype=np.float64)
    weight = np.asarray(importance, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        price = np.asarray(multiplier, dtype=np.float64) * np.asarray(cost) / weight
        value = rate * price
        interval = changes_at_value(value, eta) / rate
        # Where the value overflows only its last term is left: eta times the changes.
        fastest = np.where(price == 0, 0.0, price / eta if eta else math.inf)
    interval = np.where((value == math.inf) | (rate == math.inf), fastest, interval)
    interval = np.where((rate == 0) | (weight == 0), math.inf, interval)
    bounded: Seconds = np.clip(interval, np.asarray(shortest), np.asarray(longest))
    return bounded


@dataclass(frozen=True, slots=True)
class ValueTable:
    """The inverse of the crawl value for one eta as straight pieces, for millions of pages.

    Parameters
    ----------
    eta : float
        Weight of the stale time against the freshness: 0, or 0.001 to 1.

    Raises
    ------
    InputError
        If eta is out of range.

    Notes
    -----
    The first bits of a float32 are its piece, so neither a logarithm nor a search is needed: of
    a value, or, for eta 0, whose inverse has a pole at 1, of minus the logarithm of 1 minus the
    value.  A smaller eta bends more sharply and has more pieces.
    """

    eta: float
    _shift: int = field(init=False, repr=False)
    _first: int = field(init=False, repr=False)
    _intercept: NDArray[np.float32] = field(init=False, repr=False, compare=False)
    _slope: NDArray[np.float32] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not (self.eta == 0 or _LEAST_ETA <= self.eta <= 1):
            raise InputError(f"eta is {self.eta:g}; allowed: 0, or 0.001 to 1", value=self.eta)
        pieces = 8 if self.eta == 0 else min(max(4 - math.floor(math.log2(self.eta)), 7), 12)
        shift = 23 - pieces
        top = _HIGHEST if self.eta else _HIGHEST_LOG
        first, last = ((127 + power) << pieces for power in (_LOWEST, top))
        edge = (np.arange(first, last + 1, dtype=np.int32) << shift).view(np.float32)
        v = edge.astype(np.float64)
        x = changes_at_value(v if self.eta else -np.expm1(-v), self.eta)
        slope = np.diff(x) / np.diff(v)
        # The last piece has no end: a straight line indeed, or, for eta 0, no wait is enough.
        ending = (2 - 1 / self.eta, 1 / self.eta) if self.eta else (math.inf, 0.0)
        intercept = np.append(x[:-1] - slope * v[:-1], ending[0])
        object.__setattr__(self, "_shift", shift)
        object.__setattr__(self, "_first", first)
        object.__setattr__(self, "_intercept", intercept.astype(np.float32))
        object.__setattr__(self, "_slope", np.append(slope, ending[1]).astype(np.float32))

    def interval(
        self,
        change_rate: ArrayLike,
        importance: ArrayLike,
        multiplier: ArrayLike,
        *,
        cost: ArrayLike | None = None,
        shortest: ArrayLike = 0.0,
        longest: ArrayLike = math.inf,
    ) -> NDArray[np.float32]:
        """Return what ``fetch_interval`` returns, in float32, within 1e-4 of it.

        Parameters are those of ``fetch_interval``.
        """
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            rate = np.atleast_1d(np.asarray(change_rate, dtype=np.float32))
            weight, price, costs = (
                np.broadcast_to(np.asarray(values, dtype=np.float32), rate.shape)
                for values in (importance, multiplier, 1.0 if cost is None else cost)
            )
            interval = np.empty(rate.shape, np.float32)
            # A loop over blocks: what one pass leaves is still in the cache for the next.
            for start in range(0, rate.size, _BLOCK):
                block = slice(start, start + _BLOCK)
                out = interval[block]
                value = price[block] * rate[block]
                value /= weight[block]
                if cost is not None:
                    value *= costs[block]
                is_odd = self._put_changes(value, out)
                out /= rate[block]
                if is_odd or np.isnan(out.max()):
                    odd = np.flatnonzero(~(value >= 2.0**_LOWEST) | np.isnan(out))
                    out[odd] = fetch_interval(
                        rate[block][odd],
                        weight[block][odd],
                        price[block][odd],
                        eta=self.eta,
                        cost=costs[block][odd],
                    )
        low, high = np.asarray(shortest, np.float32), np.asarray(longest, np.float32)
        return np.clip(interval, low, high, out=interval)

    def changes(self, value: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
        """Return what ``changes_at_value`` returns, in float32, within 1e-4 of it."""
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            y = value.astype(np.float32)
            x = np.empty(y.shape, np.float32)
            if y.size and self._put_changes(y, x):
                odd = ~(y >= 2.0**_LOWEST)
                x[odd] = changes_at_value(value[odd], self.eta)
        return x

    def _put_changes(self, value: NDArray[np.float32], out: NDArray[np.float32]) -> bool:
        """Write the changes at these values; say whether some are below the table or NaN."""
        v = value
        if self.eta == 0:
            v = np.negative(np.minimum(value, 1))
            np.log1p(v, out=v)
            np.negative(v, out=v)
            # Past the end, but finite: infinity times a slope of 0 would be NaN.
            np.minimum(v, 2.0 ** (_HIGHEST_LOG + 1), out=v)
        piece = v.view(np.int32) >> self._shift
        piece -= self._first
        np.take(self._intercept, piece, out=out, mode="clip")
        slope = np.take(self._slope, piece, mode="clip")
        slope *= v
        out += slope
        return not value.min() >= 2.0**_LOWEST


@lru_cache(maxsize=16)
def value_table(eta: float) -> ValueTable:
    """Return the table of this eta, made once."""
    return ValueTable(eta)


def _require_eta(eta: float) -> None:
    """Raise InputError unless eta is a weight, and if not 0 large enough to divide by."""
    if not (eta == 0 or 1e-9 <= eta <= 1):
        raise InputError(f"eta is {eta:g}; allowed: 0, or 1e-9 to 1", value=eta)


def _solved(y: Seconds, eta: float) -> Seconds:
    """Return the changes at values above 0, for an eta above 0."""
    low = np.log(2 * y) / 2
    stale = y / eta
    high = np.log(stale + np.sqrt(2) * np.sqrt(stale))
    if eta < 1:
        high = np.minimum(high, np.log(changes_at_gain(y / (1 - eta))))
    log_x, log_y, moved = high, np.log(y), math.inf
    while moved > _TOLERANCE:
        x = np.exp(log_x)
        value = crawl_value(x, eta)
        slope = x * ((1 - eta) * x * np.exp(-x) - eta * np.expm1(-x)) / value
        miss = np.log(value) - log_y
        low, high = np.where(miss <= 0, log_x, low), np.where(miss >= 0, log_x, high)
        guess = log_x - miss / slope
        is_inside = (guess >= low) & (guess <= high)
        following = np.where(is_inside, guess, (low + high) / 2)
        moved = float(np.abs(following - log_x).max(initial=0.0))
        log_x = following
    # Logarithms far from 0 have lost a digit or two of x itself; one more step without them.
    x = np.exp(log_x)
    slope = (1 - eta) * x * np.exp(-x) - eta * np.expm1(-x)
    better: Seconds = x - (crawl_value(x, eta) - y) / slope
    return better
