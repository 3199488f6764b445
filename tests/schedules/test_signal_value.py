"""What a fetch is worth where signals tell of changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.schedules.crawl_value import crawl_value
from recrawl.schedules.signal_value import Outlook, changes_at_signal_value, signal_value

RATE = 1e-6


def outlook(told: float, precision: float, n: int = 1, rate: float = RATE) -> Outlook:
    """Return n pages that are alike."""
    return Outlook(np.full(n, rate), np.full(n, told), np.full(n, precision))


def passage_value(level: float, told: float, precision: float, eta: float) -> float:
    """Return the value at a level by running pages until their expected changes reach it.

    The sums over runs are those of the fresh and the stale time, and of the passage itself.
    """
    rng = np.random.default_rng(1)
    n, drift = 40_000, 1 - told
    step, signals = -np.log1p(-precision), told / precision
    levels = np.linspace(0, level, 61)[1:]
    passage = np.empty(len(levels))
    for k, to in enumerate(levels):
        x, time, open_ = np.zeros(n), np.zeros(n), np.ones(n, dtype=bool)
        while open_.any():
            wait = np.where(open_, rng.exponential(1 / signals, n), 0)
            alone = np.where(open_, (to - x) / drift, 0)
            time += np.minimum(wait, alone)
            x += np.where(open_, wait * drift + step, 0)
            open_ &= (x < to) & (wait < alone)
        passage[k] = time.mean()
    grown = np.diff(np.concatenate([[0], passage]))
    middle = levels - levels[0] / 2
    fresh = ((passage - grown / 2) * np.exp(-middle)).sum() * levels[0]
    return (1 - eta) * fresh + eta * (grown * -np.expm1(-middle)).sum()


@pytest.mark.parametrize("eta", [0.0, 0.3])
@pytest.mark.parametrize(("told", "precision"), [(0.5, 0.6), (0.9, 0.95), (0.8, 0.9)])
def test_one_signal_is_worth_what_simulated_pages_say(told: float, precision: float, eta: float):
    """Up to what one signal adds the value is exact."""
    level = -np.log1p(-precision) * 0.99

    value = signal_value(np.array([level]), outlook(told, precision, rate=1.0), eta)[0]

    assert value == pytest.approx(passage_value(level, told, precision, eta), rel=0.03)


@pytest.mark.parametrize(("told", "precision", "level"), [(0.5, 0.2, 0.8), (0.7, 0.4, 1.5)])
def test_several_signals_are_worth_about_what_simulated_pages_say(
    told: float, precision: float, level: float
):
    """Beyond one signal the mean growth is close."""
    value = signal_value(np.array([level]), outlook(told, precision, rate=1.0), 0.3)[0]

    assert value == pytest.approx(passage_value(level, told, precision, 0.3), rel=0.1)


@pytest.mark.parametrize("eta", [0.0, 0.1, 1.0])
def test_signals_that_tell_nothing_leave_the_crawl_value(eta: float):
    """With next to no told changes both values agree."""
    changes = np.geomspace(1e-3, 20, 50)

    value = signal_value(changes, outlook(1e-3, 0.5, 50), eta)

    np.testing.assert_allclose(value, crawl_value(changes, eta) / RATE, rtol=2e-3)


@given(
    told=st.floats(1e-3, 0.95),
    precision=st.floats(1e-3, 0.98),
    rate=st.floats(1e-12, 1e3),
    eta=st.sampled_from([0.0, 0.3, 1.0]),
    changes=st.floats(1e-5, 30),
)
def test_the_value_is_found_again(
    told: float, precision: float, rate: float, eta: float, changes: float
):
    """The inverse leads to the same value, which never falls as changes grow."""
    given_ = outlook(told, precision, 2, rate)
    values = signal_value(np.array([changes, changes * 1.01]), given_, eta)

    again = signal_value(changes_at_signal_value(values, given_, eta), given_, eta)

    assert 0 < values[0] <= values[1] * (1 + 1e-9)
    np.testing.assert_allclose(again, values, rtol=0.05)


def test_what_no_wait_is_worth_is_never_reached():
    """At eta 0 a fetch is worth at most one mean time to a change, about."""
    given_ = outlook(0.5, 0.5, 3)

    changes = changes_at_signal_value(np.array([0.0, 100 / RATE, np.inf]), given_, 0.0)

    assert changes[0] < 1e-6
    assert np.isinf(changes[1:]).all()


@pytest.mark.parametrize("told", [1e-3, 0.3, 0.8])
@pytest.mark.parametrize("precision", [1e-3, 0.01, 0.98])
@pytest.mark.parametrize("eta", [0.0, 1.0])
def test_few_changes_are_worth_half_their_square(told: float, precision: float, eta: float):
    """Down to where the search ends, a hundred-millionth of a change, no digit is lost."""
    given_ = outlook(told, precision, 2)
    changes = np.array([1e-8, 1e-7])

    value = signal_value(changes, given_, eta)
    least = changes_at_signal_value(np.zeros(2), given_, eta)

    np.testing.assert_allclose(value, changes**2 / 2 / given_.drift, rtol=1e-3)
    assert (least < 1e-7).all()
