"""Rows for tests, with every value that a test does not care about filled in."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from recrawl.core.columns import COLUMNS, NO_SCHEME, NO_TIME, SIGNATURE_BYTES
from recrawl.core.group import group_key
from recrawl.core.states import PageState, PageStatus
from recrawl.core.url import host_key, host_of, page_key
from recrawl.core.visit import Observation, Outcome
from recrawl.ports.store import (
    Change,
    ChangeKind,
    Commit,
    HostRow,
    PageRow,
    TextVersion,
    VisitRow,
)

__all__ = ["DAY", "NOW", "change_of", "commit_of", "host_row", "page_row", "visit_row"]

#: The instant at which tests begin. [ms]
NOW = 1_700_000_000_000
#: One day. [ms]
DAY = 86_400_000

_STATE_NAMES = {column.name for column in COLUMNS}


def page_row(url: str = "https://example.org/", **values: Any) -> PageRow:
    """Return a page as it stands after it was added.

    Parameters
    ----------
    url : str
        Canonical URL; the keys of page, host and group follow from it unless given.
    **values
        Columns of the state, and fields of ``PageRow``, by name.

    Examples
    --------
    >>> page_row("https://example.org/a", status=2, etag='"1"').state.status
    2
    """
    state: dict[str, Any] = {column.name: column.default for column in COLUMNS}
    state |= {
        "page_key": page_key(url),
        "host_key": host_key(host_of(url)),
        "group_key": group_key(url),
        "next_fetch_at": NOW,
    }
    state |= {name: values.pop(name) for name in _STATE_NAMES & values.keys()}
    return PageRow(url, PageState(**state), **{"added_at": NOW, **values})


def host_row(url: str = "https://example.org/", **values: Any) -> HostRow:
    """Return the row of a URL's host; ``values`` are fields of ``HostRow``."""
    host = host_of(url)
    return replace(HostRow(host_key(host), host), **values)


def visit_row(page: PageRow, fetched_at: int = NOW, **values: Any) -> VisitRow:
    """Return a successful visit of a page; ``values`` are fields of ``VisitRow``."""
    visit = VisitRow(
        page_key=page.state.page_key,
        fetched_at=fetched_at,
        outcome=Outcome.SUCCESS.value,
        observation=Observation.UNKNOWN.value,
        status_code=200,
        reason="",
        elapsed=0.25,
        n_bytes=1000,
        modified_at=NO_TIME,
        signature=b"\0" * SIGNATURE_BYTES,
        signature_scheme=NO_SCHEME,
    )
    return replace(visit, **values)


def change_of(page: PageRow, kind: ChangeKind, at: int = NOW, **values: Any) -> Change:
    """Return an event of a page before its commit; ``values`` are fields of ``Change``."""
    change = Change(
        sequence=0,
        page_key=page.state.page_key,
        url=page.url,
        kind=kind,
        at=at,
        old_signature=None,
        new_signature=None,
    )
    return replace(change, **values)


def commit_of(
    page: PageRow,
    fetched_at: int = NOW,
    *,
    kind: ChangeKind | None = None,
    text: str | None = None,
    found: tuple[PageRow, ...] = (),
    host: HostRow | None = None,
    **state: Any,
) -> Commit:
    """Return what one successful visit writes.

    Parameters
    ----------
    page : PageRow
        The page as it was leased.
    fetched_at : int
        Start of the visit. [ms]
    kind : ChangeKind, optional
        Adds a change event of that kind.
    text : str, optional
        Adds a text version.
    found : tuple of PageRow
        Pages that the visit found.
    host : HostRow, optional
        The host afterwards; by default ready at once.
    **state
        Columns of the state after the visit; by default the page is due a day after it.
    """
    after = {
        "status": PageStatus.FETCHED.value,
        "fetched_at": fetched_at,
        "checked_at": fetched_at,
        "n_visits": page.state.n_visits + 1,
        "next_fetch_at": fetched_at + DAY,
        **state,
    }
    unknown = after.keys() - {field.name for field in fields(PageState)}
    if unknown:
        raise TypeError(f"not page-state columns: {', '.join(sorted(unknown))}")
    new = replace(page, state=replace(page.state, **after))
    signature = new.state.signature
    return Commit(
        page=new,
        visit=visit_row(
            new, fetched_at, signature=signature, signature_scheme=new.state.signature_scheme
        ),
        host=host or host_row(page.url),
        change=None if kind is None else change_of(page, kind, fetched_at),
        text=None
        if text is None
        else TextVersion(page.state.page_key, fetched_at, signature, text),
        found=found,
    )
