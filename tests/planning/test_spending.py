"""A budget that comes in evenly, and what is saved of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.budget import Budget
from recrawl.core.columns import NEVER
from recrawl.planning.spending import Spending

NOW = 1_700_000_000_000
HOUR = 3_600_000
#: Twenty-four a day: one an hour.
BUDGET = Budget(24, 86_400.0)


def test_it_begins_with_a_whole_period():
    """A new collection is fetched at once, as far as the budget of a period goes."""
    spending = Spending.begin(BUDGET, NOW)

    assert spending.allowed == 24
    assert spending.ahead(BUDGET) == 0


def test_what_is_not_spent_is_kept_for_a_period():
    """After a month without a fetch there is what a day gives, and no more."""
    spending = Spending.begin(BUDGET, NOW).spend(24, BUDGET)

    assert spending.by(NOW + 5 * HOUR, BUDGET).allowed == 5
    assert spending.by(NOW + 720 * HOUR, BUDGET).allowed == 24


def test_pages_before_their_turn_use_only_what_comes_in():
    """What was saved is for pages that are due; a pause of a day does not pay for 24 at once."""
    spending = Spending.begin(BUDGET, NOW).by(NOW + HOUR, BUDGET)

    assert spending.ahead(BUDGET) == 1
    assert spending.spend(1, BUDGET).ahead(BUDGET) == 0
    assert spending.by(NOW + 24 * HOUR, BUDGET).ahead(BUDGET) == 2


def test_a_fetch_that_was_not_made_is_given_back():
    """A refund is worth what the fetch cost."""
    spending = Spending.begin(BUDGET, NOW).by(NOW + HOUR, BUDGET)

    assert spending.spend(1, BUDGET).spend(-1, BUDGET) == spending


def test_a_clock_that_goes_back_takes_nothing():
    """Neither is anything added until it has caught up."""
    spending = Spending.begin(BUDGET, NOW).spend(20, BUDGET)

    back = spending.by(NOW - HOUR, BUDGET)

    assert back.allowed == 4
    assert back.by(NOW, BUDGET).allowed <= 5


def test_when_the_next_fetch_may_be_made():
    """Once one has come in; before a page is due only at the pace of the budget."""
    spent = Spending.begin(BUDGET, NOW).spend(24, BUDGET)
    full = Spending.begin(BUDGET, NOW)

    assert spent.next_at(BUDGET) == spent.next_ahead_at(BUDGET) == NOW + HOUR
    assert full.next_at(BUDGET) == NOW
    assert full.next_ahead_at(BUDGET) == NOW + HOUR


def test_a_budget_of_nothing():
    """No fetch may be made, ever."""
    nothing = Budget(0, 1.0)
    spending = Spending.begin(nothing, NOW).by(NOW + HOUR, nothing).spend(0, nothing)

    assert spending.allowed == spending.ahead(nothing) == 0
    assert spending.next_at(nothing) == spending.next_ahead_at(nothing) == NEVER


@given(
    amount=st.floats(1e-3, 1e6),
    left=st.floats(0, 1),
    ahead=st.booleans(),
    wait=st.integers(0, 10 * HOUR),
)
def test_when_the_time_has_come_a_fetch_may_be_made(
    amount: float, left: float, ahead: bool, wait: int
):
    """Who waits until the instant that was named is not sent to wait for the same again."""
    budget = Budget(amount, 86_400.0)
    spending = Spending(left, NOW, NOW - wait).by(NOW, budget)

    at = spending.next_ahead_at(budget) if ahead else spending.next_at(budget)
    then = spending.by(max(at, NOW), budget)

    assert then.ahead(budget) >= 1 if ahead else then.allowed >= 1


@given(
    steps=st.lists(st.tuples(st.integers(0, 30 * HOUR), st.booleans()), max_size=60),
    amount=st.sampled_from([0.5, 3.0, 24.0, 1000.0]),
)
def test_no_stretch_of_time_has_more_than_its_share(steps: list[tuple[int, bool]], amount: float):
    """Whatever is done when: fetches never exceed one period's saving and what came in since."""
    budget = Budget(amount, 86_400.0)
    spending, now, spent = Spending.begin(budget, NOW), NOW, 0

    for wait, is_ahead in steps:
        now += wait
        spending = spending.by(now, budget)
        n = spending.ahead(budget) if is_ahead else spending.allowed
        spending = spending.spend(n, budget)
        spent += n

    assert spent <= budget.most + (now - NOW) / 1000 * budget.rate + 1e-4
    assert spending.left >= -1e-5


def test_pages_together_share_what_each_has():
    """A budget a page is multiplied by the pages, one of all is not."""
    assert Budget(0.1, 86_400.0, is_per_page=True).of(50) == Budget(5.0, 86_400.0)
    assert BUDGET.of(50) is BUDGET
    assert BUDGET.rate == pytest.approx(1 / 3600)
