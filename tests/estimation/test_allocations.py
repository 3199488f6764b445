"""Allocations of a budget: the published figures, the laws they obey, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.errors import InputError
from recrawl.estimation.azar import azar
from recrawl.estimation.freshness import expected_age, expected_freshness
from recrawl.estimation.optimal_frequency import optimal_frequency
from recrawl.estimation.proportional import proportional
from recrawl.estimation.uniform import uniform

ALL = [uniform, proportional, azar, optimal_frequency]
NAMED = pytest.mark.parametrize("allocate", ALL, ids=lambda allocate: allocate.__name__)
#: Fractions of the pages that change once a day, week, month, four months and year [ChoGM2003a].
MIX = {1.0: 0.23, 1 / 7: 0.15, 12 / 365: 0.16, 3 / 365: 0.16, 1 / 365: 0.30}

rates = st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=30)
budgets = st.floats(1e-6, 1e6)


def pages_of_the_mix() -> np.ndarray:
    return np.repeat(list(MIX), [round(share * 100) for share in MIX.values()])


def test_five_pages_are_fetched_as_published():
    """Rates of 1 to 5 a day and five fetches give 1.15, 1.36, 1.35, 1.14 and none [ChoGM2000]."""
    crawl_rate = optimal_frequency([1.0, 2.0, 3.0, 4.0, 5.0], 1.0, 5.0)

    assert crawl_rate.round(2).tolist() == [1.15, 1.36, 1.35, 1.14, 0.0]


@pytest.mark.parametrize(
    ("allocate", "freshness"),
    [(proportional, 0.127), (uniform, 0.572), (optimal_frequency, 0.615)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_real_mix_is_as_fresh_as_published(allocate: Callable, freshness: float):
    """One fetch a month of the measured mix gives the known freshness [ChoGM2003a]."""
    rate = pages_of_the_mix()

    crawl_rate = allocate(rate, 1.0, len(rate) * 12 / 365)

    assert expected_freshness(rate, crawl_rate).mean() == pytest.approx(freshness, abs=5e-4)


@pytest.mark.parametrize(
    ("allocate", "age"), [(proportional, 414), (uniform, 5.7)], ids=["proportional", "uniform"]
)
def test_real_mix_is_as_old_as_published(allocate: Callable, age: float):
    """One fetch a month of the measured mix gives the known mean age in days [ChoGM2003a]."""
    rate = pages_of_the_mix()

    crawl_rate = allocate(rate, 1.0, len(rate) * 12 / 365)

    assert expected_age(rate, crawl_rate).mean() == pytest.approx(age, rel=0.005)


@settings(deadline=None)
@given(rate=rates, budget=budgets)
def test_uniform_is_at_least_as_fresh_as_proportional(rate: list[float], budget: float):
    """At equal importance uniform is never less fresh, whatever the rates [ChoGM2000]."""
    even, in_proportion = (
        expected_freshness(rate, allocate(rate, 1.0, budget)).mean()
        for allocate in (uniform, proportional)
    )

    assert even >= in_proportion - 1e-12


@settings(deadline=None)
@given(
    pages=st.lists(st.tuples(st.floats(1e-9, 1e3), st.floats(1e-3, 1e3)), min_size=1, max_size=20),
    budget=budgets,
)
def test_no_other_policy_is_fresher_than_the_optimum(
    pages: list[tuple[float, float]], budget: float
):
    """The optimum is at least as fresh as each other allocation, and spends the budget."""
    rate, weight = map(np.array, zip(*pages, strict=True))

    fresh = {
        allocate: (weight * expected_freshness(rate, allocate(rate, weight, budget))).sum()
        for allocate in ALL
    }

    assert fresh[optimal_frequency] >= max(fresh.values()) * (1 - 1e-9)
    assert optimal_frequency(rate, weight, budget).sum() == pytest.approx(budget)


@given(
    pages=st.lists(st.tuples(st.floats(1e-6, 1e3), st.floats(1e-3, 1e3)), min_size=1, max_size=20),
    budget=st.floats(1e-3, 1e3),
)
def test_azar_meets_its_conditions(pages: list[tuple[float, float]], budget: float):
    """Pages fetched gain the same at the margin, and no other page would gain more."""
    rate, weight = map(np.array, zip(*pages, strict=True))

    crawl_rate = azar(rate, weight, budget)

    margin = weight * rate / (crawl_rate + rate) ** 2
    fetched = crawl_rate > 1e-9 * (crawl_rate + rate)
    assert crawl_rate.sum() == pytest.approx(budget)
    assert margin[fetched] == pytest.approx(np.full(fetched.sum(), margin.max()), rel=1e-6)


@NAMED
@given(rate=rates, budget=budgets, factor=st.floats(1e-6, 1e6), seed=st.integers(0, 9))
@settings(deadline=None, max_examples=25)
def test_allocation_knows_no_unit_and_no_order(
    allocate: Callable, rate: list[float], budget: float, factor: float, seed: int
):
    """Another unit of time scales the crawl rates, and permuted pages give permuted rates."""
    order = np.random.default_rng(seed).permutation(len(rate))

    crawl_rate = allocate(np.array(rate), 1.0, budget)

    scaled = allocate(np.array(rate) * factor, 1.0, budget * factor)
    assert scaled == pytest.approx(crawl_rate * factor, rel=1e-6, abs=1e-9 * budget * factor)
    permuted = allocate(np.array(rate)[order], 1.0, budget)
    assert permuted == pytest.approx(crawl_rate[order], rel=1e-6, abs=1e-9 * budget)


@NAMED
def test_allocation_of_nothing(allocate: Callable):
    """No pages give no rates, and a budget of 0 gives rates of 0."""
    assert allocate([], 1.0, 1.0).shape == (0,)
    assert allocate([1.0, 2.0], 1.0, 0.0).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("allocate", [azar, optimal_frequency])
def test_pages_without_need_are_not_fetched(allocate: Callable):
    """A page that never changes, or does not matter, gets nothing of the budget."""
    crawl_rate = allocate([0.0, 1.0, 1.0], [1.0, 0.0, 1.0], 2.0)

    assert crawl_rate.tolist() == pytest.approx([0.0, 0.0, 2.0])


def test_proportional_of_pages_that_never_change_is_uniform():
    """Where no page changes there is no proportion to keep."""
    assert proportional([0.0, 0.0], 1.0, 4.0).tolist() == [2.0, 2.0]


def test_a_tiny_budget_goes_to_the_pages_at_the_edge():
    """A budget below the least rate at which a page appears is spent all the same."""
    assert optimal_frequency([1.0, 1.0], 1.0, 1e-9) == pytest.approx([5e-10, 5e-10])
    assert azar([1.0, 1e6], 1.0, 1e-30).sum() == pytest.approx(1e-30, abs=1e-16)


@NAMED
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([-1.0], 1.0, 1.0), "change_rate is -1; allowed: 0 or more"),
        (([math.nan], 1.0, 1.0), "change_rate is nan"),
        (([1.0], math.inf, 1.0), "importance is inf"),
        (([1.0], 1.0, -1.0), "budget is -1"),
    ],
    ids=["rate", "unknown", "importance", "budget"],
)
def test_allocation_refuses_what_cannot_be(allocate: Callable, arguments: tuple, message: str):
    """A value out of range is named with what is allowed."""
    with pytest.raises(InputError, match=message):
        allocate(*arguments)


def test_freshness_and_age_have_their_limits():
    """No change is always fresh; no fetch is never fresh and grows old without end."""
    freshness = expected_freshness([0.0, 1.0, 0.0], [1.0, 0.0, 0.0])
    age = expected_age([0.0, 1.0, 0.0], [1.0, 0.0, 0.0])

    assert freshness.tolist() == [1.0, 0.0, 1.0]
    assert age.tolist() == [0.0, math.inf, 0.0]


def test_age_keeps_its_digits_where_changes_are_rare():
    """With r changes a fetch the age is r / 6 of the interval in the limit, on both sides."""
    rate = np.array([1e-9, 0.999e-3, 1.001e-3])

    age = expected_age(rate, np.ones(3))

    assert age == pytest.approx(rate / 6 * (1 - rate / 4), rel=1e-6)
