"""Drawn worlds: changes where the visits allow them, and as often as a Poisson process has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.columns import NO_TIME
from recrawl.core.visit import Observation
from recrawl.simulation.changes import ChangeIndex
from recrawl.simulation.history import VisitHistory
from recrawl.simulation.rate_mixture import estimate
from recrawl.simulation.resample import draw_world
from recrawl.simulation.worlds import World

NEW, CHANGED, SAME = Observation.UNKNOWN, Observation.CHANGED, Observation.UNCHANGED


@dataclass(frozen=True)
class Certain:
    """Knows each page's rate."""

    mean: np.ndarray

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        return self.mean


def changes(world: World, page: int) -> np.ndarray:
    """Return when a page changes [s]."""
    return world.change_time[world.change_start[page] : world.change_start[page + 1]]


@given(st.data(), st.integers(0, 9))
def test_the_visits_see_what_they_saw(stores, data: st.DataObject, seed: int):
    """Between two visits the drawn page changed if and only if the second saw a change."""
    history = VisitHistory.of(*data.draw(stores))
    if not len(history):
        return

    world = draw_world(history, estimate(history), np.random.default_rng(seed))

    index = ChangeIndex.of(world)
    n_seen = index.count(history.page, history.at - history.zero_at)
    later = history.later()
    is_new = n_seen[later] > n_seen[later - 1]
    seen = history.observation[later]
    is_told = (seen != NEW) & ~history.is_noisy[history.page[later]]
    assert (is_new == (seen == CHANGED))[is_told].all()
    assert (n_seen[history.start[:-1]] == 0).all()
    assert (world.n_changes[history.is_noisy] == 0).all()
    assert (n_seen[history.start[1:] - 1] == world.n_changes).all()
    dated = later[is_told & (seen == CHANGED) & (history.modified_at[later] != NO_TIME)]
    at_date = index.count(history.page[dated], history.modified_at[dated] - history.zero_at)
    before = index.count(history.page[dated], history.modified_at[dated] - history.zero_at - 1)
    assert (at_date == n_seen[dated]).all()
    assert (before < at_date).all()


def test_a_drawn_world_knows_what_the_store_knew(history_of: Callable[..., VisitHistory]):
    """Spans, hosts, groups, importances, noise and dates are those of the pages."""
    history = history_of(
        [(0, NEW), (60, SAME)],
        [(10, (NEW, 3)), (50, (CHANGED, 20)), (70, SAME)],
        [(20, NEW), (30, CHANGED)],
        importance=[1, 2, 3], host_key=[8, 9, 8], group_key=[5, 5, 4], surprise=[0, 0, 9],
    )  # fmt: skip

    world = draw_world(history, Certain(np.full(3, 0.1)), np.random.default_rng(1))

    assert world.born_at.tolist() == [0, 10, 20]
    assert world.gone_at.tolist() == [60, 70, 30]
    assert 70 < world.horizon < 70.01
    assert world.importance.tolist() == [1, 2, 3]
    assert world.host.tolist() == [0, 1, 0]
    assert world.group.tolist() == [1, 1, 0]
    assert world.is_noisy.tolist() == [False, False, True]
    assert world.has_last_modified.tolist() == [False, True, False]
    assert world.true_rate.tolist() == [0.1] * 3


@pytest.mark.parametrize("rate", [1e-30, 0.002, 0.05])
def test_changes_in_a_gap_are_those_of_a_poisson_process(
    history_of: Callable[..., VisitHistory], rate: float
):
    """Number and first instant have the means of a Poisson process with an event in the gap."""
    n, length = 4000, 100.0
    history = history_of(*[[(0, NEW), (length, CHANGED)]] * n)

    world = draw_world(history, Certain(np.full(n, rate)), np.random.default_rng(1))

    mean = rate * length
    sure = -np.expm1(-mean)
    number = mean / sure if mean > 1e-9 else 1.0
    spread = np.sqrt(max(number * (1 + mean - number), 0))
    assert world.n_changes.mean() == pytest.approx(number, abs=4 * spread / np.sqrt(n) + 1e-12)
    first = world.change_time[world.change_start[:-1]]
    wanted = 1 / rate - length * (1 - sure) / sure if mean > 1e-9 else length / 2
    # The first instant scatters by less than an even one.
    assert first.mean() == pytest.approx(wanted, abs=4 * length / np.sqrt(12 * n))


def test_gaps_that_do_not_tell_are_drawn_freely(history_of: Callable[..., VisitHistory]):
    """Before a date, and up to a visit that could not compare, changes come as they like."""
    n, rate = 3000, 0.02
    page = [(0, NEW), (1, SAME), (101, NEW), (301, (CHANGED, 201))]
    history = history_of(*[page] * n)

    world = draw_world(history, Certain(np.full(n, rate)), np.random.default_rng(2))

    # Four standard errors of a mean of Poisson numbers of mean 2.
    near = 4 * np.sqrt(2 / n)
    free = np.array([np.count_nonzero(changes(world, k) < 101) for k in range(n)])
    dated = np.array([np.count_nonzero(changes(world, k) >= 101) for k in range(n)])
    assert free.mean() == pytest.approx(2, abs=near)
    assert dated.mean() == pytest.approx(1 + 2, abs=near)
    assert world.change_time.max() <= 201


def test_the_same_seed_draws_the_same_world(history_of: Callable[..., VisitHistory]):
    """Draws can be repeated, and others differ."""
    history = history_of(*[[(0, NEW), (100, CHANGED), (200, SAME)]] * 5)
    known = estimate(history)

    first, again, other = (draw_world(history, known, np.random.default_rng(k)) for k in (1, 1, 2))

    assert np.array_equal(first.change_time, again.change_time)
    assert not np.array_equal(first.change_time, other.change_time)
