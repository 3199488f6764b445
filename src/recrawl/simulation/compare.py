"""Several schedules on the same worlds: what each came to, and how sure the differences are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from recrawl.core.states import Mask, Seconds
from recrawl.simulation.log import Log
from recrawl.simulation.metrics import Metrics, freshness_over_time, measure, require_window
from recrawl.simulation.presets import schedule_for
from recrawl.simulation.run import simulate
from recrawl.simulation.worlds.world import World

__all__ = ["Conditions", "Result", "compare", "paired_difference", "result_of", "run"]

#: The pages of a world are measured in this many parts, whose scatter gives the standard errors.
N_PARTS = 16
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is the same for all schedules of a comparison.

    Parameters
    ----------
    budget : float, optional
        Fetches of the whole collection; by default each due page is fetched. [1/s]
    tick : float
        The crawler looks at the queue this often. [s]
    start : float
        Where the measurement begins. [s]
    host_cap : int, optional
        Fetches a host and tick at most.
    """

    budget: float | None = None
    tick: float = 7200.0
    start: float = 0.0
    host_cap: int | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What a schedule came to.

    Parameters
    ----------
    schedule : str
        Its name, with settings if any were given.
    metrics : tuple of Metrics
        One a world.
    stale : ndarray, shape (m, 2)
        Stale share of each part of each world: with pages equal, and weighted.
    weight : ndarray, shape (m, 2)
        Weight of each part in those.
    edges : ndarray, shape (k + 1,)
        Where the days of ``freshness`` begin, and the end of the last. [s]
    freshness : ndarray, shape (k, 2)
        Mean freshness of each day: with pages equal, and weighted.
    """

    schedule: str
    metrics: tuple[Metrics, ...]
    stale: Seconds
    weight: Seconds
    edges: Seconds
    freshness: Seconds

    def row(self, reference: Result | None = None) -> dict[str, float]:
        """Return the figures by name, as means over the worlds.

        Those with pages weighted by importance end in ``_weighted``.  With a reference there
        are also ``stale_difference`` and its standard error ``stale_difference_se``, paired.
        """
        row: dict[str, float] = {}
        for column, suffix in enumerate(("", "_weighted")):
            parts = [asdict(m.weighted if column else m.equal) for m in self.metrics]
            for name in parts[0]:
                row[name + suffix] = float(np.mean([part[name] for part in parts]))
            if reference is not None:
                difference, error = paired_difference(
                    self.stale[:, column], reference.stale[:, column], self.weight[:, column]
                )
                row[f"stale_difference{suffix}"] = difference
                row[f"stale_difference_se{suffix}"] = error
        return row

    def points(self, *, weighted: bool = False) -> list[dict[str, str | float]]:
        """Return ``schedule``, ``time``, the middle of a day [s], and ``freshness`` of each day."""
        middle = (self.edges[1:] + self.edges[:-1]) / 2
        return [
            {"schedule": self.schedule, "time": float(time), "freshness": float(fresh)}
            for time, fresh in zip(middle, self.freshness[:, int(weighted)], strict=True)
        ]


def compare(
    schedules: Sequence[str],
    worlds: Sequence[World],
    conditions: Conditions | None = None,
    *,
    seeds: Sequence[int] = (),
) -> list[Result]:
    """Return what each schedule came to on each world.

    Parameters
    ----------
    schedules : sequence of str
        Names, see ``presets.schedule_for``.
    worlds : sequence of World
        All of one length.
    conditions : Conditions, optional
        The same for all.
    seeds : sequence of int, optional
        Seed of the queue in each world; by default 0.

    Returns
    -------
    list of Result
        In the order of the schedules.
    """
    conditions = conditions or Conditions()
    results = []
    for name in schedules:
        parts = []
        for i, world in enumerate(worlds):
            log = run(name, world, conditions, seed=seeds[i] if seeds else 0)
            parts.append(result_of(name, world, log, start=conditions.start))
        results.append(_joined(parts))
    return results


def run(name: str, world: World, conditions: Conditions, *, seed: int = 0) -> Log:
    """Return the visits of the schedule of this name under the conditions."""
    require_window(world, conditions.start, world.horizon)
    return simulate(
        world,
        schedule_for(name, world, budget=conditions.budget),
        budget=conditions.budget,
        tick=conditions.tick,
        host_cap=conditions.host_cap,
        seed=seed,
    )


def paired_difference(values: Seconds, others: Seconds, weight: Seconds) -> tuple[float, float]:
    """Return the weighted mean of the differences of parts, and its standard error.

    Parameters
    ----------
    values, others : ndarray, shape (m,)
        The same quantity of the same parts under two schedules.
    weight : ndarray, shape (m,)
        Weight of each part.

    Notes
    -----
    The linear approximation of a ratio's error; NaN for fewer than two parts.  What moves both
    schedules alike, such as one page of great weight, drops out of the differences.
    """
    difference = values - others
    share = weight / weight.sum()
    mean = float((share * difference).sum())
    m = len(difference)
    if m < 2:
        return mean, math.nan
    spread = float(((share * (difference - mean)) ** 2).sum())
    return mean, math.sqrt(spread * m / (m - 1))


def result_of(name: str, world: World, log: Log, *, start: float = 0.0) -> Result:
    """Return what came of one run, measured from ``start`` [s] on."""
    n_parts = min(N_PARTS, len(world))
    stale, weight = np.zeros((n_parts, 2)), np.zeros((n_parts, 2))
    for i in range(n_parts):
        rows = np.arange(i, len(world), n_parts)
        part = world.take(rows)
        found = measure(part, _part_of(log, log.page % n_parts == i, n_parts), start=start)
        stale[i] = found.equal.stale, found.weighted.stale
        weight[i] = len(rows), part.importance.sum(dtype=np.float64)
    n_days = max(math.ceil((world.horizon - start) / _DAY), 1)
    edges = np.minimum(start + np.arange(n_days + 1) * _DAY, world.horizon)
    freshness = np.column_stack(
        [freshness_over_time(world, log, edges, weighted=weighted) for weighted in (False, True)]
    )
    return Result(name, (measure(world, log, start=start),), stale, weight, edges, freshness)


def _part_of(log: Log, chosen: Mask, n_parts: int) -> Log:
    """Return the chosen visits of a log, of every ``n_parts``-th page, with pages renumbered."""
    return replace(
        log,
        page=log.page[chosen] // np.int32(n_parts),
        at=log.at[chosen],
        outcome=log.outcome[chosen],
        observation=log.observation[chosen],
        interval=log.interval[chosen],
    )


def _joined(parts: list[Result]) -> Result:
    """Return the results of one schedule on several worlds as one."""
    return Result(
        parts[0].schedule,
        tuple(metrics for part in parts for metrics in part.metrics),
        np.concatenate([part.stale for part in parts]),
        np.concatenate([part.weight for part in parts]),
        parts[0].edges,
        np.mean([part.freshness for part in parts], axis=0),
    )
