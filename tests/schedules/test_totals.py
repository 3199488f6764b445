"""Totals of a collection: they add up, and their outlook is that of the pages themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.core.poisson import fresh_share, stale_share
from recrawl.errors import InputError
from recrawl.schedules.crawl_value import fetch_interval
from recrawl.schedules.totals import Totals

DAY = 86_400.0


def collection(n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return change rates, importances and costs of very different pages."""
    rng = np.random.default_rng(seed)
    rate = np.exp(rng.normal(-3.7, 2.0, n)) / DAY
    weight = np.minimum(rng.pareto(1.5, n) + 1, 200.0)
    cost = np.exp(rng.normal(3.0, 1.5, n))
    return rate.astype("float32"), weight.astype("float32"), cost.astype("float32")


def assert_close(found: Totals, wanted: Totals) -> None:
    assert np.array_equal(found.bin, wanted.bin)
    for name in ("n_pages", "rate", "weight", "cost", "load", "n_idle", "idle_weight", "idle_cost"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-5), name


@pytest.mark.parametrize("bounds", [(0.0, math.inf), (3600.0, 40 * DAY)], ids=["free", "bounded"])
@pytest.mark.parametrize("eta", [0.0, 0.1, 1.0])
def test_outlook_is_that_of_the_pages(eta: float, bounds: tuple[float, float]):
    """Spending, crawl rate, freshness and age agree with sums over pages."""
    rate, weight, cost = collection(30_000)
    shortest, longest = bounds
    price = 3e5 / 30

    outlook = Totals.of(rate, weight, cost).outlook(
        price, eta=eta, shortest=shortest, longest=longest
    )

    interval = fetch_interval(
        rate, weight, price, eta=eta, cost=cost, shortest=shortest, longest=longest
    )
    x = rate * interval
    share = weight / weight.sum(dtype=float)
    assert outlook.crawl_rate == pytest.approx((1 / interval).sum(), rel=2e-3)
    assert outlook.spending == pytest.approx((cost / interval).sum(), rel=2e-3)
    assert outlook.freshness == pytest.approx(share @ fresh_share(x), rel=1e-3)
    assert outlook.age == pytest.approx(share @ (interval * stale_share(x)), rel=1e-2)


def test_totals_of_parts_add_up():
    """Totals of chunks, whatever their sizes, are those of the whole, blocks and idle included."""
    rate, weight, cost = collection(300_000)
    rate[::50], weight[::70] = 0.0, 0.0

    parts = [
        Totals.of(rate[part], weight[part], cost[part])
        for part in (slice(0, 1), slice(1, 1), slice(1, 200_000), slice(200_000, None))
    ]

    assert_close(parts[0] + parts[1] + parts[2] + parts[3], Totals.of(rate, weight, cost))


@pytest.mark.parametrize("cost", [1.0, 250.0])
def test_one_cost_for_all_pages_is_the_same_as_one_each(cost: float):
    """A scalar cost saves two sums and changes nothing."""
    rate, weight, _ = collection(5000)
    rate[7], weight[3] = 0.0, 0.0

    assert_close(Totals.of(rate, weight, cost), Totals.of(rate, weight, np.full(5000, cost)))


def test_idle_pages_cost_their_longest_interval_and_stay_fresh():
    """Pages that never change are fresh without a fetch, and those that do not matter do not."""
    totals = Totals.of([0.0, 1.0], [3.0, 0.0], 2.0)

    never, bounded = totals.outlook(5.0, eta=0.1), totals.outlook(5.0, eta=0.1, longest=10.0)

    assert (never.spending, never.crawl_rate, never.freshness, never.age) == (0.0, 0.0, 1.0, 0.0)
    assert (bounded.spending, bounded.crawl_rate) == (0.4, 0.2)


def test_prices_without_a_middle():
    """For nothing everything is fresh, and at an infinite price nothing is, without a NaN."""
    totals = Totals.of([1e-6, 1e-3], [1.0, 2.0])

    free, closed = totals.outlook(0.0, eta=0.1), totals.outlook(math.inf, eta=0.1)

    assert (free.spending, free.freshness, free.age) == (math.inf, 1.0, 0.0)
    assert (closed.spending, closed.freshness, closed.age) == (0.0, 0.0, math.inf)


def test_nothing_has_an_outlook():
    """No pages spend nothing and are all fresh."""
    outlook = Totals.of([], 1.0).outlook(1.0, eta=0.1)

    assert (outlook.spending, outlook.crawl_rate, outlook.freshness, outlook.age) == (0, 0, 1, 0)


@settings(deadline=None)
@given(
    pages=st.lists(
        st.tuples(
            st.one_of(st.just(0.0), st.floats(1e-30, 1e30)),
            st.one_of(st.just(0.0), st.floats(1e-30, 1e30)),
            st.floats(1e-6, 1e9),
        ),
        max_size=8,
    ),
    multiplier=st.floats(0.0, allow_nan=False),
    eta=st.sampled_from([0.0, 0.1, 1.0]),
)
def test_no_page_makes_an_outlook_that_is_no_number(
    pages: list[tuple[float, float, float]], multiplier: float, eta: float
):
    """Whatever the pages and the price, nothing is NaN and freshness is a share."""
    rate, weight, cost = (np.array([page[i] for page in pages]) for i in range(3))

    outlook = Totals.of(rate, weight, cost).outlook(multiplier, eta=eta)

    assert outlook.spending >= 0
    assert outlook.crawl_rate >= 0
    assert -1e-9 <= outlook.freshness <= 1 + 1e-9
    assert outlook.age >= 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([-1.0], 1.0), "change_rate is -1; allowed: 0 or more, finite"),
        (([1.0, math.nan], 1.0), "change_rate is nan"),
        (([1.0], math.inf), "importance is inf; allowed: 0 or more, finite"),
        (([1.0], 1.0, 0.0), "cost is 0; allowed: more than 0, finite"),
        (([1.0], 1.0, [math.inf]), "cost is inf"),
        (([1.0], 1.0, [-2.0]), "cost is -2"),
    ],
    ids=["negative", "unknown", "infinite", "free", "dear", "paid"],
)
def test_pages_out_of_range_are_refused(arguments: tuple, message: str):
    """A value out of range is named with what is allowed."""
    with pytest.raises(InputError, match=message):
        Totals.of(*arguments)


@pytest.mark.parametrize("multiplier", [-1.0, math.nan])
def test_multiplier_out_of_range_is_refused(multiplier: float):
    """A price is 0 or more."""
    with pytest.raises(InputError, match=r"multiplier is .*; allowed: 0 s or more"):
        Totals.of([1.0], 1.0).outlook(multiplier, eta=0.1)
