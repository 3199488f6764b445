"""The pages of a simulated crawl: what the crawler knows of them, and what is true."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

import numpy as np
from numpy.typing import NDArray

from recrawl.core.columns import NEVER, NO_TIME
from recrawl.core.interval import Bounds
from recrawl.core.states import Mask, PageStates, Seconds, Signatures, Times
from recrawl.core.timing import Learner, Schedule
from recrawl.core.update import Step, UpdateRule, advance
from recrawl.core.visit import Outcome, Visits
from recrawl.simulation.changes import ChangeIndex
from recrawl.simulation.due import due_until, earliest, earliest_capped
from recrawl.simulation.hearing import Hearing
from recrawl.simulation.log import Log
from recrawl.simulation.seeds import generator
from recrawl.simulation.worlds.world import World, millis_after

__all__ = ["Crawl"]

_SCHEME = 1
#: Times are kept as int64 milliseconds; later than this nothing is born.
_LATE = 2.0**52
#: Signals of a page are not counted beyond.
_MOST_SIGNALS = 10_000
#: How many times as many pages as wanted a planner may choose from.
_CANDIDATES = 4


@dataclass(frozen=True, slots=True)
class Crawl:
    """A crawl on its way through a world.

    The arrays are the crawl's own and written into: all else would copy every page at each tick.

    Parameters
    ----------
    world : World
        What is true.
    index : ChangeIndex
        Its changes.
    rule : UpdateRule
        Settings of the update.
    bounds : Bounds, optional
        Bounds of the schedule, if the rule is not exact.
    start_at : int
        The instant of the world's time 0. [ms]
    parts : ndarray of int64
        Where each part of the pages begins that is stepped by itself; the first is 0.
    states : PageStates
        What the crawler knows.
    seen : ndarray of int64, shape (n,)
        Changes of the page at its last visit.
    order, place : ndarray of int64, shape (n,)
        The page at each place of the queue, and the place of each page.
    due : ndarray of int64, shape (n,)
        When the page at each place is due; NEVER also where it is not born. [ms]
    host : ndarray of int32, shape (n,)
        Host of the page at each place.
    births, partings : list of int
        Pages not yet born, and pages that will be watched no longer, the next one last.
    hearing : Hearing
        Signals to come.
    visits : list of Log
        The visits so far, a log a step.
    """

    world: World
    index: ChangeIndex
    rule: UpdateRule
    bounds: Bounds | None
    start_at: int
    parts: NDArray[np.int64]
    states: PageStates
    seen: NDArray[np.int64]
    order: NDArray[np.int64]
    place: NDArray[np.int64]
    due: Times
    host: NDArray[np.int32]
    births: list[int]
    partings: list[int]
    hearing: Hearing
    visits: list[Log] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        world: World,
        schedule: Schedule,
        *,
        rule: UpdateRule,
        bounds: Bounds | None,
        seed: int,
        start_at: int,
        is_first_change: bool,
        n_parts: int,
    ) -> Crawl:
        """Return the crawl before its first visit; the arguments are those of ``simulate``."""
        n = len(world)
        born_at = start_at + millis_after(world.born_at.clip(0, _LATE))
        new = PageStates.of(
            n,
            page_key=np.arange(1, n + 1),
            host_key=world.host.astype(np.int64) + 1,
            group_key=world.group.astype(np.int64) + 1,
            importance=world.importance,
            # A signature that no content has makes the first visit a change.
            signature_scheme=_SCHEME if is_first_change else 0,
        )
        timing = schedule.first(new, start_at)
        order = generator(seed).permutation(n)
        is_late = world.born_at > 0
        return cls(
            world=world,
            index=ChangeIndex.of(world),
            rule=rule,
            bounds=bounds,
            start_at=start_at,
            parts=np.arange(n_parts) * n // n_parts,
            states=new.with_columns({"interval": timing.interval.copy(), "next_fetch_at": born_at}),
            seen=np.full(n, -1),
            order=order,
            place=np.argsort(order),
            due=np.where(is_late, NEVER, born_at)[order],
            host=world.host[order],
            births=_latest_first(world.born_at, is_late),
            partings=_latest_first(world.gone_at, np.isfinite(world.gone_at)),
            hearing=Hearing.of(world),
        )

    def bear(self, now: int) -> NDArray[np.int64]:
        """Put the pages born by ``now`` [ms] into the queue, and return their rows, sorted."""
        at = self.start_at + now
        born = []
        while self.births and self.states.next_fetch_at[self.births[-1]] <= at:
            page = self.births.pop()
            self.due[self.place[page]] = self.states.next_fetch_at[page]
            born.append(page)
        return np.array(sorted(born), dtype=np.int64)

    def part(self, now: int) -> None:
        """Leave the pages alone from now on that are gone by ``now`` [ms]."""
        while self.partings and self.world.gone_at[self.partings[-1]] * 1000 <= now:
            page = self.partings.pop()
            self.due[self.place[page]] = NEVER
            self.states.next_fetch_at[page] = NEVER

    def choose(self, now: int, n: int | None, cap: int | None) -> NDArray[np.int64]:
        """Return the rows of the pages to fetch, in order.

        Parameters
        ----------
        now : int
            Time since the world began. [ms]
        n : int, optional
            How many, whether due or not; by default all that are due.
        cap : int, optional
            How many of a host at most.
        """
        at = self.start_at + now
        if cap is not None:
            most, until = (len(self.due), at) if n is None else (n, NEVER - 1)
            places = earliest_capped(self.due, self.host, most, cap, until=until)
        elif n is None:
            places = due_until(self.due, at)
        else:
            places = earliest(self.due, n)
        return np.sort(self.order[places])

    def candidates(self, now: int, n: int | None) -> NDArray[np.int64]:
        """Return the rows of the pages that a planner chooses n from: overdue, or due next."""
        at = self.start_at + now
        places = due_until(self.due, at)
        if n is not None and len(places) < n * _CANDIDATES:
            places = earliest(self.due, n * _CANDIDATES)
        return self.order[places]

    def visit(
        self,
        schedule: Schedule,
        page: NDArray[np.int64],
        now: int,
        *,
        learner: Learner | None = None,
    ) -> Visits:
        """Fetch pages, take the step that each visit makes, and return what they saw.

        Parameters
        ----------
        schedule : Schedule
            Decides.
        page : ndarray of int64
            Rows of the pages, sorted.
        now : int
            Time since the world began. [ms]
        learner : Learner, optional
            Learns.
        """
        visits = self._fetch(page, now)
        if not page.size:
            return visits
        observation = np.zeros(len(page), dtype=np.int8)
        for rows in np.split(np.arange(len(page)), np.searchsorted(page, self.parts[1:])):
            if rows.size:
                step = self._step(schedule, page[rows], visits.take(rows), now, learner)
                observation[rows] = step.visits.observation
        return replace(visits, observation=observation)

    def hear(self, now: int) -> NDArray[np.int64]:
        """Count the signals that came by ``now`` [ms], and return the pages that they are of."""
        pages, n_new = self.hearing.until(now)
        n = self.states.n_signals[pages].astype(np.int64) + n_new
        self.states.n_signals[pages] = np.minimum(n, _MOST_SIGNALS)
        return pages

    def move(self, page: NDArray[np.int64], due: Times) -> None:
        """Let pages be due at another time [ms]."""
        self.states.next_fetch_at[page] = due
        self.due[self.place[page]] = due

    def log(self) -> Log:
        """Return the visits so far."""
        if not self.visits:
            return Log.empty()
        return Log(
            **{
                f.name: np.concatenate([getattr(v, f.name) for v in self.visits])
                for f in fields(Log)
            }
        )

    def _fetch(self, page: NDArray[np.int64], now: int) -> Visits:
        """Return what the server answers, and remember which version it gave."""
        world, at = self.world, self.start_at + now
        version = self.index.count(page, now)
        is_noisy = world.is_noisy[page]
        is_gone = world.gone_at[page] * 1000 <= now
        has_date = world.has_last_modified[page] & ~is_gone
        is_same = (version == self.seen[page]) & has_date & ~is_noisy
        outcome = np.where(is_same, Outcome.NOTMODIFIED, Outcome.SUCCESS)
        outcome[is_gone] = Outcome.GONE
        if self.rule.exact:
            # As in Nutch, whose fetcher hands the old time on where the server gives none.
            modified_at = self.states.modified_at[page]
        else:
            modified_at = np.full(len(page), NO_TIME)
        dates = np.where(is_noisy, at, self._changed_at(page, version))
        modified_at = np.where(has_date, dates, modified_at)
        has_content = outcome == Outcome.SUCCESS
        self.seen[page[~is_gone]] = version[~is_gone]
        return Visits.of(
            len(page),
            page_key=page + 1,
            fetched_at=at,
            outcome=outcome,
            modified_at=modified_at,
            signature=_signatures(version, np.where(is_noisy, self.states.n_visits[page] + 1, 0)),
            signature_scheme=np.where(has_content, _SCHEME, 0),
        )

    def _changed_at(self, page: NDArray[np.int64], version: NDArray[np.int64]) -> Times:
        """Return when the pages came to be as they are; their birth for the first version."""
        world = self.world
        if not len(world.change_time):
            seconds = world.born_at[page]
        else:
            last = world.change_time[(world.change_start[page] + version - 1).clip(0)]
            seconds = np.where(version > 0, last, world.born_at[page])
        return self.start_at + millis_after(seconds)

    def _step(
        self,
        schedule: Schedule,
        page: NDArray[np.int64],
        visits: Visits,
        now: int,
        learner: Learner | None,
    ) -> Step:
        """Advance the states of some pages, and write down what happened."""
        step = advance(
            self.states.take(page),
            visits,
            schedule=schedule,
            rule=self.rule,
            bounds=self.bounds,
            learner=learner,
        )
        for column in fields(PageStates):
            getattr(self.states, column.name)[page] = getattr(step.states, column.name)
        self.due[self.place[page]] = step.states.next_fetch_at
        self.visits.append(
            Log(
                page=page.astype(np.int32),
                at=np.full(len(page), now, dtype=np.int64),
                outcome=step.visits.outcome,
                observation=step.visits.observation,
                interval=step.states.interval.astype(np.float32),
            )
        )
        return step


def _latest_first(at: Seconds, chosen: Mask) -> list[int]:
    """Return the chosen rows, the latest first."""
    return sorted(np.flatnonzero(chosen).tolist(), key=lambda row: -at[row])


def _signatures(version: NDArray[np.int64], noise: NDArray[np.integer]) -> Signatures:
    """Return a signature for each version of the content; it is never all zeros."""
    parts = np.empty((len(version), 2), dtype=np.int64)
    parts[:, 0] = version + 1
    parts[:, 1] = noise
    return parts.view("V16").ravel()
