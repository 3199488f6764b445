"""Freshness over time, and against the budget."""

from __future__ import annotations

from collections.abc import Iterable

from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter

from recrawl.plots._axes import DAY, Row, grouped, legend, new_figure, style

__all__ = ["freshness_by_budget", "freshness_by_plan", "freshness_over_time"]


def freshness_over_time(rows: Iterable[Row]) -> Figure:
    """Return how the freshness of each schedule went.

    Parameters
    ----------
    rows : iterable of mapping
        ``schedule``, ``time``: middle of an interval of time [s], ``freshness``: the mean in it;
        in order of time for each schedule.
    """
    figure, axes = new_figure("freshness [share of pages]", "time since the first fetch [d]")
    for i, (schedule, points) in enumerate(grouped(rows).items()):
        axes.plot(
            [point["time"] / DAY for point in points],
            [point["freshness"] for point in points],
            label=schedule,
            linewidth=1.5,
            **style(i),
        )
    axes.set_xlim(left=0)
    axes.set_ylim(top=1)
    legend(figure)
    return figure


def freshness_by_budget(rows: Iterable[Row]) -> Figure:
    """Return the freshness that each schedule makes of a budget.

    Parameters
    ----------
    rows : iterable of mapping
        ``schedule``, ``budget``: fetches a page [1/s], ``freshness``: the mean by importance.
    """
    figure, axes = new_figure(
        "freshness by importance [share of time]", "budget [fetches/page/day]"
    )
    budgets = set()
    for i, (schedule, points) in enumerate(grouped(rows).items()):
        ordered = sorted(points, key=lambda point: float(point["budget"]))
        x = [point["budget"] * DAY for point in ordered]
        y = [point["freshness"] for point in ordered]
        axes.plot(x, y, label=schedule, marker="o", markersize=4, linewidth=1.5, **style(i))
        budgets.update(x)
    axes.set_xscale("log")
    axes.set_xticks(sorted(budgets), minor=False)
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.set_ylim(top=1)
    legend(figure)
    return figure


def freshness_by_plan(rows: Iterable[Row]) -> Figure:
    """Return the freshness that a collection is expected to have, by budget.

    Parameters
    ----------
    rows : iterable of mapping
        ``what``: ``present``, ``curve`` or ``wanted``, ``budget``: fetches a page [1/s],
        ``freshness``.
    """
    figure, axes = new_figure("expected freshness [share of time]", "budget [fetches/page/day]")
    known = list(rows)
    line = sorted(known, key=lambda point: float(point["budget"]))
    axes.plot(
        [point["budget"] * DAY for point in line],
        [point["freshness"] for point in line],
        label="schedule optimal",
        linewidth=1.5,
        **style(0),
    )
    for i, (what, label) in enumerate((("present", "present"), ("wanted", "wanted")), start=1):
        chosen = [point for point in known if point["what"] == what]
        axes.plot(
            [point["budget"] * DAY for point in chosen],
            [point["freshness"] for point in chosen],
            label=label,
            marker="o" if what == "present" else "|",
            markersize=7,
            color=style(i)["color"],
            linestyle="none",
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.set_ylim(0, 1)
    legend(figure)
    return figure
