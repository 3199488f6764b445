"""A clock that a test moves."""

from __future__ import annotations

import asyncio

__all__ = ["ManualClock"]


class ManualClock:
    """A clock that stands still until told; sleeping moves it at once.

    Parameters
    ----------
    now : int
        First instant. [ms]
    """

    def __init__(self, now: int = 1_700_000_000_000) -> None:
        self._now = now

    def now(self) -> int:
        """Return the present instant, in milliseconds."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock by ``seconds``, back for a negative number."""
        self._now += round(seconds * 1000)

    async def sleep_until(self, at: int, stop: asyncio.Event | None = None) -> None:
        """Move the clock to ``at`` unless it is past it or ``stop`` is set."""
        await asyncio.sleep(0)
        if not (stop and stop.is_set()):
            self._now = max(self._now, at)
