"""What a page that changes at random gains from being fetched at even distances."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from recrawl.core.poisson import fresh_share, stale_share
from recrawl.core.states import Seconds

__all__ = ["expected_age", "expected_freshness"]


def expected_freshness(change_rate: ArrayLike, crawl_rate: ArrayLike) -> Seconds:
    """Return the share of the time in which the copies are fresh.

    Parameters
    ----------
    change_rate : ndarray, shape (n,)
        Expected changes a page, 0 or more. [1/s]
    crawl_rate : ndarray, shape (n,)
        Fetches of the page at even distances, 0 or more. [1/s]

    Returns
    -------
    ndarray of float64, shape (n,)
        ``(1 - exp(-r)) / r`` with r changes between two fetches; 1 for pages that never change,
        0 for others that are never fetched.

    References
    ----------
    [ChoGM2000]_.
    """
    return fresh_share(_changes_a_fetch(change_rate, crawl_rate))


def expected_age(change_rate: ArrayLike, crawl_rate: ArrayLike) -> Seconds:
    """Return the mean time for which the copies have differed from the pages.

    Parameters
    ----------
    change_rate : ndarray, shape (n,)
        Expected changes a page, 0 or more. [1/s]
    crawl_rate : ndarray, shape (n,)
        Fetches of the page at even distances, 0 or more. [1/s]

    Returns
    -------
    ndarray of float64, shape (n,)
        ``I (1/2 - 1/r + (1 - exp(-r)) / r^2)`` with r changes in the interval I; infinite for
        pages that change and are never fetched. [s]

    References
    ----------
    [ChoGM2000]_.
    """
    changes = _changes_a_fetch(change_rate, crawl_rate)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        interval = 1 / np.asarray(crawl_rate, dtype=np.float64)
        age = interval * stale_share(changes)
    return np.where(changes == 0, 0.0, age)


def _changes_a_fetch(change_rate: ArrayLike, crawl_rate: ArrayLike) -> Seconds:
    """Return the changes between two fetches; 0 for pages that never change."""
    rate = np.asarray(change_rate, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        changes = rate / np.asarray(crawl_rate, dtype=np.float64)
    return np.where(rate == 0, 0.0, changes)
