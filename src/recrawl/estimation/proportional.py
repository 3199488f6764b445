"""Crawl rates in proportion to change rates."""

from __future__ import annotations

from numpy.typing import ArrayLike

from recrawl.core.states import Rates
from recrawl.estimation._checks import allocation_arguments
from recrawl.estimation.uniform import uniform

__all__ = ["proportional"]


def proportional(change_rate: ArrayLike, importance: ArrayLike, budget: float) -> Rates:
    """Return crawl rates in proportion to the change rates.

    Parameters
    ----------
    change_rate : ndarray, shape (n,)
        Expected changes a page, 0 or more. [1/s]
    importance : float or ndarray, shape (n,)
        Not used; all allocations take the same arguments.
    budget : float
        Fetches of the whole collection, 0 or more. [1/s]

    Returns
    -------
    ndarray of float64, shape (n,)
        Crawl rates that add up to the budget; equal ones where no page changes. [1/s]

    Raises
    ------
    InputError
        If a rate, an importance or the budget is negative, infinite or NaN.

    Notes
    -----
    What intuition asks for, and never better than ``uniform`` at equal importance
    [ChoGM2000]_: the fetches go to pages that have changed again before they are of use.
    """
    rate, _ = allocation_arguments(change_rate, importance, budget)
    most = float(rate.max(initial=0.0))
    if most == 0:
        return uniform(rate, importance, budget)
    # Relative to the greatest, so that tiny rates do not vanish in the sum.
    share = rate / most
    crawl_rate: Rates = budget * share / share.sum()
    return crawl_rate
