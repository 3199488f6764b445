"""What a run prints while it goes on: a live line, a line a visit, or JSON Lines."""

from __future__ import annotations

import logging
from dataclasses import asdict
from types import TracebackType
from typing import Self

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from recrawl.app.report import Totals, VisitReport
from recrawl.cli.output import json_line, one_line, rfc3339
from recrawl.core.columns import NEVER
from recrawl.core.duration import format_duration
from recrawl.ports.clock import Clock
from recrawl.ports.store import PageStore

__all__ = [
    "JsonHandler",
    "JsonLog",
    "Progress",
    "Reporter",
    "VisitLines",
    "summary_of",
    "write_event",
]

#: The live line is drawn anew after this. [ms]
_REDRAW = 250
#: Counting what is due may take this share of the time.
_COUNTING_SHARE = 0.02


def summary_of(totals: Totals) -> str:
    """Return the totals of a run in a line."""
    parts = [
        f"{totals.n_fetched} {'visit' if totals.n_fetched == 1 else 'visits'}",
        f"{totals.n_new} new",
        f"{totals.n_changed} changed",
        f"{totals.n_unchanged} unchanged ({totals.n_notmodified} by 304)",
    ]
    for name in ("moved", "gone", "returned", "denied", "lost"):
        count = getattr(totals, f"n_{name}")
        if count:
            parts.append(f"{count} {name}")
    parts.append(f"{totals.n_errors} {'error' if totals.n_errors == 1 else 'errors'}")
    return ", ".join(parts)


class Reporter:
    """Prints nothing of visits; the others do."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def visit(self, report: VisitReport) -> None:
        """Take note of a committed visit."""

    def idle(self, next_due_at: int) -> None:
        """Take note that nothing is under way until ``next_due_at``, in milliseconds."""

    def stopping(self) -> None:
        """Tell that the first interrupt was seen."""
        click.echo("Stopping: ending what is under way; again to stop at once.", err=True)

    def done(self, totals: Totals) -> None:
        """Take note of the end."""


class VisitLines(Reporter):
    """Prints a line a visit: time, status, what was seen, the URL, when it is due next."""

    def visit(self, report: VisitReport) -> None:
        """Print the visit."""
        status = report.status_code or "-"
        seen = report.change or (report.reason and f"{report.outcome}:{report.reason}")
        seen = seen or (report.outcome if report.outcome != "success" else report.observation)
        click.echo(
            f"{rfc3339(report.fetched_at)} {status} {one_line(seen)} {one_line(report.url)} "
            f"next={rfc3339(report.next_fetch_at)}"
        )

    def done(self, totals: Totals) -> None:
        """Print the totals."""
        click.echo(summary_of(totals))


class JsonLog(Reporter):
    """Prints a JSON object a visit to standard error, and one with the totals."""

    def visit(self, report: VisitReport) -> None:
        """Print the visit."""
        fields = asdict(report)
        fields["fetched_at"] = rfc3339(report.fetched_at)
        fields["next_fetch_at"] = rfc3339(report.next_fetch_at)
        write_event("visit", **fields)

    def stopping(self) -> None:
        """Print that the first interrupt was seen."""
        write_event("stopping")

    def done(self, totals: Totals) -> None:
        """Print the totals."""
        write_event("done", **asdict(totals))


def write_event(event: str, **fields: object) -> None:
    """Print one JSON object to standard error."""
    click.echo(json_line({"event": event, **fields}), err=True)


class JsonHandler(logging.Handler):
    """Prints what is logged as JSON Lines, so that every line of a JSON log can be read."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the record; a traceback is one of its fields."""
        fields = {"level": record.levelname.lower(), "logger": record.name}
        if record.exc_info:
            fields["traceback"] = logging.Formatter().formatException(record.exc_info)
        write_event("log", **fields, message=record.getMessage())


class Progress(Reporter):
    """Draws a live line on a terminal; elsewhere prints the totals at the end only.

    Parameters
    ----------
    store : PageStore
        Asked now and then how many pages are due.
    clock : Clock
        Says what time it is.
    """

    def __init__(self, store: PageStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._totals = Totals()
        self._started_at = clock.now()
        self._drawn_at = 0
        self._count_at = 0
        self._n_due = 0
        self._live = Live(console=Console(stderr=True), auto_refresh=False, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def visit(self, report: VisitReport) -> None:
        """Count the visit and draw the line if it is time."""
        self._totals.count(report)
        if self._clock.now() - self._drawn_at >= _REDRAW:
            self._draw("")

    def idle(self, next_due_at: int) -> None:
        """Draw the line with the time to wait."""
        wait = (next_due_at - self._clock.now()) / 1000
        if next_due_at == NEVER:
            self._draw("nothing to fetch: add pages with `recrawl add`")
        else:
            self._draw(f"next due in {format_duration(max(wait, 0.0))}")

    def done(self, totals: Totals) -> None:
        """Print the totals."""
        click.echo(summary_of(totals))

    def _draw(self, note: str) -> None:
        now = self._clock.now()
        if now >= self._count_at:
            self._n_due = self._store.status(now).n_due
            took = self._clock.now() - now
            self._count_at = now + max(1000, round(took / _COUNTING_SHARE))
        totals = self._totals
        rate = totals.n_fetched / max((now - self._started_at) / 1000, 0.001)
        line = (
            f"{self._n_due} due · {totals.n_fetched} fetched · {totals.n_changed} changed · "
            f"{totals.n_unchanged} unchanged · {totals.n_errors} errors · {rate:.1f} pages/s"
        )
        self._live.update(Text(f"{line} · {note}" if note else line), refresh=True)
        self._drawn_at = now
