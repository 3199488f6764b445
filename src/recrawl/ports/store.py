"""The seam to what is remembered: pages, hosts, leases, visits, changes, texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from recrawl.core.columns import NO_TIME
from recrawl.core.states import PageState, PageStates

__all__ = [
    "AddResult",
    "Change",
    "ChangeKind",
    "Commit",
    "HostRow",
    "Move",
    "PageRow",
    "PageStore",
    "RobotsRow",
    "StoreStatus",
    "TextVersion",
    "VisitRow",
]


@dataclass(frozen=True, slots=True)
class PageRow:
    """One page: its state and what goes with it as text.

    Parameters
    ----------
    url : str
        Canonical URL.
    state : PageState
        The columns; ``page_key`` and ``host_key`` are those of ``url`` and never change.
        ``group_key`` is that of ``url`` or, before its next visit, NO_KEY in an older store.
    etag, last_modified : str or None
        Validators of the content that ``state.signature`` belongs to, as the server sent them.
    redirect_to : str or None
        Target of the redirect, if the page was one at its last visit.
    title : str or None
        Title of the last good content.
    reason : str
        Why the last visit was no success; "" after a success.
    added_at : int
        When the page was added. [ms]
    depth : int
        Redirects or links between the page the user added and this one.
    content_digest : bytes or None
        Digest of the answer that ``state.signature`` was made of; None if unknown. An answer
        with the same digest need not be read again.
    """

    url: str
    state: PageState
    etag: str | None = None
    last_modified: str | None = None
    redirect_to: str | None = None
    title: str | None = None
    reason: str = ""
    added_at: int = NO_TIME
    depth: int = 0
    content_digest: bytes | None = None


@dataclass(frozen=True, slots=True)
class HostRow:
    """One host: when it may be asked, and how it behaved.

    Parameters
    ----------
    host_key : int
        64-bit hash of ``host``.
    host : str
        Canonical host name.
    ready_at : int
        No request to the host leaves earlier. [ms]
    crawl_delay : float or None
        From robots.txt; None if it names none. [s]
    n_errors : int
        Failures of the host in a row (connection, 5xx, 429); a good answer sets 0, and so does
        half an hour without a request beyond the wait.
    """

    host_key: int
    host: str
    ready_at: int = NO_TIME
    crawl_delay: float | None = None
    n_errors: int = 0


@dataclass(frozen=True, slots=True)
class RobotsRow:
    """robots.txt of one origin (``scheme://host:port``) as it was last seen.

    ``status_code`` is None if the server could not be reached. ``body`` is at most 500 KiB.
    """

    origin: str
    fetched_at: int
    expires_at: int
    status_code: int | None
    body: bytes


@dataclass(frozen=True, slots=True)
class VisitRow:
    """One visit as it is kept.

    ``outcome`` and ``observation`` are the codes of ``core.visit``; ``hops`` is a JSON list of
    ``[url, status_code, target]``, or "" for none. ``signature_scheme`` 0 means no signature.
    """

    page_key: int
    fetched_at: int
    outcome: int
    observation: int
    status_code: int | None
    reason: str
    elapsed: float
    n_bytes: int
    modified_at: int
    signature: bytes
    signature_scheme: int
    hops: str = ""


class ChangeKind(StrEnum):
    """What happened to a page, as the change feed tells it."""

    NEW = "new"
    CHANGED = "changed"
    MOVED = "moved"
    GONE = "gone"
    RETURNED = "returned"


@dataclass(frozen=True, slots=True)
class Change:
    """One event of the change feed.

    Parameters
    ----------
    sequence : int
        Position in the feed: 1, 2, 3 … without holes, in the order of the commits; 0 before
        the commit.
    page_key : int
        The page.
    url : str
        Its canonical URL.
    kind : ChangeKind
        What happened.
    at : int
        Start of the visit that saw it. [ms]
    old_signature, new_signature : bytes or None
        Signatures before and after; None where there is none.
    redirect_to : str or None
        Target, for MOVED.
    """

    sequence: int
    page_key: int
    url: str
    kind: ChangeKind
    at: int
    old_signature: bytes | None
    new_signature: bytes | None
    redirect_to: str | None = None


@dataclass(frozen=True, slots=True)
class TextVersion:
    """Extracted text of one version of a page."""

    page_key: int
    fetched_at: int
    signature: bytes
    text: str


@dataclass(frozen=True, slots=True)
class Commit:
    """All that one processed visit writes; it lands as a whole or not at all."""

    page: PageRow
    visit: VisitRow
    host: HostRow
    change: Change | None = None
    text: TextVersion | None = None
    found: tuple[PageRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Move:
    """A page that is due at another time, though it was not visited."""

    page_key: int
    next_fetch_at: int


@dataclass(frozen=True, slots=True)
class AddResult:
    """How many pages were added and how many were there before."""

    n_added: int
    n_known: int


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """Figures of the whole collection.

    ``n_due`` counts the pages that are due, leased or not. ``n_by_status`` maps ``PageStatus``
    codes to counts. ``oldest_due_at`` is the least ``next_fetch_at``, of pages leased or not;
    NEVER without one.
    """

    n_pages: int
    n_hosts: int
    n_due: int
    n_leased: int
    n_visits: int
    n_changes: int
    oldest_due_at: int
    n_by_status: dict[int, int]


class PageStore(Protocol):
    """Remembers pages between visits.

    ``now`` is always an argument [ms]; a store never reads a clock.  Methods raise ``StoreError``
    and its children only; after an error nothing of the call was written.
    """

    def add(self, pages: Sequence[PageRow]) -> AddResult:
        """Add pages that are not there yet.

        - One transaction.
        - A page already there (same key, same URL) is left alone, whatever the new row says.
        - Two URLs with one key: ``KeyClash`` names both; nothing is added.
        - A row for each page's host is made (``core.url.host_of``); hosts already there are left
          alone.
        """
        ...

    def get(self, page_key: int) -> PageRow | None:
        """Return the page, or None."""
        ...

    def update(self, pages: Sequence[PageRow]) -> int:
        """Overwrite pages by hand (force, importance, fixed interval); return how many were there.

        - One transaction; pages not there are skipped.
        - A lease on the page is cancelled: its commit will be skipped and returned as lost.
        - A page whose key belongs to another URL: ``KeyClash`` names both; nothing is written.
        """
        ...

    def hosts(self, host_keys: Iterable[int]) -> dict[int, HostRow]:
        """Return the rows of those hosts that are there."""
        ...

    def lease(
        self,
        owner: str,
        now: int,
        *,
        ttl: float,
        limit: int,
        per_host: int,
        due_by: int | None = None,
    ) -> list[PageRow]:
        """Take due pages for ``owner`` until ``now + ttl`` [s].

        - Due: ``next_fetch_at <= now``, not leased to anyone (a lease that ended counts as none).
        - ``due_by`` replaces ``now`` in this one comparison: pages due at an earlier instant only.
        - Leases that ended at or before ``now`` are over for good, also if the clock goes back.
        - A host is one owner's at a time: while another owner holds an unexpired lease on any
          page of a host, no page of it is given.
        - A host whose ``ready_at`` lies after ``now`` gives no page.
        - At most ``per_host`` pages a host, counting those that ``owner`` holds already; earliest
          due first within the host (then by page key).
        - Hosts in the order of their earliest ``next_fetch_at``, of pages leased or not (then by
          host key); at most ``limit`` pages.
          A host with many due pages keeps no other host out.
        - Atomic: two calls never give one page twice.
        """
        ...

    def release(self, owner: str, page_keys: Sequence[int], moves: Sequence[Move] = ()) -> None:
        """Give back leases of ``owner`` without a visit; others' and unknown keys are ignored.

        In the same transaction the pages of ``moves`` become due at another time; those that are
        not there, or due NEVER, are left alone.
        """
        ...

    def commit(
        self,
        owner: str,
        commits: Sequence[Commit],
        now: int,
        *,
        learned: Mapping[int, bytes] | None = None,
        moves: Sequence[Move] = (),
    ) -> list[int]:
        """Write processed visits; return the page keys that were skipped.

        - One transaction: pages, visits, change events, texts, hosts and found pages land
          together or not at all.
        - Skipped, with nothing of it written: a page whose lease is not ``owner``'s any more or
          ended at or before ``now``; a page that is gone from the store.
        - A visit already there (same page and ``fetched_at``) is not written a second time:
          the call is idempotent, and the page counts as committed, not as skipped.
        - The same page twice in one call: the second finds its lease ended by the first.
        - A page whose key belongs to another URL: ``KeyClash`` names both; nothing is written.
        - The lease ends.  Change events get the next sequence numbers in the order given.
        - Visits beyond the newest ``keep_visits`` of a page and texts beyond the newest two go.
        - ``found`` pages are added as by ``add``, but one whose key belongs to another URL is
          left out: a site can make such URLs on purpose, and must not stop the commit.
        - ``learned`` is written as by ``save_learned`` and ``moves`` as by ``release``, in the
          same transaction, whatever is skipped.
        """
        ...

    def learned(self, keys: Iterable[int]) -> dict[int, bytes]:
        """Return what is known of those hosts and groups of which something is known."""
        ...

    def scan_learned(self, *, after: int | None = None, limit: int = 1000) -> dict[int, bytes]:
        """Return what is known of hosts and groups with ``key > after``, in that order."""
        ...

    def save_learned(self, learned: Mapping[int, bytes]) -> None:
        """Insert or overwrite what is known of hosts and groups, by their keys."""
        ...

    def save_hosts(self, hosts: Sequence[HostRow]) -> None:
        """Overwrite rows of hosts that are there (robots.txt was asked, a wait was imposed)."""
        ...

    def robots(self, origin: str) -> RobotsRow | None:
        """Return what is known of an origin's robots.txt, or None."""
        ...

    def save_robots(self, row: RobotsRow) -> None:
        """Insert or overwrite an origin's robots.txt."""
        ...

    def next_due(self, now: int, *, due_by: int | None = None) -> int:
        """Return the earliest instant at which ``lease`` could give a page; NEVER without one.

        - Takes ``ready_at`` and leases into account; an instant up to ``now`` means at once.
        - With ``due_by``, of the pages with ``next_fetch_at <= due_by`` only.
        - All pages of a host that is held wait for the first end of a lease on it: whoever holds
          the host commits before that, and asks again.
        """
        ...

    def scan(self, *, after: int | None = None, limit: int = 1000) -> list[PageRow]:
        """Return pages with ``page_key > after``, in the order of their keys."""
        ...

    def scan_planned(self, *, after: int | None = None, limit: int = 1000) -> PageStates:
        """Return what a plan is made of, of the pages that ``scan`` would return.

        The columns that no plan reads (signatures, validators and the like) have their defaults.
        """
        ...

    def grouped(self, group_keys: Iterable[int]) -> PageStates:
        """Return what a plan is made of, of all pages of groups, in the order of their keys.

        No page belongs to the group ``NO_KEY``.
        """
        ...

    def add_signals(self, page_keys: Sequence[int], moves: Sequence[Move] = ()) -> None:
        """Count one more signal of a change for each page; ``moves`` as by ``release``.

        Leases stay.  Pages that are not there are left alone.
        """
        ...

    def due(self, now: int, *, limit: int) -> list[PageRow]:
        """Return the pages due at ``now``, earliest first, leased or not."""
        ...

    def visits(self, page_key: int) -> list[VisitRow]:
        """Return the kept visits of a page, newest first."""
        ...

    def texts(self, page_key: int) -> list[TextVersion]:
        """Return the kept text versions of a page, newest first, at most two."""
        ...

    def changes(self, after: int = 0, *, limit: int = 1000) -> list[Change]:
        """Return events with ``sequence > after``, in their order."""
        ...

    def status(self, now: int) -> StoreStatus:
        """Return figures of the whole collection."""
        ...

    def get_meta(self, name: str) -> str | None:
        """Return a named value kept beside the pages, or None."""
        ...

    def set_meta(self, name: str, value: str) -> None:
        """Keep a named value."""
        ...

    def swap_meta(self, name: str, old: str | None, new: str) -> bool:
        """Keep a named value if the one there is ``old``, None for none; tell whether it was.

        Atomic: of two callers with the same ``old`` one gets False.
        """
        ...

    def close(self) -> None:
        """Let go of the store; a second call does nothing."""
        ...

    def __iter__(self) -> Iterator[PageRow]:
        """Yield all pages in the order of their keys."""
        ...
