"""The worth of a fetch and its inverse: exactness, limits, and the table against the solution."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.errors import InputError
from recrawl.schedules.crawl_value import (
    ValueTable,
    changes_at_value,
    crawl_value,
    fetch_interval,
    value_table,
)

DAY = 86_400.0
ETAS = [0.0, 1e-3, 0.01, 0.1, 0.3, 1.0]
weights = st.floats(1e-9, 1.0)


@pytest.mark.parametrize("eta", ETAS)
def test_value_is_an_integral_of_what_is_lost(eta: float):
    """Its two parts are the fresh time lost by waiting, and the stale time so far."""
    t = (np.arange(100_000) + 0.5) * 3.0 / 100_000
    fresh_time = np.exp(-t).mean() * 3.0

    by_definition = (1 - eta) * (fresh_time - 3.0 * math.exp(-3.0)) + eta * (3.0 - fresh_time)

    assert crawl_value(np.array([3.0]), eta) == pytest.approx(by_definition, rel=1e-9)


@settings(deadline=None)
@given(y=st.floats(1e-280, 1e280), eta=st.one_of(weights, st.sampled_from(ETAS)))
def test_changes_at_value_inverts_the_value(y: float, eta: float):
    """The value at the changes found is the value asked for, to 1e-12 of it."""
    x = changes_at_value(np.array([y]), eta)

    if eta == 0 and y >= 1:
        assert x.tolist() == [math.inf]
    else:
        assert crawl_value(x, eta) == pytest.approx(y, rel=1e-12)


@pytest.mark.parametrize("eta", ETAS)
def test_values_at_the_ends(eta: float):
    """No value takes no changes, an infinite one infinitely many, and NaN and below 0 are NaN."""
    x = changes_at_value([0.0, math.inf, math.nan, -1.0], eta)

    assert x[:2].tolist() == [0.0, math.inf]
    assert np.isnan(x[2:]).all()


@pytest.mark.parametrize("eta", [-0.1, 1e-300, 1.1, math.nan])
def test_eta_out_of_range_is_refused(eta: float):
    """Eta is a weight, and a table wants one whose bend it can follow."""
    with pytest.raises(InputError, match=r"eta is .*; allowed: 0, or 1e-9 to 1"):
        changes_at_value([1.0], eta)
    with pytest.raises(InputError, match=r"eta is .*; allowed: 0, or 0.001 to 1"):
        ValueTable(eta)


def test_interval_of_a_page_worked_by_hand():
    """Where x = 2 a fetch is worth 1 - 3 exp(-2) over the rate, and the interval is 2 / D."""
    worth = (1 - 3 * math.exp(-2)) * 10 * DAY

    interval = fetch_interval([1 / (10 * DAY)], 3.0, 3.0 * worth, eta=0.0)

    assert interval == pytest.approx([20 * DAY])


@settings(deadline=None)
@given(
    rate=st.floats(1e-10, 1e2),
    weight=st.floats(1e-3, 1e3),
    price=st.floats(1.0, 1e8),
    eta=st.sampled_from(ETAS),
    # Powers of two, by which nothing is rounded: at the pole of eta 0 the last bit counts.
    cost=st.integers(-9, 20).map(lambda power: 2.0**power),
    factor=st.integers(-9, 9).map(lambda power: 2.0**power),
)
def test_interval_knows_no_units(
    rate: float, weight: float, price: float, eta: float, cost: float, factor: float
):
    """Another unit of time or importance changes nothing, and a cost divides the importance."""
    interval = fetch_interval([rate], weight, price, eta=eta, cost=cost)

    for other in (
        fetch_interval([rate / factor], weight, price * factor, eta=eta, cost=cost) / factor,
        fetch_interval([rate], weight * factor, price * factor, eta=eta, cost=cost),
        fetch_interval([rate], weight / cost, price, eta=eta),
    ):
        assert other == pytest.approx(interval)


@given(rate=st.floats(1e-8, 1.0), eta=st.sampled_from(ETAS), price=st.floats(1.0, 1e6))
def test_a_higher_price_never_shortens_an_interval(rate: float, eta: float, price: float):
    """Intervals rise with the price, and fall with the importance."""
    prices = price * np.array([1.0, 1.5, 4.0, 100.0])

    interval = fetch_interval(np.full(4, rate), 1.0, prices, eta=eta)

    assert (interval[1:] >= interval[:-1]).all()
    assert fetch_interval([rate], 2.0, price, eta=eta)[0] <= interval[0]


@pytest.mark.parametrize("make", ["exact", "table"])
@pytest.mark.parametrize("eta", [0.0, 0.1, 1.0])
def test_intervals_have_their_limits(make: str, eta: float):
    """Pages that never change or do not matter wait as long as any, and no fetch is due at once.

    A page that changes infinitely fast waits for its price over importance and eta.
    """
    rate = np.array([0.0, 1.0, 0.0, math.inf, 1e-3, 1e-3, math.nan, math.inf])
    weight = np.array([1.0, 0.0, 0.0, 2.0, 1.0, 1.0, 1.0, 1.0])
    price = np.array([1e3, 1e3, 0.0, 1e3, 0.0, math.inf, 1e3, 0.0])

    if make == "exact":
        interval = fetch_interval(rate, weight, price, eta=eta, shortest=60.0, longest=1e6)
    else:
        interval = value_table(eta).interval(rate, weight, price, shortest=60.0, longest=1e6)

    fastest = 1e3 / 2.0 / eta if eta else 1e6
    assert interval[:6] == pytest.approx([1e6, 1e6, 1e6, fastest, 60.0, 1e6], rel=1e-6)
    assert np.isnan(interval[6])
    assert interval[7] == 60.0


@pytest.mark.parametrize("eta", ETAS)
def test_table_is_within_a_ten_thousandth(eta: float):
    """The table's intervals agree with exact ones over 60 decades of value."""
    rng = np.random.default_rng(5)
    n = 40_000
    rate = np.exp(rng.uniform(math.log(1e-12), math.log(10.0), n)).astype(np.float32)
    weight = np.exp(rng.uniform(-12.0, 12.0, n)).astype(np.float32)
    cost = np.exp(rng.uniform(-5.0, 12.0, n)).astype(np.float32)

    quick = value_table(eta).interval(rate, weight, 3e4, cost=cost)

    exact = fetch_interval(rate, weight, 3e4, eta=eta, cost=cost)
    # Where float32 has no digits left below the pole, nobody could do better.
    known = (rate * 3e4 / weight * cost < 0.999) if eta == 0 else np.full(n, True)
    assert quick.dtype == np.float32
    assert np.abs(quick[known] / exact[known] - 1).max() < 1e-4
    assert (quick[~known] > 6 / rate[~known]).all()


