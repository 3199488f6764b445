"""Reads documents in worker processes, each with a hard limit of time and memory.

A hostile page can keep a parser busy for minutes or crash it.  In a process of its own it is
ended by force, and nothing else is lost.
"""

from __future__ import annotations

import asyncio
from collections import deque

from recrawl.errors import InputError, RecrawlError, UsageError
from recrawl.extract._frames import pack_request
from recrawl.extract._process import Job, WorkerProcess
from recrawl.extract.worker import READY
from recrawl.ports.extractor import Extracted

__all__ = ["ExtractPool"]

# Documents that a worker has at once: one it reads, the others so that it need not wait.
_DEPTH = 4

# Something else than its document may have ended a worker, so a document gets a second one.
_MAX_DEATHS = 2

# After so many workers in a row that ended before they were ready, none will ever be.
_MAX_FAILED_STARTS = 3


class ExtractPool:
    """Worker processes that turn documents into text; an ``Extractor``.

    Parameters
    ----------
    n_workers : int
        Most processes at once, at least 1; each is started when there is work for it.
    time_limit : float
        A document that takes longer has error ``time_limit``. [s]
    memory_limit : int
        Address space of a worker; a document that needs more has error ``crashed``. [bytes]

    Notes
    -----
    A document whose worker dies is tried in a second one; if that dies too, its error is
    ``crashed``.  Documents behind it in the same worker go to another.  Belongs to the event
    loop in which it is first used.
    """

    def __init__(
        self, *, n_workers: int = 2, time_limit: float = 10.0, memory_limit: int = 2 << 30
    ) -> None:
        if n_workers < 1:
            raise InputError(f"n_workers is {n_workers}; give at least 1", value=n_workers)
        if not time_limit > 0:
            raise InputError(f"time_limit is {time_limit}; give seconds above 0", value=time_limit)
        if memory_limit < 1:
            raise InputError(
                f"memory_limit is {memory_limit}; give bytes, such as {2 << 30}", value=memory_limit
            )
        self._n_workers = n_workers
        self._time_limit = time_limit
        self._memory_limit = memory_limit
        self._backlog: deque[Job] = deque()
        self._workers: list[WorkerProcess] = []
        self._ending: set[asyncio.Task[None]] = set()
        self._last_number = READY
        self._n_failed_starts = 0
        self._is_closed = False

    @property
    def pids(self) -> list[int]:
        """Ids of the worker processes, for whoever watches the machine."""
        return [worker.pid for worker in self._workers]

    async def extract(self, body: bytes, *, content_type: str | None, url: str | None) -> Extracted:
        """Return what the document says; see ``Extractor``.

        Raises
        ------
        UsageError
            The pool was closed.
        RecrawlError
            The system starts no worker process.
        """
        if self._is_closed:
            raise UsageError("the pool of extraction workers was closed; make a new one")
        # 32 bits, and never READY.
        self._last_number = self._last_number % 0xFFFFFFFF + 1
        message = pack_request(self._last_number, body, content_type, url)
        job = Job(self._last_number, message, asyncio.get_running_loop().create_future())
        self._backlog.append(job)
        self._dispatch()
        return await job.future

    async def close(self) -> None:
        """End the workers and wait until they are gone; cancels what is not finished."""
        self._is_closed = True
        for job in (*self._backlog, *(job for worker in self._workers for job in worker.jobs)):
            job.future.cancel()
        self._backlog.clear()
        for worker in self._workers:
            worker.jobs.clear()
            self._end(worker)
        self._workers.clear()
        while self._ending:
            await asyncio.wait(self._ending)

    def _dispatch(self) -> None:
        """Hand waiting documents to the workers that have least, starting workers as needed."""
        while self._backlog:
            if self._backlog[0].future.done():  # who waited for it was cancelled
                self._backlog.popleft()
                continue
            worker = min(self._workers, key=lambda worker: len(worker.jobs), default=None)
            if (worker is None or worker.jobs) and len(self._workers) < self._n_workers:
                worker = self._start() or worker
            if worker is None or len(worker.jobs) >= _DEPTH:
                return
            worker.take(self._backlog.popleft())

    def _start(self) -> WorkerProcess | None:
        """Return a new worker; None, with the documents given up if there is no other one."""
        try:
            worker = WorkerProcess(
                time_limit=self._time_limit,
                memory_limit=self._memory_limit,
                on_free=self._dispatch,
                on_lost=self._lost,
            )
        except OSError as error:
            if not self._workers:
                self._give_up(f"the system starts no process: {error}")
            return None
        self._workers.append(worker)
        return worker

    def _end(self, worker: WorkerProcess) -> None:
        """End a worker in the background; ``close`` waits for it."""
        task = asyncio.get_running_loop().create_task(worker.end())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _lost(self, worker: WorkerProcess) -> None:
        """Settle what a worker had that has ended or must end."""
        if worker not in self._workers:
            return
        self._workers.remove(worker)
        self._end(worker)
        self._n_failed_starts = 0 if worker.is_ready else self._n_failed_starts + 1
        if worker.is_ready and worker.jobs:
            head = worker.jobs[0]
            head.n_deaths += 1
            if worker.has_timed_out:
                worker.jobs.popleft().resolve(Extracted("", error="time_limit"))
            elif head.n_deaths >= _MAX_DEATHS:
                worker.jobs.popleft().resolve(Extracted("", error="crashed"))
        self._backlog.extendleft(reversed(worker.jobs))
        if self._n_failed_starts >= _MAX_FAILED_STARTS:
            self._n_failed_starts = 0
            self._give_up("workers end before they are ready; see their messages")
            return
        self._dispatch()

    def _give_up(self, reason: str) -> None:
        """Raise in all who wait for a worker; without one they would wait for ever."""
        for job in self._backlog:
            if not job.future.done():
                job.future.set_exception(
                    RecrawlError(
                        f"cannot start an extraction worker: {reason}. "
                        "Look for the fault with: python -c 'import recrawl.extract.worker'"
                    )
                )
        self._backlog.clear()
