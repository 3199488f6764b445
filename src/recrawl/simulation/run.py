"""The event loop: a schedule run on a world, with the kernels of the crawler."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from recrawl.core.interval import Bounds
from recrawl.core.states import PageStates
from recrawl.core.timing import Schedule
from recrawl.core.update import UpdateRule
from recrawl.simulation.log import Log
from recrawl.simulation.worlds.world import World

__all__ = ["START_AT", "Replanning", "simulate"]

#: The instant of time 0 of a world. [ms]
START_AT = 1_000_000_000_000


@runtime_checkable
class Replanning(Protocol):
    """A schedule that looks at all pages once a day."""

    def replan(self, states: PageStates, now: int, budget: float | None) -> Schedule:
        """Return the schedule to go on with.

        - Called before the first fetch and then once a day; ``now`` is START_AT + ms [ms].
        - ``states`` are all pages, in the world's order (``page_key`` is row + 1); they are read,
          never kept or written.
        - ``budget`` is in fetches a second, None for none.
        - Due times already set stay.
        """
        ...


def simulate(
    world: World,
    schedule: Schedule,
    *,
    bounds: Bounds | None = None,
    rule: UpdateRule | None = None,
    budget: float | None = None,
    tick: float = 7200.0,
    host_cap: int | None = None,
    seed: int = 0,
    exact: bool = False,
    start_at: int = START_AT,
    is_first_change: bool = False,
    n_parts: int = 1,
) -> Log:
    """Return the visits that a schedule makes in a world.

    Parameters
    ----------
    world : World
        The pages.
    schedule : Schedule
        Decides; one that is ``Replanning`` is asked once a day.
    bounds : Bounds, optional
        By default none to speak of: a millisecond to a hundred years, without jitter.
    rule : UpdateRule, optional
        By default that of the mode.
    budget : float, optional
        Fetches a second; by default every due page is fetched. [1/s]
    tick : float
        The crawler looks at the queue this often. [s]
    host_cap : int, optional
        Fetches a host and tick at most.
    seed : int
        Order of pages that are due at the same instant.
    exact : bool
        As the original of the schedule, without bounds.
    start_at : int
        The instant of the world's time 0. [ms]
    is_first_change : bool
        The first visit of a page counts as a change and not as unknown.
    n_parts : int
        The pages are stepped in this many parts; the answer is the same.
    """
    raise NotImplementedError
