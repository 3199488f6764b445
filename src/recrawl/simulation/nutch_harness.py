"""The totals of the harness that Nutch ships with its adaptive schedule."""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.core.timing import Schedule
from recrawl.simulation.log import Log
from recrawl.simulation.worlds.world import World

__all__ = ["HarnessTotals", "run_harness"]


@dataclass(frozen=True, slots=True)
class HarnessTotals:
    """What ``AdaptiveFetchSchedule.main`` prints."""

    total_missed: int
    max_miss: int
    changed: int
    fetched: int


def run_harness(schedule: Schedule, world: World, *, step: float) -> tuple[Log, HarnessTotals]:
    """Return visits and totals of an exact schedule on a world, stepped as the original does.

    The world ``fixed:31d`` of one page over 10,000 days with steps of a day is the original.
    """
    raise NotImplementedError
