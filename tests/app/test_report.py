from __future__ import annotations

from dataclasses import fields

import pytest

from recrawl.app.report import Totals, VisitReport, visit_report
from recrawl.core.visit import Observation, Outcome
from recrawl.ports.store import ChangeKind
from recrawl.testing.factories import DAY, NOW, commit_of, page_row


def report(**values) -> VisitReport:
    return VisitReport(
        **{
            "url": "https://a.example/", "fetched_at": NOW, "outcome": "success",
            "status_code": 200, "observation": "unknown", "change": "", "reason": "",
            "elapsed": 0.5, "n_bytes": 10, "interval": 60.0, "next_fetch_at": NOW + DAY,
            **values,
        }
    )  # fmt: skip


def test_a_report_says_what_was_committed():
    """Codes become words, and the times are those of page and visit."""
    commit = commit_of(page_row(), NOW, kind=ChangeKind.CHANGED, interval=60.0)

    assert visit_report(commit) == report(
        url="https://example.org/", change="changed", elapsed=0.25, n_bytes=1000
    )


@pytest.mark.parametrize("kind", list(ChangeKind))
def test_events_are_counted_by_kind(kind):
    """Every kind of event has its count."""
    totals = Totals()

    totals.count(report(change=kind.value))

    assert getattr(totals, f"n_{kind}") == totals.n_events == totals.n_fetched == 1


@pytest.mark.parametrize(
    ("outcome", "counted"),
    [
        (Outcome.SUCCESS, None),
        (Outcome.NOTMODIFIED, "n_notmodified"),
        (Outcome.REDIR_TEMP, None),
        (Outcome.REDIR_PERM, None),
        (Outcome.RETRY, "n_errors"),
        (Outcome.GONE, None),
        (Outcome.PARSE_FAILED, "n_errors"),
        (Outcome.DENIED, "n_denied"),
        (Outcome.EMPTY, "n_errors"),
    ],
)
def test_outcomes_are_counted(outcome, counted):
    """Failures are errors, denials are denials; the rest shows in the events."""
    totals = Totals()

    totals.count(report(outcome=outcome.name.lower()))

    counts = {field.name: getattr(totals, field.name) for field in fields(totals)}
    assert {name for name, n in counts.items() if n} == {"n_fetched", counted} - {None}


@pytest.mark.parametrize("observation", list(Observation))
def test_only_what_was_compared_is_unchanged(observation):
    """An unknown observation is not counted as unchanged."""
    totals = Totals()

    totals.count(report(observation=observation.name.lower()))

    assert totals.n_unchanged == (observation is Observation.UNCHANGED)
