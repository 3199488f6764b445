"""The best crawl rates for fetches at even distances: Cho and Garcia-Molina's solution."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from recrawl.core.poisson import changes_at_gain
from recrawl.core.states import Rates, Seconds
from recrawl.estimation._checks import allocation_arguments

__all__ = ["optimal_frequency"]

#: The multiplier is found when the budget is met to this part.
_TOLERANCE = 1e-12


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
