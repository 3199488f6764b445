"""What signals are worth is learned from what the fetches then found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.estimation.signals import HostSignals, expected_given_change

DAY = 86_400_000
NOW = 1_700_000_000_000


def heard(*host_key: int) -> HostSignals:
    """Return what is known of hosts of which one signal came."""
    signals = HostSignals.nothing()
    signals.hear(np.array(host_key), NOW)
    return signals


def observe(
    signals: HostSignals, n_signals: list[int], is_changed: list[bool], *, untold: float = 0.1
) -> None:
    """Learn from visits of pages of host 1."""
    signals.observe(
        np.ones(len(n_signals), dtype=np.int64),
        np.array(n_signals),
        is_changed=np.array(is_changed),
        untold=np.full(len(n_signals), untold),
    )


def test_a_host_without_signals_tells_nothing():
    """What it does not say keeps no page from being fetched, whatever was seen of its pages."""
    signals = heard(2)

    observe(signals, [0] * 9, [True] * 9)

    assert signals.recall(np.array([1, 3]), NOW).tolist() == [0, 0]
    assert len(signals) == 1
    assert signals.hidden.sum() == 0


@pytest.mark.parametrize(("precision", "recall"), [(0.9, 0.8), (0.3, 0.5)])
def test_precision_and_recall_are_found(precision: float, recall: float):
    """From pages that are visited now and then, whose changes are told or not."""
    rng = np.random.default_rng(3)
    signals = heard(1)
    n, rate = 200, 0.3
    for _ in range(40):
        true = rng.poisson(rate * recall, n)
        false = rng.poisson(rate * recall * (1 - precision) / precision, n)
        hidden = rng.poisson(rate * (1 - recall), n)
        untold = rate * (1 - signals.recall(np.array([1]), NOW)[0])
        observe(signals, true + false, true + hidden > 0, untold=untold)

    assert signals.precision(np.array([1]))[0] == pytest.approx(precision, abs=0.06)
    assert signals.recall(np.array([1]), NOW)[0] == pytest.approx(recall, abs=0.1)


def test_signals_that_are_never_true_lose_their_weight():
    """Twenty visits of pages that did not change are enough."""
    signals = heard(1)
    before = signals.precision(np.array([1]))[0]

    observe(signals, [1] * 20, [False] * 20)

    assert signals.precision(np.array([1]))[0] < 0.1 < before


def test_signals_that_become_true_win_it_back():
    """What was found long ago is forgotten."""
    signals = heard(1)
    for _ in range(20):
        observe(signals, [1] * 100, [False] * 100)

    for _ in range(20):
        observe(signals, [1] * 100, [True] * 100)

    assert signals.precision(np.array([1]))[0] > 0.9


def test_other_hosts_give_the_first_guess():
    """A new host's signals are trusted more where those of others are true."""
    signals = heard(1)
    guess = signals.precision(np.array([7]))[0]

    observe(signals, [1] * 50, [True] * 50)

    assert signals.precision(np.array([7]))[0] > 1.5 * guess
    assert signals.recall(np.array([7]), NOW)[0] == 0


def test_a_host_that_falls_silent_tells_nothing_more():
    """After many times the usual gap without a signal, changes are no longer told."""
    signals = heard(1)
    for day in range(1, 40):
        signals.hear(np.array([1, 1]), NOW + day * DAY)
        observe(signals, [1, 0], [True, False])
    last = NOW + 39 * DAY
    host = np.array([1])

    told = [signals.recall(host, last + days * DAY)[0] for days in (0, 1, 20)]

    assert told[0] > 0.7
    assert told[1] > 0.9 * told[0]
    assert told[2] < 0.01
    signals.hear(host, last + 30 * DAY)
    assert signals.recall(host, last + 30 * DAY)[0] == pytest.approx(told[0])


def test_signals_of_one_instant_are_one_sign_of_life():
    """A clock that went back, or a second look at the same instant, changes no gap."""
    signals = heard(1)
    gap = signals.gap.copy()

    signals.hear(np.array([1]), NOW)
    signals.hear(np.array([1]), NOW - DAY)

    assert signals.gap == gap
    assert signals.heard_at == NOW


def test_hosts_stay_in_order():
    """Hosts that come later keep what is known of those before."""
    signals = heard(5)
    signals.true[:] = 4

    signals.hear(np.array([9, 2, 5]), NOW + DAY)

    assert signals.host_key.tolist() == [2, 5, 9]
    assert signals.true.tolist() == [0, 4, 0]
    assert signals.rows(np.array([1, 2, 5, 9, 10])).tolist() == [3, 0, 1, 2, 3]


@given(
    n=st.integers(0, 50),
    precision=st.floats(0, 0.98),
    untold=st.floats(0, 1e3),
)
def test_expectations_hold_on_average(n: int, precision: float, untold: float):
    """Over pages that changed and those that did not, all signals and changes come out."""
    columns = np.array([float(n)]), np.array([precision]), np.array([untold])
    probability = 1 - (1 - precision) ** n * np.exp(-untold)

    true, hidden = expected_given_change(*columns)

    if probability > 1e-6:
        assert true[0] * probability == pytest.approx(n * precision, rel=1e-6)
        assert hidden[0] * probability == pytest.approx(untold, rel=1e-6)
    assert np.isfinite([true, hidden]).all()


def test_a_change_that_nobody_expected_was_not_told():
    """Without signals and without a wait there is one change, and it was hidden."""
    true, hidden = expected_given_change(np.zeros(1), np.array([0.5]), np.zeros(1))

    assert (true[0], hidden[0]) == (0, 1)
