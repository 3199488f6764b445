"""Backtests: what was spent, what the real visits came to, and the truth within error bars."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from recrawl.core.interval import Bounds
from recrawl.core.update import UpdateRule
from recrawl.core.visit import Observation
from recrawl.errors import InputError
from recrawl.schedules.fixed import Fixed
from recrawl.simulation.backtest import (
    AS_IT_WAS,
    BacktestResult,
    Contender,
    as_it_was,
    backtest,
    natural_step,
    spent,
    steady,
)
from recrawl.simulation.history import VisitHistory
from recrawl.simulation.log import Log
from recrawl.simulation.metrics import measure
from recrawl.simulation.presets import schedule_for
from recrawl.simulation.run import START_AT, replay, simulate
from recrawl.simulation.worlds import World, world

NEW, CHANGED, SAME = Observation.UNKNOWN, Observation.CHANGED, Observation.UNCHANGED
DAY = 86_400.0
UNIFORM = Contender.named("uniform")


@pytest.fixture
def small(history_of: Callable[..., VisitHistory]) -> VisitHistory:
    """Give three pages, visited each day, every other day, and late."""
    return history_of(
        [(k * DAY, CHANGED if k % 2 else SAME) for k in range(11)],
        [(k * DAY, SAME) for k in range(0, 11, 2)],
        [(k * DAY, CHANGED) for k in range(7, 11)],
        importance=[1, 1, 4],
    )


def test_what_was_spent_is_spent_again(small: VisitHistory):
    """The first visits and those of each step, without the last of each page."""
    rate, allowed = spent(small, round(DAY * 1000))

    # Ten, five and three visits in 10, 10 and 3 days.
    assert rate * DAY == pytest.approx(18 / 23)
    assert allowed.tolist() == [1, 2, 1, 2, 1, 2, 1, 3, 2]


def test_visits_within_a_step_are_made_at_its_end(small: VisitHistory):
    """A crawler that looks at the queue every three days makes up for what it missed."""
    _, allowed = spent(small, round(3 * DAY * 1000))

    assert allowed.tolist() == [4, 5, 6]


def test_a_steady_budget_pays_for_first_visits_over_time(small: VisitHistory):
    """Two pages at first, three later, each with its share; and all that was given is spent."""
    rate, allowed = steady(small, round(DAY * 1000), 1 / DAY)

    assert rate * DAY == 1
    # (1 - 3 / 23) of a visit a page and day, as whole visits.
    earned = np.cumsum([2] * 6 + [3] * 3) * (1 - 3 / 23)
    assert np.cumsum(allowed).tolist() == np.floor(earned).tolist()


def test_a_budget_below_the_first_visits_is_refused(small: VisitHistory):
    """Nothing would be left to schedule."""
    with pytest.raises(InputError, match=r"a first visit of each comes to 0\.13/page/day"):
        steady(small, round(DAY * 1000), 0.1 / DAY)


def test_the_real_visits_are_a_log(small: VisitHistory):
    """All visits in time order, but the last of each page, which ends what is known of it."""
    log = as_it_was(small)

    assert len(log) == 18
    assert all(a <= b for a, b in pairwise(log.at.tolist()))
    assert (log.at / 1000 / DAY)[log.page == 2].tolist() == [7, 8, 9]


def test_the_step_follows_the_visits(small: VisitHistory, history_of):
    """A tenth of a gap that few are shorter than; no more than 4000; something for no history."""
    assert natural_step(small) == round(DAY * 100)
    burst = history_of([(k / 100, SAME) for k in range(500)], [(0, NEW), (400 * DAY, SAME)])
    assert natural_step(burst) == round(400 * DAY * 1000 / 4000)
    assert natural_step(history_of([])) == 1


def test_a_page_weighs_the_same_however_long_it_was_watched(small: VisitHistory):
    """The stale share is the mean over pages, and over their importances."""
    (real,) = backtest(small, [], step=round(DAY * 1000), n_draws=3)

    row = real.row()
    # The second page never changed; the others changed once a gap, or every other gap.
    by_page = [row["stale"] * 3, row["stale_weighted"] * 6]
    third = (by_page[1] - by_page[0]) / 3
    assert 0.2 < third < 0.9
    assert 0.1 < by_page[0] - third < 0.5
    assert row["fetches"] == 18
    assert "fetches_weighted" not in row


def test_rows_carry_standard_errors_of_one_true_history():
    """The scatter of the draws, and that of their mean; differences draw by draw."""
    stale = np.array([0.1, 0.2, 0.3])
    real = BacktestResult("real", None, {"stale": stale, "stale_weighted": stale})
    other = BacktestResult("other", 1.0, {"stale": stale + 0.1, "stale_weighted": stale * 2})

    row = other.row(real)

    assert row["stale"] == pytest.approx(0.3)
    assert row["stale_se"] == pytest.approx(0.1 * math.sqrt(4 / 3))
    assert (row["stale_difference"], row["stale_difference_se"]) == pytest.approx((0.1, 0))
    assert row["stale_difference_weighted_se"] == pytest.approx(0.1 * math.sqrt(4 / 3))
    one = BacktestResult("one", None, {"stale": stale[:1]}).row()
    assert math.isnan(one["stale_se"])


def test_all_rows_share_draws_and_the_budget(small: VisitHistory):
    """As many fetches in each row of a budget, the real ones first, and the same changes."""
    results = backtest(
        small, [UNIFORM, Contender.named("optimal")], budgets=[None, 2 / DAY],
        step=round(DAY * 500), n_draws=2,
    )  # fmt: skip

    rows = [result.row() for result in results]
    assert [(r.schedule, r.budget) for r in results] == [
        (AS_IT_WAS, None), ("uniform", None), ("optimal", None),
        ("uniform", 2 / DAY), ("optimal", 2 / DAY),
    ]  # fmt: skip
    assert rows[0]["fetches"] == rows[1]["fetches"] == rows[2]["fetches"] == 18
    # What the last step earns is spent no more.
    assert rows[3]["fetches"] == pytest.approx(2 * 23, abs=2)
    assert len({row["changes"] for row in rows}) == 1


def test_a_contender_has_bounds_and_a_rule_of_its_own(small: VisitHistory):
    """What the settings say of a schedule holds in its row."""
    made = []

    def make(world: World, budget: float) -> Fixed:
        made.append(budget)
        return Fixed(default_interval=DAY, exact=True)

    bounded = Contender("bounded", lambda *_: Fixed(default_interval=DAY), Bounds(60, DAY, 0.1))
    exact = Contender("exact", make, rule=UpdateRule(exact=True))

    results = backtest(small, [bounded, exact], step=round(DAY * 1000), n_draws=2)

    assert [r.row()["fetches"] for r in results] == [18] * 3
    assert made == pytest.approx([3 * 18 / 23 / DAY] * 2)


def test_figures_from_a_time_on(small: VisitHistory):
    """Only what comes later counts, and pages that ended before it not at all."""
    ended = replace(
        small, at=np.where(small.page == 1, START_AT + (small.at - START_AT) // 4, small.at)
    )

    (real,) = backtest(ended, [], step=round(DAY * 500), n_draws=1, start=8 * DAY)

    assert real.row()["fetches"] == 4


def test_importances_that_are_all_nothing_count_the_same(small: VisitHistory):
    """Weighted by nothing is not weighted."""
    idle = replace(small, importance=np.zeros(3, dtype=np.float32))

    (real,) = backtest(idle, [], step=round(DAY * 500), n_draws=2)

    row = real.row()
    assert row["stale_weighted"] == pytest.approx(row["stale"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_draws": 0}, "0 draws make no figures; take at least 1"),
        ({"step": 0}, "the step is 0 s; allowed: from a millisecond to below 10 d"),
        ({"step": 10 * 86_400_000}, "the step is 10 d; allowed"),
        ({"start": 10 * DAY}, "from day 10 on cannot be had of a history of 10 days"),
    ],
)
def test_what_cannot_be_is_refused(small: VisitHistory, options, message):
    """Each mistake is named, with what is allowed."""
    with pytest.raises(InputError, match=message):
        backtest(small, [UNIFORM], **{"step": round(DAY * 1000), "n_draws": 1, **options})


def test_no_history_is_refused(history_of: Callable[..., VisitHistory]):
    """A store that was crawled once has nothing to replay."""
    with pytest.raises(InputError, match="no page has two visits that tell"):
        backtest(history_of([(0, NEW)]), [UNIFORM], step=1000)


def test_the_truth_lies_within_the_error_bars(
    history_of_log: Callable[[World, Log], VisitHistory],
):
    """What schedules would have done on the true world is what the backtest of a censored log says.

    The history is of uniform fetches; of 4 standard errors the first comes from six draws, whose
    scatter is itself known to a third.
    """
    n = 300
    made = world("poisson:lognormal", n, horizon=60 * DAY, seed=7)
    budget = 0.25 * n / DAY
    log = simulate(made, schedule_for("uniform", made), budget=budget)
    history = history_of_log(made, log)
    step = round(DAY * 1000)
    names = ["stormcrawler", "optimal"]

    results = backtest(history, [Contender.named(name) for name in names], step=step, n_draws=6)

    aligned = history.aligned(step)
    true = made.take(aligned.page_key - 1).with_columns(
        born_at=(aligned.first_at - START_AT) / 1000, gone_at=(aligned.last_at - START_AT) / 1000
    )
    rate, allowed = spent(aligned, step)
    total = rate * len(true)
    real = measure(true, as_it_was(aligned)).equal
    assert results[0].row()["stale"] == pytest.approx(
        real.stale, abs=4 * results[0].row()["stale_se"]
    )
    for name, result in zip(names, results[1:], strict=True):
        visits = replay(
            true, schedule_for(name, true, budget=total), allowed, budget=total, tick=step / 1000
        )
        found, row = measure(true, visits).equal, result.row(results[0])
        assert found.stale == pytest.approx(row["stale"], abs=4 * row["stale_se"])
        assert found.age == pytest.approx(row["age"], abs=4 * row["age_se"])
        assert found.stale - real.stale == pytest.approx(
            row["stale_difference"], abs=4 * row["stale_difference_se"]
        )
        assert row["stale_se"] < 0.01
