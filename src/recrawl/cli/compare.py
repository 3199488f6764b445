"""``recrawl compare``."""

from __future__ import annotations

from typing import Any

import click

from recrawl.cli.worlds import Worlds, check_schedule, figures, print_results, save, world_options
from recrawl.core.budget import parse_budget
from recrawl.errors import InputError
from recrawl.simulation.compare import Conditions, compare
from recrawl.simulation.presets import schedule_names

__all__ = ["command"]

_DEFAULT = (
    "uniform", "nutch-shipped", "stormcrawler", "aronsson", "cho-garcia-molina", "optimal-known",
)  # fmt: skip


def _seeds(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[int, ...]:
    """Return the seeds of a list such as 1,2,3."""
    parts = [part.strip() for part in value.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise InputError(f"--seeds is {value!r}; write numbers from 0, such as 1,2,3", value=value)
    return tuple(int(part) for part in parts)


@click.command("compare")
@click.option(
    "--schedule", "names", metavar="NAME[:SETTING=VALUE,…]", multiple=True,
    help="May be repeated; the others are compared with the first. By default uniform and the"
    " best known.",
)  # fmt: skip
@click.option(
    "--budget", "budgets", metavar="BUDGET", multiple=True, default=("0.1/page/day",),
    show_default=True, help="Fetches, such as 0.1/page/day or 1000/day; may be repeated.",
)  # fmt: skip
@click.option(
    "--seeds", default="1", show_default=True, callback=_seeds, metavar="N,N,…",
    help="Worlds to run on, one a seed.",
)  # fmt: skip
@world_options
def command(
    worlds: Worlds,
    names: tuple[str, ...],
    budgets: tuple[str, ...],
    seeds: tuple[int, ...],
    step: float,
    start: float,
    host_cap: int | None,
    is_json: bool,
    plot: str | None,
) -> None:
    """Run several schedules on the same worlds with the same budget, and compare them.

    Every schedule spends exactly the budget: the page that is due first is fetched first, and
    pages not yet due when no other is.  Shares, ages and delays are exact in continuous time;
    differences are paired, with standard errors over parts of the worlds.  The figure shows
    freshness over time, or that by importance against the budget if there are several.
    """
    draw = figures() if plot is not None else None
    names = names or tuple(name for name in _DEFAULT if name in schedule_names())
    made = [worlds.make(seed) for seed in seeds]
    for name in names:
        # Before the first long run, and not after it.
        check_schedule(name, made[0])
    rates = [parse_budget(budget).of(len(made[0])).rate for budget in budgets]
    rows: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    for budget, rate in zip(budgets, rates, strict=True):
        conditions = Conditions(budget=rate, tick=step, start=start, host_cap=host_cap)
        results = compare(names, made, conditions, seeds=seeds)
        for result in results:
            row = result.row(results[0])
            rows.append({"schedule": result.schedule, "budget": budget, **row})
            if len(budgets) == 1:
                points += result.points()
            else:
                points.append(
                    {
                        "schedule": result.schedule,
                        "budget": rate / len(made[0]),
                        "freshness": 1 - row["stale_weighted"],
                    }
                )
    print_results(rows, ("schedule", "budget"), is_json=is_json)
    if draw is not None and plot is not None:
        name = "freshness_over_time" if len(budgets) == 1 else "freshness_by_budget"
        save(getattr(draw[0], name)(points), plot)