@pytest.mark.parametrize("eta", [0.0, 0.1])
def test_table_takes_values_of_any_size(eta: float):
    """Values below and beyond the pieces, none at all, and NaN have their changes."""
    value = np.array([0.0, 1e-25, 1e-3, 1e30, math.inf, math.nan])

    x = value_table(eta).changes(value)

    assert x == pytest.approx(changes_at_value(value, eta), rel=1e-5, nan_ok=True)
    assert value_table(eta).changes(value[:0]).shape == (0,)


def test_table_of_many_pages_goes_block_by_block():
    """Where no page is out of the ordinary, all blocks agree with the exact intervals."""
    rate = np.geomspace(1e-9, 1e-3, 50_000)

    quick = value_table(0.3).interval(rate, 2.0, 1e5)

    assert quick == pytest.approx(fetch_interval(rate, 2.0, 1e5, eta=0.3), rel=1e-5)


def test_a_table_is_made_once():
    """Who asks again for the same eta gets the same table, and equal tables are equal."""
    assert value_table(0.25) is value_table(0.25)
    assert ValueTable(0.25) == ValueTable(0.25) != ValueTable(0.5)


def test_no_pages_have_no_intervals():
    """Nothing gives nothing."""
    assert fetch_interval([], [], 1.0, eta=0.1).shape == (0,)
    assert value_table(0.1).interval([], [], 1.0).shape == (0,)
