from __future__ import annotations

import json
import logging

import pytest

from recrawl.app.report import Totals, VisitReport
from recrawl.cli.progress import JsonHandler, JsonLog, Progress, Reporter, VisitLines, summary_of
from recrawl.core.columns import NEVER
from recrawl.stores.memory import MemoryStore
from recrawl.testing.clock import ManualClock
from recrawl.testing.factories import DAY, NOW, page_row


def report(**values) -> VisitReport:
    return VisitReport(
        **{
            "url": "https://a.example/", "fetched_at": NOW, "outcome": "success",
            "status_code": 200, "observation": "unchanged", "change": "", "reason": "",
            "elapsed": 0.5, "n_bytes": 10, "interval": 60.0, "next_fetch_at": NOW + DAY,
            **values,
        }
    )  # fmt: skip


def test_the_summary_leaves_zeros_out():
    """What always counts is always there, the rest where it happened."""
    assert summary_of(Totals(n_fetched=2, n_unchanged=1, n_notmodified=1)) == (
        "2 visits, 0 new, 0 changed, 1 unchanged (1 by 304), 0 errors"
    )
    assert "1 moved, 2 gone, 3 denied, 4 lost, 5 errors" in summary_of(
        Totals(n_moved=1, n_gone=2, n_denied=3, n_lost=4, n_errors=5)
    )


@pytest.mark.parametrize(
    ("values", "seen"),
    [
        ({}, "200 unchanged"),
        ({"change": "changed"}, "200 changed"),
        ({"outcome": "notmodified", "status_code": 304}, "304 notmodified"),
        ({"outcome": "retry", "status_code": None, "reason": "dns"}, "- retry:dns"),
        ({"outcome": "gone", "status_code": 404, "reason": "http_404", "change": "gone"},
         "404 gone"),
    ],
)  # fmt: skip
def test_a_line_a_visit(capsys, values, seen):
    """Time, status, the most telling word, URL, next fetch."""
    with VisitLines() as reporter:
        reporter.visit(report(**values))

    assert capsys.readouterr().out == (
        f"2023-11-14T22:13:20Z {seen} https://a.example/ next=2023-11-15T22:13:20Z\n"
    )


def test_the_quiet_reporter_says_nothing_of_visits(capsys):
    """Only that it is stopping."""
    with Reporter() as reporter:
        reporter.visit(report())
        reporter.idle(NEVER)
        reporter.done(Totals())
        assert capsys.readouterr() == ("", "")
        reporter.stopping()

    assert "again to stop at once" in capsys.readouterr().err


def test_json_lines_hold_all_fields(capsys):
    """Every field of the report, instants as RFC 3339."""
    with JsonLog() as reporter:
        reporter.visit(report(reason="\x1b[2J"))
        reporter.stopping()
        reporter.done(Totals(n_fetched=1))

    out, err = capsys.readouterr()
    visit, stopping, done = map(json.loads, err.splitlines())
    assert out == ""
    assert "\x1b" not in err
    assert visit == {"event": "visit", **report_fields(), "reason": "\x1b[2J"}
    assert stopping == {"event": "stopping"}
    assert (done["event"], done["n_fetched"]) == ("done", 1)


def report_fields() -> dict[str, object]:
    return {name: getattr(report(), name) for name in VisitReport.__dataclass_fields__} | {
        "fetched_at": "2023-11-14T22:13:20Z",
        "next_fetch_at": "2023-11-15T22:13:20Z",
    }


def test_log_records_are_json(capsys):
    """Level, logger and message; no traceback where there is none."""
    record = logging.LogRecord("recrawl.x", logging.WARNING, "f", 1, "a %s", ("b",), None)

    JsonHandler().emit(record)

    assert json.loads(capsys.readouterr().err) == {
        "event": "log", "level": "warning", "logger": "recrawl.x", "message": "a b",
    }  # fmt: skip


class CountingStore(MemoryStore):
    """Counts how often it is asked for its figures, and takes its time."""

    def __init__(self, clock: ManualClock, takes: float) -> None:
        super().__init__()
        self.clock, self.takes, self.n_asked = clock, takes, 0

    def status(self, now: int):
        self.n_asked += 1
        self.clock.advance(self.takes)
        return super().status(now)


@pytest.mark.parametrize(("takes", "most"), [(0.0, 61), (1.0, 3)])
def test_counting_takes_a_small_share_of_the_time(takes, most):
    """A large store is counted seldom: counting may not slow the run down."""
    clock = ManualClock()
    store = CountingStore(clock, takes)

    with Progress(store, clock) as progress:
        for _ in range(600):
            clock.advance(0.1)
            progress.visit(report())

    assert 1 <= store.n_asked <= most


def test_the_live_line(monkeypatch):
    """Due, fetched, changed, unchanged, errors, rate, and what is waited for."""
    clock, drawn = ManualClock(), []
    store = MemoryStore()
    store.add([page_row()])
    progress = Progress(store, clock)
    monkeypatch.setattr(progress._live, "update", lambda text, refresh: drawn.append(text.plain))

    clock.advance(2)
    progress.visit(report(change="changed", observation="changed"))
    progress.visit(report())
    progress.idle(clock.now() + 90_000)
    progress.idle(NEVER)

    assert drawn[0] == "1 due · 1 fetched · 1 changed · 0 unchanged · 0 errors · 0.5 pages/s"
    assert drawn[1].startswith("1 due · 2 fetched · 1 changed · 1 unchanged")
    assert drawn[1].endswith(" · next due in 90 s")
    assert drawn[2].endswith(" · nothing to fetch: add pages with `recrawl add`")
