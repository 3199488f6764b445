"""What ``recrawl simulate`` and ``recrawl compare`` share: worlds, options, tables, figures."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from recrawl.cli.output import Format, Value, print_rows
from recrawl.core.duration import parse_duration
from recrawl.core.timing import Schedule
from recrawl.errors import InputError, MissingExtra
from recrawl.interop.traces import read_traces
from recrawl.planning.planner import Planner
from recrawl.simulation.presets import schedule_for
from recrawl.simulation.traces import world_of_traces
from recrawl.simulation.worlds import World, with_importance, world
from recrawl.simulation.worlds.importance import KINDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "COLUMNS",
    "Worlds",
    "check_schedule",
    "duration",
    "figures",
    "positive",
    "print_results",
    "save",
    "world_options",
]

_TRACE = "trace:"
_DAY = 86_400.0
#: Columns of the table for people; JSON has the weighted ones too.
COLUMNS = ("stale", "age", "delay_mean", "delay_p95", "fetches", "wasted", "missed")
_SHARES = ("stale", "wasted", "missed", "stale_difference", "stale_difference_se")
_TIMES = ("age", "delay_mean", "delay_p95")
_WEIGHTED = "_weighted"


@dataclass(frozen=True, slots=True)
class Worlds:
    """Which worlds to make.

    Parameters
    ----------
    spec : str
        As ``simulation.worlds.world`` reads it, or ``trace:`` and a file.
    pages : int
        Pages of a made world.
    days : float
        Length of a made world. [d]
    window : float, optional
        The last part of a trace. [s]
    importance : str, optional
        ``equal`` or ``pareto``; by default as the world has it.
    """

    spec: str
    pages: int
    days: float
    window: float | None
    importance: str | None

    def make(self, seed: int) -> World:
        """Return the world of a seed; a trace is the same for all, but for its importances."""
        if self.spec.startswith(_TRACE):
            records = read_traces(Path(self.spec.removeprefix(_TRACE)))
            made = world_of_traces(records, window=self.window)
        elif self.window is not None:
            raise InputError("--window is for worlds of traces; take --days for the length")
        else:
            made = world(self.spec, self.pages, horizon=self.days * _DAY, seed=seed)
        if self.importance is not None:
            made = with_importance(made, self.importance, seed=seed)
        return made

    def lasting(self, horizon: float) -> Worlds:
        """Return the same for worlds of another length [s]."""
        return replace(self, days=horizon / _DAY)


def duration(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> float | None:
    """Return the duration that an option gives [s]."""
    return None if value is None else parse_duration(value)


def positive(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """Return the duration that an option gives, which cannot be 0 [s]."""
    seconds = duration(context, parameter, value)
    if seconds == 0:
        raise InputError(f"{parameter.opts[0]} is 0; give more than that", value=value)
    return seconds


_OPTIONS = (
    click.option(
        "--world", "spec", metavar="WORLD", default="S1", show_default=True,
        help="Such as S1 to S11, fixed:31d, poisson:lognormal, or trace:FILE for real histories.",
    ),
    click.option(
        "--window", metavar="DURATION", callback=positive,
        help="Of a trace: the last part, such as 730d, with the pages that live throughout it.",
    ),
    click.option("--pages", type=click.IntRange(1, 100_000_000), help="Pages of a made world."),
    click.option("--days", type=click.FloatRange(0, 36_525, min_open=True),
                 help="Length of a made world."),
    click.option(
        "--step", metavar="DURATION", default="2h", show_default=True, callback=positive,
        help="The crawler looks at its queue this often.",
    ),
    click.option(
        "--host-cap", type=click.IntRange(1), metavar="N", help="Fetches a host and step at most."
    ),
    click.option(
        "--importance", type=click.Choice(KINDS),
        help="Draw the importance of pages anew; by default it is that of the world.",
    ),
    click.option(
        "--from", "start", metavar="DURATION", default="0s", show_default=True, callback=duration,
        help="Measure from here on, such as 60d.",
    ),
    click.option("--json", "is_json", is_flag=True, help="One JSON object a line, in SI units."),
    click.option(
        "--plot", type=click.Path(dir_okay=False), metavar="FILE",
        help="Write a figure, such as out.svg, out.png or out.pdf; needs the extra plots.",
    ),
)  # fmt: skip


def world_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of worlds; the command gets a ``Worlds`` as ``worlds``."""

    @functools.wraps(command)
    def with_worlds(
        *args: Any, spec: str, window: float | None, pages: int | None, days: float | None,
        importance: str | None, **rest: Any,
    ) -> Any:  # fmt: skip
        if spec.startswith(_TRACE) and (pages is not None or days is not None):
            raise InputError("a trace has its own pages and length: leave --pages and --days out")
        # One page is enough of a world whose pages are all alike.
        default = 1 if rest.get("steps") else 10_000
        made = Worlds(spec, pages or default, days or 240.0, window, importance)
        return command(*args, worlds=made, **rest)

    for option in reversed(_OPTIONS):
        with_worlds = option(with_worlds)
    return with_worlds


def check_schedule(
    name: str, made: World, *, budget: float | None = None, exact: bool = False
) -> Schedule | Planner:
    """Return the schedule of this name, and say what only exact mode takes, on standard error."""
    schedule = schedule_for(name, made, budget=budget, exact=exact)
    if getattr(schedule, "exact", False):
        try:
            replace(cast(Any, schedule), exact=False)
        except InputError as error:
            click.echo(f"taken as the original takes it: {error.message}", err=True)
    return schedule


def print_results(
    rows: Sequence[Mapping[str, float | str]], head: Sequence[str], *, is_json: bool
) -> None:
    """Print a row a schedule: JSON in SI units, or a table in days and percent.

    Parameters
    ----------
    rows : sequence of mapping
        Figures by name, and the columns of ``head``.
    head : sequence of str
        What comes first in a row, such as ``schedule``.
    is_json : bool
        One JSON object a line with all figures; those unknown are null.
    """
    if is_json:
        plain: list[dict[str, Value]] = [
            {name: None if value != value else value for name, value in row.items()} for row in rows
        ]
        print_rows(plain, list(rows[0]), Format.JSONL)
        return
    tail = [name for name in ("stale_difference", "stale_difference_se") if name in rows[-1]]
    columns = [*head, "stale", f"stale{_WEIGHTED}", *COLUMNS[1:], *tail]
    shown = [{name: _shown(name, row.get(name, math.nan)) for name in columns} for row in rows]
    print_rows(shown, columns, Format.TABLE)


def _shown(name: str, value: float | str) -> str:
    """Return a figure as people read it."""
    if isinstance(value, str):
        return value
    if value != value:
        return "-"
    base = name.removesuffix(_WEIGHTED)
    if base in _SHARES:
        return f"{100 * value:.2f} %"
    return f"{value / _DAY:.2f} d" if base in _TIMES else f"{value:.0f}"


def figures() -> Any:
    """Return the modules that draw, or raise MissingExtra."""
    try:
        from recrawl.plots import freshness, interval
    except ImportError as error:
        raise MissingExtra(
            "--plot needs matplotlib, which is not installed; run: pip install 'recrawl[plots]'"
        ) from error
    return freshness, interval


def save(figure: Figure, path: str) -> None:
    """Write a figure in the format that the name of the file says."""
    known = sorted(figure.canvas.get_supported_filetypes())
    ending = Path(path).suffix.removeprefix(".").lower()
    if ending not in known:
        raise InputError(
            f"--plot cannot write {path!r}; its name may end in .{', .'.join(known)}", value=path
        )
    figure.savefig(path, dpi=150)
