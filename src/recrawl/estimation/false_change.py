"""Pages whose every fetch differs: what a visit sees of them says nothing."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recrawl.core.states import Mask, Small
from recrawl.core.visit import Observation

__all__ = ["CLEARED", "PROBE_WAIT", "fold_surprise", "is_noise", "is_suspect"]

Floats: TypeAlias = NDArray[np.floating[Any]]

#: Surprise of a page that was once seen unchanged: no page comes back from there soon. [nats]
CLEARED = -50.0
#: How soon a page that is suspect is to be fetched again: no change is likely by then. [s]
PROBE_WAIT = 600.0
#: Above which surprise a page is suspect, and above which it is noise. [nats]
_SUSPECT, _NOISE = 2.0, 3.0
#: A change that soon decides the case of a page that is suspect, if it was less likely. [s]
_SOON, _UNLIKELY = 10_800.0, 0.25
#: What one visit adds at most, so that it takes three to make a page suspect. [nats]
_MOST = 1.0


def fold_surprise(
    surprise: Floats, *, observation: Small, probability: Floats, elapsed: Floats
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
    elapsed : ndarray, shape (n,)
        Time since the visit before. [s]

    Returns
    -------
    ndarray, shape (n,)
        In the dtype given.

    Notes
    -----
    A page with advertisements or the time of day in it changes at each fetch, however soon.
    Each change adds the negative logarithm of its probability, up to 1.  That alone cannot tell
    such a page from a fast one on a host that was thought slow; so a page at which that comes to
    more than 2 is suspect, and to be fetched once more at once.  If that fetch differs too, and a
    change was unlikely, the page is noise; if a change was likely by then, as after a long wait,
    the count begins anew.  One unchanged fetch clears a page.  Better than all this is a
    signature that does not see the noise.
    """
    with np.errstate(divide="ignore"):
        added = np.minimum(-np.log(probability.astype(np.float32)), np.float32(_MOST))
    counted = np.minimum(surprise + added, np.float32(_NOISE))
    is_odd = (probability < _UNLIKELY) & (elapsed <= _SOON)
    tried = np.where(is_odd, np.float32(_NOISE + _MOST), np.float32(0))
    folded = np.where(is_suspect(surprise), tried, counted)
    is_open = (observation == Observation.CHANGED) & ~is_noise(surprise)
    folded = np.where(is_open, folded, surprise)
    folded = np.where(observation == Observation.UNCHANGED, np.float32(CLEARED), folded)
    return folded.astype(surprise.dtype)


def is_suspect(surprise: Floats) -> Mask:
    """Return which pages are to be fetched again at once, to see whether they differ again.

    Parameters
    ----------
    surprise : ndarray, shape (n,)
        From ``fold_surprise``. [nats]
    """
    suspect: Mask = (surprise > _SUSPECT) & (surprise <= _NOISE)
    return suspect


def is_noise(surprise: Floats) -> Mask:
    """Return which pages' fetches are taken to say nothing about change.

    Parameters
    ----------
    surprise : ndarray, shape (n,)
        From ``fold_surprise``. [nats]

    Returns
    -------
    ndarray of bool, shape (n,)
        Such a page is to be scheduled as a new page of its host, and what is known of it left
        alone: pass its observations as UNKNOWN.
    """
    noise: Mask = surprise > _NOISE
    return noise
