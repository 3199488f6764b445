"""What visits teach of a page's change rate: a Gamma distribution, kept up in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.core.states import Seconds, Small
from recrawl.core.visit import Observation
from recrawl.errors import InputError
from recrawl.estimation.gamma import gamma_quantile

__all__ = ["ChangeRate", "change_probability", "credible_interval", "forget", "observe"]

#: float32 as stored, or float64 where a reference is wanted; the kernels work in what they get.
Floats: TypeAlias = NDArray[np.floating[Any]]

#: Rows worked on together: their buffers fit into the second cache.
_BLOCK = 16_384
#: Instants are kept to the millisecond; what is shorter is no time. [s]
_SHORTEST = 1e-3
#: A hundred years; no wait is longer, and sums of them stay far from overflow. [s]
_LONGEST = 36_525 * 86_400.0
#: What a shape and an exposure stay between, so that no product of them leaves float32, and the
#: shape not even float16; there is no use in knowing a rate better than to a 200th.
_SHAPES = (1e-3, 6e4)
_EXPOSURES = (1e-3, 1e12)


@dataclass(frozen=True, slots=True)
class ChangeRate:
    """What is known of the change rates of n pages: a Gamma distribution each.

    Parameters
    ----------
    shape : ndarray of float32 or float64, shape (n,)
        About the changes that the knowledge rests on; more is surer.
    exposure : ndarray of float32 or float64, shape (n,)
        The time in which they were seen; the Gamma distribution's inverse scale. [s]
    """

    shape: Floats
    exposure: Floats

    @property
    def mean(self) -> Floats:
        """Expected change rates. [1/s]."""
        rate: Floats = self.shape / self.exposure
        return rate


def observe(
    known: ChangeRate,
    *,
    elapsed: ArrayLike,
    observation: Small,
    change_age: ArrayLike | None = None,
    others_quiet: ArrayLike | None = None,
) -> ChangeRate:
    """Return what is known of the change rates after one more visit of each page.

    Parameters
    ----------
    known : ChangeRate
        What was known before.  Its dtype is that of all arithmetic and of the result.
    elapsed : ndarray, shape (n,)
        Time since the visit before.  Where it is shorter than a millisecond, negative (a clock
        went back) or NaN, nothing is learned. [s]
    observation : ndarray of int8, shape (n,)
        ``Observation``; UNKNOWN teaches nothing.
    change_age : ndarray, shape (n,), optional
        How long before the visit the last change was, where a trusted source says so.  It counts
        for changed pages if it is above 0 and at most ``elapsed``; else the time of the change
        is unknown, as it is for NaN. [s]
    others_quiet : ndarray, shape (n,), optional
        Probability that nothing but the page's own changes made the visit see a change, 0 to 1:
        1 without signals and false changes.

    Returns
    -------
    ChangeRate
        Never NaN, shapes of 1e-3 to 6e4 and exposures of 1e-3 s to 1e12 s.  A greater shape is
        cut off together with the exposure, which leaves the mean alone.

    Notes
    -----
    With shape a and exposure b, elapsed time t:

    - unchanged: b grows by t, which is exact;
    - changed, the last change at age A: a grows by 1 and b by A, which is exact;
    - changed at an unknown time: the exact distribution is a difference of two Gammas, and the
      Gamma with its mean and variance takes its place.  Its limits are right: a short wait gives
      a + 1, a long one, which was sure to see a change, leaves a and b alone.

    With ``p = t / (b + t)``, ``S = (b / (b + t))^a`` and ``c = others_quiet``, let
    ``z = (1 - c S) / p``, ``d = c S``, ``z1 = z + d``, ``z2 = z1 + d (1 - p)``.  The moments give
    ``a' = a z1^2 / e`` and ``b' = b z z1 / e`` with ``e = z z2 - a d (z p + d)``: the variance
    written out so that nothing cancels, which makes float32 enough.
    """
    n = known.shape.shape[0]
    dtype = known.shape.dtype
    waits = _column("elapsed", elapsed, n, dtype)
    ages = None if change_age is None else _column("change_age", change_age, n, dtype)
    quiet = None if others_quiet is None else _column("others_quiet", others_quiet, n, dtype)
    shape, exposure = known.shape.copy(), known.exposure.astype(dtype)
    # A loop over blocks: what one pass leaves is still in the cache for the next.
    for start in range(0, n, _BLOCK):
        block = slice(start, start + _BLOCK)
        _observe_block(
            shape[block],
            exposure[block],
            waits[block],
            observation[block],
            None if ages is None else ages[block],
            None if quiet is None else quiet[block],
        )
    return ChangeRate(shape, exposure)


def change_probability(
    known: ChangeRate, elapsed: ArrayLike, others_quiet: ArrayLike = 1.0
) -> Floats:
    """Return the probability that a visit sees a change.

    Parameters
    ----------
    known : ChangeRate
        What is known before the visit.
    elapsed : ndarray, shape (n,)
        Time since the visit before; below 0 and NaN count as 0. [s]
    others_quiet : float or ndarray, shape (n,)
        As in ``observe``.

    Returns
    -------
    ndarray, shape (n,)
        ``1 - c (b / (b + t))^a``: the rate is unknown, so the tail is longer than exponential.
    """
    dtype = known.shape.dtype
    wait = np.clip(np.fmax(np.asarray(elapsed, dtype=dtype), 0), 0, _LONGEST)
    quiet = np.asarray(others_quiet, dtype=dtype)
    own = -np.expm1(-known.shape * np.log1p(wait / known.exposure))
    probability: Floats = (1 - quiet) + quiet * own
    return probability


def forget(
    known: ChangeRate, prior: ChangeRate, *, memory: float, least: tuple[float, float]
) -> ChangeRate:
    """Return what is known with all but a part of what the visits added to the prior forgotten.

    Parameters
    ----------
    known : ChangeRate
        What is known.
    prior : ChangeRate
        What is known of a new page there, one a page.
    memory : float
        Part that is kept, 0 to 1; the past n visits count for about ``1 / (1 - memory)``.
    least : tuple of float
        Least shape, and least exposure. [1], [s]

    Returns
    -------
    ChangeRate
        Used before each ``observe`` where rates are thought to move.

    Raises
    ------
    InputError
        If the memory is out of range.
    """
    if not 0 <= memory <= 1:
        raise InputError(f"memory is {memory:g}; allowed: 0 to 1", value=memory)
    dtype = known.shape.dtype
    kept = dtype.type(memory)
    shape = np.maximum(prior.shape + kept * (known.shape - prior.shape), least[0])
    exposure = np.maximum(prior.exposure + kept * (known.exposure - prior.exposure), least[1])
    return ChangeRate(shape.astype(dtype, copy=False), exposure.astype(dtype, copy=False))


def credible_interval(known: ChangeRate, level: float = 0.95) -> tuple[Seconds, Seconds]:
    """Return what the change rates lie between, with equal chances of being below and above.

    Parameters
    ----------
    known : ChangeRate
        What is known.
    level : float
        Probability that a rate lies between the two, above 0 and below 1.

    Returns
    -------
    low, high : ndarray of float64, shape (n,)
        Quantiles of the Gamma distribution. [1/s]

    Raises
    ------
    InputError
        If the level is out of range.
    """
    if not 0 < level < 1:
        raise InputError(f"level is {level:g}; allowed: above 0 and below 1", value=level)
    shape = known.shape.astype(np.float64)
    exposure = known.exposure.astype(np.float64)
    tail = (1 - level) / 2
    low = gamma_quantile(shape, tail, is_upper=False) / exposure
    return low, gamma_quantile(shape, tail, is_upper=True) / exposure


def _column(name: str, values: ArrayLike, n: int, dtype: np.dtype[Any]) -> Floats:
    """Return one value a page in the dtype of the arithmetic."""
    column = np.asarray(values, dtype=dtype)
    if column.shape not in {(n,), ()}:
        raise InputError(f"{name} has the shape {column.shape}; give one value, or {n}")
    return np.broadcast_to(column, (n,))


def _observe_block(
    shape: Floats,
    exposure: Floats,
    elapsed: Floats,
    observation: Small,
    change_age: Floats | None,
    others_quiet: Floats | None,
) -> None:
    """Write what is known after the visits over what was known before them."""
    # fmax takes the number where the other is NaN.
    wait = np.fmax(elapsed, elapsed.dtype.type(0))
    np.minimum(wait, _LONGEST, out=wait)
    changed = np.flatnonzero((observation == Observation.CHANGED) & (wait >= _SHORTEST))
    a, b, t = shape[changed], exposure[changed], wait[changed]
    wait *= observation == Observation.UNCHANGED
    exposure += wait
    quiet = None if others_quiet is None else others_quiet[changed]
    new_a, new_b = _changed(a, b, t, quiet)
    if change_age is not None:
        age = change_age[changed]
        is_known = (age > 0) & (age <= t)
        new_a = np.where(is_known, a + 1, new_a)
        new_b = np.where(is_known, b + np.where(is_known, age, 0), new_b)
    shape[changed] = new_a
    exposure[changed] = new_b
    if shape.max() > _SHAPES[1]:
        exposure *= np.minimum(_SHAPES[1] / shape, 1)
    np.clip(shape, *_SHAPES, out=shape)
    np.clip(exposure, *_EXPOSURES, out=exposure)


def _changed(a: Floats, b: Floats, t: Floats, c: Floats | None) -> tuple[Floats, Floats]:
    """Return shape and exposure after a change at an unknown time; see ``observe``."""
    u = b / (b + t)
    p = t / (b + t)
    z = np.log1p(t / b)
    z *= -a
    np.expm1(z, out=z)
    np.negative(z, out=z)
    d = 1 - z
    if c is not None:
        d *= c
        z *= c
        z += 1 - c
    z /= p
    z1 = z + d
    # e, from the inside: z z2 - a d (z p + d)
    u *= d
    u += z1
    u *= z
    p *= z
    p += d
    p *= d
    p *= a
    u -= p
    np.divide(z1, u, out=u)
    z *= b
    z *= u
    z1 *= a
    z1 *= u
    return z1, z
