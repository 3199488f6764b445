"""The best crawl rates for fetches at random times: Azar and others' exact solution."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from recrawl.core.states import Rates
from recrawl.estimation._checks import allocation_arguments

__all__ = ["azar"]


def azar(change_rate: ArrayLike, importance: ArrayLike, budget: float) -> Rates:
    """Return the crawl rates that keep most freshness when fetches form a Poisson process.

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
    With change rate D, weight w and crawl rate f the freshness is ``f / (f + D)``; its weighted
    sum is greatest at ``f = max(sqrt(w D / lam) - D, 0)`` [Azar2018]_.  Pages are taken in the
    order of D / w; the multiplier lam follows from the sums over those taken, so one sort gives
    the exact solution.  Fetched at even distances these rates are within a percent of
    ``optimal_frequency``.
    """
    rate, weight = allocation_arguments(change_rate, importance, budget)
    crawl_rate = np.zeros(rate.shape)
    used = np.flatnonzero((rate > 0) & (weight > 0))
    if not used.size or budget == 0:
        return crawl_rate
    root, threshold = np.sqrt(weight[used] * rate[used]), np.sqrt(rate[used] / weight[used])
    order = np.argsort(threshold, kind="stable")
    scale = (budget + np.cumsum(rate[used][order])) / np.cumsum(root[order])
    # The first page is always worth a fetch; rounding must not say otherwise.
    n = max(int(np.count_nonzero(scale > threshold[order])), 1)
    chosen = used[order[:n]]
    best = np.maximum(scale[n - 1] * root[order[:n]] - rate[chosen], 0)
    if best.sum() > 0:
        crawl_rate[chosen] = best * (budget / best.sum())
    return crawl_rate
