"""What a run tells of itself: a line a visit, and totals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from recrawl.core.visit import Observation, Outcome
from recrawl.ports.store import Commit

__all__ = ["Observer", "Totals", "VisitReport", "visit_report"]


@dataclass(frozen=True, slots=True)
class VisitReport:
    """One committed visit, in the words of the output formats.

    ``interval`` is in seconds, ``fetched_at`` and ``next_fetch_at`` in milliseconds since 1970;
    ``change`` is a ``ChangeKind`` or "".
    """

    url: str
    fetched_at: int
    outcome: str
    status_code: int | None
    observation: str
    change: str
    reason: str
    elapsed: float
    n_bytes: int
    interval: float
    next_fetch_at: int


def visit_report(commit: Commit) -> VisitReport:
    """Return what is told of a committed visit."""
    visit, state = commit.visit, commit.page.state
    return VisitReport(
        url=commit.page.url,
        fetched_at=visit.fetched_at,
        outcome=Outcome(visit.outcome).name.lower(),
        status_code=visit.status_code,
        observation=Observation(visit.observation).name.lower(),
        change=commit.change.kind.value if commit.change else "",
        reason=visit.reason,
        elapsed=visit.elapsed,
        n_bytes=visit.n_bytes,
        interval=state.interval,
        next_fetch_at=state.next_fetch_at,
    )


@dataclass(slots=True)
class Totals:
    """Counts of a run.

    ``n_errors`` counts visits that failed (retry, parse_failed, empty) and defects of ours;
    ``n_lost`` visits whose lease another process had taken over.
    """

    n_fetched: int = 0
    n_new: int = 0
    n_changed: int = 0
    n_unchanged: int = 0
    n_notmodified: int = 0
    n_moved: int = 0
    n_gone: int = 0
    n_returned: int = 0
    n_denied: int = 0
    n_errors: int = 0
    n_lost: int = 0

    @property
    def n_events(self) -> int:
        """Events of the change feed."""
        return self.n_new + self.n_changed + self.n_moved + self.n_gone + self.n_returned

    def count(self, report: VisitReport) -> None:
        """Count one committed visit."""
        self.n_fetched += 1
        if report.change:
            name = f"n_{report.change}"
            setattr(self, name, getattr(self, name) + 1)
        if report.observation == Observation.UNCHANGED.name.lower():
            self.n_unchanged += 1
        if report.outcome == Outcome.NOTMODIFIED.name.lower():
            self.n_notmodified += 1
        elif report.outcome == Outcome.DENIED.name.lower():
            self.n_denied += 1
        elif report.outcome in _FAILURES:
            self.n_errors += 1


_FAILURES = {
    outcome.name.lower() for outcome in (Outcome.RETRY, Outcome.PARSE_FAILED, Outcome.EMPTY)
}


class Observer(Protocol):
    """Is told what a crawler does; must return quickly and never raise."""

    def visit(self, report: VisitReport) -> None:
        """Take note of a committed visit."""
        ...

    def idle(self, next_due_at: int) -> None:
        """Take note that nothing is under way until ``next_due_at`` [ms]; NEVER for no page."""
        ...
