"""Functions of the changes between two fetches: their limits, their digits, and inverses."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.core.poisson import changes_at_gain, fresh_share, gain, harm, stale_share

#: Terms by which the Taylor series of each function is summed exactly, below 1.
TERMS = 30


def exactly(x: float, coefficient: object) -> float:
    """Return the sum of a power series of x in rational numbers."""
    return float(sum(coefficient(n) * Fraction(x) ** n for n in range(TERMS)))


def decay(n: int) -> Fraction:
    """Return the coefficient of x^n in exp(-x)."""
    return Fraction((-1) ** n, math.factorial(n))


@given(x=st.floats(1e-12, 0.9))
def test_closed_forms_and_series_keep_their_digits(x: float):
    """Each function agrees with its power series in rational arithmetic to 13 digits or so."""
    at = np.array([x])

    assert fresh_share(at) == pytest.approx(exactly(x, lambda n: -decay(n + 1)), rel=1e-14)
    assert stale_share(at) == pytest.approx(
        exactly(x, lambda n: -decay(n + 2) if n else Fraction(0)), rel=1e-6
    )
    assert gain(at) == pytest.approx(
        exactly(x, lambda n: -decay(n) - decay(n - 1) if n > 1 else Fraction(0)), rel=5e-13
    )
    assert harm(at) == pytest.approx(
        exactly(x, lambda n: decay(n) if n > 1 else Fraction(0)), rel=5e-13
    )


def test_limits_are_reached():
    """No change and infinitely many give the limits, without a warning."""
    ends = np.array([0.0, math.inf])

    assert fresh_share(ends).tolist() == [1.0, 0.0]
    assert stale_share(ends).tolist() == [0.0, 0.5]
    assert gain(ends).tolist() == [0.0, 1.0]
    assert harm(ends).tolist() == [0.0, math.inf]
    assert gain(np.array([1e9])).tolist() == [1.0]


@settings(deadline=None)
@given(y=st.floats(1e-300, 1.0, exclude_max=True))
def test_changes_at_gain_inverts_gain(y: float):
    """The gain at the changes found is the gain asked for, to the last digits."""
    found = gain(changes_at_gain(np.array([y])))

    assert found == pytest.approx(y, rel=5e-13)


def test_a_gain_of_1_is_out_of_reach():
    """No gain takes no change, and 1 or more takes infinitely many."""
    assert changes_at_gain(np.array([0.0, 1.0, 2.0])).tolist() == [0.0, math.inf, math.inf]


@pytest.mark.parametrize("function", [fresh_share, stale_share, gain, harm, changes_at_gain])
def test_nothing_gives_nothing(function):
    """No pages give no values."""
    assert function(np.array([])).shape == (0,)
