"""Pages that differ at each fetch are told from fast ones by how surprising that is."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.core.visit import Observation
from recrawl.estimation.false_change import CLEARED, fold_surprise, is_noise
from recrawl.estimation.gamma_poisson import ChangeRate, change_probability, observe

DAY = 86_400.0


def fold(seen: Observation, probability: float, surprise: float = 0.0, **settings) -> np.ndarray:
    return fold_surprise(
        np.array([surprise], "float16"),
        observation=np.array([seen], np.int8),
        probability=np.array([probability], "float32"),
        **settings,
    )


def test_a_change_adds_what_it_surprises():
    """A change adds the negative logarithm of its probability, up to the most of one visit."""
    assert fold(Observation.CHANGED, 0.5) == pytest.approx([np.log(2)], abs=1e-3)
    assert fold(Observation.CHANGED, 1.0).tolist() == [0.0]
    assert fold(Observation.CHANGED, 0.0).tolist() == [1.0]
    assert fold(Observation.CHANGED, 1e-4, most=4.0).tolist() == [4.0]


def test_an_unchanged_visit_clears_the_page():
    """One unchanged visit is proof, and one that cannot tell is none."""
    assert fold(Observation.UNCHANGED, 0.5, 9.0).tolist() == [CLEARED]
    assert fold(Observation.UNKNOWN, 0.5, 2.5).tolist() == [2.5]
    assert fold(Observation.UNKNOWN, 0.5).dtype == np.float16


def test_the_threshold_itself_is_no_noise():
    """Only more surprise than the threshold counts."""
    surprise = np.array([CLEARED, 0.0, 3.0, 3.1])

    assert is_noise(surprise).tolist() == [False, False, False, True]
    assert is_noise(surprise, threshold=-1.0).tolist() == [False, True, True, True]


def test_noise_is_found_and_honest_pages_are_not():
    """Of pages fetched every two days, those that always differ are found within 20 fetches.

    Pages that really change, up to four times a day, are not, but for a few: most are seen
    unchanged before the surprise has grown.
    """
    rng = np.random.default_rng(4)
    n = 2000
    rate = rng.gamma(0.8, 1 / (20 * DAY), n)
    is_false = np.arange(n) < 200
    known = ChangeRate(np.full(n, 0.8, "float32"), np.full(n, 20 * DAY, "float32"))
    surprise = np.zeros(n, "float16")

    for _ in range(20):
        is_changed = is_false | (rng.random(n) < -np.expm1(-rate * 2 * DAY))
        seen = np.where(is_changed, Observation.CHANGED, Observation.UNCHANGED).astype(np.int8)
        probability = change_probability(known, 2 * DAY)
        surprise = fold_surprise(surprise, observation=seen, probability=probability)
        seen[is_noise(surprise)] = Observation.UNKNOWN
        known = observe(known, elapsed=2 * DAY, observation=seen)

    assert is_noise(surprise[is_false]).all()
    assert is_noise(surprise[~is_false]).sum() <= 5
