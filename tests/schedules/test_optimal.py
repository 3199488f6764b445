"""The schedule that learns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.columns import NEVER
from recrawl.core.states import PageStates, Seconds, Times
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.errors import InputError
from recrawl.schedules.crawl_value import fetch_interval
from recrawl.schedules.optimal import Optimal
from recrawl.schedules.signal_value import Outlook

DAY = 86_400.0
NOW = 1_700_000_000_000


@dataclass(frozen=True)
class Told:
    """Knowledge of rates, probes and signals that are the same for all pages."""

    rate: float
    probe: float = np.inf
    told: float = 0.0
    precision: float = 0.5

    def outlook(self, states: PageStates, now: Times) -> Outlook:
        n = len(states)
        return Outlook(np.full(n, self.rate), np.full(n, self.told), np.full(n, self.precision))

    def probe_wait(self, states: PageStates) -> Seconds:
        return np.full(len(states), self.probe)


def visit(**columns: object) -> Visits:
    """Return a visit of one page, a success unless something else is given."""
    given = {"outcome": Outcome.SUCCESS, "observation": Observation.UNCHANGED, **columns}
    return Visits.of(1, fetched_at=NOW, **given)


def test_without_a_price_a_page_waits_for_the_default():
    """Before anything was planned each page has the same interval."""
    timing = Optimal(default_interval=7.0).after(PageStates.of(1), visit())

    assert timing.interval[0] == 7
    assert timing.next_fetch_at[0] == NOW + 7000


def test_a_page_waits_until_its_value_is_the_price():
    """The interval is that of the crawl value, and importance shortens it."""
    schedule = Optimal(price=0.2 * DAY, knowledge=Told(0.1 / DAY))
    states = PageStates.of(2, importance=[1, 4])

    found = schedule.interval(states)

    exact = fetch_interval(np.full(2, 0.1 / DAY), states.importance, 0.2 * DAY, eta=0.3)
    np.testing.assert_allclose(found, exact, rtol=1e-4)
    assert found[1] < found[0]


def test_the_due_time_is_where_the_value_reaches_the_price():
    """Just before it a page is worth less than the price, and just after it more."""
    rate = np.array([0.1 / DAY])
    schedule = Optimal(price=0.2 * DAY, knowledge=Told(rate[0]))
    states = PageStates.of(1, fetched_at=NOW, checked_at=NOW, next_fetch_at=NOW + 1)

    due = schedule.due(states, np.zeros(1), Outlook.untold(rate), NOW)
    wait = (due - NOW) / 1000
    before, after = (
        schedule.value(states, rate * wait * k, Outlook.untold(rate))[0] for k in (0.99, 1.01)
    )

    assert before < schedule.price < after
    assert due[0] == pytest.approx(NOW + 1000 * schedule.interval(states)[0], abs=DAY)


def test_changes_that_are_expected_bring_the_due_time_forward():
    """Half the changes that a fetch is worth are there: half the wait is left."""
    rate = np.array([0.1 / DAY])
    schedule = Optimal(price=0.2 * DAY, knowledge=Told(rate[0]))
    long_ago = NOW - round(5000 * DAY)
    states = PageStates.of(1, fetched_at=long_ago, checked_at=long_ago, next_fetch_at=NOW)
    schedule = replace(schedule, max_interval=10_000 * DAY)
    whole = schedule.due(states, np.zeros(1), Outlook.untold(rate), NOW)[0] - NOW

    half = schedule.due(states, rate * whole / 2000, Outlook.untold(rate), NOW)[0] - NOW
    over = schedule.due(states, rate * whole / 500, Outlook.untold(rate), NOW)[0] - NOW

    assert half == pytest.approx(whole / 2, rel=1e-3)
    assert over == pytest.approx(-whole, rel=1e-3)


def test_an_interval_set_by_hand_is_kept():
    """Neither a visit nor a sibling moves it."""
    schedule = Optimal(price=DAY, knowledge=Told(1 / DAY))
    states = PageStates.of(1, fixed_interval=60, next_fetch_at=NOW + 60_000, fetched_at=NOW)

    assert schedule.after(states, visit()).next_fetch_at[0] == NOW + 60_000
    assert schedule.due(states, np.ones(1), Outlook.untold(np.ones(1)), NOW)[0] == NOW + 60_000


def test_a_page_that_is_never_fetched_stays_so():
    """NEVER is not a time to move."""
    states = PageStates.of(1, next_fetch_at=NEVER)

    assert Optimal(price=1.0).due(states, np.ones(1), Outlook.untold(np.ones(1)), NOW)[0] == NEVER


def test_a_failure_is_treated_as_everywhere():
    """A page that is gone waits half as long again, and content is not thought to be new."""
    states = PageStates.of(1, interval=DAY, status=3, modified_at=5)

    timing = Optimal().after(states, visit(outcome=Outcome.GONE, observation=Observation.UNKNOWN))

    assert timing.interval[0] == 1.5 * DAY
    assert timing.modified_at[0] == 5


def test_new_pages_are_due_at_once():
    """Nothing is known of them."""
    timing = Optimal().first(PageStates.of(1), NOW)

    assert timing.next_fetch_at[0] == NOW
    assert timing.interval[0] == DAY


@pytest.mark.parametrize(
    ("setting", "value", "allowed"),
    [
        ("eta", 2.0, "eta is 2; allowed: 0, or 0.001 to 1"),
        ("price", -1.0, "optimal: price is -1, allowed is 0 s or more$"),
        ("price", float("nan"), "optimal: price is nan, allowed is 0 s or more"),
        ("max_interval", 0.0, "optimal: max_interval is 0, allowed is 0.001 s to 100 years$"),
    ],
)
def test_a_setting_out_of_range_is_refused(setting: str, value: float, allowed: str):
    """The message names it, its value and what is allowed."""
    with pytest.raises(InputError, match=allowed):
        Optimal(**{setting: value})


@given(
    rate=st.floats(1e-12, 1e3),
    price=st.floats(1e-6, 1e12) | st.just(float("inf")),
    importance=st.floats(0, 1e6, width=32),
    changes=st.floats(0, 1e9),
    told=st.just(0.0) | st.floats(0, 0.95),
    precision=st.floats(0, 0.98),
)
def test_no_page_gets_a_time_that_is_none(
    rate: float, price: float, importance: float, changes: float, told: float, precision: float
):
    """Rates towards 0 and infinity, no importance: a finite time and a value, never NaN."""
    knowledge = Told(rate, told=told, precision=precision)
    schedule = Optimal(price=price, knowledge=knowledge)
    states = PageStates.of(
        1, importance=importance, fetched_at=NOW, checked_at=NOW, next_fetch_at=NOW + 1
    )
    outlook = knowledge.outlook(states, states.fetched_at)

    due = schedule.due(states, np.array([changes]), outlook, NOW)[0]

    assert NOW - 10**13 <= due <= NOW + 1000 * schedule.max_interval
    assert 0 < schedule.interval(states)[0] <= schedule.max_interval
    assert schedule.value(states, np.array([changes]), outlook)[0] >= 0


def test_a_page_to_be_probed_is_due_at_once():
    """It does not wait for its value, and no value moves its turn."""
    schedule = Optimal(price=0.2 * DAY, knowledge=Told(0.1 / DAY, probe=600.0))
    seen = PageStates.of(1, fetched_at=NOW, checked_at=NOW)

    timing = schedule.after(seen, visit())

    assert timing.next_fetch_at[0] == NOW + 600_000
    assert schedule.is_set(seen).all()


def test_a_page_whose_changes_are_told_waits_longer():
    """Until a signal adds to what is expected, and then it is due at once."""
    plain, told = (
        Optimal(price=0.2 * DAY, knowledge=Told(0.1 / DAY, told=share, precision=0.9))
        for share in (0.0, 0.8)
    )
    states = PageStates.of(1, fetched_at=NOW, checked_at=NOW, next_fetch_at=NOW + 1)
    outlook = Told(0.1 / DAY, told=0.8, precision=0.9).outlook(states, states.fetched_at)

    waits = [schedule.interval(states)[0] for schedule in (plain, told)]
    quiet, signalled = (
        told.due(states, np.array([changes]), outlook, NOW)[0] for changes in (0.0, 2.3)
    )

    assert waits[1] > 1.5 * waits[0]
    assert quiet == pytest.approx(NOW + 1000 * waits[1], abs=1000)
    assert signalled == NOW + 1
    assert told.value(states, np.array([2.3]), outlook)[0] > told.price
