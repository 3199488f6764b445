"""One worker process as its pool sees it: what it has to read, and when it must be done."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from recrawl.extract._frames import FrameReader, unpack_extracted
from recrawl.ports.extractor import Extracted

__all__ = ["Job", "WorkerProcess"]

# A worker that is not ready by then never will be. [s]
_START_LIMIT = 60.0


@dataclass(eq=False, slots=True)
class Job:
    """A document on its way: its number, its message, who waits for it.

    ``n_deaths`` counts the workers that died while they read it.
    """

    number: int
    message: bytes
    future: asyncio.Future[Extracted]
    n_deaths: int = 0

    def resolve(self, result: Extracted) -> None:
        """Give the result to who waits, if anyone still does."""
        if not self.future.done():
            self.future.set_result(result)


class WorkerProcess(asyncio.Protocol):
    """A process that reads documents in the order it gets them.

    Parameters
    ----------
    time_limit : float
        A document that takes longer ends the process. [s]
    memory_limit : int
        Address space of the process. [bytes]
    on_free : callable
        Called after each document.
    on_lost : callable
        Called once when the process has ended or must; ``jobs`` holds what it did not do.

    Raises
    ------
    OSError
        The system starts no process.

    Notes
    -----
    A fresh interpreter, not a fork: a fork of a process with threads may hang, and starting it
    needs nothing from the parent but the socket.  When the parent ends, however it does, the
    socket is closed and the worker with it.
    """

    def __init__(
        self,
        *,
        time_limit: float,
        memory_limit: int,
        on_free: Callable[[], None],
        on_lost: Callable[[WorkerProcess], None],
    ) -> None:
        self.jobs: deque[Job] = deque()
        self.is_ready = False
        self.has_timed_out = False
        self._time_limit = time_limit
        self._on_free = on_free
        self._on_lost = on_lost
        self._reader = FrameReader()
        self._loop = asyncio.get_running_loop()
        self._socket, theirs = socket.socketpair()
        with theirs, contextlib.ExitStack() as undo:
            undo.callback(self._socket.close)
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                _command(time_limit, memory_limit), stdin=theirs.fileno(), stdout=subprocess.DEVNULL
            )
            undo.pop_all()
        self._transport: asyncio.WriteTransport | None = None
        self._connecting = self._loop.create_task(self._connect())
        self._deadline = self._loop.time() + _START_LIMIT
        self._timer: asyncio.TimerHandle | None = self._loop.call_at(self._deadline, self._check)

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._process.pid

    def take(self, job: Job) -> None:
        """Read one more document, after those it has."""
        self.jobs.append(job)
        if self._transport is not None:
            self._transport.write(job.message)
        if self.is_ready and len(self.jobs) == 1:
            self._start_head()

    async def end(self) -> None:
        """End the process by force and wait until it is gone."""
        if self._timer is not None:
            self._timer.cancel()
        self._process.kill()
        self._connecting.cancel()
        if self._transport is not None:
            self._transport.abort()
        self._socket.close()
        await asyncio.to_thread(self._process.wait)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send what came in while the process was starting."""
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport
        for job in self.jobs:
            transport.write(job.message)

    def data_received(self, data: bytes) -> None:
        """Take results, in the order of the documents."""
        try:
            for number, fields in self._reader.feed(data):
                if not self.is_ready:
                    self.is_ready = True
                else:
                    self._finish(number, unpack_extracted(fields))
                if self.jobs:
                    self._start_head()
        except (ValueError, struct.error):
            # No worker of ours sends this; a page has taken it over.
            self._on_lost(self)
            return
        self._on_free()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the pool that the process has ended."""
        del exc
        self._on_lost(self)

    async def _connect(self) -> None:
        await self._loop.create_connection(lambda: self, sock=self._socket)

    def _finish(self, number: int, result: Extracted) -> None:
        if not self.jobs or self.jobs[0].number != number:
            raise ValueError(f"answer {number} to no question")
        self.jobs.popleft().resolve(result)

    def _start_head(self) -> None:
        """Note when the first document must be done; one timer serves many documents."""
        self._deadline = self._loop.time() + self._time_limit
        if self._timer is not None and self._timer.when() > self._deadline:
            self._timer.cancel()  # the one of the start
            self._timer = None
        if self._timer is None:
            self._timer = self._loop.call_at(self._deadline, self._check)

    def _check(self) -> None:
        """End the process if its document took too long; else look again later."""
        self._timer = None
        if not self.jobs and self.is_ready:
            return
        if self._loop.time() < self._deadline:
            self._timer = self._loop.call_at(self._deadline, self._check)
            return
        self.has_timed_out = self.is_ready
        self._on_lost(self)


def _command(time_limit: float, memory_limit: int) -> list[str]:
    """Return the command of a worker; -P keeps modules in the working directory out of it."""
    module = "recrawl.extract.worker"
    return [sys.executable, "-P", "-m", module, str(time_limit), str(memory_limit)]
