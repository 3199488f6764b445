"""What a page that changes at random is like between two fetches, as functions of the changes.

Everything here depends on one number alone: x, the changes expected between two fetches, which is
change rate times interval.
"""

from __future__ import annotations

import math

import numpy as np

from recrawl.core.states import Seconds

__all__ = ["changes_at_gain", "fresh_share", "gain", "harm", "stale_share"]

#: Below this many changes a series loses less than a closed form that cancels. [changes]
_SERIES = 1e-2
#: The same for the mean age, whose closed form divides by the square. [changes]
_FEW = 1e-3
#: Where the start of the inversion goes over from the series to the logarithm. [gain]
_START = 0.55
#: Halley steps from there to the last bits: each triples the digits.
_STEPS = 3


def fresh_share(changes: Seconds) -> Seconds:
    """Return the share of the interval in which the copy is fresh: ``(1 - exp(-x)) / x``.

    Parameters
    ----------
    changes : ndarray, shape (n,)
        Expected changes between two fetches, 0 or more.

    Returns
    -------
    ndarray of float64, shape (n,)
        From 1 at no change to 0 at infinitely many [ChoGM2000]_.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        share = -np.expm1(-changes) / changes
    return np.where(changes == 0, 1.0, share)


def stale_share(changes: Seconds) -> Seconds:
    """Return the mean age as a share of the interval: ``1/2 - 1/x + (1 - exp(-x)) / x^2``.

    Parameters
    ----------
    changes : ndarray, shape (n,)
        Expected changes between two fetches, 0 or more.

    Returns
    -------
    ndarray of float64, shape (n,)
        From 0 at no change to 1/2 at infinitely many [ChoGM2000]_.
    """
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        exact = 0.5 - 1 / changes - np.expm1(-changes) / changes**2
    return np.where(changes < _FEW, changes / 6 * (1 - changes / 4), exact)


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
    # Beyond 1,000 the gain is 1 to the last bit, and infinity would make infinity times 0.
    x = np.minimum(changes, 1e3)
    series = x * x * (1 / 2 - x * (1 / 3 - x * (1 / 8 - x / 30 + x * x / 144)))
    return np.where(x < _SERIES, series, -np.expm1(-x) - x * np.exp(-x))


def harm(changes: Seconds) -> Seconds:
    """Return the stale time since the last fetch, in mean times to a change: ``x - 1 + exp(-x)``.

    Parameters
    ----------
    changes : ndarray, shape (n,)
        Expected changes since the last fetch, 0 or more.

    Returns
    -------
    ndarray of float64, shape (n,)
        From 0, without limit; over the change rate it is the expected stale time so far.
    """
    x = np.minimum(changes, _SERIES)
    series = x * x * (1 / 2 - x * (1 / 6 - x * (1 / 24 - x * (1 / 120 - x / 720))))
    return np.where(changes < _SERIES, series, changes + np.expm1(-changes))


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
