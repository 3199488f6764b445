"""The best crawl rates for fetches at even distances: Cho and Garcia-Molina's solution."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from recrawl.core.states import Rates, Seconds
from recrawl.estimation._checks import allocation_arguments

__all__ = ["changes_at_gain", "gain", "optimal_frequency"]

#: Where the series of the gain is as good as the closed form, which cancels below. [changes]
_SERIES = 1e-2
#: Where the start of the inversion goes over from the series to the logarithm. [gain]
_START = 0.55
#: Halley steps from there to the last bits: each triples the digits.
_STEPS = 3
#: The multiplier is found when the budget is met to this part.
_TOLERANCE = 1e-12


def gain(changes: Seconds) -> Seconds:
    """Return what one more fetch a time gains: ``g(x) = 1 - (1 + x) exp(-x)``.

    Parameters
    ----------
    changes : ndarray, shape (n,)
        Expected changes between two fetches, 0 or more.

    Returns
    -------
    ndarray of float64, shape (n,)
        From 0 to 1; times importance over change rate it is the derivative of the freshness by
        the crawl rate.
    """
    x = changes
    series = x * x * (1 / 2 - x * (1 / 3 - x * (1 / 8 - x / 30 + x * x / 144)))
    return np.where(x < _SERIES, series, -np.expm1(-x) - x * np.exp(-x))


def changes_at_gain(value: Seconds) -> Seconds:
    """Return the expected changes between two fetches at which the gain has this value.

    Parameters
    ----------
    value : ndarray, shape (n,)
        Gains, 0 or more.

    Returns
    -------
    ndarray of float64, shape (n,)
        Changes; infinite from a gain of 1 on, which no interval reaches.

    Notes
    -----
    The inverse is ``-1 - W(-(1 - y) / e)`` on the branch -1 of Lambert's W, but that way small
    gains are lost in ``1 - y``: of 1e-12 no digit is left.  Here three steps of Halley's method
    start from a series in ``sqrt(2 y)``, or from logarithms for large gains.
    """
    y = np.asarray(value, dtype=np.float64)
    inner = np.clip(y, 0.0, np.nextafter(1.0, 0.0))
    q = np.sqrt(2 * inner)
    x = q * (1 + q * (1 / 3 + q * (11 / 72 + q * (43 / 540 + q * (769 / 17280 + q * 221 / 8505)))))
    log = -np.log1p(-inner)
    far = log + np.log1p(log + np.log1p(log + np.log1p(log)))
    x = np.where(inner < _START, x, far)
    for _ in range(_STEPS):
        decay = np.exp(-x)
        slope, miss = x * decay, gain(x) - inner
        divisor = 2 * slope * slope - miss * (1 - x) * decay
        # Where the gain is 0 the divisor is too, and there is nothing to correct.
        x = x - np.divide(2 * miss * slope, divisor, out=np.zeros_like(x), where=divisor > 0)
    return np.where(y >= 1, math.inf, x)


def optimal_frequency(change_rate: ArrayLike, importance: ArrayLike, budget: float) -> Rates:
    """Return the crawl rates that keep most freshness when fetches come at even distances.

    Parameters
    ----------
    change_rate : ndarray, shape (n,)
        Expected changes a page, 0 or more. [1/s]
    importance : float or ndarray, shape (n,)
        Weight of each page's freshness, 0 or more.
    budget : float
        Fetches of the whole collection, 0 or more. [1/s]

    Returns
    -------
    ndarray of float64, shape (n,)
        Crawl rates, 0 for pages that change too fast for their importance or not at all.  They
        add up to the budget, unless no page both changes and matters: then all are 0. [1/s]

    Raises
    ------
    InputError
        If a rate, an importance or the budget is negative, infinite or NaN.

    Notes
    -----
    The weighted sum of ``F = (1 - exp(-r)) / r``, r = D / f, is greatest where every page that
    is fetched gains the same, ``w / D g(D / f) = mu`` [ChoGM2000]_, weighted as in
    [ChoGM2003a]_.  The multiplier mu is found by Newton's method on logarithms within a bracket.
    It assumes Poisson changes: pages that change in bursts or in bulk can be kept fresher.

    Examples
    --------
    >>> optimal_frequency([1.0, 2.0, 3.0, 4.0, 5.0], 1.0, 5.0).round(2).tolist()
    [1.15, 1.36, 1.35, 1.14, 0.0]
    """
    rate, weight = allocation_arguments(change_rate, importance, budget)
    crawl_rate = np.zeros(rate.shape)
    used = np.flatnonzero((rate > 0) & (weight > 0))
    if used.size and budget > 0:
        crawl_rate[used] = _solve(rate[used], weight[used], budget)
    return crawl_rate


def _solve(rate: Rates, weight: Seconds, budget: float) -> Rates:
    """Return the crawl rates of pages that all change and matter."""
    log_price = np.log(rate) - np.log(weight)
    # At the upper end no page is worth a fetch, at the lower all together more than the budget.
    high = -float(log_price.min())
    below, low = np.zeros(rate.shape), high - 1.0
    above, slope = _demand(rate, log_price + low)
    while (total := float(above.sum())) < budget:
        low -= 4.0
        above, slope = _demand(rate, log_price + low)
    log_mu = low
    while abs(total - budget) > _TOLERANCE * budget and high - low > _TOLERANCE:
        # Newton on the logarithm of the demand, which is nearly linear in that of mu.
        step = math.log(total / budget) * total / slope if total > 0 and slope > 0 else math.inf
        guess = log_mu + step
        log_mu = guess if low < guess < high else (low + high) / 2
        crawl_rate, slope = _demand(rate, log_price + log_mu)
        total = float(crawl_rate.sum())
        if total >= budget:
            low, above = log_mu, crawl_rate
        else:
            high, below = log_mu, crawl_rate
    # A page at the edge of being worth it appears at a finite rate; it takes what is left over.
    part = (budget - below.sum()) / (above.sum() - below.sum())
    best: Rates = below + part * (above - below)
    return best


def _demand(rate: Rates, log_gain: Seconds) -> tuple[Rates, float]:
    """Return the crawl rates at these gains, and how fast their sum falls with log mu."""
    y = np.exp(np.minimum(log_gain, 0.0))
    x = changes_at_gain(y)
    crawl_rate = rate / x
    bounded = np.isfinite(x)
    near = x[bounded]
    slope = float((crawl_rate[bounded] / near * y[bounded] * np.exp(near) / near).sum())
    return crawl_rate, slope
