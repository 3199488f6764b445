"""The price of a fetch at which a budget is spent, or a freshness or age is reached."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from recrawl.core.states import Seconds
from recrawl.errors import InputError
from recrawl.schedules.crawl_value import fetch_interval
from recrawl.schedules.totals import Totals

__all__ = [
    "falling_root",
    "longest_interval",
    "meet",
    "multiplier_exactly",
    "multiplier_for_age",
    "multiplier_for_budget",
    "multiplier_for_freshness",
]

#: A root is found when what is measured is met to this part, or the logarithm is.
_TOLERANCE = 1e-10
#: Where the search for a root gives up: the logarithm of the largest float64.
_FARTHEST = 700.0
#: Steps of the search; the secants need about ten, a jump in the measure about forty.
_STEPS = 100
#: What is below reach by a bound is taken to be this part above it.
_MARGIN = 1e-3
#: Keeps a quotient of two sums a number where both are 0.
_TINY = 1e-300


def longest_interval(n_pages: ArrayLike, budget: ArrayLike, longest: float) -> Seconds:
    """Return the longest interval that leaves the budget room to choose.

    Parameters
    ----------
    n_pages : int or ndarray
        Pages that share the budget.
    budget : float or ndarray
        Fetches that they may have. [1/s]
    longest : float
        Longest interval that is asked for. [s]

    Returns
    -------
    ndarray of float64
        At least ten times the interval of even fetches, so that what the bound itself asks for is
        at most a tenth of the budget; else the multiplier would rise without end. [s]
    """
    pages, fetches = np.asarray(n_pages, np.float64), np.asarray(budget, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        even = np.where(pages == 0, 0.0, pages / fetches)
    interval: Seconds = np.maximum(longest, 10 * even)
    return interval


def multiplier_for_budget(
    totals: Totals, budget: float, *, eta: float, shortest: float = 0.0, longest: float = math.inf
) -> float:
    """Return the multiplier at which the pages' fetches cost the budget.

    Parameters
    ----------
    totals : Totals
        The collection.
    budget : float
        What may be spent in a time, 0 or more: fetches where each costs 1. [cost/s]
    eta : float
        Weight of the stale time against the freshness: 0, or 0.001 to 1.
    shortest, longest : float
        What the intervals are kept between; see ``longest_interval``. [s]

    Returns
    -------
    float
        Infinite at a budget of 0, and 0 where the budget is more than all pages can use.  Where
        ``longest`` alone costs more than the budget it is where nearly all pages are at it. [s]

    Raises
    ------
    InputError
        If the budget is negative, infinite or NaN.
    """
    _require("budget", budget, 0 <= budget < math.inf, "0 or more, finite")
    if budget == 0:
        return math.inf

    def spending(multiplier: float) -> float:
        return totals.outlook(multiplier, eta=eta, shortest=shortest, longest=longest).spending

    return meet(spending, budget, _start(totals))


def multiplier_for_freshness(
    totals: Totals,
    freshness: float,
    *,
    eta: float,
    shortest: float = 0.0,
    longest: float = math.inf,
) -> float:
    """Return the multiplier at which the mean freshness is the one wanted.

    Parameters are those of ``multiplier_for_budget``, but for ``freshness``, above 0 and below 1.

    Returns
    -------
    float
        The greatest one, hence the cheapest; 0 where only fetching all the time would do. [s]
    """
    _require("freshness", freshness, 0 < freshness < 1, "above 0 and below 1")

    def fresh(multiplier: float) -> float:
        return totals.outlook(multiplier, eta=eta, shortest=shortest, longest=longest).freshness

    return meet(fresh, freshness, _start(totals))


def multiplier_for_age(
    totals: Totals, age: float, *, eta: float, shortest: float = 0.0, longest: float = math.inf
) -> float:
    """Return the multiplier at which the mean age is the one wanted.

    Parameters are those of ``multiplier_for_budget``, but for ``age``, above 0 s and finite.

    Returns
    -------
    float
        The greatest one, hence the cheapest; 0 where only fetching all the time would do. [s]
    """
    _require("age", age, 0 < age < math.inf, "more than 0 s, finite")

    def youth(multiplier: float) -> float:
        outlook = totals.outlook(multiplier, eta=eta, shortest=shortest, longest=longest)
        return 1 / outlook.age if outlook.age else math.inf

    return meet(youth, 1 / age, _start(totals))


def multiplier_exactly(
    change_rate: ArrayLike,
    importance: ArrayLike,
    budget: float,
    *,
    eta: float,
    cost: ArrayLike = 1.0,
    shortest: float = 0.0,
    longest: float = math.inf,
) -> float:
    """Return the multiplier page by page in float64: what the histogram is tested against.

    Parameters and result are those of ``Totals.of`` and ``multiplier_for_budget``.
    """
    _require("budget", budget, 0 <= budget < math.inf, "0 or more, finite")
    if budget == 0:
        return math.inf

    def spending(multiplier: float) -> float:
        interval = fetch_interval(
            change_rate,
            importance,
            multiplier,
            eta=eta,
            cost=cost,
            shortest=shortest,
            longest=longest,
        )
        with np.errstate(divide="ignore"):
            return float((np.asarray(cost, np.float64) / interval).sum())

    return meet(spending, budget, _start(Totals.of(change_rate, importance, cost)))


def falling_root(
    measure: Callable[[Seconds], Seconds],
    target: Seconds,
    start: Seconds,
    *,
    may_exceed: bool = True,
) -> Seconds:
    """Return the arguments at which functions that fall go through their targets.

    Parameters
    ----------
    measure : callable
        Takes arguments of 0 and more, shape (n,), and gives a value of 0 or more for each, which
        does not rise with the argument.
    target : ndarray, shape (n,)
        Values above 0.
    start : ndarray, shape (n,)
        Arguments to begin at, above 0.
    may_exceed : bool
        Whether, where a function jumps over its target, the last argument above it is given, or
        the first below.

    Returns
    -------
    ndarray of float64, shape (n,)
        Arguments; where a target is out of reach an end of the range of numbers.

    Notes
    -----
    The secant's method on the logarithms of both, within a bracket (Illinois variant).
    """
    log_target = np.log(target)

    def miss(log_argument: Seconds) -> Seconds:
        with np.errstate(over="ignore", under="ignore", divide="ignore"):
            value: Seconds = np.log(measure(np.exp(log_argument))) - log_target
        return value

    low = high = np.log(start)
    above = below = miss(low)
    width = 1.0
    while (is_short := (above < 0) & (low > -_FARTHEST)).any():
        low = np.where(is_short, low - width, low)
        above, width = miss(low), 2 * width
    width = 1.0
    while (is_short := (below > 0) & (high < _FARTHEST)).any():
        high = np.where(is_short, high + width, high)
        below, width = miss(high), 2 * width
    # What the secant is drawn through; the end that stays is pulled in, or would for ever.
    left, right, steps = above, below, 0
    while ((high - low > _TOLERANCE) & (above > _TOLERANCE)).any() and steps < _STEPS:
        steps += 1
        with np.errstate(invalid="ignore", divide="ignore"):
            middle = low + (high - low) * (left / (left - right))
        is_inside = (middle > low) & (middle < high)
        middle = np.where(is_inside, middle, (low + high) / 2)
        found = miss(middle)
        is_above = found >= -_TOLERANCE
        left, right = np.where(is_above, found, left / 2), np.where(is_above, right / 2, found)
        above = np.where(is_above, found, above)
        low, high = np.where(is_above, middle, low), np.where(is_above, high, middle)
    with np.errstate(over="ignore", under="ignore"):
        root: Seconds = np.exp(low if may_exceed else np.where(above > _TOLERANCE, high, low))
    return root


def meet(measure: Callable[[float], float], target: float, start: float) -> float:
    """Return the multiplier at which a measure of the whole collection falls to its target.

    Parameters
    ----------
    measure : callable
        Takes a multiplier, from 0 to infinity, and does not rise with it.
    target : float
        Value above 0.
    start : float
        A multiplier to begin at, above 0.

    Returns
    -------
    float
        0 where the target is out of reach above.  Where it is out of reach below, that is where
        the measure is next to its least: a larger multiplier would do nothing. [s]
    """
    least, most = measure(math.inf), measure(0.0)
    reachable = max(target, least + _MARGIN * min(least, most - least))
    if reachable >= most:
        return 0.0

    def each(multiplier: Seconds) -> Seconds:
        return np.array([measure(float(value)) for value in multiplier])

    return float(falling_root(each, np.array([reachable]), np.array([start]))[0])


def _start(totals: Totals) -> float:
    """Return the multiplier at which a mean page is fetched about as often as it changes."""
    return float((totals.weight.sum() + _TINY) / (totals.load.sum() + _TINY))


def _require(name: str, value: float, is_good: bool, allowed: str) -> None:
    """Raise InputError unless a number is good."""
    if not is_good:
        raise InputError(f"{name} is {value:g}; allowed: {allowed}", value=value)
