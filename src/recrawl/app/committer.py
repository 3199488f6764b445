"""Writes finished visits in batches; one bad page stops that page, a broken store the run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from recrawl.app.crash import Crash, crash_commit
from recrawl.app.cycle import Processed, Seen, process, states_of
from recrawl.app.learned import Learned
from recrawl.app.plan import Plan
from recrawl.app.policy import PagePolicy, PolicyOf
from recrawl.app.targets import RedirectTargets
from recrawl.errors import StoreError, StoreFull
from recrawl.ports.clock import Clock
from recrawl.ports.store import Commit, Move, PageStore

__all__ = ["Committer", "Finished"]

_LOG = logging.getLogger("recrawl.crawler")

#: A visit that has ended, one way or the other.
Finished: TypeAlias = Seen | Crash


class Committer:
    """Takes finished visits and writes them.

    Parameters
    ----------
    store : PageStore
        Where they are written.
    clock : Clock
        Says what time it is.
    owner : str
        Who holds the leases.
    policy_of : callable
        Gives the policy of a page that is found by redirect.
    redirects : RedirectTargets
        Which redirect targets become pages.
    batch : int
        Visits in one transaction at most.
    pause : float
        How long a visit may wait for others. [s]
    written : callable
        Called after each transaction with the commits and the page keys of those whose lease
        was lost.
    plan : Plan, optional
        The learned schedule.  Without one visits teach all the same.
    """

    def __init__(
        self,
        store: PageStore,
        clock: Clock,
        *,
        owner: str,
        policy_of: PolicyOf,
        redirects: RedirectTargets,
        batch: int,
        pause: float,
        written: Callable[[Sequence[Commit], set[int]], None],
        plan: Plan | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._owner = owner
        self._policy_of = policy_of
        self._redirects = redirects
        self._batch = batch
        self._pause = pause
        self._written = written
        self._plan = plan
        self._learned = plan.learned if plan is not None else Learned(store)
        self._queue: asyncio.Queue[Finished | None] = asyncio.Queue()

    def put(self, finished: Finished) -> None:
        """Take a visit that is to be written."""
        self._queue.put_nowait(finished)

    def close(self) -> None:
        """Let ``run`` end once all that was put is written."""
        self._queue.put_nowait(None)

    async def run(self) -> None:
        """Write what is put, until closed.

        Raises
        ------
        StoreError
            If the store fails whatever is written.
        """
        is_open = True
        while is_open:
            item = await self._queue.get()
            if self._queue.qsize() < self._batch:
                await asyncio.sleep(self._pause)
            batch: list[Finished] = []
            while item is not None:
                batch.append(item)
                if len(batch) >= self._batch or self._queue.empty():
                    break
                item = self._queue.get_nowait()
            is_open = item is not None
            if batch:
                self._apply(batch)

    def _apply(self, batch: Sequence[Finished]) -> None:
        """Apply the rules to each visit and write it; where they raise, the page is a crash."""
        crashes = [one for one in batch if isinstance(one, Crash)]
        seen = [one for one in batch if isinstance(one, Seen)]
        pairs: list[tuple[Finished, Commit]] = [(one, crash_commit(one)) for one in crashes]
        lesson = _Lesson()
        try:
            commits, lesson = self._process(seen)
        except StoreError:
            raise
        except Exception as error:
            if len(seen) > 1:
                for one in batch:
                    self._apply([one])
                return
            _LOG.exception("page_failed url=%s", seen[0].page.url)
            crash = _crash_of(seen[0], error)
            self._write([*pairs, (crash, crash_commit(crash))], lesson)
            return
        self._write(pairs + list(zip(seen, commits, strict=True)), lesson)

    def _process(self, seen: Sequence[Seen]) -> tuple[list[Commit], _Lesson]:
        """Apply the rules to visits, and learn from them."""
        if not seen:
            return [], _Lesson()
        now, plan = self._clock.now(), self._plan
        knowledge = self._learned.knowledge(states_of(seen), now)
        processed = process(
            seen,
            policy_of=self._policy_of,
            redirects=self._redirects,
            learner=knowledge,
            schedule_of=None if plan is None else lambda p: plan.schedule_of(p, knowledge, now),
        )
        visits = [(before, visits) for _, before, visits in processed.visited]
        if plan is not None:
            plan.calibrate(knowledge, visits, now)
        lesson = self._learned.absorb(knowledge, visits)
        if plan is None:
            return processed.commits, _Lesson(lesson.records)
        visited = {one.page.state.page_key for one in seen}
        moves = plan.moves(lesson, _policies(processed), now, visited=visited)
        return processed.commits, _Lesson(lesson.records, moves)

    def _write(self, pairs: Sequence[tuple[Finished, Commit]], lesson: _Lesson) -> None:
        """Write commits; if the store refuses one by itself, write that page as a crash."""
        commits = [commit for _, commit in pairs]
        try:
            lost = set(
                self._store.commit(
                    self._owner,
                    commits,
                    self._clock.now(),
                    learned=lesson.records,
                    moves=lesson.moves,
                )
            )
        except StoreFull:
            raise
        except StoreError as error:
            # It may be one row that the store cannot take, or the store. A crash has no text
            # from outside, so that a store which refuses it as well is broken.
            if len(pairs) > 1:
                for pair in pairs:
                    self._write([pair], _Lesson())
                return
            ((finished, _),) = pairs
            if isinstance(finished, Crash):
                raise
            _LOG.exception("commit_failed url=%s", finished.page.url)
            crash = _crash_of(finished, error)
            self._write([(crash, crash_commit(crash))], _Lesson())
            return
        self._written(commits, lost)


@dataclass(frozen=True, slots=True)
class _Lesson:
    """What a batch writes beside its visits; lost if the store takes its pages one by one."""

    records: Mapping[int, bytes] = field(default_factory=dict)
    moves: Sequence[Move] = ()


def _policies(processed: Processed) -> dict[int, PagePolicy]:
    """Return the policy of a page of each group."""
    return {
        key: policy for policy, before, _ in processed.visited for key in before.group_key.tolist()
    }


def _crash_of(seen: Seen, error: Exception) -> Crash:
    return Crash(seen.page, seen.host, seen.fetched.fetched_at, error)
