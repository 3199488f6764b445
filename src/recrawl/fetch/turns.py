"""Whose turn it is: one row a host in memory, and requests sent at their time only."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from recrawl.fetch.conditional import retry_after
from recrawl.fetch.failures import LOCAL_REASONS, PRIVATE_ADDRESS
from recrawl.fetch.politeness import Politeness
from recrawl.fetch.wire import Reply, Wire
from recrawl.ports.clock import Clock
from recrawl.ports.store import HostRow

__all__ = ["PacedWire", "Turn"]

# Idle hosts are forgotten once there are more; looked at again when twice as many are left.
_MANY_HOSTS = 4096
# Failures of transport that speak of the host, and not of one answer of it.
_HOST_FAILURES = frozenset({"timeout", "dns", "tls", "connection", "bad_http"})


class Turn:
    """One host while it is being asked; as a context manager, one of its slots.

    Parameters
    ----------
    row : HostRow
        The host as it was last seen.
    n_at_once : int
        Requests that may be under way at the same time.
    """

    __slots__ = ("_slots", "asking_robots", "n_users", "replied_at", "row")

    def __init__(self, row: HostRow, n_at_once: int) -> None:
        self.row = row
        self._slots = asyncio.Semaphore(n_at_once)
        #: Held while robots.txt is asked for: it is asked for once.
        self.asking_robots = asyncio.Lock()
        self.n_users = 0
        #: When the last answer came, so that a kept connection may exist. [ms]
        self.replied_at: int | None = None

    async def __aenter__(self) -> Self:
        self.n_users += 1
        try:
            await self._slots.acquire()
        except BaseException:
            self.n_users -= 1
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._slots.release()
        self.n_users -= 1

    def merge(self, row: HostRow) -> None:
        """Take over a row from outside if it is newer: every request moves ``ready_at`` on."""
        if row.ready_at > self.row.ready_at:
            self.row = row


class PacedWire:
    """Sends requests when their host is ready, and keeps each host's row.

    Parameters
    ----------
    wire : Wire
        Sends.
    clock : Clock
        Tells the time and sleeps.
    politeness : Politeness
        Delays and back-off.
    n_at_once : int
        Requests to one host at once.
    keepalive : float
        How long the wire keeps idle connections. [s]
    """

    def __init__(
        self,
        wire: Wire,
        clock: Clock,
        politeness: Politeness,
        *,
        n_at_once: int,
        keepalive: float,
    ) -> None:
        self._wire = wire
        self._clock = clock
        self._politeness = politeness
        self._n_at_once = n_at_once
        self._keepalive = round(1000 * keepalive)
        self._turns: dict[int, Turn] = {}
        self._prune_at = _MANY_HOSTS

    def turn(self, row: HostRow) -> Turn:
        """Return the host's turn, with what is newer of its row and the one given."""
        turn = self._turns.get(row.host_key)
        if turn is None:
            if len(self._turns) >= self._prune_at:
                self._forget_idle()
            turn = self._turns[row.host_key] = Turn(row, self._n_at_once)
        else:
            turn.merge(row)
        return turn

    async def send(
        self, url: str, turn: Turn, *, headers: Mapping[str, str] | None = None, max_size: int
    ) -> tuple[int, Reply]:
        """Send one request as soon as the host is ready.

        - Leaves no earlier than ``turn.row.ready_at``, which is moved on at that moment.
        - The answer is accounted for in ``turn.row``: failures, Retry-After, back-off.
        - Sent a second time, at its time, if a kept connection turned out to be closed.

        Returns
        -------
        start : int
            When the request left. [ms]
        reply : Reply
            What came back.
        """
        start = await self._depart(turn)
        may_be_kept = turn.replied_at is not None and start - turn.replied_at <= self._keepalive
        reply = await self._wire.get(url, headers or {}, max_size=max_size)
        if reply.is_stale_connection and may_be_kept:
            start = await self._depart(turn)
            reply = await self._wire.get(url, headers or {}, max_size=max_size)
        self._account(turn, reply)
        return start, reply

    async def wait(self, turn: Turn) -> int:
        """Sleep until the host is ready; return the present [ms]."""
        while (now := self._clock.now()) < turn.row.ready_at:
            await self._clock.sleep_until(turn.row.ready_at)
        return now

    async def _depart(self, turn: Turn) -> int:
        # Nothing happens between the last look at the time and the new ready_at: two requests
        # that wait for the same instant do not leave together.
        now = await self.wait(turn)
        turn.row = self._politeness.depart(turn.row, now)
        return now

    def _account(self, turn: Turn, reply: Reply) -> None:
        now = self._clock.now()
        status = reply.status_code
        if status is not None:
            turn.replied_at = now
            if status == 429 or status >= 500:
                wait = retry_after(reply.headers, now) if status in (429, 503) else None
                turn.row = self._politeness.retreat(turn.row, now, retry_after=wait)
            else:
                turn.row = self._politeness.relent(turn.row)
        elif reply.reason in _HOST_FAILURES:
            turn.row = self._politeness.retreat(turn.row, now)
        elif reply.reason in LOCAL_REASONS and reply.reason != PRIVATE_ADDRESS:
            turn.row = self._politeness.retreat(turn.row, now, is_hosts_fault=False)

    def _forget_idle(self) -> None:
        now = self._clock.now()
        self._turns = {
            key: turn
            for key, turn in self._turns.items()
            if turn.n_users > 0 or turn.row.ready_at > now
        }
        self._prune_at = max(_MANY_HOSTS, 2 * len(self._turns))
