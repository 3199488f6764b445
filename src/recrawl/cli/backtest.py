"""``recrawl backtest``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import click
import numpy as np

from recrawl.app.backtest import Coverage, read_history
from recrawl.cli.options import format_option, opened, settings_options
from recrawl.cli.output import Format, Value, print_rows, rfc3339
from recrawl.cli.worlds import check_schedule, duration, figures, positive, save
from recrawl.config import Config
from recrawl.core.budget import parse_budget
from recrawl.core.duration import format_duration
from recrawl.core.timing import Schedule
from recrawl.planning.planner import Planner
from recrawl.schedules.optimal import Optimal
from recrawl.simulation.backtest import BacktestResult, Contender, backtest, natural_step
from recrawl.simulation.history import VisitHistory
from recrawl.simulation.worlds import World
from recrawl.wiring import make_policies

__all__ = ["command"]

_DAY = 86_400.0
#: The schedule of the settings.
_OWN = "own"
_UNITS = ((_DAY, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))
_DEFAULT = (_OWN, "uniform", "stormcrawler", "nutch-adaptive", "aronsson", "optimal")
#: Below this many visits a page, or with fewer changes seen, figures are more chance than not.
_FEW_VISITS, _FEW_CHANGES = 8, 100
_FIGURES = ("stale", "stale_weighted", "age", "delay_mean", "stale_difference")


@click.command("backtest")
@settings_options
@click.option(
    "--schedule", "names", metavar="NAME[:SETTING=VALUE,…]", multiple=True,
    help="May be repeated; own is that of the settings.  By default own and the best known.",
)  # fmt: skip
@click.option(
    "--budget", "budgets", metavar="BUDGET", multiple=True,
    help="Fetches, such as 0.1/page/day or 1000/day; may be repeated.  By default as many, and"
    " when, as were really made.",
)  # fmt: skip
@click.option(
    "--draws", "n_draws", type=click.IntRange(1), default=10, show_default=True, metavar="N",
    help="How often to draw when the pages changed.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the draws.")
@click.option(
    "--step", metavar="DURATION", callback=positive,
    help="The crawler looks at its queue this often; by default as the visits were apart.",
)  # fmt: skip
@click.option(
    "--from", "start", metavar="DURATION", default="0s", show_default=True, callback=duration,
    help="Measure from here on after the first visit, such as 30d.",
)  # fmt: skip
@click.option("--plot", metavar="FILE", help="Draw freshness against budget (extra plots).")
@format_option
def command(
    config: Config,
    names: tuple[str, ...],
    budgets: tuple[str, ...],
    n_draws: int,
    seed: int,
    step: float | None,
    start: float,
    plot: str | None,
    form: Format,
) -> None:
    """Show what other schedules would have made of the pages of the store.

    Nothing is fetched or written.  The kept visits say between which two of them a page changed;
    when it did is drawn several times, and on each drawn history the real visits and each
    schedule are measured.  A standard error says how far the truth may be from the mean.
    """
    draw = figures() if plot is not None else None
    # Before the store is read and the first long run, and not after it.
    contenders = [_contender(name, config) for name in names or _defaults(config)]
    wanted = [parse_budget(budget) for budget in budgets]
    with opened(config) as store:
        history, coverage = read_history(store)
    n_pages = max(coverage.n_pages, 1)
    rates: list[float | None] = [budget.of(n_pages).rate / n_pages for budget in wanted] or [None]
    millis = natural_step(history) if step is None else math.ceil(step * 1000)
    if len(history):
        for sentence in _covered(history, coverage, millis):
            click.echo(sentence, err=form is not Format.TABLE)
        for warning in _warnings(history, coverage):
            click.echo(f"warning: {warning}", err=True)
    results = backtest(
        history, contenders, budgets=rates, step=millis, n_draws=n_draws, seed=seed, start=start
    )
    rows = [{**_head(each, budgets, rates), **each.row(results[0])} for each in results]
    _print(rows, form)
    if draw is not None and plot is not None:
        points = [
            {
                "schedule": row["schedule"],
                "budget": row["fetches"] / history.watched.sum(),
                "freshness": 1 - row["stale_weighted"],
            }
            for row in rows
        ]
        save(draw[0].freshness_by_budget(points), plot)


def _defaults(config: Config) -> list[str]:
    """Return the schedules that are tried by default: none twice."""
    own = config.schedule.name
    return [name for name in _DEFAULT if name != own]


def _contender(name: str, config: Config) -> Contender:
    """Return the schedule of a name, or that of the settings, and say what is left out of it."""
    if name != _OWN:
        check_schedule(name, World.of(1, [0], []), budget=1.0)
        return Contender.named(name)
    if config.rules:
        click.echo(
            "warning: own is the schedule of the settings for all pages; their rules are left out",
            err=True,
        )
    policy = make_policies(replace(config, rules=()))("http://localhost/")
    schedule = policy.schedule

    def make(_world: World, _budget: float) -> Schedule | Planner:
        return Planner(schedule) if isinstance(schedule, Optimal) else schedule

    bounds = None if policy.update.exact else policy.bounds
    return Contender(f"{_OWN} ({config.schedule.name})", make, bounds, policy.update)


def _head(
    result: BacktestResult, budgets: Sequence[str], rates: Sequence[float | None]
) -> dict[str, Any]:
    """Return what names a row."""
    budget = "as spent" if result.budget is None else budgets[rates.index(result.budget)]
    return {"schedule": result.schedule, "budget": budget}


def _covered(history: VisitHistory, coverage: Coverage, step: int) -> list[str]:
    """Return what the figures rest on, in sentences."""
    n_gaps = len(history.later())
    watched = format_duration(float(np.median(history.watched)))
    visits = np.median(np.diff(history.start))
    pages = (
        f"{_pages(len(history))} from {rfc3339(history.zero_at)} to"
        f" {rfc3339(int(history.last_at.max()))}, a page in the middle watched for {watched} by"
        f" {visits:.0f} visits; {history.n_changes} of {n_gaps} times it had changed."
    )
    n_others = coverage.n_pages - len(history)
    others = (
        f"{_pages(n_others)} {'is' if n_others == 1 else 'are'} left out: no two visits tell"
        f" whether they changed.  A step is {format_duration(step / 1000)}."
    )
    return [pages, others]


def _pages(n: int) -> str:
    return "1 page" if n == 1 else f"{n} pages"


def _warnings(history: VisitHistory, coverage: Coverage) -> list[str]:
    """Return what speaks against trusting the figures."""
    warnings = []
    if coverage.n_cut:
        warnings.append(
            f"of {_pages(coverage.n_cut)} only the last visits are kept: with a greater"
            " store.keep_visits the crawl remembers more from now on"
        )
    n_changes = history.n_changes
    visits = float(np.median(np.diff(history.start)))
    if visits < _FEW_VISITS or n_changes < _FEW_CHANGES:
        warnings.append(
            f"the history is short, {visits:.0f} visits of a page in the middle and {n_changes}"
            " changes seen: schedules have hardly learned anything by its end"
        )
    return warnings


def _print(rows: Sequence[Mapping[str, Any]], form: Format) -> None:
    """Print a row a schedule: all figures in SI units, or some as people read them."""
    if form is not Format.TABLE:
        plain: list[dict[str, Value]] = [
            {name: None if value != value else value for name, value in row.items()} for row in rows
        ]
        print_rows(plain, list(rows[0]), form)
        return
    shown = [_cells(row) for row in rows]
    # Against itself it is as it was.
    shown[0]["against_real"] = "-"
    print_rows(shown, list(shown[0]), form)


def _cells(row: Mapping[str, Any]) -> dict[str, Value]:
    """Return the figures of a row as people read them, each with its standard error."""
    error = {name: row[f"{name}_se"] for name in _FIGURES}
    return {
        "schedule": row["schedule"],
        "budget": row["budget"],
        "fetches": f"{row['fetches']:.0f}",
        "fresh": _percent(1 - row["stale"], error["stale"]),
        "fresh_weighted": _percent(1 - row["stale_weighted"], error["stale_weighted"]),
        "age": _time(row["age"], error["age"]),
        "delay": _time(row["delay_mean"], error["delay_mean"]),
        "against_real": _percent(-row["stale_difference"], error["stale_difference"], "+"),
    }


def _percent(share: float, error: float, sign: str = "") -> str:
    return f"{100 * share:{sign}.2f}{_plus(100 * error)} %"


def _time(seconds: float, error: float) -> str:
    if math.isnan(seconds):
        return "-"
    scale, unit = next(each for each in _UNITS if seconds >= each[0] or each == _UNITS[-1])
    return f"{seconds / scale:.2f}{_plus(error / scale)} {unit}"


def _plus(error: float) -> str:
    return "" if math.isnan(error) else f" ± {error:.2f}"
