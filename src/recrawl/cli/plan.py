"""``recrawl plan``."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from recrawl.cli.options import format_option, opened, settings_options
from recrawl.cli.output import Format, Value, print_rows
from recrawl.cli.worlds import figures, save
from recrawl.clocks import SystemClock
from recrawl.config import Config
from recrawl.core.duration import format_duration
from recrawl.errors import InputError
from recrawl.planning.forecast import Forecast
from recrawl.wiring import learned_plan, make_policies

__all__ = ["command"]

_DAY = 86_400.0
_FIELDS = ("what", "fetches_per_day", "fetches_per_page_per_day", "freshness", "age_s")
#: The budgets of the table: the curve has more of them.
_SHOWN = (0.25, 0.5, 2.0, 4.0)


def _wishes(_context: click.Context, _parameter: click.Parameter, value: Any) -> list[float]:
    for wish in value:
        if not 0 < wish < 1:
            raise InputError(
                f"--freshness is {wish:g}; a share above 0 and below 1, such as 0.95", value=wish
            )
    return list(value)


@click.command("plan")
@settings_options
@click.option(
    "--freshness", "wishes", type=float, multiple=True, default=(0.8, 0.9, 0.95, 0.99),
    callback=_wishes, metavar="SHARE", show_default=True,
    help="What budget this freshness needs; may be repeated.",
)  # fmt: skip
@click.option("--plot", metavar="FILE", help="Draw freshness against budget (extra plots).")
@format_option
def command(config: Config, wishes: list[float], plot: str | None, form: Format) -> None:
    """Show how fresh the collection can be expected to be, at its budget and at others.

    Freshness is the share of time in which copies are right, age how long they have been wrong,
    both on average over the pages by their importance.  They are worked out from the change rates
    that visits have shown, for the schedule optimal, and corrected by what visits found.
    """
    draw = figures() if plot is not None else None
    with opened(config) as store:
        plan = learned_plan(config, store, make_policies(config))
        n_pages, found = asyncio.run(plan.outlook(SystemClock().now(), wishes))
    if not n_pages:
        raise InputError("there is no page to plan for; add some: recrawl add URL")
    rows = [_row(each, n_pages) for each in _shown(found)]
    if form is Format.TABLE:
        budget = config.schedule.budget
        aim = f"with the budget {budget}" if budget else "with what its aim needs"
        click.echo(f"{n_pages} pages; the present is {aim}.\n")
        rows = [{name: _words(name, value) for name, value in row.items()} for row in rows]
    print_rows(rows, _FIELDS, form)
    if draw is not None and plot is not None:
        points = [
            {"budget": each.rate / n_pages, "freshness": each.freshness, "what": each.what}
            for each in found
        ]
        save(draw[0].freshness_by_plan(points), plot)


def _shown(found: list[Forecast]) -> list[Forecast]:
    """Return the present, some budgets around it and the wishes, the cheapest first."""
    (present,) = (each for each in found if each.what == "present")
    shown = [
        each
        for each in found
        if each.what != "curve" or any(abs(each.part - part) < 1e-6 for part in _SHOWN)
    ]
    return [present, *sorted((e for e in shown if e is not present), key=lambda each: each.rate)]


def _row(each: Forecast, n_pages: int) -> dict[str, Value]:
    what = {
        "present": "present",
        "curve": f"{each.part:g} x present",
        "wanted": f"{each.wanted:.4g} fresh",
    }
    return {
        "what": what[each.what],
        "fetches_per_day": each.rate * _DAY,
        "fetches_per_page_per_day": each.rate * _DAY / n_pages,
        "freshness": each.freshness,
        "age_s": each.age,
    }


def _words(name: str, value: Value) -> Value:
    """Return a figure as people read it."""
    if not isinstance(value, float):
        return value
    if name == "freshness":
        return f"{100 * value:.1f} %"
    return format_duration(value) if name == "age_s" else f"{value:.3g}"
