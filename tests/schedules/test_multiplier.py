"""The multiplier of a budget, a freshness or an age: published figures, laws and limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.errors import InputError
from recrawl.schedules.crawl_value import fetch_interval
from recrawl.schedules.multiplier import (
    falling_root,
    longest_interval,
    meet,
    multiplier_exactly,
    multiplier_for_age,
    multiplier_for_budget,
    multiplier_for_freshness,
)
from recrawl.schedules.totals import Totals

DAY = 86_400.0
ETAS = pytest.mark.parametrize("eta", [0.0, 0.1, 0.3, 1.0])


def by_histogram(rate: np.ndarray, weight: np.ndarray, budget: float, **bounds: float) -> float:
    return multiplier_for_budget(Totals.of(rate, weight), budget, **bounds)


SOLVERS = pytest.mark.parametrize("solve", [by_histogram, multiplier_exactly])


def collection(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    rate = np.exp(rng.normal(-3.7, 2.0, n)) / DAY
    return rate.astype("float32"), np.minimum(rng.pareto(1.5, n) + 1, 200.0).astype("float32")


@SOLVERS
def test_five_pages_are_fetched_as_published(solve):
    """Rates of 1 to 5 a day and five fetches give 1.15, 1.36, 1.35, 1.14 and none [ChoGM2000]."""
    rate = np.arange(1, 6) / DAY

    multiplier = solve(rate, 1.0, 5 / DAY, eta=0.0)

    crawl_rate = DAY / fetch_interval(rate, 1.0, multiplier, eta=0.0)
    assert crawl_rate.round(2).tolist() == [1.15, 1.36, 1.35, 1.14, 0.0]


@ETAS
@pytest.mark.parametrize("budget", [0.001, 0.1, 30.0])
def test_histogram_agrees_with_the_pages(eta: float, budget: float):
    """At the histogram's multiplier the pages spend the budget, within a thousandth or two."""
    rate, weight = collection(100_000)
    fetches = budget * len(rate) / DAY
    longest = float(longest_interval(len(rate), fetches, 0.0))

    multiplier = by_histogram(rate, weight, fetches, eta=eta, longest=longest)

    spent = (1 / fetch_interval(rate, weight, multiplier, eta=eta, longest=longest)).sum()
    assert spent == pytest.approx(fetches, rel=3e-3 if eta == 0 else 2e-4)


@ETAS
def test_histogram_agrees_with_the_exact_multiplier(eta: float):
    """Both ways give one multiplier to a few thousandths, also where pages cost differently."""
    rate, weight = collection(2000)
    cost = np.linspace(1.0, 1e5, 2000)
    budget = 0.1 * cost.sum() / DAY

    multiplier = multiplier_for_budget(Totals.of(rate, weight, cost), budget, eta=eta)

    exact = multiplier_exactly(rate, weight, budget, eta=eta, cost=cost)
    assert multiplier == pytest.approx(exact, rel=3e-3 if eta == 0 else 3e-4)


@settings(deadline=None, max_examples=40)
@given(
    pages=st.lists(st.tuples(st.floats(1e-9, 1.0), st.floats(1e-3, 1e3)), min_size=1, max_size=9),
    budget=st.floats(1e-6, 1e3),
    eta=st.sampled_from([0.05, 0.1, 0.5, 1.0]),
)
def test_exact_multiplier_spends_the_budget(
    pages: list[tuple[float, float]], budget: float, eta: float
):
    """The intervals at the exact multiplier come to the budget, for any pages."""
    rate, weight = map(np.array, zip(*pages, strict=True))

    multiplier = multiplier_exactly(rate, weight, budget, eta=eta)

    spent = (1 / fetch_interval(rate, weight, multiplier, eta=eta)).sum()
    assert spent == pytest.approx(budget, rel=1e-8)


@SOLVERS
@ETAS
def test_one_page_gets_all(solve, eta: float):
    """A single page takes the budget, and identical pages share it evenly."""
    for n in (1, 1000):
        rate = np.full(n, 1 / DAY)

        multiplier = solve(rate, 1.0, n / DAY, eta=eta)

        interval = fetch_interval(rate, 1.0, multiplier, eta=eta)
        assert interval == pytest.approx(np.full(n, DAY), rel=1e-4)


@SOLVERS
def test_a_budget_at_its_ends(solve):
    """No budget has an infinite price, and one that no page needs has none."""
    still, idle = np.array([0.0, 1.0]), np.array([1.0, 0.0])

    assert solve(np.array([1.0]), 1.0, 0.0, eta=0.1) == math.inf
    assert solve(still, idle, 5.0, eta=0.1) == 0.0
    assert solve(np.array([]), np.array([]), 5.0, eta=0.1) == 0.0
    assert solve(np.array([1.0]), 1.0, 5.0, eta=0.1, shortest=1.0) == 0.0


@SOLVERS
@ETAS
def test_a_longest_interval_beyond_the_budget_leaves_a_finite_price(solve, eta: float):
    """Where the bound alone costs more than the budget the multiplier does not run away."""
    rate = np.array([1e-6, 1e-5])

    multiplier = solve(rate, 1.0, 1e-9, eta=eta, longest=10 * DAY)

    interval = fetch_interval(rate, 1.0, multiplier, eta=eta, longest=10 * DAY)
    assert math.isfinite(multiplier)
    assert (1 / interval).sum() == pytest.approx(2 / (10 * DAY), rel=2e-3)


