"""The same crawl rate for every page."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from recrawl.core.states import Rates
from recrawl.estimation._checks import allocation_arguments

__all__ = ["uniform"]


def uniform(change_rate: ArrayLike, importance: ArrayLike, budget: float) -> Rates:
    """Return equal crawl rates, whatever the pages are like.

    Parameters
    ----------
    change_rate : ndarray, shape (n,)
        Expected changes a page; only their number counts. [1/s]
    importance : float or ndarray, shape (n,)
        Not used; all allocations take the same arguments.
    budget : float
        Fetches of the whole collection, 0 or more. [1/s]

    Returns
    -------
    ndarray of float64, shape (n,)
        Crawl rates that add up to the budget. [1/s]

    Raises
    ------
    InputError
        If a rate, an importance or the budget is negative, infinite or NaN.

    Notes
    -----
    For Poisson pages of equal importance it is fresher than ``proportional``, whatever the rates
    [ChoGM2000]_: freshness is a convex function of the change rate.
    """
    rate, _ = allocation_arguments(change_rate, importance, budget)
    return np.full(rate.shape, budget / max(rate.size, 1))
