"""How fresh a simulated crawl kept the pages: exact in continuous time."""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.core.states import Seconds
from recrawl.simulation.log import Log
from recrawl.simulation.worlds.world import World

__all__ = ["Figures", "Metrics", "freshness_over_time", "measure"]


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
        From a change to the next visit, or to the end of the window; NaN without changes. [s]
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
    """Return the figures of a crawl within ``[start, end)`` [s]; by default all of it."""
    raise NotImplementedError


def freshness_over_time(
    world: World, log: Log, edges: Seconds, *, weighted: bool = False
) -> Seconds:
    """Return the mean freshness between consecutive edges [s], shape (len(edges) - 1,)."""
    raise NotImplementedError
