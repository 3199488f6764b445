"""How fresh a simulated crawl kept the pages: exact in continuous time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from recrawl.core.states import Mask, Seconds
from recrawl.errors import InputError
from recrawl.simulation.changes import ChangeIndex
from recrawl.simulation.log import Log
from recrawl.simulation.staleness import (
    Detections,
    Spells,
    detections,
    lifetime,
    stale_spells,
    visit_gains,
)
from recrawl.simulation.worlds.world import World

__all__ = ["Figures", "Metrics", "freshness_over_time", "measure", "require_window"]

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Figures:
    """What came of a crawl within a window.

    Parameters
    ----------
    stale : float
        Share of time in which a page's copy was not what the page was.
    age : float
        Time-average of the time since the first change that no visit saw yet. [s]
    delay_mean, delay_p95 : float
        From a change to the next visit, or to the end of the page or the window; NaN without
        changes. [s]
    fetches : float
        Visits.
    wasted : float
        Share of visits that found no true change; NaN without visits.
    changes : float
        True changes.
    missed : float
        Share of changes that no visit saw before the next change, or at all; NaN without changes.
    """

    stale: float
    age: float
    delay_mean: float
    delay_p95: float
    fetches: float
    wasted: float
    changes: float
    missed: float

    @property
    def freshness(self) -> float:
        """Share of time in which a page's copy was what the page was."""
        return 1 - self.stale


@dataclass(frozen=True, slots=True)
class Metrics:
    """Figures with pages equal, and weighted by importance (counts relative to its mean)."""

    equal: Figures
    weighted: Figures


def measure(world: World, log: Log, *, start: float = 0.0, end: float | None = None) -> Metrics:
    """Return the figures of a crawl within a window.

    Parameters
    ----------
    world : World
        What was true.
    log : Log
        What the crawl did.
    start, end : float
        The window, without its end; by default all of the world. [s]

    Raises
    ------
    InputError
        If the window is empty or reaches beyond the world.

    Notes
    -----
    A page is stale from its birth to its first visit, and from each first change that no visit
    saw to the next visit.  What happens before the window counts where it reaches into it.
    Changes and visits count where they lie in the window; a change that no visit saw until the
    end, of the page or the window, waited until the end.  A visit at the instant of a change sees
    it; instants are told apart to the millisecond.
    """
    end = world.horizon if end is None else end
    require_window(world, start, end)
    index = ChangeIndex.of(world)
    parts = (
        stale_spells(world, index, log),
        detections(world, index, log),
        visit_gains(index, log),
    )
    weight = world.importance.astype(np.float64)
    weight /= weight.mean()
    return Metrics(
        equal=_figures(world, log, *parts, np.ones(len(world)), start, end),
        weighted=_figures(world, log, *parts, weight, start, end),
    )


def require_window(world: World, start: float, end: float) -> None:
    """Raise InputError unless the window [s] lies in the world and is not empty."""
    if not 0 <= start < end <= world.horizon:
        first, last, days = (f"{seconds / _DAY:g}" for seconds in (start, end, world.horizon))
        raise InputError(
            f"figures from day {first} to day {last} cannot be had of a world of {days} days;"
            " begin before its end",
            value=(start, end),
        )


def _figures(
    world: World,
    log: Log,
    spells: Spells,
    found: Detections,
    gains: Mask,
    weight: Seconds,
    start: float,
    end: float,
) -> Figures:
    born_at, gone_at = (times.clip(start, end) for times in lifetime(world))
    total = float(weight @ (gone_at - born_at))
    since, until = spells.start.clip(start, end), spells.end.clip(start, end)
    length = weight[spells.page] * (until - since)
    age = length @ ((since + until) / 2 - spells.start)
    time = world.change_time
    last = np.minimum(end, world.gone_at)[found.page]
    change = np.flatnonzero((time >= start) & (time < last))
    waited = np.minimum(found.seen_at, last)[change] - time[change]
    of_change = weight[found.page[change]]
    is_missed = found.is_missed[change] | (found.seen_at[change] >= end)
    visit = np.flatnonzero((log.at >= start * 1000) & (log.at < end * 1000))
    of_visit = weight[log.page[visit]]
    return Figures(
        stale=_ratio(float(length.sum()), total),
        age=_ratio(float(age), total),
        # The change may lie a part of a millisecond after the visit that sees it.
        delay_mean=_ratio(float(of_change @ waited.clip(0)), float(of_change.sum())),
        delay_p95=_quantile(waited.clip(0), of_change, 0.95),
        fetches=float(of_visit.sum()),
        wasted=_ratio(float(of_visit @ ~gains[visit]), float(of_visit.sum())),
        changes=float(of_change.sum()),
        missed=_ratio(float(of_change @ is_missed), float(of_change.sum())),
    )


def freshness_over_time(
    world: World, log: Log, edges: Seconds, *, weighted: bool = False
) -> Seconds:
    """Return the mean freshness between consecutive instants.

    Parameters
    ----------
    world : World
        What was true.
    log : Log
        What the crawl did.
    edges : ndarray, shape (k + 1,)
        Instants that rise. [s]
    weighted : bool
        Weighted by importance.

    Returns
    -------
    ndarray, shape (k,)
        NaN where no page was there.
    """
    weight = world.importance.astype(np.float64) if weighted else np.ones(len(world))
    spells = stale_spells(world, ChangeIndex.of(world), log)
    of_spell = weight[spells.page]
    stale = _until(edges, spells.start, of_spell) - _until(edges, spells.end, of_spell)
    born_at, gone_at = lifetime(world)
    there = _until(edges, born_at, weight) - _until(edges, gone_at, weight)
    total = np.diff(there)
    fresh = np.full(len(total), np.nan)
    np.divide(total - np.diff(stale), total, out=fresh, where=total > 0)
    return fresh


def _until(edges: Seconds, start: Seconds, weight: Seconds) -> Seconds:
    """Return the weighted time that has passed at each edge since all starts before it."""
    order = np.argsort(start)
    total = np.append(0, np.cumsum(weight[order]))
    moment = np.append(0, np.cumsum((weight * start)[order]))
    n_before = np.searchsorted(start[order], edges)
    passed: Seconds = edges * total[n_before] - moment[n_before]
    return passed


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else math.nan


def _quantile(values: Seconds, weight: Seconds, share: float) -> float:
    """Return the least value that has this share of the weight at or below it; NaN of none."""
    if not len(values):
        return math.nan
    order = np.argsort(values)
    below = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(below, share * below[-1])])
