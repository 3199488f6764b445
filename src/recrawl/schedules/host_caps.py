"""What a fetch must be worth on hosts that cannot take as many as their pages are worth."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.core.states import Mask, Rates, Seconds
from recrawl.errors import InputError
from recrawl.schedules.crawl_value import value_table
from recrawl.schedules.multiplier import falling_root, meet

__all__ = ["host_multipliers", "multiplier_under_caps"]

Narrow = NDArray[np.float32]

#: What is below reach by a bound is taken to be this part above it.
_MARGIN = 1e-3
#: Keeps a quotient of two sums a number where both are 0.
_TINY = 1e-300


def host_multipliers(
    change_rate: ArrayLike,
    importance: ArrayLike,
    host: NDArray[np.integer],
    cap: ArrayLike,
    *,
    eta: float,
    cost: ArrayLike = 1.0,
    shortest: float = 0.0,
    longest: ArrayLike = math.inf,
) -> Seconds:
    """Return for each host the multiplier at which its pages alone fill its cap.

    Parameters
    ----------
    change_rate : ndarray, shape (n,)
        Expected changes, 0 or more. [1/s]
    importance : float or ndarray, shape (n,)
        Weight of each page, 0 or more.
    host : ndarray of int, shape (n,)
        Row of each page's host in ``cap``.
    cap : ndarray, shape (h,)
        Most fetches of each host, 0 or more, infinite for no cap. [1/s]
    eta : float
        Weight of the stale time against the freshness: 0, or 0.001 to 1.
    cost : float or ndarray, shape (n,)
        What a fetch costs, more than 0; the cap counts fetches, whatever they cost.
    shortest : float
        Shortest interval. [s]
    longest : float or ndarray, shape (h,)
        Longest interval, by host; see ``longest_interval``. [s]

    Returns
    -------
    ndarray of float64, shape (h,)
        0 for hosts whose pages cannot fill the cap, infinite for a cap of 0. [s]

    Raises
    ------
    InputError
        If a cap is negative or NaN.

    Notes
    -----
    A page's price is the greater of the collection's multiplier and its host's [Kolobov2019a]_.
    The host's does not depend on the collection's, so both are found one after the other: all
    hosts at once, then one number.
    """
    caps = np.asarray(cap, dtype=np.float64)
    if not (caps >= 0).all():
        value = float(caps[~(caps >= 0)][0])
        raise InputError(f"cap is {value:g}; allowed: 0 fetches a second or more", value=value)
    found = np.where(caps == 0, math.inf, 0.0)
    is_capped = (caps > 0) & (caps < math.inf)
    longest = np.broadcast_to(np.asarray(longest, np.float64), caps.shape)
    pages = _Pages.of(change_rate, importance, host, cost, longest).on(is_capped)

    def crawl_rate(multiplier: Seconds) -> Rates:
        each = np.zeros(caps.shape)
        each[is_capped] = multiplier
        with np.errstate(divide="ignore"):
            rate = 1 / pages.intervals(each, eta, shortest)
        capped: Rates = _sums(pages.host, rate, caps.size)[is_capped]
        return capped

    n = int(np.count_nonzero(is_capped))
    least, most = crawl_rate(np.full(n, math.inf)), crawl_rate(np.zeros(n))
    with np.errstate(invalid="ignore"):
        nearest = least + _MARGIN * np.fmin(least, most - least)
    target = np.fmax(caps[is_capped], nearest)
    start = pages.starts(caps.size)[is_capped]
    is_reached = target < most
    root = falling_root(crawl_rate, target, start, may_exceed=False)
    found[is_capped] = np.where(is_reached, root, 0.0)
    return found


def multiplier_under_caps(
    change_rate: ArrayLike,
    importance: ArrayLike,
    host: NDArray[np.integer],
    host_multiplier: Seconds,
    budget: float,
    *,
    eta: float,
    cost: ArrayLike = 1.0,
    shortest: float = 0.0,
    longest: ArrayLike = math.inf,
) -> float:
    """Return the multiplier at which the budget is spent on what the hosts can take.

    Parameters
    ----------
    change_rate, importance, host, eta, cost, shortest, longest
        As in ``host_multipliers``.
    host_multiplier : ndarray, shape (h,)
        From ``host_multipliers``. [s]
    budget : float
        What may be spent in a time, 0 or more: fetches where each costs 1. [cost/s]

    Returns
    -------
    float
        Pages have the greater of it and their host's.  Infinite at a budget of 0, and 0 where the
        budget is more than all hosts can take. [s]

    Raises
    ------
    InputError
        If the budget is negative, infinite or NaN.
    """
    if not 0 <= budget < math.inf:
        raise InputError(f"budget is {budget:g}; allowed: 0 or more, finite", value=budget)
    if budget == 0:
        return math.inf
    longest = np.broadcast_to(np.asarray(longest, np.float64), host_multiplier.shape)
    pages = _Pages.of(change_rate, importance, host, cost, longest)

    def spending(multiplier: float) -> float:
        price = np.maximum(host_multiplier, multiplier)
        with np.errstate(divide="ignore"):
            rate = pages.cost / pages.intervals(price, eta, shortest)
        return float(rate.sum(dtype=np.float64))

    weight = pages.weight.sum(dtype=np.float64)
    return meet(spending, budget, float((weight + _TINY) / (pages.load().sum() + _TINY)))


@dataclass(frozen=True, slots=True)
class _Pages:
    """Pages as columns."""

    rate: Narrow
    weight: Narrow
    cost: Narrow
    host: NDArray[np.integer]
    longest: Narrow

    @classmethod
    def of(
        cls,
        change_rate: ArrayLike,
        importance: ArrayLike,
        host: NDArray[np.integer],
        cost: ArrayLike,
        longest: Seconds,
    ) -> _Pages:
        """Return the pages with one value each in all columns; ``longest`` is by host."""
        rate, weight, price = (
            np.broadcast_to(np.asarray(values, np.float32), host.shape)
            for values in (change_rate, importance, cost)
        )
        return cls(rate, weight, price, host, _narrow(longest)[host])

    def on(self, is_wanted: Mask) -> _Pages:
        """Return the pages on some hosts."""
        chosen = is_wanted[self.host]
        return _Pages(*(getattr(self, each.name)[chosen] for each in fields(self)))

    def intervals(self, multiplier: Seconds, eta: float, shortest: float) -> Narrow:
        """Return the intervals at a multiplier for each host."""
        return value_table(eta).interval(
            self.rate,
            self.weight,
            _narrow(multiplier)[self.host],
            cost=self.cost,
            shortest=shortest,
            longest=self.longest,
        )

    def load(self) -> Seconds:
        """Return costs times change rates."""
        return self.cost.astype(np.float64) * self.rate

    def starts(self, n: int) -> Seconds:
        """Return multipliers at which mean pages are fetched about as often as they change."""
        weight, load = _sums(self.host, self.weight, n), _sums(self.host, self.load(), n)
        start: Seconds = (weight + _TINY) / (load + _TINY)
        return start


def _narrow(values: Seconds) -> Narrow:
    """Return the values in float32, those too large for it as infinity."""
    with np.errstate(over="ignore", under="ignore"):
        return values.astype(np.float32)


def _sums(host: NDArray[np.integer], values: NDArray[np.floating[Any]], n: int) -> Seconds:
    """Return the sums of the pages' values by host."""
    return np.bincount(host, values, n).astype(np.float64)
