"""Values as SQLite stores them, and back.

NULL stands for NO_TIME, NaN, an empty reason, a signature of zeros; for NEVER in next_fetch_at.
Validators are kept as bytes: a server may send bytes that are no text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import zstandard

from recrawl.core.columns import NEVER, NO_TIME, SIGNATURE_BYTES
from recrawl.core.states import PageState, PageStates
from recrawl.ports.store import (
    Change,
    ChangeKind,
    HostRow,
    Move,
    PageRow,
    RobotsRow,
    TextVersion,
    VisitRow,
)
from recrawl.stores.sqlite.database import Row

__all__ = [
    "change_of",
    "change_values",
    "host_of_row",
    "host_values",
    "move_values",
    "page_of",
    "page_values",
    "planned_of",
    "robots_values",
    "text_of",
    "text_values",
    "visit_of",
    "visit_values",
]

_NAN = math.nan
#: The columns of ``planned_columns`` in their order, and what NULL means in them.
_PLANNED = (
    "page_key", "host_key", "group_key", "status", "next_fetch_at", "fixed_interval",
    "importance", "fetched_at", "n_visits", "rate_shape", "rate_exposure", "bulk_shape",
    "bulk_exposure", "surprise", "n_signals", "checked_at",
)  # fmt: skip
_ABSENT: dict[str, float] = {
    "next_fetch_at": NEVER,
    "fixed_interval": _NAN,
    "fetched_at": NO_TIME,
    "checked_at": NO_TIME,
}
_NO_SIGNATURE = b"\0" * SIGNATURE_BYTES


def page_of(row: Row) -> PageRow:
    """Return the page of a row of ``page_columns``."""
    (
        page_key, host_key, status, announced, next_fetch_at, interval, fixed_interval,
        importance, retries, n_visits, n_changes, fetched_at, modified_at, changed_at,
        redirect_key, signature, signature_scheme, url, etag, last_modified, redirect_to,
        title, reason, added_at, depth, content_digest, mime_key,
        moved_layers, group_key, rate_shape, rate_exposure, bulk_shape, bulk_exposure, surprise,
        n_signals, checked_at,
    ) = row  # fmt: skip
    return PageRow(
        url,
        PageState(
            page_key,
            host_key,
            status,
            announced,
            NEVER if next_fetch_at is None else next_fetch_at,
            _NAN if interval is None else interval,
            _NAN if fixed_interval is None else fixed_interval,
            importance,
            group_key,
            rate_shape,
            rate_exposure,
            bulk_shape,
            bulk_exposure,
            surprise,
            n_signals,
            retries,
            n_visits,
            n_changes,
            NO_TIME if fetched_at is None else fetched_at,
            NO_TIME if checked_at is None else checked_at,
            NO_TIME if modified_at is None else modified_at,
            NO_TIME if changed_at is None else changed_at,
            redirect_key,
            _NO_SIGNATURE if signature is None else signature,
            signature_scheme,
            mime_key,
            moved_layers,
        ),
        None if etag is None else etag.decode("utf-8", "surrogatepass"),
        None if last_modified is None else last_modified.decode("utf-8", "surrogatepass"),
        redirect_to,
        title,
        reason or "",
        NO_TIME if added_at is None else added_at,
        depth,
        content_digest,
    )


def page_values(page: PageRow) -> dict[str, Any]:
    """Return a page as parameters of ``insert_page`` and ``update_page``."""
    state = page.state
    return {
        "page_key": state.page_key,
        "host_key": state.host_key,
        "status": state.status,
        "announced": state.announced,
        "next_fetch_at": due_value(state.next_fetch_at),
        "interval": _number(state.interval),
        "fixed_interval": _number(state.fixed_interval),
        "importance": state.importance,
        "retries": state.retries,
        "n_visits": state.n_visits,
        "n_changes": state.n_changes,
        "fetched_at": _time(state.fetched_at),
        "modified_at": _time(state.modified_at),
        "changed_at": _time(state.changed_at),
        "redirect_key": state.redirect_key,
        "signature": _signature(state.signature),
        "signature_scheme": state.signature_scheme,
        "url": page.url,
        "etag": _bytes(page.etag),
        "last_modified": _bytes(page.last_modified),
        "redirect_to": _text(page.redirect_to),
        "title": _text(page.title),
        "reason": _text(page.reason or None),
        "added_at": _time(page.added_at),
        "depth": page.depth,
        "content_digest": page.content_digest,
        "mime_key": state.mime_key,
        "moved_layers": state.moved_layers,
        "group_key": state.group_key,
        "rate_shape": state.rate_shape,
        "rate_exposure": state.rate_exposure,
        "bulk_shape": state.bulk_shape,
        "bulk_exposure": state.bulk_exposure,
        "surprise": state.surprise,
        "n_signals": state.n_signals,
        "checked_at": _time(state.checked_at),
    }


def planned_of(found: Sequence[Row]) -> PageStates:
    """Return the states of rows of ``planned_columns``; columns that are not read have defaults."""
    if not found:
        return PageStates.of(0)
    columns: dict[str, Any] = dict(zip(_PLANNED, zip(*found, strict=True), strict=True))
    for name, absent in _ABSENT.items():
        columns[name] = [absent if value is None else value for value in columns[name]]
    return PageStates.of(len(found), **columns)


def host_of_row(row: Row) -> HostRow:
    """Return the host of a row of ``get_hosts``."""
    host_key, host, ready_at, crawl_delay, n_errors = row
    ready_at = NO_TIME if ready_at is None else ready_at
    return HostRow(host_key, host, ready_at, crawl_delay, n_errors)


def host_values(host: HostRow) -> dict[str, Any]:
    """Return a host as parameters."""
    return {
        "host_key": host.host_key,
        "host": host.host,
        "ready_at": _time(host.ready_at),
        "crawl_delay": host.crawl_delay,
        "n_errors": host.n_errors,
    }


def visit_of(row: Row) -> VisitRow:
    """Return the visit of a row of ``get_visits``."""
    (
        page_key, fetched_at, outcome, observation, status_code, reason, elapsed, n_bytes,
        modified_at, signature, signature_scheme, hops,
    ) = row  # fmt: skip
    return VisitRow(
        page_key,
        fetched_at,
        outcome,
        observation,
        status_code,
        reason or "",
        _NAN if elapsed is None else elapsed,
        n_bytes,
        NO_TIME if modified_at is None else modified_at,
        _NO_SIGNATURE if signature is None else signature,
        signature_scheme,
        hops or "",
    )


def visit_values(visit: VisitRow) -> dict[str, Any]:
    """Return a visit as parameters."""
    return {
        "page_key": visit.page_key,
        "fetched_at": visit.fetched_at,
        "outcome": visit.outcome,
        "observation": visit.observation,
        "status_code": visit.status_code,
        "reason": _text(visit.reason or None),
        "elapsed": _number(visit.elapsed),
        "n_bytes": visit.n_bytes,
        "modified_at": _time(visit.modified_at),
        "signature": _signature(visit.signature),
        "signature_scheme": visit.signature_scheme,
        "hops": _text(visit.hops or None),
    }


def change_of(row: Row) -> Change:
    """Return the event of a row of ``get_changes``."""
    sequence, page_key, url, kind, at, old_signature, new_signature, redirect_to = row
    return Change(
        sequence, page_key, url, ChangeKind(kind), at, old_signature, new_signature, redirect_to
    )


def change_values(change: Change) -> dict[str, Any]:
    """Return an event as parameters; its sequence is given by the store."""
    return {
        "page_key": change.page_key,
        "url": change.url,
        "kind": change.kind.value,
        "at": change.at,
        "old_signature": change.old_signature,
        "new_signature": change.new_signature,
        "redirect_to": _text(change.redirect_to),
    }


def text_of(row: Row) -> TextVersion:
    """Return the text version of a row of ``get_texts``."""
    page_key, fetched_at, signature, body = row
    text = zstandard.ZstdDecompressor().decompress(body).decode("utf-8", "surrogatepass")
    return TextVersion(page_key, fetched_at, signature, text)


def text_values(text: TextVersion) -> dict[str, Any]:
    """Return a text version as parameters."""
    body = text.text.encode("utf-8", "surrogatepass")
    return {
        "page_key": text.page_key,
        "fetched_at": text.fetched_at,
        "signature": text.signature,
        "body": zstandard.ZstdCompressor().compress(body),
    }


def robots_values(row: RobotsRow) -> dict[str, Any]:
    """Return a robots.txt as parameters."""
    return {
        "origin": row.origin,
        "fetched_at": row.fetched_at,
        "expires_at": row.expires_at,
        "status_code": row.status_code,
        "body": row.body,
    }


def move_values(move: Move) -> dict[str, Any]:
    """Return a move as parameters."""
    return {"page_key": move.page_key, "next_fetch_at": due_value(move.next_fetch_at)}


def due_value(at: int) -> int | None:
    """Return NULL for NEVER."""
    return None if at == NEVER else at


def _time(at: int) -> int | None:
    return None if at == NO_TIME else at


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _signature(signature: bytes) -> bytes | None:
    return None if signature == _NO_SIGNATURE else signature


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogatepass")


def _text(text: str | None) -> str | None:
    """Return a text that SQLite takes: half characters become question marks."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()
