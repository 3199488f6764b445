"""Change rates out of visit histories: likelihoods, the prior of all pages, draws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from recrawl.core.visit import Observation
from recrawl.simulation.history import VisitHistory
from recrawl.simulation.presets import schedule_for
from recrawl.simulation.rate_mixture import estimate
from recrawl.simulation.run import simulate
from recrawl.simulation.worlds import World

NEW, CHANGED, SAME = Observation.UNKNOWN, Observation.CHANGED, Observation.UNCHANGED
DAY = 86_400.0


def test_likelihoods_are_those_of_what_was_seen(history_of: Callable[..., VisitHistory]):
    """Still for 3 s, changed within 2 s, changed last 1 s before a visit, and nothing of 5 s."""
    history = history_of(
        [(0, NEW), (3, SAME), (5, CHANGED), (9, (CHANGED, 8)), (14, NEW)], [(0, NEW), (20, SAME)]
    )

    known = estimate(history)

    rate = known.grid
    by_hand = np.exp(-3 * rate) * (1 - np.exp(-2 * rate)) * rate * np.exp(-rate)
    assert known.likelihood[0] == pytest.approx(by_hand / by_hand.max())
    still = np.exp(-20 * rate)
    assert known.likelihood[1] == pytest.approx(still / still.max())


def test_noisy_pages_tell_nothing_and_have_the_prior(history_of: Callable[..., VisitHistory]):
    """The estimate of the others is as without them, and theirs is what all pages are like."""
    quiet = [(0, NEW), (DAY, SAME), (2 * DAY, CHANGED), (4 * DAY, SAME)]
    noise = [(0, NEW), *((k * DAY, CHANGED) for k in range(1, 5))]

    with_noise = estimate(history_of(quiet, noise, surprise=[0, 9])).mean
    alone = estimate(history_of(quiet)).mean
    all_noise = estimate(history_of(noise, surprise=[9])).mean

    assert with_noise[0] == pytest.approx(alone[0])
    assert with_noise[1] == pytest.approx(alone[0], rel=0.5)
    assert 0 < all_noise[0] < 20 / DAY


def test_a_page_that_always_changed_is_not_taken_for_infinitely_fast(
    history_of: Callable[..., VisitHistory],
):
    """No rate beyond 20 changes in a mean gap, and draws stay below that too."""
    history = history_of([(k * 100.0, CHANGED) for k in range(20)])

    known = estimate(history)

    assert known.mean[0] <= 0.2
    draws = [known.draw(np.random.default_rng(seed))[0] for seed in range(50)]
    assert 0.01 < min(draws) < max(draws) <= 0.2


def test_pages_of_very_different_speed_share_a_grid(history_of: Callable[..., VisitHistory]):
    """Milliseconds and decades together take a hundred points, and the estimate is finite."""
    fast = [(k / 1000, (NEW, SAME, CHANGED)[k % 3]) for k in range(10)]
    slow = [(0, NEW), (1e12, CHANGED), (2e12, SAME)]

    known = estimate(history_of(fast, slow))

    assert len(known.grid) == 100
    assert np.isfinite(known.mean).all()
    assert known.mean[0] > known.mean[1]


def test_rates_of_a_crawl_are_found(history_of: Callable[..., VisitHistory]):
    """Means and draws agree with the rates that made the changes, in three kinds of pages."""
    rng = np.random.default_rng(3)
    n, n_visits = 60, 200
    rate = np.repeat([0.02, 0.1, 0.5], n // 3)
    seen = rng.random((n, n_visits)) < -np.expm1(-rate)[:, None]
    pages = [
        [(0, NEW), *((DAY * (k + 1), CHANGED if is_new else SAME) for k, is_new in enumerate(row))]
        for row in seen
    ]

    known = estimate(history_of(*pages))

    # 4000 days of a kind tell its rate with a relative standard error of
    # sqrt((e^r - 1) / (4000 r^2)): .11, .05, .026.
    errors = np.sqrt(np.expm1(rate) / (4000 * rate**2))
    by_kind = (known.mean * DAY / rate).reshape(3, -1).mean(axis=1)
    assert (np.abs(by_kind - 1) < 4 * errors[:: n // 3]).all()
    drawn = np.mean([known.draw(np.random.default_rng(k)) for k in range(20)], axis=0)
    assert drawn.mean() == pytest.approx(known.mean.mean(), rel=0.03)


def test_the_prior_is_drawn_too(history_of: Callable[..., VisitHistory]):
    """Pages of which nothing is known are fast together or slow together, draw by draw."""
    n_noisy = 200
    fast = [(0, NEW), *((k * 100.0, CHANGED if k % 2 else SAME) for k in range(1, 30))]
    slow = [(0, NEW), *((k * DAY, CHANGED if k % 2 else SAME) for k in range(1, 30))]
    noisy = [(0, NEW), (100.0, CHANGED)]
    surprise = np.array([0] * 4 + [9] * n_noisy)
    known = estimate(history_of(fast, fast, slow, slow, *[noisy] * n_noisy, surprise=surprise))

    draws = [known.draw(np.random.default_rng(k))[4:] for k in range(100)]

    # With two pages of each kind the share of fast ones is even over 0 to 1: scatter .22; drawn
    # from one prior it would be .5 / sqrt(200) = .035.
    shares = [np.mean(rate > 1e-4) for rate in draws]
    assert np.std(shares) > 0.15
    assert np.mean(shares) == pytest.approx(0.5, abs=4 * 0.22 / 10)


def test_the_crawl_of_a_world_without_changes(
    history_of_log: Callable[..., VisitHistory],
):
    """Nobody ever changed: rates are small against one change in the time watched."""
    world = World.of(10 * DAY, np.zeros(50, dtype=int), [])
    log = simulate(world, schedule_for("uniform", world), budget=50 / DAY)

    known = estimate(history_of_log(world, log))

    assert (known.mean * 9 * DAY < 0.2).all()
