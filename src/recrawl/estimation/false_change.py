"""Pages whose every fetch differs: what a visit sees of them says nothing."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recrawl.core.states import Mask, Small
from recrawl.core.visit import Observation

__all__ = ["CLEARED", "fold_surprise", "is_noise"]

Floats: TypeAlias = NDArray[np.floating[Any]]

#: Surprise of a page that was once seen unchanged: no page comes back from there soon. [nats]
CLEARED = -50.0


def fold_surprise(
    surprise: Floats, *, observation: Small, probability: Floats, most: float = 1.0
) -> Floats:
    """Return how surprising a page's changes are after one more visit.

    Parameters
    ----------
    surprise : ndarray of float16 or wider, shape (n,)
        The surprise so far, 0 for a new page. [nats]
    observation : ndarray of int8, shape (n,)
        ``Observation``; UNKNOWN leaves the surprise alone.
    probability : ndarray, shape (n,)
        Probability of a change as the estimator expected it, 0 to 1.
    most : float
        What one visit may add, so that one fetch shortly after another decides nothing. [nats]

    Returns
    -------
    ndarray, shape (n,)
        In the dtype given.

    Notes
    -----
    A page with advertisements or the time of day in it changes at each fetch, however soon.
    Each change adds the negative logarithm of its probability, which is little for a page that
    is known to be fast; one unchanged fetch shows that the page can be told from noise.  Better
    is a signature that does not see the noise.
    """
    with np.errstate(divide="ignore"):
        added = np.minimum(-np.log(probability.astype(np.float32)), np.float32(most))
    folded = np.where(observation == Observation.CHANGED, surprise + added, surprise)
    folded = np.where(observation == Observation.UNCHANGED, CLEARED, folded)
    return folded.astype(surprise.dtype)


def is_noise(surprise: Floats, threshold: float = 3.0) -> Mask:
    """Return which pages' fetches are taken to say nothing about change.

    Parameters
    ----------
    surprise : ndarray, shape (n,)
        From ``fold_surprise``. [nats]
    threshold : float
        Surprise that a page may cause. [nats]

    Returns
    -------
    ndarray of bool, shape (n,)
        Such a page is to be scheduled as a new page of its host, and what is known of it left
        alone: pass its observations as UNKNOWN.
    """
    return surprise > threshold
