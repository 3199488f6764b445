"""StormCrawler's arithmetic in whole minutes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.columns import NEVER
from recrawl.core.visit import Observation
from recrawl.schedules.stormcrawler_minutes import adapt, due_at, to_minutes

INT32 = st.integers(-(2**31), 2**31 - 1)


def adapted(
    minutes: list[int],
    observation: Observation,
    *,
    rate: float = 0.5,
    least: int = 60,
    most: int = 2**31 - 1,
) -> list[int]:
    found = adapt(
        np.array(minutes, dtype=np.int32),
        np.full(len(minutes), observation, dtype=np.int8),
        inc_rate=rate,
        dec_rate=rate,
        least=least,
        most=most,
    )
    return found.tolist()


@pytest.mark.parametrize(
    ("minutes", "rate", "expected"), [(190, 0.3, 246), (720, 0.15, 828), (2880, 0.05, 3023)]
)
def test_growth_is_rounded_to_float32(minutes: int, rate: float, expected: int) -> None:
    """The products are those of float32, where float64 gives a neighbour."""
    assert adapted([minutes], Observation.UNCHANGED, rate=rate) == [expected]
    assert int(minutes * (1 + rate)) != expected


@pytest.mark.parametrize(
    ("minutes", "rate", "least", "expected"), [(720, 0.9, 30, 99), (10080, 0.6, 60, 4067)]
)
def test_shrinking_is_rounded_to_float32(
    minutes: int, rate: float, least: int, expected: int
) -> None:
    """The sum too is that of float32."""
    assert adapted([minutes], Observation.CHANGED, rate=rate, least=least) == [expected]
    assert int((1 - rate) * minutes + rate * least) != expected


def test_short_intervals_do_not_grow() -> None:
    """The cut to whole minutes takes growth of less than a minute away."""
    assert adapted([0, 1, 2], Observation.UNCHANGED) == [0, 1, 3]
    assert adapted([9], Observation.UNCHANGED, rate=0.1) == [9]


def test_the_greatest_interval_holds_for_growth_only() -> None:
    """An unchanged page above it gets a shorter interval, a changed one may stay above."""
    assert adapted([30_000], Observation.UNCHANGED, most=20_160) == [20_160]
    assert adapted([100_000], Observation.CHANGED, most=20_160) == [50_030]


def test_the_least_interval_is_no_bound() -> None:
    """A changed page below it is drawn up to it."""
    assert adapted([10], Observation.CHANGED) == [35]


@pytest.mark.parametrize("rate", [np.inf, 1e39, -1e39])
def test_rates_out_of_range_are_java_s(rate: float) -> None:
    """Infinite products are the ends of int32, and what is no number is 0."""
    assert adapted([0], Observation.UNCHANGED, rate=rate) == [0]
    end = 2**31 - 1 if rate > 0 else -(2**31)
    assert adapted([1], Observation.UNCHANGED, rate=rate) == [end]


@given(st.lists(INT32))
def test_what_is_unknown_stays(minutes: list[int]) -> None:
    """Without an observation no interval moves, also not one that float32 cannot hold."""
    assert adapted(minutes, Observation.UNKNOWN) == minutes


@given(INT32, st.floats(-2, 2, width=32), INT32)
def test_each_operation_is_rounded_once(minutes: int, rate: float, least: int) -> None:
    """The kernel gives what the formula gives with one rounding after each operation."""
    f = np.float32
    with np.errstate(all="ignore"):
        exact = f(f(f(1) - f(rate)) * f(minutes)) + f(f(rate) * f(least))
    expected = int(np.clip(np.trunc(float(exact)), -(2**31), 2**31 - 1))

    assert adapted([minutes], Observation.CHANGED, rate=rate, least=least) == [expected]


def test_only_minus_one_is_never() -> None:
    """Other negative minutes lie in the past."""
    due = due_at(np.array([-1, -2, 3], dtype=np.int32), 1_000_000)

    assert due.tolist() == [NEVER, 880_000, 1_180_000]


def test_seconds_are_cut_to_minutes() -> None:
    """A part of a minute is dropped, and an infinite wait is never."""
    seconds = np.array([59.0, 60.0, 119.9, -119.0, np.inf, np.nan, 1e30])

    assert to_minutes(seconds).tolist() == [0, 1, 1, -1, -1, 0, 2**31 - 1]
