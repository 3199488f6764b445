"""The totals of the harness that Nutch ships with its adaptive schedule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.core.timing import Schedule
from recrawl.core.update import UpdateRule
from recrawl.simulation.changes import ChangeIndex
from recrawl.simulation.log import Log
from recrawl.simulation.run import simulate
from recrawl.simulation.worlds.world import World

__all__ = ["HarnessTotals", "harness_totals", "run_harness"]


@dataclass(frozen=True, slots=True)
class HarnessTotals:
    """What ``AdaptiveFetchSchedule.main`` prints.

    Parameters
    ----------
    total_missed, max_miss : int
        Steps that changes waited, and a step for each visit that found none: over all visits,
        and the most of one visit.
    changed : int
        Changes of the pages.
    fetched : int
        Visits.
    """

    total_missed: int
    max_miss: int
    changed: int
    fetched: int


def run_harness(schedule: Schedule, world: World, *, step: float) -> tuple[Log, HarnessTotals]:
    """Return visits and totals of a schedule on a world, stepped as the original steps.

    Parameters
    ----------
    schedule : Schedule
        Best an exact one.
    world : World
        ``fixed:31d``, a page, 10,000 days and steps of a day are the original.
    step : float
        Time between looks at the queue. [s]

    Notes
    -----
    The world begins in 1970, the first visit counts as a change, the server tells when each page
    changed, and no page is refetched by force; all as in AdaptiveFetchSchedule.main, whose page
    changes each 31 days although its comment says 30 (the comparison is strict).
    """
    # The harness calls the schedule alone, and not the update around it.
    rule = UpdateRule(exact=True, interval_max=np.inf)
    told = world.with_columns(has_last_modified=np.ones(len(world), dtype=bool))
    log = simulate(told, schedule, rule=rule, tick=step, start_at=0, is_first_change=True)
    return log, harness_totals(world, log, step=step)


def harness_totals(world: World, log: Log, *, step: float) -> HarnessTotals:
    """Return the totals of the visits that a crawl made with this step [s]."""
    order = np.lexsort((log.at, log.page))
    page, at = log.page[order].astype(np.int64), log.at[order]
    is_first = np.ones(len(page), dtype=bool)
    is_first[1:] = np.diff(page) != 0
    before = np.where(is_first, -1, np.roll(at, 1))
    index = ChangeIndex.of(world)
    change = index.position(page, before)
    is_changed = change < index.position(page, at)
    time = np.append(world.change_time, 0)[np.where(is_changed, change, -1)]
    # A change is there from the first look on that is not before it.
    waited = at // round(step * 1000) - np.ceil(time / step).astype(np.int64)
    missed = np.where(is_changed, waited, np.where(is_first, 0, 1))
    return HarnessTotals(
        total_missed=int(missed.sum()),
        max_miss=int(missed.max(initial=0)),
        changed=int(world.n_changes.sum()),
        fetched=len(log),
    )
