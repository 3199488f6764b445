"""When a host may be asked again: arithmetic on host rows, without clock or network.

::

    depart(row, start)   a request leaves      ready_at = start + delay
    relent(row)          a good answer came    n_errors = 0
    retreat(row, now)    the host failed       ready_at = now + Retry-After or back-off
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from recrawl.errors import ConfigError
from recrawl.ports.store import HostRow

__all__ = ["DAY", "Politeness"]

#: Longest wait that a server can impose by Crawl-delay or Retry-After. [s]
DAY = 86_400.0
# A host left alone for so long beyond its wait starts its back-off anew. [ms]
_QUIET = 1_800_000
# Doublings beyond this exceed any wait; keeps the power small for a host down for years.
_MAX_DOUBLINGS = 32


@dataclass(frozen=True, slots=True)
class Politeness:
    """How hosts are spared.

    Parameters
    ----------
    min_delay : float
        Least time between the starts of two requests to a host. [s]
    backoff : float
        Wait after a host's first failure; doubled with each further one in a row. [s]
    max_backoff : float
        Longest such wait. [s]
    """

    min_delay: float = 1.0
    backoff: float = 60.0
    max_backoff: float = DAY

    def __post_init__(self) -> None:
        for name in ("min_delay", "backoff", "max_backoff"):
            value = getattr(self, name)
            if not 0 <= value <= 366 * DAY:
                raise ConfigError(
                    f"{name} is {value} seconds; allowed is 0 to 366 days", value=value
                )

    def delay(self, crawl_delay: float | None) -> float:
        """Return the time between two starts [s]: robots.txt can slow us down, not speed us up.

        A Crawl-delay counts up to a day: a larger one would lose the host's pages for good.
        """
        return max(self.min_delay, min(crawl_delay or 0.0, DAY))

    def depart(self, row: HostRow, start: int) -> HostRow:
        """Return the host's row once a request leaves at ``start`` [ms]."""
        has_rested = row.n_errors > 0 and start - row.ready_at > _QUIET
        return replace(
            row,
            ready_at=start + round(1000 * self.delay(row.crawl_delay)),
            n_errors=0 if has_rested else row.n_errors,
        )

    def relent(self, row: HostRow) -> HostRow:
        """Return the host's row after a good answer."""
        return row if row.n_errors == 0 else replace(row, n_errors=0)

    def retreat(
        self,
        row: HostRow,
        now: int,
        *,
        retry_after: float | None = None,
        is_hosts_fault: bool = True,
    ) -> HostRow:
        """Return the host's row after a failure.

        Parameters
        ----------
        row : HostRow
            The row after ``depart``.
        now : int
            When the failure was seen. [ms]
        retry_after : float or None
            What the server asked for; counts up to a day. None or 0: it asked for nothing, so
            the wait is ``backoff`` doubled with each failure. [s]
        is_hosts_fault : bool
            False where we or the proxy failed: the host waits, but its back-off does not grow.
        """
        n_errors = row.n_errors + is_hosts_fault
        wait = min(retry_after, DAY) if retry_after else self.wait(max(n_errors, 1))
        return replace(row, n_errors=n_errors, ready_at=max(row.ready_at, now + round(1000 * wait)))

    def wait(self, n_errors: int) -> float:
        """Return the back-off [s] after ``n_errors`` failures in a row, at least one."""
        doublings: int = min(n_errors - 1, _MAX_DOUBLINGS)
        return min(self.backoff * 2.0**doublings, self.max_backoff)
