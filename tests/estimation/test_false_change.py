"""Pages that differ at each fetch are told from fast ones by how surprising that is."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.core.visit import Observation
from recrawl.estimation.false_change import (
    CLEARED,
    PROBE_WAIT,
    fold_surprise,
    is_noise,
    is_suspect,
)
from recrawl.estimation.gamma_poisson import ChangeRate, change_probability, observe

DAY = 86_400.0


def fold(
    seen: Observation, probability: float, surprise: float = 0.0, elapsed: float = PROBE_WAIT
) -> np.ndarray:
    return fold_surprise(
        np.array([surprise], "float16"),
        observation=np.array([seen], np.int8),
        probability=np.array([probability], "float32"),
        elapsed=np.array([elapsed], "float32"),
    )


def test_a_change_adds_what_it_surprises():
    """A change adds the negative logarithm of its probability, up to 1, and never makes noise."""
    assert fold(Observation.CHANGED, 0.5) == pytest.approx([np.log(2)], abs=1e-3)
    assert fold(Observation.CHANGED, 1.0).tolist() == [0.0]
    assert fold(Observation.CHANGED, 0.0).tolist() == [1.0]
    assert fold(Observation.CHANGED, 0.0, 2.0).tolist() == [3.0]


def test_a_suspect_that_changes_at_once_is_noise():
    """A change that was likely, or had hours, shows nothing, and the count begins anew."""
    assert is_noise(fold(Observation.CHANGED, 0.01, 2.5)).all()
    assert fold(Observation.CHANGED, 0.5, 2.5).tolist() == [0.0]
    assert fold(Observation.CHANGED, 0.01, 2.5, DAY).tolist() == [0.0]
    assert fold(Observation.CHANGED, 0.9, 4.0).tolist() == [4.0]


def test_an_unchanged_visit_clears_the_page():
    """One unchanged visit is proof, and one that cannot tell is none."""
    for surprise in (0.0, 2.5, 9.0):
        assert fold(Observation.UNCHANGED, 0.5, surprise).tolist() == [CLEARED]
    assert fold(Observation.UNKNOWN, 0.5, 2.5).tolist() == [2.5]
    assert fold(Observation.UNKNOWN, 0.5).dtype == np.float16


def test_the_thresholds_belong_to_what_is_below():
    """Suspects lie between the two."""
    surprise = np.array([CLEARED, 0.0, 2.0, 2.1, 3.0, 3.1])

    assert is_suspect(surprise).tolist() == [False, False, False, True, True, False]
    assert is_noise(surprise).tolist() == [False] * 5 + [True]


def test_noise_is_found_and_fast_pages_are_not():
    """Of pages fetched every two days, or at once if suspect, those that always differ are found.

    Pages that really change, up to ten times a day, are not, but for a few.
    """
    rng = np.random.default_rng(4)
    n = 2000
    rate = rng.gamma(0.8, 1 / (10 * DAY), n)
    rate[200:300] = np.geomspace(1, 10, 100) / DAY
    is_false = np.arange(n) < 200
    known = ChangeRate(np.full(n, 0.8, "float32"), np.full(n, 20 * DAY, "float32"))
    surprise = np.zeros(n, "float16")

    for _ in range(8):
        wait = np.where(is_suspect(surprise), PROBE_WAIT, 2 * DAY).astype(np.float32)
        is_changed = is_false | (rng.random(n) < -np.expm1(-rate * wait))
        seen = np.where(is_changed, Observation.CHANGED, Observation.UNCHANGED).astype(np.int8)
        probability = change_probability(known, wait)
        surprise = fold_surprise(surprise, observation=seen, probability=probability, elapsed=wait)
        seen[is_noise(surprise)] = Observation.UNKNOWN
        known = observe(known, elapsed=wait, observation=seen)

    assert is_noise(surprise[is_false]).all()
    assert is_noise(surprise[~is_false]).sum() <= 5
