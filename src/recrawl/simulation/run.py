"""The event loop: a schedule run on a world, with the kernels of the crawler."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from recrawl.core.interval import LONGEST_INTERVAL, SHORTEST_INTERVAL, Bounds
from recrawl.core.states import PageStates
from recrawl.core.timing import Schedule
from recrawl.core.update import UpdateRule
from recrawl.errors import InputError
from recrawl.planning.planner import Planner
from recrawl.simulation.crawl import Crawl
from recrawl.simulation.log import Log
from recrawl.simulation.worlds.world import World

__all__ = ["START_AT", "Replanning", "replay", "simulate"]

#: The instant of time 0 of a world. [ms]
START_AT = 1_000_000_000_000

_DAY = 86_400_000
#: Each schedule is seen as it is: narrow bounds would keep its intervals from growing too far.
_BOUNDS = Bounds(SHORTEST_INTERVAL, LONGEST_INTERVAL, jitter=0.0)
#: Less than any fetch; it takes away the rounding of a budget that gives whole fetches.
_TINY = 1e-6


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
    schedule: Schedule | Planner,
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
    schedule : Schedule or Planner
        Decides; one that is ``Replanning`` and a planner are asked once a day.  A planner is used
        up: it has learned this world.
    bounds : Bounds, optional
        By default a millisecond to a hundred years, without jitter.
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

    Returns
    -------
    Log
        The visits.

    Raises
    ------
    InputError
        If a number is out of range, or exact mode is given bounds.

    Notes
    -----
    All pages that are there at time 0 are fetched then, whatever the budget and the caps: nothing
    is known of them.  Pages born later are due when they are born.

    With a budget the pages due first are fetched, and pages not yet due where none are, so that
    every schedule spends the same.  Pages that are due NEVER are left alone.  A fraction of a
    fetch is carried to the next tick, more is not.  All fetches of a tick happen at its start.
    """
    rule = rule or UpdateRule(exact=exact)
    _check(budget, tick, host_cap, n_parts)
    if not rule.exact:
        bounds = bounds or _BOUNDS
    crawl = Crawl.of(
        world,
        schedule.schedule if isinstance(schedule, Planner) else schedule,
        rule=rule,
        bounds=bounds,
        seed=seed,
        start_at=start_at,
        is_first_change=is_first_change,
        n_parts=n_parts,
    )
    n_ticks = math.ceil(world.horizon / tick)
    allowed = (_allowance(k, budget, tick) for k in range(1, n_ticks))
    return _live(crawl, schedule, allowed, budget=budget, tick=tick, host_cap=host_cap)


def replay(
    world: World,
    schedule: Schedule | Planner,
    allowed: NDArray[np.int64],
    *,
    budget: float,
    tick: float,
    bounds: Bounds | None = None,
    rule: UpdateRule | None = None,
    seed: int = 0,
    start_at: int = START_AT,
) -> Log:
    """Return the visits that a schedule makes of pages while they are watched.

    As ``simulate``, but that a page is watched from ``born_at`` to ``gone_at``: its first visit
    is made in the first tick in which it is watched, beyond what is allowed, and from the last
    on it is left alone.

    Parameters
    ----------
    world : World
        The pages.
    schedule : Schedule or Planner
        As for ``simulate``.
    allowed : ndarray of int64, shape (k,)
        Visits in each tick but the first, beside first visits.
    budget : float
        What ``Replanning`` schedules are told of the budget. [1/s]
    tick : float
        Length of a tick. [s]
    bounds : Bounds, optional
        As for ``simulate``.
    rule : UpdateRule, optional
        As for ``simulate``.
    seed : int
        As for ``simulate``.
    start_at : int
        As for ``simulate``. [ms]

    Returns
    -------
    Log
        The visits.
    """
    rule = rule or UpdateRule()
    crawl = Crawl.of(
        world,
        schedule.schedule if isinstance(schedule, Planner) else schedule,
        rule=rule,
        bounds=None if rule.exact else bounds or _BOUNDS,
        seed=seed,
        start_at=start_at,
        is_first_change=False,
        n_parts=1,
    )
    return _live(crawl, schedule, allowed.tolist(), budget=budget, tick=tick, is_watched=True)


def _live(
    crawl: Crawl,
    schedule: Schedule | Planner,
    allowed: Iterable[int | None],
    *,
    budget: float | None,
    tick: float,
    host_cap: int | None = None,
    is_watched: bool = False,
) -> Log:
    """Return the visits of a crawl with so many in each tick but the first, None for any."""
    next_plan = 0
    for k, n in enumerate(itertools.chain([None], allowed)):
        now = round(k * tick * 1000)
        at = crawl.start_at + now
        if isinstance(schedule, Replanning) and now >= next_plan:
            schedule = schedule.replan(crawl.states, at, budget)
            next_plan = now + _DAY
            if isinstance(schedule, Planner):
                crawl.move(*schedule.asked(crawl.states, at))
        born = crawl.bear(now)
        if is_watched:
            crawl.part(now)
            _visit(crawl, schedule, born, now)
        if n == 0:
            continue
        cap = host_cap if k else None
        if isinstance(schedule, Planner):
            page = _picked(crawl, schedule, now, n, cap)
        else:
            page = crawl.choose(now, n, cap)
        _visit(crawl, schedule, page, now)
    return crawl.log()


def _picked(
    crawl: Crawl, planner: Planner, now: int, n: int | None, cap: int | None
) -> NDArray[np.int64]:
    """Return the pages that a planner chooses, in order; the others go back."""
    at = crawl.start_at + now
    told = crawl.hear(now)
    if told.size:
        crawl.move(told, planner.hear(crawl.states.take(told), at))
    rows = crawl.candidates(now, n)
    chosen, due = planner.pick(
        crawl.states.take(rows), at, len(rows) if n is None else n, host_cap=cap
    )
    crawl.move(rows, due)
    return np.sort(rows[chosen])


def _visit(crawl: Crawl, schedule: Schedule | Planner, page: NDArray[np.int64], now: int) -> None:
    """Fetch pages, and let a planner learn from what is found."""
    if not isinstance(schedule, Planner):
        crawl.visit(schedule, page, now)
        return
    before = crawl.states.take(page)
    visits = crawl.visit(schedule.schedule, page, now, learner=schedule.knowledge)
    crawl.move(*schedule.absorb(crawl.states, before, visits, crawl.start_at + now))


def _check(budget: float | None, tick: float, host_cap: int | None, n_parts: int) -> None:
    allowed: tuple[tuple[str, float | None, bool], ...] = (
        ("budget", budget, budget is None or 0 <= budget < math.inf),
        ("tick", tick, 0.001 <= tick < math.inf),
        ("host_cap", host_cap, host_cap is None or host_cap >= 1),
        ("n_parts", n_parts, n_parts >= 1),
    )
    for name, value, is_good in allowed:
        if not is_good:
            raise InputError(f"simulate: {name} is {value}; see its allowed range", value=value)


def _allowance(k: int, budget: float | None, tick: float) -> int | None:
    """Return how many fetches tick k may make; None for any number."""
    if budget is None:
        return None
    # From the start each time, so that no rounding adds up.
    return math.floor(k * tick * budget + _TINY) - math.floor((k - 1) * tick * budget + _TINY)
