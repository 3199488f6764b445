"""What a page that changes at random gains from being fetched at even distances."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from recrawl.core.states import Seconds

__all__ = ["expected_age", "expected_freshness"]

#: Below this many changes a fetch a series loses less than the closed form. [changes]
_FEW = 1e-3


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
    changes = _changes_a_fetch(change_rate, crawl_rate)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = -np.expm1(-changes) / changes
    return np.where(changes == 0, 1.0, share)


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
        exact = 0.5 - 1 / changes - np.expm1(-changes) / changes**2
        share = np.where(changes < _FEW, changes / 6 * (1 - changes / 4), exact)
        age = interval * share
    age = np.where(changes == math.inf, interval / 2, age)
    return np.where(changes == 0, 0.0, age)


def _changes_a_fetch(change_rate: ArrayLike, crawl_rate: ArrayLike) -> Seconds:
    """Return the changes between two fetches; 0 for pages that never change."""
    rate = np.asarray(change_rate, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        changes = rate / np.asarray(crawl_rate, dtype=np.float64)
    return np.where(rate == 0, 0.0, changes)
