"""What other schedules would have made of the pages that a real crawl watched."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
from numpy.typing import NDArray

from recrawl.core.duration import format_duration
from recrawl.core.interval import Bounds
from recrawl.core.states import Seconds
from recrawl.core.timing import Schedule
from recrawl.core.update import UpdateRule
from recrawl.core.visit import Outcome
from recrawl.errors import InputError
from recrawl.planning.planner import Planner
from recrawl.simulation.history import VisitHistory
from recrawl.simulation.log import Log
from recrawl.simulation.metrics import measure
from recrawl.simulation.presets import schedule_for
from recrawl.simulation.rate_mixture import estimate
from recrawl.simulation.resample import draw_world
from recrawl.simulation.run import replay
from recrawl.simulation.seeds import generator
from recrawl.simulation.staleness import lifetime
from recrawl.simulation.worlds.world import World

__all__ = [
    "AS_IT_WAS",
    "BacktestResult",
    "Contender",
    "as_it_was",
    "backtest",
    "natural_step",
    "spent",
    "steady",
]

#: Name of the row of the real visits.
AS_IT_WAS = "as it was"
#: A step is this part of a gap that few are shorter than, and the whole has no more steps.
_PARTS, _FEW, _MOST_STEPS = 10, 0.1, 4000
#: Takes away the rounding of a budget that gives whole fetches.
_TINY = 1e-6
_DAY = 86_400.0
#: Figures that are no ratios: weights would mean nothing.
_COUNTS = ("fetches", "changes")


@dataclass(frozen=True, slots=True)
class Contender:
    """A schedule that is tried.

    Parameters
    ----------
    name : str
        What its row is called.
    make : callable
        Makes the schedule for a world and its budget [1/s]; anew each time, since planners learn.
    bounds : Bounds, optional
        By default none, as in comparisons on made-up worlds.
    rule : UpdateRule, optional
        By default guarded.
    """

    name: str
    make: Callable[[World, float], Schedule | Planner]
    bounds: Bounds | None = None
    rule: UpdateRule | None = None

    @classmethod
    def named(cls, name: str) -> Contender:
        """Return the schedule of a name, see ``presets.schedule_for``."""
        return cls(name, lambda world, budget: schedule_for(name, world, budget=budget))


@dataclass(frozen=True, slots=True)
class BacktestResult:
    """What a schedule came to on worlds that were drawn.

    Parameters
    ----------
    schedule : str
        Its name.
    budget : float, optional
        Fetches a page that it had; None for those that were really made. [1/s]
    figures : mapping of str to ndarray, shape (d,)
        Figures by name, one a draw; see ``row``.
    """

    schedule: str
    budget: float | None
    figures: Mapping[str, Seconds] = field(repr=False)

    def row(self, reference: BacktestResult | None = None) -> dict[str, float]:
        """Return the figures by name, as means over the draws, and their standard errors.

        The names are those of ``metrics.Figures``; those with pages weighted by importance end in
        ``_weighted``, but for ``fetches`` and ``changes``, which are none, and standard errors in
        ``_se``.  With a reference on the same draws there are also ``stale_difference`` and
        ``stale_difference_weighted`` from it.

        Notes
        -----
        A standard error says how far the figure on the true history may be from the mean: the
        scatter of the draws, times ``sqrt(1 + 1/d)`` [Rubin1987]_.  More draws do not make it 0,
        for when the pages changed is not known.  NaN for one draw.
        """
        row: dict[str, float] = {}
        figures = dict(self.figures)
        if reference is not None:
            for suffix in ("", "_weighted"):
                name = f"stale{suffix}"
                figures[f"stale_difference{suffix}"] = figures[name] - reference.figures[name]
        for name, values in figures.items():
            n = len(values)
            scatter = float(values.std(ddof=1)) if n > 1 else math.nan
            row[name], row[f"{name}_se"] = float(values.mean()), scatter * math.sqrt(1 + 1 / n)
        return row


def backtest(
    history: VisitHistory,
    contenders: Sequence[Contender],
    *,
    budgets: Sequence[float | None] = (None,),
    step: int,
    n_draws: int = 10,
    seed: int = 1,
    start: float = 0.0,
) -> list[BacktestResult]:
    """Return what the real visits, and other schedules in their place, came to.

    Parameters
    ----------
    history : VisitHistory
        The real visits.
    contenders : sequence of Contender
        The schedules.
    budgets : sequence of float or None
        Fetches a watched page; None for as many in each step as were really made. [1/s]
    step : int
        The crawler looks at its queue this often, see ``natural_step``. [ms]
    n_draws : int
        Worlds drawn from the history.
    seed : int
        Of the draws.
    start : float
        Measure from here on, since the first visit. [s]

    Returns
    -------
    list of BacktestResult
        The real visits first, then each schedule by each budget.

    Raises
    ------
    InputError
        If nothing of the history tells, or a number is out of range.

    Notes
    -----
    A page is watched from its first visit to its last.  Both belong to all rows alike: the first
    is made whatever the budget, in the step after it was really made, and nothing is fetched or
    measured later than the last, of which the real crawl has paid nothing either.  Fetches that
    failed or were redirected are in no row.

    A page weighs as much as another of its importance, however long it was watched; stores that
    keep a fixed number of visits know fast pages for a shorter time.
    """
    if n_draws < 1:
        raise InputError(f"{n_draws} draws make no figures; take at least 1", value=n_draws)
    history = _usable(history, step, start)
    real = as_it_was(history)
    known = estimate(history)
    plans = [
        spent(history, step) if rate is None else steady(history, step, rate) for rate in budgets
    ]
    figures: list[list[dict[str, float]]] = [[] for _ in range(1 + len(plans) * len(contenders))]
    for draw in range(n_draws):
        world = draw_world(history, known, generator(seed, draw))
        logs = [real]
        for rate, allowed in plans:
            for contender in contenders:
                log = replay(
                    world,
                    contender.make(world, rate * len(world)),
                    allowed,
                    budget=rate * len(world),
                    tick=step / 1000,
                    bounds=contender.bounds,
                    rule=contender.rule,
                    seed=seed,
                    start_at=history.zero_at,
                )
                logs.append(log)
        for row, log in zip(figures, logs, strict=True):
            row.append(_figures(world, log, start))
    names = [(AS_IT_WAS, None)] + [(each.name, rate) for rate in budgets for each in contenders]
    return [
        BacktestResult(name, rate, {key: np.array([row[key] for row in rows]) for key in rows[0]})
        for (name, rate), rows in zip(names, figures, strict=True)
    ]


def natural_step(history: VisitHistory) -> int:
    """Return how often a crawler would look at its queue to fetch as often as the history [ms].

    A tenth of the gap that a tenth of the gaps are shorter than, but no less than a 4000th of
    the whole.
    """
    later = history.later()
    if not later.size:
        return 1
    gap = np.quantile(history.at[later] - history.at[later - 1], _FEW)
    whole = int(history.last_at.max()) - history.zero_at
    return max(int(gap / _PARTS), math.ceil(whole / _MOST_STEPS), 1)


def as_it_was(history: VisitHistory) -> Log:
    """Return the log of the real visits, but the last of each page."""
    page = history.page
    rows = np.flatnonzero(history.at < history.last_at[page])
    rows = rows[np.lexsort((page[rows], history.at[rows]))]
    n = len(rows)
    return Log(
        page=page[rows].astype(np.int32),
        at=history.at[rows] - history.zero_at,
        outcome=np.full(n, Outcome.SUCCESS, dtype=np.int8),
        observation=history.observation[rows],
        interval=np.full(n, np.nan, dtype=np.float32),
    )


def spent(history: VisitHistory, step: int) -> tuple[float, NDArray[np.int64]]:
    """Return the budget that was really spent, and the visits of each step but the first.

    Parameters
    ----------
    history : VisitHistory
        The visits.
    step : int
        Length of a step. [ms]

    Returns
    -------
    rate : float
        Visits a watched page, first ones included. [1/s]
    allowed : ndarray of int64, shape (k,)
        Beside first visits; those of a step are made at its end.
    """
    is_between = history.at < history.last_at[history.page]
    is_between[history.start[:-1]] = False
    n_steps = _n_steps(history, step)
    place = -(-(history.at[is_between] - history.zero_at) // step)
    allowed = np.bincount(np.minimum(place, n_steps - 1), minlength=n_steps)[1:]
    n_visits = len(history) + int(is_between.sum())
    return n_visits / float(history.watched.sum()), allowed


def steady(history: VisitHistory, step: int, rate: float) -> tuple[float, NDArray[np.int64]]:
    """Return a budget spent evenly on the pages watched, and the visits of each step.

    Parameters
    ----------
    history : VisitHistory
        The visits.
    step : int
        Length of a step. [ms]
    rate : float
        Visits a watched page. [1/s]

    Returns
    -------
    rate, allowed
        As of ``spent``.  First visits are paid for evenly, over all the time watched.

    Raises
    ------
    InputError
        If the budget does not reach for the first visits.
    """
    least = len(history) / float(history.watched.sum())
    if not least < rate < math.inf:
        raise InputError(
            f"the budget of {rate * _DAY:.3g}/page/day is not enough for the time that pages were"
            f" watched: a first visit of each comes to {least * _DAY:.3g}/page/day; give more",
            value=rate,
        )
    at = np.arange(_n_steps(history, step)) * step + history.zero_at
    n_watched = np.searchsorted(np.sort(history.first_at), at, side="right")
    n_watched -= np.searchsorted(np.sort(history.last_at), at, side="right")
    earned = np.cumsum(n_watched[1:] * ((rate - least) * step / 1000))
    return rate, np.diff(np.floor(earned + _TINY), prepend=0).astype(np.int64)


def _n_steps(history: VisitHistory, step: int) -> int:
    """Return how many steps begin while a page is watched."""
    return -(-(int(history.last_at.max()) - history.zero_at) // step)


def _usable(history: VisitHistory, step: int, start: float) -> VisitHistory:
    """Return the history in whole steps, or say why it cannot be used."""
    if not len(history):
        raise InputError(
            "there is no history to go by: no page has two visits that tell whether it changed in"
            " between; crawl on, and come back when the pages were fetched several times"
        )
    length = (int(history.last_at.max()) - history.zero_at) / 1000
    if not 1 <= step < length * 1000:
        raise InputError(
            f"the step is {format_duration(step / 1000)}; allowed: from a millisecond to below"
            f" {format_duration(length)}, the length of the history",
            value=step,
        )
    if not 0 <= start < length:
        raise InputError(
            f"figures from day {start / _DAY:g} on cannot be had of a history of"
            f" {length / _DAY:.3g} days; begin before its end",
            value=start,
        )
    return history.aligned(step)


def _figures(world: World, log: Log, start: float) -> dict[str, float]:
    """Return the figures of a log, each page with the same weight however long it was watched."""
    lived = np.subtract(*(at.clip(min=start) for at in lifetime(world)[::-1]))
    share = np.zeros(len(world))
    np.divide(1, lived, out=share, where=lived > 0)
    importance = world.importance if world.importance.any() else np.ones(len(world))
    row: dict[str, float] = {}
    for suffix, weight in (("", share), ("_weighted", share * importance)):
        made = world.with_columns(importance=(weight / weight.mean()).astype(np.float32))
        found = measure(made, log, start=start)
        for name, value in asdict(found.weighted).items():
            if name not in _COUNTS:
                row[name + suffix] = value
            elif not suffix:
                row[name] = getattr(found.equal, name)
    return row
