"""Change rates from visits: worked values, limits, laws, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.errors import InputError
from recrawl.estimation.cho_garcia_molina import bias_reduced, irregular, last_modified

DAY = 86_400.0


def test_bias_reduced_is_the_published_formula():
    """Six changes in ten daily visits give -log(4.5 / 10.5) a day."""
    rate = bias_reduced([10], [6], [DAY])

    assert rate * DAY == pytest.approx(math.log(10.5 / 4.5))


def test_bias_reduced_has_its_limits():
    """No change gives 0, changes at every visit log(2 n + 1), and no visit nothing."""
    rate = bias_reduced([7, 7, 0], [0, 7, 0], [1.0, 1.0, math.nan])

    assert rate[:2].tolist() == pytest.approx([0.0, math.log(15)])
    assert math.isnan(rate[2])


def test_bias_reduced_has_little_bias():
    """For a Poisson page visited 50 times at mean one change a visit the estimate is right."""
    rng = np.random.default_rng(11)
    n, visits = 20_000, 50
    x = rng.binomial(visits, -math.expm1(-1.0), n)

    rate = bias_reduced(np.full(n, visits), x, np.ones(n))

    # Standard deviation about sqrt((e - 1) / 50) = 0.19: 4 standard errors are 0.0053; the
    # formula's own bias at n = 50 is below 0.002, that of the plain ratio 0.37.
    assert rate.mean() == pytest.approx(1.0, abs=0.0075)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([-1], [0], [1.0]), "n_visits is -1"),
        (([1], [2], [1.0]), "n_changes is 2; allowed: 0 to n_visits"),
        (([1], [1], [0.0]), "interval is 0; allowed: more than 0 s"),
    ],
    ids=["visits", "changes", "interval"],
)
def test_bias_reduced_refuses_what_cannot_be(arguments: tuple, message: str):
    """An impossible count or interval is named with what is allowed."""
    with pytest.raises(InputError, match=message):
        bias_reduced(*arguments)


def test_irregular_agrees_with_the_closed_form_at_even_distances():
    """At even distances the most likely rate is -log(1 - X / n) / I."""
    rate = irregular(np.zeros(10, int), np.full(10, DAY), np.arange(10) < 6, 1)

    assert rate * DAY == pytest.approx(-math.log(0.4), rel=1e-12)


def test_irregular_has_its_limits():
    """Never changed gives 0, always infinite, never visited NaN, and others are not disturbed."""
    rate = irregular([0, 1, 3, 3], [1.0, 2.0, 1.0, 1.0], [False, True, True, False], 4)

    assert rate[[0, 1, 3]].tolist() == pytest.approx([0.0, math.inf, math.log(2)])
    assert math.isnan(rate[2])


def test_irregular_without_visits_knows_nothing():
    """No visits at all give NaN for each page."""
    assert np.isnan(irregular([], [], [], 3)).all()


@settings(deadline=None)
@given(
    visits=st.lists(
        st.tuples(st.integers(0, 3), st.floats(1e-3, 1e6), st.booleans()), min_size=1, max_size=40
    )
)
def test_irregular_solves_its_equation(visits: list[tuple[int, float, bool]]):
    """At the rate found, what the changed visits say balances what the quiet ones say."""
    page, elapsed, changed = (np.array(column) for column in zip(*visits, strict=True))

    rate = irregular(page, elapsed, changed, 4)

    for i in np.flatnonzero((rate > 0) & np.isfinite(rate)):
        own = page == i
        loud = elapsed[own & changed]
        with np.errstate(over="ignore"):
            balance = (loud / np.expm1(rate[i] * loud)).sum()
        assert balance == pytest.approx(elapsed[own & ~changed].sum(), rel=1e-8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0], [1.0, 2.0], [True], 1), r"have the shapes \(1,\), \(2,\) and \(1,\)"),
        (([1], [1.0], [True], 1), "page is 1; allowed: 0 to 0"),
        (([0], [0.0], [True], 1), "elapsed is 0; allowed: more than 0 s"),
    ],
    ids=["shapes", "page", "elapsed"],
)
def test_irregular_refuses_what_cannot_be(arguments: tuple, message: str):
    """An impossible visit is named with what is allowed."""
    with pytest.raises(InputError, match=message):
        irregular(*arguments)


def test_last_modified_has_little_bias():
    """Twenty visits at mean one change a visit, with the time of the last, give the true rate."""
    rng = np.random.default_rng(5)
    n, visits = 20_000, 20
    age = rng.exponential(1.0, (n, visits))

    rate = last_modified(np.full(n, visits), (age < 1).sum(axis=1), np.minimum(age, 1).sum(axis=1))

    # Standard deviation about 1 / sqrt(20 (1 - 1/e)) = 0.28: 4 standard errors are 0.008.
    assert rate.mean() == pytest.approx(1.0, abs=0.016)


def test_last_modified_has_its_limits():
    """No change gives 0, changes at every visit (X - 1) / T, and no visit nothing."""
    rate = last_modified([5, 5, 1, 0], [0, 5, 1, 0], [10.0, 2.0, 0.5, 0.0])

    assert rate[:3].tolist() == pytest.approx([0.0, 2.0, 0.0])
    assert math.isnan(rate[3])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([-1], [0], [1.0]), "n_visits is -1"),
        (([1], [2], [1.0]), "n_changes is 2"),
        (([1], [1], [0.0]), "exposure is 0"),
    ],
    ids=["visits", "changes", "exposure"],
)
def test_last_modified_refuses_what_cannot_be(arguments: tuple, message: str):
    """An impossible count or time is named with what is allowed."""
    with pytest.raises(InputError, match=message):
        last_modified(*arguments)
