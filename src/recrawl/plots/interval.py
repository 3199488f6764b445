"""The fetch interval of one page over time, with its changes marked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matplotlib.figure import Figure

from recrawl.plots._axes import DAY, Row, legend, new_figure, style

__all__ = ["interval_over_time"]

_CHANGED = "#d55e00"


def interval_over_time(visits: Iterable[Row], changes: Sequence[float]) -> Figure:
    """Return how the interval of a page went, and what its visits saw.

    Parameters
    ----------
    visits : iterable of mapping
        ``time``: when [s], ``interval``: the interval set after it [s], ``is_changed``: whether
        it saw a change; in order of time.
    changes : sequence of float
        When the page really changed. [s]
    """
    rows = list(visits)
    figure, axes = new_figure("fetch interval [d]", "time since the first fetch [d]")
    time = [row["time"] / DAY for row in rows]
    interval = [row["interval"] / DAY for row in rows]
    axes.step(time, interval, where="post", linewidth=1.2, label="interval", **style(0))
    for is_changed, label, fill in (
        (True, "visit saw a change", _CHANGED),
        (False, "visit saw none", "white"),
    ):
        chosen = [i for i, row in enumerate(rows) if bool(row["is_changed"]) is is_changed]
        axes.plot(
            [time[i] for i in chosen],
            [interval[i] for i in chosen],
            linestyle="none",
            marker="o",
            markersize=5,
            markerfacecolor=fill,
            markeredgecolor=_CHANGED if is_changed else style(0)["color"],
            label=label,
            clip_on=False,
        )
    # Below the axis of the intervals, where no line hides them.
    axes.plot(
        [change / DAY for change in changes],
        [-0.025] * len(changes),
        transform=axes.get_xaxis_transform(),
        linestyle="none",
        marker="|",
        markersize=9,
        color="black",
        clip_on=False,
        label="page changed",
    )
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    # Without ticks, which would pass for marks of changes.
    axes.tick_params(axis="x", pad=14, length=0)
    legend(figure)
    return figure
