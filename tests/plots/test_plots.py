"""Figures: each line is in its place, the axes say quantity and unit."""

from __future__ import annotations

import io

import pytest
from matplotlib.figure import Figure

from recrawl.plots.freshness import freshness_by_budget, freshness_over_time
from recrawl.plots.interval import interval_over_time

DAY = 86_400.0


def drawn(figure: Figure) -> bytes:
    """Return the figure as a picture, so that everything of it was drawn."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def test_freshness_over_time_has_a_line_a_schedule():
    """Each schedule is a line in days, named in the legend, and the axes have units."""
    rows = [
        {"schedule": name, "time": day * DAY, "freshness": 0.5 + day / 10}
        for name in ("uniform", "azar")
        for day in range(3)
    ]

    figure = freshness_over_time(rows)

    (axes,) = figure.axes
    assert [line.get_label() for line in axes.lines] == ["uniform", "azar"]
    assert axes.lines[0].get_xdata().tolist() == [0, 1, 2]
    assert axes.lines[0].get_ydata().tolist() == [0.5, 0.6, 0.7]
    assert axes.get_xlabel() == "time since the first fetch [d]"
    assert axes.get_ylabel() == "freshness [share of pages]"
    assert drawn(figure)


def test_many_schedules_do_not_look_alike():
    """Colour and dashes together are different for 21 lines."""
    rows = [{"schedule": str(i), "time": 0.0, "freshness": 0.5} for i in range(21)]

    (axes,) = freshness_over_time(rows).axes

    assert len({(line.get_color(), line.get_linestyle()) for line in axes.lines}) == 21


def test_freshness_by_budget_is_in_order_of_the_budget():
    """Budgets are fetches a page and day, and ticks stand where there is a value."""
    rows = [
        {"schedule": "uniform", "budget": budget / DAY, "freshness": fresh}
        for budget, fresh in ((0.3, 0.9), (0.03, 0.6), (0.1, 0.8))
    ]

    figure = freshness_by_budget(rows)

    (axes,) = figure.axes
    assert axes.lines[0].get_xdata() == pytest.approx([0.03, 0.1, 0.3])
    assert axes.lines[0].get_ydata().tolist() == [0.6, 0.8, 0.9]
    assert axes.get_xticks() == pytest.approx([0.03, 0.1, 0.3])
    assert axes.get_xlabel() == "budget [fetches/page/day]"
    assert drawn(figure)


def test_interval_over_time_marks_visits_and_changes():
    """The interval is a staircase; visits with and without a change, and changes, are marked."""
    visits = [
        {"time": day * DAY, "interval": interval * DAY, "is_changed": changed}
        for day, interval, changed in ((0, 3, False), (3, 4, False), (7, 2, True))
    ]

    figure = interval_over_time(visits, [5 * DAY, 6 * DAY])

    (axes,) = figure.axes
    stairs, seen, quiet, changes = axes.lines
    assert list(zip(stairs.get_xdata(), stairs.get_ydata(), strict=True)) == [
        (0, 3),
        (3, 4),
        (7, 2),
    ]
    assert seen.get_xdata().tolist() == [7]
    assert quiet.get_xdata().tolist() == [0, 3]
    assert changes.get_xdata().tolist() == [5, 6]
    assert axes.get_ylabel() == "fetch interval [d]"
    assert drawn(figure)
