"""One page and one visit, as columns, for the tests of a step."""

from __future__ import annotations

from typing import Any

from recrawl.core.states import Announced, PageStates, PageStatus
from recrawl.core.visit import Outcome, Visits
from recrawl.testing.factories import DAY, NOW

__all__ = ["CONTENT_A", "CONTENT_B", "SCHEME", "fetched_page", "visit_now"]

#: Signatures of two contents, and the scheme that made them.
CONTENT_A, CONTENT_B = b"A" * 16, b"B" * 16
SCHEME = 7


def fetched_page(**columns: Any) -> PageStates:
    """Return a page that was fetched a day ago and had content A."""
    return PageStates.of(
        1,
        **{
            "page_key": 1,
            "status": PageStatus.FETCHED,
            "announced": Announced.PRESENT,
            "interval": 86_400,
            "n_visits": 3,
            "fetched_at": NOW - DAY,
            "modified_at": NOW - 9 * DAY,
            "changed_at": NOW - 8 * DAY,
            "signature": CONTENT_A,
            "signature_scheme": SCHEME,
            **columns,
        },
    )


def visit_now(outcome: Outcome, signature: bytes | None = None, **columns: Any) -> Visits:
    """Return a visit now; content comes with its signature."""
    if signature is not None:
        columns = {"signature": signature, "signature_scheme": SCHEME, **columns}
    return Visits.of(1, **{"page_key": 1, "fetched_at": NOW, "outcome": outcome, **columns})