def test_longest_interval_leaves_room():
    """Ten even rounds at least, longer if asked for, and no limit without a budget."""
    assert longest_interval(100, 2.0, 60.0) == 500.0
    assert longest_interval(100, 2.0, 6000.0) == 6000.0
    assert longest_interval([0, 5], [0.0, 0.0], 60.0).tolist() == [60.0, math.inf]


@ETAS
@pytest.mark.parametrize("freshness", [0.3, 0.9, 0.999])
def test_multiplier_reaches_a_freshness(eta: float, freshness: float):
    """The outlook at the multiplier is as fresh as asked for."""
    totals = Totals.of(*collection(20_000))

    multiplier = multiplier_for_freshness(totals, freshness, eta=eta)

    assert totals.outlook(multiplier, eta=eta).freshness == pytest.approx(freshness, abs=1e-6)


@pytest.mark.parametrize("eta", [0.1, 1.0])
@pytest.mark.parametrize("age", [60.0, DAY, 100 * DAY])
def test_multiplier_reaches_an_age(eta: float, age: float):
    """The outlook at the multiplier is as old as asked for."""
    totals = Totals.of(*collection(20_000))

    multiplier = multiplier_for_age(totals, age, eta=eta)

    assert totals.outlook(multiplier, eta=eta).age == pytest.approx(age, rel=1e-6)


def test_an_age_at_eta_0_is_reached_by_fetching_every_page():
    """Where pages that are never fetched would be infinitely old the price leaves none out."""
    totals = Totals.of(*collection(2000))

    multiplier = multiplier_for_age(totals, DAY, eta=0.0)

    assert totals.outlook(multiplier, eta=0.0).age <= DAY * (1 + 1e-6)


def test_targets_that_need_no_fetch():
    """Pages that hardly change reach a target at any price: it is high, finite and cheap."""
    totals = Totals.of(np.full(9, 1e-12), 1.0)

    for multiplier in (
        multiplier_for_freshness(totals, 0.5, eta=0.1, longest=DAY),
        multiplier_for_age(totals, 1e6, eta=0.1, longest=DAY),
    ):
        assert math.isfinite(multiplier)
        outlook = totals.outlook(multiplier, eta=0.1, longest=DAY)
        assert outlook.spending == pytest.approx(9 / DAY, rel=0.01)


def test_targets_out_of_reach_have_no_price():
    """What even the shortest intervals do not reach makes every fetch worth it."""
    totals = Totals.of([1.0], 1.0)

    assert multiplier_for_freshness(totals, 0.9, eta=0.1, shortest=DAY) == 0.0
    assert multiplier_for_age(totals, 1.0, eta=0.1, shortest=DAY) == 0.0
    assert multiplier_for_age(Totals.of([], 1.0), 1.0, eta=0.1) == 0.0


@pytest.mark.parametrize(
    ("solve", "target", "message"),
    [
        (multiplier_for_budget, -1.0, "budget is -1; allowed: 0 or more, finite"),
        (multiplier_for_budget, math.nan, "budget is nan"),
        (multiplier_for_freshness, 1.0, "freshness is 1; allowed: above 0 and below 1"),
        (multiplier_for_age, 0.0, "age is 0; allowed: more than 0 s, finite"),
    ],
    ids=["negative", "unknown", "freshness", "age"],
)
def test_targets_out_of_range_are_refused(solve, target: float, message: str):
    """A target out of range is named with what is allowed."""
    with pytest.raises(InputError, match=message):
        solve(Totals.of([1.0], 1.0), target, eta=0.1)


def test_exact_budget_out_of_range_is_refused():
    """The exact solution refuses what the other does."""
    with pytest.raises(InputError, match="budget is inf"):
        multiplier_exactly([1.0], 1.0, math.inf, eta=0.1)


@given(power=st.floats(0.1, 5.0), target=st.floats(1e-9, 1e9), start=st.floats(1e-9, 1e9))
def test_roots_of_powers_are_found(power: float, target: float, start: float):
    """Functions that fall like a power go through their targets at the root, from any start."""
    root = falling_root(lambda x: x**-power, np.array([target]), np.array([start]))

    assert root == pytest.approx(target ** (-1 / power), rel=1e-7)


def test_roots_at_a_jump_lie_on_the_side_asked_for():
    """Where a function jumps over its target the root is next to the jump, on either side."""

    def steps(x: np.ndarray) -> np.ndarray:
        return np.where(x <= 2.0, 5.0, 1.0)

    above = falling_root(steps, np.array([3.0]), np.array([1.0]))
    below = falling_root(steps, np.array([3.0]), np.array([1.0]), may_exceed=False)

    assert above == pytest.approx(2.0, rel=1e-9)
    assert below == pytest.approx(2.0, rel=1e-9)
    assert (steps(above).tolist(), steps(below).tolist()) == ([5.0], [1.0])


def test_roots_out_of_reach_are_the_ends_of_the_numbers():
    """A function that never crosses its target gives an end of the range."""
    constant = falling_root(
        lambda x: np.full_like(x, 2.0), np.array([1.0, 3.0]), np.array([1.0, 1.0])
    )

    assert constant[0] > 1e300
    assert constant[1] < 1e-300


def test_meeting_a_constant_has_no_price():
    """A measure that no multiplier moves is met by any; it is the least."""
    assert meet(lambda multiplier: 2.0, 1.0, 1.0) == 0.0
