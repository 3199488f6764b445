"""The Gamma distribution's functions that NumPy lacks, for whole arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from recrawl.core.states import Seconds

__all__ = ["digamma", "gamma_quantile", "log_gamma", "trigamma"]

#: The asymptotic series below start here; smaller arguments are carried up by recurrence.
_STEPS = 8
#: Sizes of the Bernoulli numbers B2, B4, ..., which the asymptotic series are made of.
_BERNOULLI = np.array([1 / 6, 1 / 30, 1 / 42, 1 / 30, 5 / 66, 691 / 2730, 7 / 6])
_EVEN = 2.0 * np.arange(1, 8)
#: From this shape on the quantile's expansion is good to ten digits.
_LARGE = 1_000.0
#: Newton's method and the sums within stop when nothing moves by more than this part.
_TOLERANCE = 1e-12


def log_gamma(x: Seconds) -> Seconds:
    """Return the logarithms of the Gamma function at numbers above 0."""
    lifted = x + _STEPS
    y = 1 / lifted
    tail = y * _alternating(y * y, _BERNOULLI / (_EVEN * (_EVEN - 1)))
    stirling = (lifted - 0.5) * np.log(lifted) - lifted + math.log(2 * math.pi) / 2 + tail
    value: Seconds = stirling - _stepped(np.log, x)
    return value


def digamma(x: Seconds) -> Seconds:
    """Return the derivatives of ``log_gamma``."""
    lifted = x + _STEPS
    y = 1 / lifted
    tail = y * y * _alternating(y * y, _BERNOULLI / _EVEN)
    value: Seconds = np.log(lifted) - y / 2 - tail - _stepped(np.reciprocal, x)
    return value


def trigamma(x: Seconds) -> Seconds:
    """Return the second derivatives of ``log_gamma``."""
    lifted = x + _STEPS
    y = 1 / lifted
    tail = y * y * y * _alternating(y * y, _BERNOULLI)
    value: Seconds = y + y * y / 2 + tail + _stepped(_inverse_square, x)
    return value


def gamma_quantile(shape: Seconds, tail: float, *, is_upper: bool) -> Seconds:
    """Return where a Gamma distribution of scale 1 leaves a small probability outside.

    Parameters
    ----------
    shape : ndarray, shape (n,)
        Shapes, above 0.
    tail : float
        Probability outside, above 0 and at most 1/2.
    is_upper : bool
        Whether it lies above the quantile, or below.

    Returns
    -------
    ndarray of float64, shape (n,)
        Quantiles, to about ten digits; 0 where they are too small for a number.

    Notes
    -----
    On the logarithms of probability and quantile the distribution is concave, so Newton's method
    comes nearer with each step from the outside, and the bounds ``x^a / Gamma(a + 1)`` below and
    ``exp(-t)`` at ``a + sqrt(2 a t) + t`` above are outside.  From a shape of 1,000 on it is
    Cornish and Fisher's expansion around the normal distribution.
    """
    quantile = np.empty(shape.shape)
    is_large = shape >= _LARGE
    quantile[is_large] = _expanded(shape[is_large], tail, is_upper)
    quantile[~is_large] = _solved(shape[~is_large], tail, is_upper)
    return quantile


def _stepped(function: Callable[[Seconds], Seconds], x: Seconds) -> Seconds:
    """Return the sum of a function over the steps from x into the range of the series."""
    total = function(x)
    for step in range(1, _STEPS):
        total = total + function(x + step)
    return total


def _inverse_square(x: Seconds) -> Seconds:
    """Return the squares of the inverses."""
    return 1 / (x * x)


def _alternating(y: Seconds, coefficients: Seconds) -> Seconds:
    """Return ``c0 - c1 y + c2 y^2 - ...``."""
    total = np.zeros_like(y)
    for coefficient in coefficients[::-1]:
        total = coefficient - y * total
    return total


def _expanded(a: Seconds, tail: float, is_upper: bool) -> Seconds:
    """Return quantiles of large shapes."""
    z = NormalDist().inv_cdf(tail) * (-1 if is_upper else 1)
    root = np.sqrt(a)
    terms = (
        z,
        (z**2 - 1) / 3,
        (z**3 - 7 * z) / 36,
        -(3 * z**4 + 7 * z**2 - 16) / 810,
        (9 * z**5 + 256 * z**3 - 433 * z) / 38880,
    )
    return a + sum((term * root ** (1 - n) for n, term in enumerate(terms)), np.zeros_like(a))


def _solved(a: Seconds, tail: float, is_upper: bool) -> Seconds:
    """Return quantiles of shapes that are not large."""
    log_factorial = log_gamma(a + 1)
    if is_upper:
        t = -math.log(tail)
        log_x = np.log(a + np.sqrt(2 * a * t) + t)
    else:
        log_x = (math.log(tail) + log_factorial) / a
    moved = math.inf
    while moved > _TOLERANCE:
        x = np.exp(log_x)
        log_density = a * log_x - x - log_factorial
        log_tail = _log_upper if is_upper else _log_lower
        outside = log_tail(a, x, log_density)
        slope = a * np.exp(log_density - outside) * (-1 if is_upper else 1)
        step = (math.log(tail) - outside) / slope
        log_x = log_x + step
        moved = float(np.abs(step / np.maximum(1, np.abs(log_x))).max(initial=0.0))
    return np.exp(log_x)


def _log_lower(a: Seconds, x: Seconds, log_density: Seconds) -> Seconds:
    """Return the logarithms of the probabilities below x, by a series of positive terms."""
    term, total, n = np.ones_like(a), np.ones_like(a), 0
    while (term > _TOLERANCE * total / 1000).any():
        n += 1
        term = term * x / (a + n)
        total = total + term
    return log_density + np.log(total)


def _log_upper(a: Seconds, x: Seconds, log_density: Seconds) -> Seconds:
    """Return the logarithms of the probabilities above x."""
    above = np.empty_like(a)
    is_low = x < a + 1
    below = _log_lower(a[is_low], x[is_low], log_density[is_low])
    above[is_low] = np.log(-np.expm1(below))
    high = ~is_low
    above[high] = log_density[high] + np.log(a[high] * _fraction(a[high], x[high]))
    return above


def _fraction(a: Seconds, x: Seconds) -> Seconds:
    """Return the continued fraction of the upper tail, by Lentz's method."""
    b = x + 1 - a
    c, d = np.full_like(a, 1e300), 1 / b
    total, n, moved = d, 0, math.inf
    while moved > _TOLERANCE / 1000:
        n += 1
        numerator = n * (a - n)
        b = b + 2
        d = 1 / (numerator * d + b)
        c = b + numerator / c
        factor = c * d
        total = total * factor
        moved = float(np.abs(factor - 1).max(initial=0.0))
    return total
