"""``recrawl simulate``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, cast

import click

from recrawl.cli.output import Format, print_rows
from recrawl.cli.worlds import Worlds, check_schedule, figures, print_results, save, world_options
from recrawl.core.budget import parse_budget
from recrawl.core.timing import Schedule
from recrawl.core.visit import Observation
from recrawl.errors import InputError
from recrawl.simulation.compare import Conditions, result_of, run
from recrawl.simulation.log import Log
from recrawl.simulation.nutch_harness import run_harness
from recrawl.simulation.worlds import World

__all__ = ["command"]


@click.command("simulate")
@click.option(
    "--schedule", "name", metavar="NAME[:SETTING=VALUE,…]", default="nutch-adaptive",
    show_default=True, help="A schedule, a preset or a baseline, and settings of it.",
)  # fmt: skip
@click.option(
    "--budget", metavar="BUDGET",
    help="Fetches, such as 0.1/page/day or 1000/day; without it each due page is fetched.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the world.")
@click.option(
    "--steps", type=click.IntRange(1), metavar="N",
    help="Run Nutch's own harness in exact mode for this many steps, and print its totals.",
)  # fmt: skip
@click.option(
    "--page", type=click.IntRange(0), metavar="ROW",
    help="Let --plot show the interval of this page, counted from 0, and its changes.",
)  # fmt: skip
@world_options
def command(
    worlds: Worlds,
    name: str,
    budget: str | None,
    seed: int,
    steps: int | None,
    page: int | None,
    step: float,
    start: float,
    host_cap: int | None,
    is_json: bool,
    plot: str | None,
) -> None:
    """Run one schedule on a world of pages that change, and measure how fresh it kept them.

    Without a budget the schedule decides alone how many fetches it spends.  Shares, ages and
    delays are exact in continuous time, from the visits and the true changes.
    """
    draw = figures() if plot is not None else None
    if steps is not None:
        if budget is not None or worlds.spec.startswith("trace:"):
            raise InputError("--steps runs without a budget, and not on traces")
        world = worlds.lasting(step * steps).make(seed)
        # Who has an exact mode is a schedule and no planner.
        exact = check_schedule(name, world, exact=True)
        log, totals = run_harness(cast(Schedule, exact), world, step=step)
        row = {"schedule": name, **asdict(totals)}
        print_rows([row], list(row), Format.JSONL if is_json else Format.TABLE)
    else:
        world = worlds.make(seed)
        rate = None if budget is None else parse_budget(budget).of(len(world)).rate
        conditions = Conditions(budget=rate, tick=step, start=start, host_cap=host_cap)
        check_schedule(name, world, budget=rate)
        log = run(name, world, conditions, seed=seed)
        figure_row = result_of(name, world, log, start=start).row()
        print_results(
            [{"schedule": name, "budget": budget or "none", **figure_row}],
            ("schedule", "budget"),
            is_json=is_json,
        )
    if draw is not None and plot is not None:
        save(_draw(draw, name, world, log, page, start), plot)


def _draw(draw: Any, name: str, world: World, log: Log, page: int | None, start: float) -> Any:
    """Return the figure that was asked for."""
    freshness, interval = draw
    if page is None and len(world) > 1:
        return freshness.freshness_over_time(result_of(name, world, log, start=start).points())
    row = page or 0
    if row >= len(world):
        raise InputError(
            f"--page is {row}; the world has the rows 0 to {len(world) - 1}", value=row
        )
    own = log.page == row
    visits = [
        {"time": at / 1000, "interval": interval_, "is_changed": seen == Observation.CHANGED}
        for at, interval_, seen in zip(
            log.at[own].tolist(), log.interval[own].tolist(), log.observation[own].tolist(),
            strict=True,
        )
    ]  # fmt: skip
    changes = world.change_time[world.change_start[row] : world.change_start[row + 1]]
    return interval.interval_over_time(visits, changes.tolist())
