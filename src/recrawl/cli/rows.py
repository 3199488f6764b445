"""Pages, visits and events as rows of the output formats; field names are column names."""

from __future__ import annotations

import json
import math

from recrawl.cli.output import Value, rfc3339
from recrawl.core.columns import COLUMNS, NO_KEY, NO_SCHEME
from recrawl.core.layers import Layer
from recrawl.core.states import Announced, PageStatus
from recrawl.core.visit import Observation, Outcome
from recrawl.ports.store import Change, PageRow, VisitRow

__all__ = ["CHANGE_FIELDS", "PAGE_FIELDS", "VISIT_FIELDS", "change_row", "page_row", "visit_row"]

_TEXT_FIELDS = ("etag", "last_modified", "redirect_to", "title", "reason")

#: Fields of a page, in order.
PAGE_FIELDS: tuple[str, ...] = (
    "url", *(column.name for column in COLUMNS), *_TEXT_FIELDS, "added_at", "depth",
)  # fmt: skip

#: Fields of a visit, in order.
VISIT_FIELDS: tuple[str, ...] = (
    "fetched_at", "outcome", "status_code", "observation", "reason", "elapsed", "n_bytes",
    "modified_at", "signature", "hops",
)  # fmt: skip

#: Fields of an event of the change feed, in order.
CHANGE_FIELDS: tuple[str, ...] = (
    "sequence", "at", "kind", "url", "old_signature", "new_signature", "redirect_to",
)  # fmt: skip


def page_row(page: PageRow) -> dict[str, Value]:
    """Return a page's fields: unknown is None, instants RFC 3339, codes by name."""
    state = page.state
    row: dict[str, Value] = {"url": page.url}
    for column in COLUMNS:
        value = getattr(state, column.name)
        if column.unit == "ms":
            value = rfc3339(value)
        elif isinstance(value, float):
            value = None if math.isnan(value) else value
        row[column.name] = value
    row["status"] = PageStatus(state.status).name.lower()
    row["announced"] = Announced(state.announced).name.lower()
    row["signature"] = None if state.signature_scheme == NO_SCHEME else state.signature.hex()
    moved = [layer.name.lower() for layer in Layer if layer & state.moved_layers and layer.name]
    row["moved_layers"] = " ".join(moved) or None
    for name in ("group_key", "redirect_key", "signature_scheme", "mime_key"):
        row[name] = None if row[name] in (NO_KEY, NO_SCHEME) else row[name]
    for name in _TEXT_FIELDS:
        row[name] = getattr(page, name)
    row["added_at"] = rfc3339(page.added_at)
    row["depth"] = page.depth
    return row


def visit_row(visit: VisitRow) -> dict[str, Value]:
    """Return a visit's fields."""
    return {
        "fetched_at": rfc3339(visit.fetched_at),
        "outcome": Outcome(visit.outcome).name.lower(),
        "status_code": visit.status_code,
        "observation": Observation(visit.observation).name.lower(),
        "reason": visit.reason,
        "elapsed": round(visit.elapsed, 3),
        "n_bytes": visit.n_bytes,
        "modified_at": rfc3339(visit.modified_at),
        "signature": None if visit.signature_scheme == NO_SCHEME else visit.signature.hex(),
        "hops": " -> ".join(str(hop[2]) for hop in json.loads(visit.hops)) if visit.hops else "",
    }


def change_row(event: Change) -> dict[str, Value]:
    """Return an event's fields."""
    return {
        "sequence": event.sequence,
        "at": rfc3339(event.at),
        "kind": event.kind.value,
        "url": event.url,
        "old_signature": event.old_signature.hex() if event.old_signature else None,
        "new_signature": event.new_signature.hex() if event.new_signature else None,
        "redirect_to": event.redirect_to,
    }
