"""Caps of hosts: each is met, none exceeded, and what they leave is spent elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest

from recrawl.errors import InputError
from recrawl.schedules.crawl_value import value_table
from recrawl.schedules.host_caps import host_multipliers, multiplier_under_caps
from recrawl.schedules.multiplier import longest_interval, multiplier_exactly

DAY = 86_400.0
N_HOSTS = 200


@pytest.fixture(scope="module")
def pages() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    n = 10_000
    host = rng.integers(0, N_HOSTS, n)
    rate = np.exp(rng.normal(-3.7, 1.4, n) + rng.normal(0.0, 1.4, N_HOSTS)[host]) / DAY
    weight = np.minimum(rng.pareto(1.5, n) + 1, 200.0)
    return {"change_rate": rate, "importance": weight, "host": host}


def caps_of(pages: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, float]:
    """Return caps of which many bind, longest intervals, and a budget."""
    n_pages = np.bincount(pages["host"], minlength=N_HOSTS)
    cap = np.where(np.arange(N_HOSTS) % 5 < 2, 0.04 * n_pages / DAY, math.inf)
    budget = 0.1 * len(pages["host"]) / DAY
    return cap, longest_interval(n_pages, cap, 10 * DAY * 10), budget


def spent_by_host(
    pages: dict[str, np.ndarray], price: np.ndarray, longest: np.ndarray, eta: float
) -> np.ndarray:
    host = pages["host"]
    interval = value_table(eta).interval(
        pages["change_rate"], pages["importance"], price[host], longest=longest[host]
    )
    with np.errstate(divide="ignore"):
        return np.bincount(host, 1 / interval, N_HOSTS)


@pytest.mark.parametrize("eta", [0.1, 0.3, 1.0])
def test_caps_are_met_and_the_budget_is_spent(pages: dict[str, np.ndarray], eta: float):
    """Each cap that binds is met to 1e-5, none exceeded, and the whole budget goes out."""
    cap, longest, budget = caps_of(pages)

    mu = host_multipliers(**pages, cap=cap, eta=eta, longest=longest)
    multiplier = multiplier_under_caps(
        **pages, host_multiplier=mu, budget=budget, eta=eta, longest=longest
    )

    spent = spent_by_host(pages, np.maximum(mu, multiplier), longest, eta)
    binds = mu > multiplier
    assert 30 < binds.sum() < 81
    assert spent[binds] == pytest.approx(cap[binds], rel=1e-5)
    assert (spent <= cap * (1 + 1e-5)).all()
    assert spent.sum() == pytest.approx(budget, rel=1e-5)
    # What capped hosts leave makes fetches elsewhere cheaper than they would be.
    rate, weight = pages["change_rate"], pages["importance"]
    assert multiplier < multiplier_exactly(rate, weight, budget, eta=eta)


def test_caps_are_not_exceeded_at_eta_0(pages: dict[str, np.ndarray]):
    """At eta 0, where a page drops out at a finite rate, no cap is exceeded either."""
    cap, longest, _ = caps_of(pages)

    mu = host_multipliers(**pages, cap=cap, eta=0.0, longest=longest)

    spent = spent_by_host(pages, mu, longest, 0.0)
    capped = cap < math.inf
    assert (spent[capped] <= cap[capped] * (1 + 1e-6)).all()
    assert (spent[capped] >= cap[capped] * 0.8).all()


def test_caps_that_do_not_bind_change_nothing(pages: dict[str, np.ndarray]):
    """Without caps the multiplier is that of the collection."""
    *_, budget = caps_of(pages)

    mu = host_multipliers(**pages, cap=np.full(N_HOSTS, math.inf), eta=0.1)
    multiplier = multiplier_under_caps(**pages, host_multiplier=mu, budget=budget, eta=0.1)

    rate, weight = pages["change_rate"], pages["importance"]
    assert (mu == 0).all()
    assert multiplier == pytest.approx(multiplier_exactly(rate, weight, budget, eta=0.1), rel=1e-4)


def test_caps_at_their_ends():
    """A cap of 0 has an infinite price, a wide one none, and hosts may be empty or idle."""
    mu = host_multipliers(
        change_rate=[1e-3, 1e-3, 1e-3, 0.0],
        importance=1.0,
        host=np.array([0, 1, 1, 3]),
        cap=[0.0, 5.0, 5.0, 5.0],
        eta=0.1,
        shortest=60.0,
        longest=[math.inf, DAY, DAY, DAY],
    )

    assert mu.tolist() == [math.inf, 0.0, 0.0, 0.0]


def test_a_cap_below_what_the_bound_asks_for_has_a_finite_price():
    """Where the longest interval alone exceeds the cap the multiplier does not run away."""
    mu = host_multipliers([1e-3], 1.0, np.array([0]), [1e-9], eta=0.1, longest=DAY)

    interval = value_table(0.1).interval([1e-3], 1.0, mu, longest=DAY)
    assert np.isfinite(mu).all()
    assert interval == pytest.approx([DAY], rel=2e-3)


def test_costs_count_in_the_budget_and_not_in_the_caps():
    """A cap counts fetches, a budget what they cost."""
    pages = {"change_rate": np.full(4, 1 / DAY), "importance": 1.0, "host": np.array([0, 0, 1, 1])}
    cost = np.full(4, 500.0)

    mu = host_multipliers(**pages, cap=[1 / DAY, math.inf], eta=0.1, cost=cost)
    multiplier = multiplier_under_caps(
        **pages, host_multiplier=mu, budget=500 * 5 / DAY, eta=0.1, cost=cost
    )

    interval = value_table(0.1).interval(
        pages["change_rate"], 1.0, np.maximum(mu, multiplier)[pages["host"]], cost=cost
    )
    assert DAY / interval == pytest.approx([0.5, 0.5, 2.0, 2.0], rel=1e-4)


def test_budgets_at_their_ends(pages: dict[str, np.ndarray]):
    """No budget has an infinite price, and one that all hosts together cannot take has none."""
    mu = np.full(N_HOSTS, 1e9)

    assert multiplier_under_caps(**pages, host_multiplier=mu, budget=0.0, eta=0.1) == math.inf
    assert multiplier_under_caps(**pages, host_multiplier=mu, budget=1e9, eta=0.1) == 0.0


@pytest.mark.parametrize("cap", [-1.0, math.nan])
def test_caps_out_of_range_are_refused(cap: float):
    """A cap is 0 or more."""
    with pytest.raises(InputError, match=r"cap is .*; allowed: 0 fetches a second or more"):
        host_multipliers([1.0], 1.0, np.array([1]), [5.0, cap], eta=0.1)


@pytest.mark.parametrize("budget", [-1.0, math.inf, math.nan])
def test_budgets_out_of_range_are_refused(budget: float):
    """A budget is 0 or more and finite."""
    with pytest.raises(InputError, match=r"budget is .*; allowed: 0 or more, finite"):
        multiplier_under_caps([1.0], 1.0, np.array([0]), np.zeros(1), budget, eta=0.1)
