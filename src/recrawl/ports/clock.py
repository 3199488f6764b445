"""The seam to time."""

from __future__ import annotations

import asyncio
from typing import Protocol

__all__ = ["Clock"]


class Clock(Protocol):
    """Where the application gets the time from."""

    def now(self) -> int:
        """Return the present instant, in milliseconds since 1970 UTC."""
        ...

    async def sleep_until(self, at: int, stop: asyncio.Event | None = None) -> None:
        """Return at the instant ``at`` [ms], at once if it has passed, or when ``stop`` is set."""
        ...
