"""The system's clock: the only place that reads the time."""

from __future__ import annotations

import asyncio
import contextlib
import time

__all__ = ["SystemClock"]


class SystemClock:
    """Wall-clock time."""

    def now(self) -> int:
        """Return the present instant, in milliseconds since 1970 UTC."""
        return time.time_ns() // 1_000_000

    async def sleep_until(self, at: int, stop: asyncio.Event | None = None) -> None:
        """Return at the instant ``at`` [ms], or when ``stop`` is set.

        Sleeps at most a minute at a stretch: the system's clock may be set meanwhile.
        """
        while (wait := (at - self.now()) / 1000) > 0 and not (stop and stop.is_set()):
            if stop is None:
                await asyncio.sleep(min(wait, 60.0))
            else:
                # Not wait_for: before Python 3.12 it loses a cancellation that comes with stop.
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(min(wait, 60.0)):
                        await stop.wait()
