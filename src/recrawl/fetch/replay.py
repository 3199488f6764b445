"""Answers from a script or from recorded visits, in place of the network."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from recrawl.core.visit import Outcome
from recrawl.fetch.politeness import Politeness
from recrawl.ports.clock import Clock
from recrawl.ports.fetcher import Fetched, PageRequest
from recrawl.ports.store import HostRow

__all__ = ["ReplayFetcher", "Script"]

#: Answers by URL, one after another of which the last stays; or a function of request and time.
Script: TypeAlias = (
    Mapping[str, Fetched | Sequence[Fetched]] | Callable[[PageRequest, int], Fetched]
)

# No answer at all, or one that asks us to stay away.
_HOST_FAILURES = frozenset({None, 429, *range(500, 600)})


class ReplayFetcher:
    """Implements ``ports.fetcher.Fetcher`` without a network.

    Parameters
    ----------
    script : Script
        What is answered. A URL that is not in it is GONE, with status 404. ``fetched_at`` of an
        answer is replaced by the time of the fetch.
    clock : Clock
        Tells the time, and sleeps until a host is ready.
    min_delay : float
        Time between the starts of two fetches of a host. After a RETRY without a status, with
        429 or 5xx, the host backs off as it does over HTTP. [s]
    """

    def __init__(self, script: Script, clock: Clock, *, min_delay: float = 0.0) -> None:
        self._script = script
        self._clock = clock
        self._politeness = Politeness(min_delay)
        self._turns: dict[str, int] = {}
        #: Requests so far with the time at which they left, in order.
        self.requests: list[tuple[int, PageRequest]] = []

    async def fetch(self, request: PageRequest, host: HostRow) -> tuple[Fetched, HostRow]:
        """Answer from the script once the host is ready."""
        while (now := self._clock.now()) < host.ready_at:
            await self._clock.sleep_until(host.ready_at)
        self.requests.append((now, request))
        fetched = replace(self._answer(request, now), fetched_at=now)
        row = self._politeness.depart(host, now)
        if fetched.outcome is Outcome.RETRY and fetched.status_code in _HOST_FAILURES:
            return fetched, self._politeness.retreat(row, now)
        return fetched, self._politeness.relent(row)

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _answer(self, request: PageRequest, now: int) -> Fetched:
        if callable(self._script):
            return self._script(request, now)
        answers = self._script.get(request.url)
        if answers is None:
            return Fetched(Outcome.GONE, now, status_code=404, reason="http_404")
        if isinstance(answers, Fetched):
            return answers
        turn = self._turns.get(request.url, 0)
        self._turns[request.url] = turn + 1
        return answers[min(turn, len(answers) - 1)]
