"""Comparisons: paired on the same worlds, with errors of the differences."""

from __future__ import annotations

import math

import numpy as np
import pytest

from recrawl.simulation.compare import Conditions, compare, paired_difference, result_of, run
from recrawl.simulation.metrics import measure
from recrawl.simulation.worlds import World, world

DAY = 86_400.0
BUDGET = Conditions(budget=60 * 0.2 / DAY, tick=21_600.0)


def made(seed: int, n: int = 60) -> World:
    return world("poisson:lognormal", n, horizon=40 * DAY, seed=seed)


def test_a_schedule_compared_with_itself_does_not_differ():
    """The first of a comparison is 0 from itself, with an error of 0."""
    first, second = compare(["uniform", "uniform"], [made(1)], BUDGET)

    row = second.row(first)
    assert (row["stale_difference"], row["stale_difference_se"]) == (0, 0)
    assert second.row() == first.row()


def test_figures_are_the_means_over_the_worlds():
    """Each figure of a row is the mean of what each world gives alone."""
    worlds = [made(1), made(2)]

    (both,) = compare(["uniform"], worlds, BUDGET, seeds=[1, 2])

    alone = [
        measure(w, run("uniform", w, BUDGET, seed=seed)).weighted.age
        for w, seed in zip(worlds, (1, 2), strict=True)
    ]
    assert both.row()["age_weighted"] == pytest.approx(np.mean(alone))


def test_differences_are_those_of_the_rows():
    """The paired difference is the difference of the stale shares, equal and weighted."""
    uniform, known = compare(["uniform", "optimal-known"], [made(3)], BUDGET)

    row, reference = known.row(uniform), uniform.row()
    for suffix in ("", "_weighted"):
        assert row[f"stale_difference{suffix}"] == pytest.approx(
            row[f"stale{suffix}"] - reference[f"stale{suffix}"]
        )
        assert row[f"stale_difference_se{suffix}"] > 0


def test_the_days_of_a_result_add_up():
    """The mean of the freshness by day is the freshness, from the start of the measurement on."""
    plain = made(1)
    result = result_of("uniform", plain, run("uniform", plain, BUDGET), start=10 * DAY)

    points = result.points()

    assert [point["time"] for point in points[:2]] == [10.5 * DAY, 11.5 * DAY]
    assert len(points) == 30
    assert np.mean([point["freshness"] for point in points]) == pytest.approx(
        1 - result.row()["stale"]
    )
    assert np.mean([point["freshness"] for point in result.points(weighted=True)]) == (
        pytest.approx(1 - result.row()["stale_weighted"])
    )


def test_without_conditions_each_due_page_is_fetched():
    """A schedule that needs no budget decides alone."""
    (result,) = compare(["fixed:default_interval=5d"], [made(1, 3)])

    assert result.row()["fetches"] == 3 * 8


def test_one_page_gives_no_error():
    """With a single part there is a difference but nothing to tell its error from."""
    mean, error = paired_difference(np.array([0.3]), np.array([0.1]), np.array([2.0]))

    assert mean == pytest.approx(0.2)
    assert math.isnan(error)


def test_standard_error_is_that_of_a_mean_where_weights_are_equal():
    """With equal weights it is the standard deviation over the root of the number of parts."""
    rng = np.random.default_rng(3)
    values, others = rng.random(16), rng.random(16)

    mean, error = paired_difference(values, others, np.full(16, 7.0))

    difference = values - others
    assert mean == pytest.approx(difference.mean())
    assert error == pytest.approx(difference.std(ddof=1) / 4)


@pytest.mark.parametrize("spec", ["poisson:lognormal", "fixed:7d", "S4", "S8"])
def test_uniform_beats_proportional(spec: str):
    """At equal importance uniform is fresher than proportional on every kind of world."""
    plain = world(spec, 150, horizon=60 * DAY, seed=4)

    conditions = Conditions(budget=150 * 0.1 / DAY, tick=21_600.0, start=15 * DAY)
    uniform, proportional = compare(["uniform", "proportional"], [plain], conditions)

    assert uniform.row()["stale"] <= proportional.row()["stale"]


def test_knowing_the_rates_is_worth_something():
    """The optimum by true rates is fresher than uniform, on the same pages."""
    uniform, known = compare(["uniform", "optimal-known"], [made(5, 200)], Conditions(
        budget=200 * 0.2 / DAY, tick=21_600.0))  # fmt: skip

    row = known.row(uniform)
    assert row["stale_difference_weighted"] < 0
