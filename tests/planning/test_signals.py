"""Signals of changes in a simulated crawl: what they bring, and what bad ones cannot do."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.core.states import PageStates, PageStatus
from recrawl.planning.planner import Planner
from recrawl.schedules.optimal import Optimal
from recrawl.simulation.compare import Conditions, compare
from recrawl.simulation.log import Log
from recrawl.simulation.metrics import measure
from recrawl.simulation.run import simulate
from recrawl.simulation.worlds import World, world

SECONDS = 86_400.0
TURN = 43_200.0
DAY = 86_400_000
NOW = 1_700_000_000_000
#: Days before the signals of the tests begin or end, and days after.
BEFORE, AFTER = 20, 20


def with_signals(made: World, page: np.ndarray, time: np.ndarray) -> World:
    """Return the world with these signals and no others."""
    order = np.lexsort((time, page))
    start = np.searchsorted(page[order], np.arange(len(made) + 1))
    return made.with_columns(signal_time=time[order], signal_start=start)


def crawled(made: World, budget: float) -> tuple[Log, Planner]:
    """Return the visits of a crawl with so many fetches a day, and what it knows in the end."""
    planner = Planner(Optimal())
    return simulate(made, planner, budget=budget / SECONDS, tick=TURN), planner


def liars(n: int, horizon: float) -> World:
    """Return n pages of one host of which one in a hundred changes once."""
    n_changes = np.arange(n) < n // 100
    time = np.random.default_rng(1).uniform(0, horizon, n // 100)
    return World.of(horizon, n_changes, time, host=0, group=0)


def test_signals_keep_pages_fresher():
    """Half of the hosts tell most changes, and the others have fetches left over."""
    told = world("S10", 400, horizon=70 * SECONDS, seed=3)
    silent = with_signals(told, np.zeros(0, dtype=int), np.zeros(0))
    conditions = Conditions(budget=40 / SECONDS, tick=TURN, start=30 * SECONDS)

    stale = [compare(["optimal"], [made], conditions)[0].row()["stale"] for made in (told, silent)]

    assert stale[0] < 0.9 * stale[1]


def test_signals_of_everything_lose_their_weight():
    """A sitemap that calls 500 pages new each day, of which 5 changed, causes no flood (sm-001).

    The signals begin after twenty days; other hosts tell the truth and raise the first trust.
    """
    horizon = (BEFORE + AFTER) * SECONDS
    others = world("S10", 500, horizon=horizon, seed=3, importance="equal")
    others = others.with_columns(host=others.host + 1, group=others.group + 1)
    silent = World.concatenate([liars(500, horizon), others])
    page = np.repeat(np.arange(500), AFTER)
    time = np.tile((BEFORE + np.arange(AFTER) + 0.25) * SECONDS, 500)
    true_page = np.repeat(np.arange(len(silent)), np.diff(silent.signal_start))
    lying = with_signals(silent, np.append(page, true_page), np.append(time, silent.signal_time))

    found = [crawled(made, 100) for made in (silent, lying)]

    n_fetches = [((log.page < 500) & (log.at >= BEFORE * DAY)).sum() for log, _ in found]
    assert n_fetches[1] <= n_fetches[0] + 50
    assert found[1][1].knowledge.signals.precision(np.array([1]))[0] <= 0.1


def test_a_frozen_sitemap_suppresses_nothing():
    """A host that sends no signal is scheduled as if it had no feed at all (sm-002)."""
    made = world("S1", 200, horizon=30 * SECONDS, seed=3)
    silent = made.with_columns(signal_precision=0.9, signal_recall=0.9)

    log, planner = crawled(made, 20)
    again, _ = crawled(silent, 20)

    np.testing.assert_array_equal(log.at, again.at)
    assert (planner.knowledge.signals.recall(made.host + np.int64(1), NOW) == 0).all()


def test_a_host_whose_signals_end_is_not_starved():
    """Good signals that stop cost freshness for a while, and then its pages are as any others."""
    horizon = (2 * BEFORE + 2 * AFTER) * SECONDS
    made = world("poisson:lognormal+signals:1:0.9:0.9", 300, horizon=horizon, importance="equal")
    made = made.with_columns(host=made.host % 4, group=np.arange(300))
    page = np.repeat(np.arange(300), np.diff(made.signal_start))
    is_kept = (made.host[page] % 2 == 0) | (made.signal_time < 2 * BEFORE * SECONDS)
    ending = with_signals(made, page[is_kept], made.signal_time[is_kept])
    never = made.host[page] % 2 == 0
    never = with_signals(made, page[never], made.signal_time[never])

    stale = []
    for one in (ending, never):
        log, _ = crawled(one, 30)
        is_odd = one.host[log.page] % 2 == 1
        late = measure(one, log, start=(2 * BEFORE + AFTER) * SECONDS)
        n_odd = (is_odd & (log.at > (2 * BEFORE + AFTER) * DAY)).sum()
        stale.append((late.equal.stale, n_odd))

    assert stale[0][0] < 1.15 * stale[1][0]
    assert stale[0][1] > 0.8 * stale[1][1]


def pages(n: int, **columns: object) -> PageStates:
    """Return n pages of one host, just visited and due in a month."""
    return PageStates.of(
        n, page_key=np.arange(1, n + 1), host_key=1, group_key=np.arange(1, n + 1),
        fetched_at=NOW, checked_at=NOW, next_fetch_at=NOW + 30 * DAY,
        status=PageStatus.FETCHED, **columns,
    )  # fmt: skip


@pytest.mark.parametrize(("true", "false"), [(50, 0), (0, 50)])
def test_a_signal_moves_a_turn_as_far_as_it_is_worth(true: int, false: int):
    """At once where signals were true, next to nothing where they were not, and never later."""
    states = pages(3, n_signals=[1, 1, 0])
    planner = Planner(Optimal()).replan(states, NOW, 0.3 / SECONDS)
    planner.hear(states.take([0]), NOW + DAY - 1)
    planner.knowledge.signals.true[:] = true
    planner.knowledge.signals.false[:] = false

    due = planner.hear(states, NOW + DAY)

    assert (due <= states.next_fetch_at).all()
    assert (due[:2] <= NOW + DAY).all() == bool(true)
