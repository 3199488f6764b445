"""Aronsson's schedule lengthens by a fifth, cuts in half, and adds a constant."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.interval import LONGEST_INTERVAL
from recrawl.core.states import PageStates
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.errors import InputError
from recrawl.schedules.aronsson import Aronsson
from recrawl.testing.factories import DAY, NOW
from recrawl.testing.schedule import ScheduleContract

UNKNOWN, CHANGED, UNCHANGED = Observation.UNKNOWN, Observation.CHANGED, Observation.UNCHANGED


class TestAronsson(ScheduleContract):
    def make_schedule(self) -> Aronsson:
        return Aronsson()


def interval_after(
    schedule: Aronsson,
    interval: float,
    observation: Observation,
    outcome: Outcome = Outcome.SUCCESS,
    **columns: float,
) -> float:
    """Return the interval after a visit of one page, whose next fetch it is. [s]."""
    states = PageStates.of(1, interval=interval, **columns)
    visits = Visits.of(1, fetched_at=NOW, outcome=outcome, observation=observation)
    timing = schedule.after(states, visits)
    if outcome is Outcome.SUCCESS:
        assert timing.next_fetch_at[0] - NOW == pytest.approx(timing.interval[0] * 1000, abs=0.5)
    return float(timing.interval[0])


@pytest.mark.parametrize(
    ("observation", "guarded", "exact"),
    [(UNCHANGED, 13_800, 13_800), (CHANGED, 6_800, 6_800), (UNKNOWN, 10_000, 13_800)],
)
def test_the_formula_of_the_message(observation: Observation, guarded: float, exact: float) -> None:
    """(1.20 - 0.70 changed) times the interval, and 1800 s; exact: unknown is no change."""
    assert interval_after(Aronsson(), 10_000, observation) == pytest.approx(guarded)
    assert interval_after(Aronsson(exact=True), 10_000, observation) == pytest.approx(exact)


def test_the_settings_are_the_shares_and_the_constant() -> None:
    """Another factor and another constant give another interval."""
    schedule = Aronsson(inc_rate=0.05, dec_rate=0.4, constant=6 * 3600)

    assert interval_after(schedule, 10_000, UNCHANGED) == pytest.approx(10_500 + 21_600)
    assert interval_after(schedule, 10_000, CHANGED) == pytest.approx(6_000 + 21_600)


@given(interval=st.floats(1, 1e7))
def test_twice_the_constant_is_the_floor(interval: float) -> None:
    """A page that always changes comes to an hour, from above or from below."""
    for _ in range(60):
        interval = interval_after(Aronsson(), interval, CHANGED)

    assert interval == pytest.approx(3600)


@pytest.mark.parametrize("outcome", [Outcome.GONE, Outcome.RETRY, Outcome.DENIED])
def test_a_failure_is_no_change_in_exact_mode(outcome: Outcome) -> None:
    """Broken pages are asked less and less; guarded mode tries a failure again within the day."""
    exact, guarded = Aronsson(exact=True), Aronsson()
    visits = Visits.of(1, fetched_at=NOW, outcome=outcome)
    states = PageStates.of(1, interval=30 * 86_400)

    assert exact.after(states, visits).interval[0] == 36 * 86_400 + 1800
    due = guarded.after(states, visits).next_fetch_at[0] - NOW
    assert due == {Outcome.GONE: 45, Outcome.RETRY: 1, Outcome.DENIED: 30}[outcome] * DAY


def test_what_was_seen_before_a_failure_is_no_change() -> None:
    """Only a usable answer can have changed."""
    assert interval_after(Aronsson(exact=True), 10_000, CHANGED, Outcome.EMPTY) == pytest.approx(
        13_800
    )


@pytest.mark.parametrize("interval", [np.nan, 0, -5])
def test_an_interval_that_is_none_is_the_default(interval: float) -> None:
    """Guarded mode starts from the default; the formula itself takes 0 and less."""
    exact = Aronsson(exact=True, default_interval=100)

    assert interval_after(Aronsson(default_interval=100), interval, UNCHANGED) == 1920
    assert interval_after(exact, interval, UNCHANGED) == pytest.approx(
        1920 if np.isnan(interval) else 1.2 * interval + 1800
    )


def test_no_interval_grows_for_ever() -> None:
    """Guarded mode ends at what a schedule may say; exact mode has no upper limit."""
    assert interval_after(Aronsson(), LONGEST_INTERVAL, UNCHANGED) == LONGEST_INTERVAL
    assert interval_after(Aronsson(exact=True), LONGEST_INTERVAL, UNCHANGED) > LONGEST_INTERVAL


def test_an_interval_set_by_hand_is_of_guarded_mode() -> None:
    """The message knows no such thing."""
    assert interval_after(Aronsson(), 10_000, CHANGED, fixed_interval=500) == 500
    assert interval_after(
        Aronsson(exact=True), 10_000, CHANGED, fixed_interval=500
    ) == pytest.approx(6_800)


@pytest.mark.parametrize(
    ("setting", "value", "allowed"),
    [
        ("default_interval", 0, "0.001 s to 100 years"),
        ("interval_max", float("inf"), "0.001 s to 100 years"),
        ("retry_interval", -1, "0.001 s to 100 years"),
        ("inc_rate", 1.5, "above 0 and up to 1"),
        ("dec_rate", 1, "above 0 and below 1"),
        ("constant", -1, "0 s to 100 years"),
        ("constant", float("nan"), "0 s to 100 years"),
    ],
)
def test_a_setting_out_of_range_is_refused(setting: str, value: float, allowed: str) -> None:
    """The message names the setting, its value and what is allowed; exact mode takes it."""
    with pytest.raises(InputError, match=f"aronsson: {setting} is .*, allowed is {allowed}; exact"):
        Aronsson(**{setting: value})

    assert Aronsson(**{setting: value}, exact=True).exact
