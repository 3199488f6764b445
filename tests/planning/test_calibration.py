"""Stale time found against stale time expected."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.planning.calibration import Calibration

DAY = 86_400.0


def visited(rate: float, known: float, every: float, n: int = 400_000) -> Calibration:
    """Return the calibration of many visits of pages with a rate that is thought another."""
    rng = np.random.default_rng(1)
    changes = np.full(n, known * every)
    is_changed = rng.random(n) < -np.expm1(-rate * every)
    begun = Calibration()
    return begun.fold(
        changes, np.full(n, every), np.ones(n, np.float32), is_changed, shape=np.full(n, 1e6)
    )


@pytest.mark.parametrize("every", [0.01, 1.0, 30.0])
def test_right_rates_need_no_correction(every: float):
    """What is found is what was expected, whatever the distance of the visits."""
    assert visited(0.2, 0.2, every).factor == pytest.approx(1, rel=0.1)


def test_rates_thought_half_of_what_they_are():
    """Twice the stale time is found; the truth is 1.8 times at this distance."""
    true = 1 - (1 - np.exp(-0.2)) / 0.2
    thought = 1 - (1 - np.exp(-0.1)) / 0.1

    assert visited(0.2, 0.1, 1.0).factor == pytest.approx(true / thought, rel=0.05)


def test_it_begins_with_what_is_expected_and_forgets():
    """Nothing is corrected before visits say so; a survey later each weighs less."""
    begun = Calibration().renewed(100.0)

    assert begun.factor == 1
    assert Calibration().factor == 1
    assert begun.renewed(100.0).expected < begun.expected
    assert begun.renewed(100.0).factor == 1


def test_years_without_a_change_leave_a_price():
    """However long nothing changes, a plan neither divides by zero nor promises perfection."""
    one, day = np.ones(1), np.full(1, DAY)
    calibration = Calibration()
    for _ in range(20_000):
        calibration = calibration.renewed(1.0)
        calibration = calibration.fold(0.1 * one, day, one, one == 0, shape=one)

    assert calibration.factor == 0.1
    assert calibration.found == pytest.approx(0, abs=1e-300)


def test_a_visit_at_once_teaches_nothing():
    """No time has passed and nothing was to be expected."""
    one = np.ones(1)

    again = Calibration().renewed(1.0).fold(0 * one, 0 * one, one, one == 1, shape=one)

    assert again == Calibration().renewed(1.0)


@pytest.mark.parametrize(("shape", "every"), [(0.3, 5.0), (1.0, 5.0), (2.5, 1.0)])
def test_pages_that_look_alike_and_differ_are_found_as_stale_as_they_are(
    shape: float, every: float
):
    """Of pages whose rates are spread, those that changed were stale for longer than the mean."""
    rng = np.random.default_rng(2)
    rate = rng.gamma(shape, 0.3 / shape, 400_000)
    elapsed, weight = np.full(rate.size, every), np.ones(rate.size, np.float32)
    is_changed = rng.random(rate.size) < -np.expm1(-rate * every)
    x = rate * every
    stale = (every * (1 + np.expm1(-x) / np.maximum(x, 1e-12))).sum()

    found = Calibration().fold(
        np.full(rate.size, 0.3 * every), elapsed, weight, is_changed,
        shape=np.full(rate.size, shape),
    )  # fmt: skip

    assert found.found == pytest.approx(stale, rel=0.01)
