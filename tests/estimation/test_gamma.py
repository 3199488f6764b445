"""The Gamma distribution's functions: known values, recurrences, and quantiles by quadrature."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.estimation.gamma import digamma, gamma_quantile, log_gamma, trigamma

EULER = 0.5772156649015329
NODES, WEIGHTS = np.polynomial.legendre.leggauss(100)

shapes = st.floats(1e-3, 1e6)


def mass(shape: float, low: float, high: float) -> float:
    """Return the probability between two quantiles, by quadrature on the logarithm."""
    s = math.log(low) + (NODES + 1) / 2 * math.log(high / low)
    log_density = shape * s - np.exp(s) - math.lgamma(shape)
    return float(np.exp(log_density) @ WEIGHTS * math.log(high / low) / 2)


@given(x=shapes)
def test_log_gamma_is_that_of_the_library(x: float):
    """The logarithm of the Gamma function agrees with the standard library's."""
    assert log_gamma(np.array([x])) == pytest.approx(math.lgamma(x), rel=1e-12, abs=1e-12)


def test_derivatives_have_their_known_values():
    """At 1 and 1/2 digamma and trigamma are known in closed form."""
    x = np.array([1.0, 0.5])

    assert digamma(x) == pytest.approx([-EULER, -EULER - 2 * math.log(2)], rel=1e-13)
    assert trigamma(x) == pytest.approx([math.pi**2 / 6, math.pi**2 / 2], rel=1e-13)


@given(x=shapes)
def test_derivatives_obey_their_recurrence(x: float):
    """One step up adds 1 / x to digamma and takes 1 / x^2 from trigamma."""
    at = np.array([x, x + 1])

    low, high = digamma(at)
    assert high - low == pytest.approx(1 / x, rel=1e-9, abs=1e-13)
    low, high = trigamma(at)
    assert low - high == pytest.approx(1 / x**2, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("tail", [0.5, 0.25, 0.025, 1e-4])
@pytest.mark.parametrize("shape", [0.3, 1.0, 2.5, 40.0, 999.0, 1001.0, 1e5])
def test_quantiles_hold_the_mass_asked_for(shape: float, tail: float):
    """Between the two quantiles lies what the tails leave, by quadrature."""
    at = np.array([shape])

    low = gamma_quantile(at, tail, is_upper=False)
    high = gamma_quantile(at, tail, is_upper=True)

    between = mass(shape, low[0], high[0]) if tail < 0.5 else 0.0
    assert between == pytest.approx(1 - 2 * tail, abs=1e-7)
    if tail == 0.5:
        assert low == pytest.approx(high, rel=1e-9)


@pytest.mark.parametrize("tail", [0.5, 0.025, 1e-9])
def test_quantiles_of_shape_1_are_exponential(tail: float):
    """At shape 1 the quantiles are logarithms."""
    one = np.array([1.0])

    assert gamma_quantile(one, tail, is_upper=False) == pytest.approx(-math.log1p(-tail))
    assert gamma_quantile(one, tail, is_upper=True) == pytest.approx(-math.log(tail))


@settings(deadline=None)
@given(shape=st.lists(shapes, min_size=2, max_size=9), tail=st.floats(1e-9, 0.5))
def test_quantiles_rise_with_the_shape(shape: list[float], tail: float):
    """A larger shape has larger quantiles, on both sides of where the method changes."""
    at = np.sort(shape)

    for is_upper in (False, True):
        quantile = gamma_quantile(at, tail, is_upper=is_upper)
        assert np.isfinite(quantile).all()
        assert (np.diff(quantile) >= -1e-9 * quantile[1:]).all()


def test_quantiles_too_small_for_a_number_are_0():
    """At a tiny shape the lower quantile underflows to 0, and nothing gives nothing."""
    assert gamma_quantile(np.array([1e-9]), 0.025, is_upper=False).tolist() == [0.0]
    assert gamma_quantile(np.array([]), 0.025, is_upper=True).shape == (0,)
