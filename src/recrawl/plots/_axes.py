"""What all figures share: size, colours that differ for all eyes, a quiet frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["DAY", "Row", "grouped", "legend", "new_figure", "style"]

#: One line of a table.
Row: TypeAlias = Mapping[str, Any]

DAY = 86_400.0
#: The palette of Okabe and Ito without its yellow, which is too light for lines.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_DASHES = ("-", "--", ":")


def new_figure(quantity: str, against: str) -> tuple[Figure, Axes]:
    """Return a figure with one pair of axes, labelled with quantity and unit."""
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    axes.set_ylabel(quantity)
    axes.set_xlabel(against)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    return figure, axes


def grouped(rows: Iterable[Row]) -> dict[str, Sequence[Row]]:
    """Return the rows of each schedule, in the order of their first."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(str(row["schedule"]), []).append(row)
    return dict(groups)


def style(i: int) -> dict[str, Any]:
    """Return colour and dashes of the i-th line; they repeat only after 21."""
    return {
        "color": _COLOURS[i % len(_COLOURS)],
        "linestyle": _DASHES[i // len(_COLOURS) % len(_DASHES)],
    }


def legend(figure: Figure) -> None:
    """Put the names above the axes, where they hide no line."""
    figure.legend(loc="outside upper left", ncols=4, frameon=False, fontsize="small")
