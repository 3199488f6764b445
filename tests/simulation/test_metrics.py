"""Metrics against counting by hand, a slow second way, and closed forms."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.core.visit import Outcome
from recrawl.errors import InputError
from recrawl.schedules.fixed import Fixed
from recrawl.simulation.log import Log
from recrawl.simulation.metrics import freshness_over_time, measure
from recrawl.simulation.run import simulate
from recrawl.simulation.worlds import World, world

DAY = 86_400.0


def log_of(visits: list[tuple[int, int]], gone: tuple[int, ...] = ()) -> Log:
    """Return the log of visits (page, seconds), in time order; ``gone`` are rows of it."""
    rows = sorted(visits, key=lambda visit: (visit[1], visit[0]))
    n = len(rows)
    outcome = np.full(n, Outcome.SUCCESS, np.int8)
    outcome[list(gone)] = Outcome.GONE
    return Log(
        page=np.array([page for page, _ in rows], np.int32),
        at=np.array([at * 1000 for _, at in rows], np.int64),
        outcome=outcome,
        observation=np.zeros(n, np.int8),
        interval=np.zeros(n, np.float32),
    )


def slow(made: World, log: Log, start: float, end: float, weight: list[float]) -> list[float]:
    """Return stale, age, mean delay, fetches, wasted and missed, page by page in small steps."""
    stale = age = total = delay = changes = fetches = wasted = missed = 0.0
    for page in range(len(made)):
        times = made.change_time[made.change_start[page] : made.change_start[page + 1]].tolist()
        visits = [at / 1000 for p, at in zip(log.page, log.at, strict=True) if p == page]
        born, gone = max(0.0, made.born_at[page]), min(made.horizon, made.gone_at[page])
        # Between two instants of this list nothing happens.
        marks = sorted({start, end, born, gone, *times, *visits})
        for low, high in pairwise(marks):
            if low < max(start, born) or high > min(end, gone):
                continue
            total += weight[page] * (high - low)
            last = max((v for v in visits if v <= low), default=None)
            unseen = [born] if last is None else [c for c in times if last < c <= low]
            if unseen:
                stale += weight[page] * (high - low)
                since = min(unseen)
                age += weight[page] * ((high - since) ** 2 - (low - since) ** 2) / 2
        for i, change in enumerate(times):
            if start <= change < min(end, made.gone_at[page]):
                seen = min((v for v in visits if v >= change), default=math.inf)
                later = times[i + 1] if i + 1 < len(times) else math.inf
                changes += weight[page]
                delay += weight[page] * (min(seen, end, made.gone_at[page]) - change)
                missed += weight[page] * (seen >= later or seen >= end)
        for i, visit in enumerate(visits):
            if start <= visit < end:
                fetches += weight[page]
                is_new = i == 0 or any(visits[i - 1] < c <= visit for c in times)
                wasted += weight[page] * (not is_new)
    ratios = [(stale, total), (age, total), (delay, changes), (wasted, fetches), (missed, changes)]
    return [*(a / b if b > 0 else math.nan for a, b in ratios), fetches, changes]


@st.composite
def small_worlds(draw: st.DrawFn) -> tuple[World, Log]:
    """Draw a few pages that change, come and go at whole seconds, and visits of them."""
    n = draw(st.integers(1, 3))
    instants = st.lists(st.integers(0, 19), max_size=5, unique=True).map(sorted)
    changes = [draw(instants) for _ in range(n)]
    made = World.of(
        20.0,
        [len(times) for times in changes],
        [float(t) for times in changes for t in times],
        importance=draw(st.lists(st.integers(1, 9), min_size=n, max_size=n)),
        born_at=draw(st.lists(st.integers(-2, 8), min_size=n, max_size=n)),
        gone_at=draw(st.lists(st.sampled_from([9.0, 15.0, math.inf]), min_size=n, max_size=n)),
    )
    visits = [(page, at) for page in range(n) for at in draw(instants)]
    return made, log_of([(p, at) for p, at in visits if made.born_at[p] <= at < made.gone_at[p]])


@given(small_worlds(), st.integers(0, 10), st.integers(1, 10))
@settings(max_examples=200, deadline=None)
def test_figures_agree_with_a_slow_second_way(case: tuple[World, Log], start: int, length: int):
    """The vectorised figures are those of going through each page step by step."""
    made, log = case
    end = float(start + length)

    found = measure(made, log, start=start, end=end)

    weights = (made.importance / made.importance.astype(float).mean()).tolist()
    for figures, weight in ((found.equal, [1.0] * len(made)), (found.weighted, weights)):
        values = [
            figures.stale,
            figures.age,
            figures.delay_mean,
            figures.wasted,
            figures.missed,
            figures.fetches,
            figures.changes,
        ]
        expected = slow(made, log, float(start), end, weight)
        np.testing.assert_allclose(values, expected, rtol=1e-6, atol=1e-9)


def test_periodic_fetches_of_poisson_pages_follow_the_closed_forms():
    """Freshness is (1 - e^-r)/r and age I(1/2 - 1/r + (1 - e^-r)/r^2) [Cho2003, section 4]."""
    n, interval, rate = 2000, 10 * DAY, 1 / (8 * DAY)
    made = world("poisson:8d", n, horizon=200 * DAY, seed=3, importance="equal")
    r = rate * interval

    found = measure(made, simulate(made, Fixed(default_interval=interval), tick=DAY)).equal

    # 40,000 independent cycles: the standard error of both is below 0.3 %, so four are 1.2 %.
    assert found.freshness == pytest.approx(-math.expm1(-r) / r, rel=0.012)
    age = interval * (0.5 - 1 / r - math.expm1(-r) / r**2)
    assert found.age == pytest.approx(age, rel=0.012)
    assert found.delay_mean == pytest.approx(interval / 2, rel=0.012)
    assert found.delay_p95 == pytest.approx(0.95 * interval, rel=0.012)


def test_a_worked_example():
    """Changes at 10 and 30, visits at 0 and 20: stale 10 + 10 of 40, one change of two missed."""
    made = World.of(40.0, [2], [10.0, 30.0])

    found = measure(made, log_of([(0, 0), (0, 20)])).equal

    assert (found.stale, found.freshness) == (0.5, 0.5)
    assert found.age == (50 + 50) / 40
    assert (found.delay_mean, found.delay_p95) == (10, 10)
    assert (found.fetches, found.wasted, found.changes, found.missed) == (2, 0, 2, 0.5)


def test_a_visit_that_finds_the_page_gone_saw_nothing():
    """It is a wasted fetch, and no change was seen by it."""
    made = World.of(40.0, [1], [10.0], gone_at=[20.0])

    found = measure(made, log_of([(0, 0), (0, 30)], gone=(1,))).equal

    assert (found.stale, found.wasted, found.missed) == (0.5, 0.5, 1)


def test_nothing_to_measure_is_nan():
    """Without visits, changes or pages a ratio is not a number."""
    made = World.of(40.0, [0], [], born_at=[30.0])

    found = measure(made, log_of([]), end=20.0).equal

    assert np.isnan([found.stale, found.delay_mean, found.delay_p95, found.wasted]).all()


@pytest.mark.parametrize(("start", "end"), [(-1, 5), (5, 5), (0, 41)])
def test_a_window_beyond_the_world_is_refused(start: float, end: float):
    """The message names the window and the world."""
    with pytest.raises(InputError, match="cannot be had of a world of"):
        measure(World.of(40.0, [0], []), Log.empty(), start=start, end=end)


@pytest.mark.parametrize("weighted", [False, True])
def test_freshness_over_time_adds_up_to_the_whole(weighted: bool):
    """The mean over equal spans is the freshness of the whole, and each span agrees."""
    made = world("S1", 300, horizon=30 * DAY, seed=1)
    log = simulate(made, Fixed(default_interval=5 * DAY))
    edges = np.linspace(0, 30 * DAY, 7)

    spans = freshness_over_time(made, log, edges, weighted=weighted)

    for low, high, fresh in zip(edges[:-1], edges[1:], spans, strict=True):
        found = measure(made, log, start=low, end=high)
        whole = found.weighted if weighted else found.equal
        assert fresh == pytest.approx(whole.freshness, abs=1e-9)


def test_freshness_of_a_time_without_pages_is_nan():
    """Before any page is born there is none to be fresh."""
    made = World.of(40.0, [0], [], born_at=[20.0])

    fresh = freshness_over_time(made, log_of([(0, 20)]), np.array([0.0, 10.0, 20.0, 40.0]))

    assert np.isnan(fresh[:2]).all()
    assert fresh[2] == 1
