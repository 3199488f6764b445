"""Number conversions as Java makes them, so that recorded schedules agree to the last bit."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recrawl.errors import InputError

__all__ = ["divide", "parse_float", "round_half_up", "round_to_int", "to_int", "to_long"]

_LONG_LIMIT = 2.0**63
_LONG = np.iinfo(np.int64)
_INT = np.iinfo(np.int32)

_SPECIAL = re.compile(r"[+-]?(?:NaN|Infinity)")
_DECIMAL = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[fFdD]?")
_HEXADECIMAL = re.compile(
    r"([+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?"
)
_BLANKS = "".join(map(chr, range(0x21)))


def to_long(values: NDArray[np.floating[Any]]) -> NDArray[np.int64]:
    """Return the values without their fraction, as Java's ``(long)`` does.

    Parameters
    ----------
    values : ndarray of float32 or float64
        Any numbers.

    Returns
    -------
    ndarray of int64
        Truncated towards zero; beyond the range of int64 its least or greatest value; 0 for NaN.

    Examples
    --------
    >>> to_long(np.array([1.9, -1.9, 1e30, np.nan])).tolist()
    [1, -1, 9223372036854775807, 0]
    """
    with np.errstate(invalid="ignore"):
        whole = values.astype(np.int64)
        # The two reductions cost less than a mask, and NaN fails them as well.
        if values.size == 0 or (values.min() > -_LONG_LIMIT and values.max() < _LONG_LIMIT):
            return whole
    whole[values >= _LONG_LIMIT] = _LONG.max
    whole[values <= -_LONG_LIMIT] = _LONG.min
    whole[np.isnan(values)] = 0
    return whole


def to_int(values: NDArray[np.floating[Any]]) -> NDArray[np.int32]:
    """Return the values without their fraction, as Java's ``(int)`` does.

    The same as ``to_long`` within the range of int32.
    """
    return np.clip(to_long(values), _INT.min, _INT.max).astype(np.int32)


def round_half_up(values: NDArray[np.floating[Any]]) -> NDArray[np.int64]:
    """Return the nearest integers, ties upwards, as Java's ``Math.round(double)`` does.

    Parameters
    ----------
    values : ndarray of float32 or float64
        Any numbers.

    Returns
    -------
    ndarray of int64
        Saturated at the range of int64; 0 for NaN.

    Notes
    -----
    ``floor(x + 1/2)`` taken exactly: the sum itself may round, as it does for
    0.49999999999999994, but ``x - floor(x)`` never crosses one half.

    Examples
    --------
    >>> round_half_up(np.array([2.5, -0.5, -1.5, 0.49999999999999994])).tolist()
    [3, 0, -1, 0]
    """
    whole = np.floor(values)
    with np.errstate(invalid="ignore"):
        fraction = values - whole
    whole += fraction >= 0.5
    return to_long(whole)


def round_to_int(values: NDArray[np.float32]) -> NDArray[np.int32]:
    """Return the nearest integers, ties upwards, as Java's ``Math.round(float)`` does.

    Saturated at the range of int32; 0 for NaN.
    """
    nearest = round_half_up(values.astype(np.float64))
    return np.clip(nearest, _INT.min, _INT.max).astype(np.int32)


def divide(numerator: NDArray[np.int64], denominator: NDArray[np.int64] | int) -> NDArray[np.int64]:
    """Return the quotients rounded towards zero, as Java divides integers.

    Parameters
    ----------
    numerator : ndarray of int64
        Any integers.
    denominator : ndarray of int64 or int
        Not zero.

    Examples
    --------
    >>> divide(np.array([7, -7]), 2).tolist()
    [3, -3]
    """
    quotient: NDArray[np.int64] = numerator // denominator
    quotient += (quotient < 0) & (quotient * denominator != numerator)
    return quotient


def parse_float(text: str) -> np.float32:
    """Return the float32 that Java's ``Float.parseFloat`` reads.

    Parameters
    ----------
    text : str
        ``3600``, ``1e4``, ``100.``, ``0x1p12``, ``86400d``, ``NaN``, ``Infinity``; blanks around
        are dropped.

    Raises
    ------
    InputError
        If Java would not read it.

    Notes
    -----
    Rounded once, from the decimal number: through float64 some numbers would round twice.

    Examples
    --------
    >>> float(parse_float("0.4f"))
    0.4000000059604645
    """
    number = text.strip(_BLANKS)
    if _SPECIAL.fullmatch(number):
        return np.float32(number)
    if match := _DECIMAL.fullmatch(number):
        return _to_float32(float(match[1]), match[1])
    if match := _HEXADECIMAL.fullmatch(number):
        return _to_float32(float.fromhex(match[1]), None)
    raise InputError(f"not a number: {text!r}; write 3600, 1e4 or NaN", value=text)


def _to_float32(nearest: float, decimal: str | None) -> np.float32:
    """Return the float32 next to a decimal number, given the float64 next to it."""
    with np.errstate(over="ignore"):
        rounded = np.float32(nearest)
    kept = float(rounded)
    if decimal is None or kept == nearest or not math.isfinite(kept):
        return rounded
    # Where float64 hit the middle between two float32, the decimal number decides.
    beyond: np.float32 = np.nextafter(rounded, np.float32(math.copysign(math.inf, nearest - kept)))
    if nearest - kept == float(beyond) - nearest:
        exact = Fraction(decimal)
        if exact != nearest and (exact > nearest) != (kept > nearest):
            return beyond
    return rounded
