"""Numbers are converted as Java converts them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.numeric import (
    divide,
    parse_float,
    round_half_up,
    round_to_int,
    to_int,
    to_long,
)
from recrawl.errors import InputError

LONG_MAX, LONG_MIN = 2**63 - 1, -(2**63)
INT_MAX, INT_MIN = 2**31 - 1, -(2**31)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.9, 1),
        (-1.9, -1),
        (math.nan, 0),
        (math.inf, LONG_MAX),
        (-math.inf, LONG_MIN),
        (2.0**63, LONG_MAX),
        (-(2.0**63), LONG_MIN),
    ],
)
def test_to_long_truncates_and_saturates(value: float, expected: int) -> None:
    """The fraction is dropped, what does not fit is the nearest that does, NaN is 0."""
    assert to_long(np.array([value, 3.5])).tolist() == [expected, 3]


def test_to_int_saturates_at_32_bits() -> None:
    """The range is that of int32, also for numbers that int64 would hold."""
    converted = to_int(np.array([3e9, -3e9, 7.9, math.nan]))

    assert converted.dtype == np.int32
    assert converted.tolist() == [INT_MAX, INT_MIN, 7, 0]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2.5, 3),
        (-0.5, 0),
        (-1.5, -1),
        (-2.500001, -3),
        (0.49999999999999994, 0),
        (2.0**52 + 1, 2**52 + 1),
        (math.nan, 0),
        (math.inf, LONG_MAX),
        (-math.inf, LONG_MIN),
    ],
)
def test_round_half_up_moves_ties_upwards(value: float, expected: int) -> None:
    """Ties go towards positive infinity, which is neither Python's rule nor floor(x + 0.5)."""
    assert round_half_up(np.array([value])).tolist() == [expected]


@given(st.floats(-1e15, 1e15))
def test_round_half_up_is_the_floor_of_the_exact_sum(value: float) -> None:
    """It equals floor(x + 1/2) in exact arithmetic."""
    assert round_half_up(np.array([value]))[0] == math.floor(Fraction(value) + Fraction(1, 2))


def test_round_to_int_rounds_float32() -> None:
    """As Math.round(float): ties upwards, saturated at int32."""
    values = np.array([4.5, -0.5, 3e9, -3e9, math.nan], dtype=np.float32)

    rounded = round_to_int(values)

    assert rounded.dtype == np.int32
    assert rounded.tolist() == [5, 0, INT_MAX, INT_MIN, 0]


@given(st.integers(-(2**60), 2**60), st.integers(-1000, 1000).filter(bool))
def test_divide_rounds_towards_zero(numerator: int, denominator: int) -> None:
    """The quotient is the truncated one, and the dividend is left as it was."""
    values = np.array([numerator])

    quotient = divide(values, denominator)

    assert quotient[0] == math.trunc(Fraction(numerator, denominator))
    assert values[0] == numerator


@pytest.mark.parametrize("function", [to_long, to_int, round_half_up, round_to_int])
def test_nothing_converts_to_nothing(function) -> None:
    """An empty array gives an empty one."""
    assert function(np.array([], dtype=np.float32)).shape == (0,)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3600", 3600.0),
        (" 3600f\t", 3600.0),
        ("86400D", 86400.0),
        ("0x1p12", 4096.0),
        ("-0x.8P1f", -1.0),
        ("1e4", 10_000.0),
        ("100.", 100.0),
        (".5E3", 500.0),
        ("+100", 100.0),
        ("Infinity", math.inf),
        ("-Infinity", -math.inf),
        ("1e39", math.inf),
        ("1e-46", 0.0),
        ("0.4", 0.4000000059604645),
    ],
)
def test_parse_float_reads_what_java_reads(text: str, expected: float) -> None:
    """Suffixes, hexadecimal digits and blanks around are understood."""
    parsed = parse_float(text)

    assert parsed.dtype == np.float32
    assert float(parsed) == expected


def test_parse_float_reads_nan() -> None:
    """NaN is a number to Java, with a sign as well."""
    assert np.isnan(parse_float("+NaN"))


@pytest.mark.parametrize("text", ["", "1_000", "3,600", "nan", "inf", "0x12", "--1", "1d2", "NaNf"])
def test_parse_float_refuses_what_java_refuses(text: str) -> None:
    """What Python reads and Java does not is refused, with the text."""
    with pytest.raises(InputError, match="not a number") as caught:
        parse_float(text)

    assert caught.value.value == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # 1 + 2^-24 lies half way between two float32; float64 cannot tell these three apart.
        ("1.000000059604644775390625", 1.0),
        ("1.00000005960464477539062500000000001", 1.0000001192092896),
        ("1.00000005960464477539062499999999999", 1.0),
        # The same above an odd float32, where a tie goes up.
        ("1.000000178813934326171875", 1.000000238418579),
        ("1.00000017881393432617187499999999999", 1.0000001192092896),
        ("-1.00000017881393432617187499999999999", -1.0000001192092896),
        ("-1.00000005960464477539062500000000001", -1.0000001192092896),
    ],
)
def test_parse_float_rounds_once(text: str, expected: float) -> None:
    """A number next to the middle of two float32 goes to the nearer, not through float64."""
    assert parse_float(text) == np.float32(expected)
