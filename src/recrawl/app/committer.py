"""Writes finished visits in batches; one bad page stops that page, a broken store the run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import TypeAlias

from recrawl.app.crash import Crash, crash_commit
from recrawl.app.cycle import Seen, commits_of
from recrawl.app.policy import PolicyOf
from recrawl.app.targets import RedirectTargets
from recrawl.errors import StoreError, StoreFull
from recrawl.ports.clock import Clock
from recrawl.ports.store import Commit, PageStore

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
    ) -> None:
        self._store = store
        self._clock = clock
        self._owner = owner
        self._policy_of = policy_of
        self._redirects = redirects
        self._batch = batch
        self._pause = pause
        self._written = written
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
                self._write(self._applied(batch))

    def _applied(self, batch: Sequence[Finished]) -> list[tuple[Finished, Commit]]:
        """Apply the rules to each visit; where they raise, the page alone is a crash."""
        crashes = [one for one in batch if isinstance(one, Crash)]
        seen = [one for one in batch if isinstance(one, Seen)]
        pairs: list[tuple[Finished, Commit]] = [(one, crash_commit(one)) for one in crashes]
        try:
            commits = commits_of(seen, policy_of=self._policy_of, redirects=self._redirects)
        except Exception as error:
            if len(seen) > 1:
                return pairs + [pair for one in seen for pair in self._applied([one])]
            _LOG.exception("page_failed url=%s", seen[0].page.url)
            crash = _crash_of(seen[0], error)
            return [*pairs, (crash, crash_commit(crash))]
        return pairs + list(zip(seen, commits, strict=True))

    def _write(self, pairs: Sequence[tuple[Finished, Commit]]) -> None:
        """Write commits; if the store refuses one by itself, write that page as a crash."""
        commits = [commit for _, commit in pairs]
        try:
            lost = set(self._store.commit(self._owner, commits, self._clock.now()))
        except StoreFull:
            raise
        except StoreError as error:
            # It may be one row that the store cannot take, or the store. A crash has no text
            # from outside, so that a store which refuses it as well is broken.
            if len(pairs) > 1:
                for pair in pairs:
                    self._write([pair])
                return
            ((finished, _),) = pairs
            if isinstance(finished, Crash):
                raise
            _LOG.exception("commit_failed url=%s", finished.page.url)
            crash = _crash_of(finished, error)
            self._write([(crash, crash_commit(crash))])
            return
        self._written(commits, lost)


def _crash_of(seen: Seen, error: Exception) -> Crash:
    return Crash(seen.page, seen.host, seen.fetched.fetched_at, error)
