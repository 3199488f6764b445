"""The default store: one SQLite file, for one machine."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from recrawl.core.columns import MOST_SIGNALS, NEVER
from recrawl.core.states import PageStates
from recrawl.errors import InputError
from recrawl.ports.store import (
    AddResult,
    Change,
    Commit,
    HostRow,
    Move,
    PageRow,
    RobotsRow,
    StoreStatus,
    TextVersion,
    VisitRow,
)
from recrawl.stores.sqlite import rows, writing
from recrawl.stores.sqlite.database import Database, Row
from recrawl.stores.sqlite.failures import translated

__all__ = ["SqliteStore"]

_CHUNK = 10_000
# Columns of lease_candidates: host, its due time, how many of its pages are held, the page.
_N_HELD = 2
_DUE_AND_KEY = itemgetter(7, 3)
_FIRST_KEY = -(2**63)
_LAST_KEY = 2**63 - 1


class SqliteStore:
    """A page store in one SQLite file.

    Several processes of one machine may use the file at once: every call is one transaction.
    Any thread may call.  A kill at any moment leaves the file as the last transaction left it;
    so does a power cut.  Network file systems do not work.

    Parameters
    ----------
    path : str or Path
        The file; SQLite keeps two more beside it, with ``-wal`` and ``-shm`` after the name.
    keep_visits : int
        Visits kept a page, at least 1.
    create : bool
        Whether a missing or empty file becomes a new store.
    busy_timeout : float
        How long a call waits for other processes. [s]

    Raises
    ------
    InputError
        If ``keep_visits`` is less than 1.
    NotAStore
        If the file holds something else; it is not touched.
    StoreVersionError
        If a newer recrawl wrote the file.
    StoreError
        If there is no file and none may be made, or it cannot be opened.
    """

    def __init__(
        self,
        path: str | Path,
        keep_visits: int = 20,
        create: bool = True,
        *,
        busy_timeout: float = 30.0,
    ) -> None:
        if keep_visits < 1:
            raise InputError(
                f"keep_visits is {keep_visits}; keep at least 1, a repeated commit is known by it",
                value=keep_visits,
            )
        self._keep_visits = keep_visits
        self._database = Database(Path(path), create=create, busy_timeout=busy_timeout)

    def add(self, pages: Sequence[PageRow]) -> AddResult:
        """Add pages that are not there yet; see ``PageStore.add``."""
        with self._database.writing() as sql:
            n_added = sum(
                writing.insert(sql, pages[start : start + _CHUNK], is_strict=True)
                for start in range(0, len(pages), _CHUNK)
            )
        return AddResult(n_added, len(pages) - n_added)

    def get(self, page_key: int) -> PageRow | None:
        """Return the page, or None."""
        found = self._read("get_page", page_key=page_key)
        return rows.page_of(found[0]) if found else None

    def update(self, pages: Sequence[PageRow]) -> int:
        """Overwrite pages by hand and cancel their leases; see ``PageStore.update``."""
        with self._database.writing() as sql:
            return writing.update(sql, pages)

    def hosts(self, host_keys: Iterable[int]) -> dict[int, HostRow]:
        """Return the rows of those hosts that are there."""
        found = self._read("get_hosts", host_keys=json.dumps(list(host_keys)))
        return {row[0]: rows.host_of_row(row) for row in found}

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
        """Take due pages; see ``PageStore.lease``."""
        with self._database.writing() as sql:
            sql.run("end_leases", now=now)
            found = sql.stream(
                "lease_candidates",
                owner=owner,
                now=now,
                due_by=now if due_by is None else due_by,
                per_host=per_host,
            )
            with closing(found):
                pages = _first_pages(found, limit, per_host)
            until = now + round(ttl * 1000)
            sql.run_many(
                "insert_lease",
                [
                    {
                        "page_key": page.state.page_key,
                        "host_key": page.state.host_key,
                        "owner": owner,
                        "until": until,
                    }
                    for page in pages
                ],
            )
        return pages

    def release(self, owner: str, page_keys: Sequence[int], moves: Sequence[Move] = ()) -> None:
        """Give back leases of ``owner`` without a visit; see ``PageStore.release``."""
        with self._database.writing() as sql:
            sql.run_many("delete_lease", [{"page_key": key, "owner": owner} for key in page_keys])
            writing.move(sql, moves)

    def commit(
        self,
        owner: str,
        commits: Sequence[Commit],
        now: int,
        *,
        learned: Mapping[int, bytes] | None = None,
        moves: Sequence[Move] = (),
    ) -> list[int]:
        """Write processed visits; see ``PageStore.commit``."""
        with self._database.writing() as sql:
            skipped = writing.commit(sql, owner, commits, now, keep_visits=self._keep_visits)
            writing.learn(sql, learned or {})
            writing.move(sql, moves)
        return skipped

    def learned(self, keys: Iterable[int]) -> dict[int, bytes]:
        """Return what is known of those hosts and groups of which something is known."""
        return dict(self._read("get_learned", keys=json.dumps(list(keys))))

    def scan_learned(self, *, after: int | None = None, limit: int = 1000) -> dict[int, bytes]:
        """Return what is known of hosts and groups with ``key > after``, in that order."""
        return dict(self._scan("all_learned", after, limit))

    def save_learned(self, learned: Mapping[int, bytes]) -> None:
        """Insert or overwrite what is known of hosts and groups, by their keys."""
        with self._database.writing() as sql:
            writing.learn(sql, learned)

    def save_hosts(self, hosts: Sequence[HostRow]) -> None:
        """Overwrite rows of hosts that are there."""
        with self._database.writing() as sql:
            sql.run_many("save_host", map(rows.host_values, hosts))

    def robots(self, origin: str) -> RobotsRow | None:
        """Return what is known of an origin's robots.txt, or None."""
        found = self._read("get_robots", origin=origin)
        return RobotsRow(*found[0]) if found else None

    def save_robots(self, row: RobotsRow) -> None:
        """Insert or overwrite an origin's robots.txt."""
        with self._database.writing() as sql:
            sql.run("save_robots", **rows.robots_values(row))

    def next_due(self, now: int, *, due_by: int | None = None) -> int:
        """Return when ``lease`` could give a page next; see ``PageStore.next_due``."""
        earliest = NEVER
        with (
            self._database.reading() as sql,
            closing(sql.stream("next_due_hosts", now=now)) as hosts,
        ):
            for due_at, ready_at, free_at in hosts:
                if due_at >= earliest or (due_by is not None and due_at > due_by):
                    break
                waits = [at for at in (due_at, ready_at, free_at) if at is not None]
                earliest = min(earliest, max(waits))
        return earliest

    def scan(self, *, after: int | None = None, limit: int = 1000) -> list[PageRow]:
        """Return pages with ``page_key > after``, in the order of their keys."""
        return list(map(rows.page_of, self._scan("scan_pages", after, limit)))

    def scan_planned(self, *, after: int | None = None, limit: int = 1000) -> PageStates:
        """Return what a plan is made of; see ``PageStore.scan_planned``."""
        return rows.planned_of(self._scan("scan_planned", after, limit))

    def grouped(self, group_keys: Iterable[int]) -> PageStates:
        """Return what a plan is made of, of all pages of groups; see ``PageStore.grouped``."""
        keys = json.dumps(sorted(set(group_keys)))
        return rows.planned_of(self._read("grouped_pages", group_keys=keys))

    def add_signals(self, page_keys: Sequence[int], moves: Sequence[Move] = ()) -> None:
        """Count one more signal of a change for each page; see ``PageStore.add_signals``."""
        with self._database.writing() as sql:
            sql.run_many(
                "add_signal", [{"page_key": key, "most": MOST_SIGNALS} for key in page_keys]
            )
            writing.move(sql, moves)

    def due(self, now: int, *, limit: int) -> list[PageRow]:
        """Return the pages due at ``now``, earliest first, leased or not."""
        return list(map(rows.page_of, self._read("due_pages", now=now, limit=max(limit, 0))))

    def visits(self, page_key: int) -> list[VisitRow]:
        """Return the kept visits of a page, newest first."""
        return list(map(rows.visit_of, self._read("get_visits", page_key=page_key)))

    def texts(self, page_key: int) -> list[TextVersion]:
        """Return the kept text versions of a page, newest first, at most two."""
        with translated(self._database.path):
            return list(map(rows.text_of, self._read("get_texts", page_key=page_key)))

    def changes(self, after: int = 0, *, limit: int = 1000) -> list[Change]:
        """Return events with ``sequence > after``, in their order."""
        found = self._read("get_changes", after=after, limit=max(limit, 0))
        return list(map(rows.change_of, found))

    def status(self, now: int) -> StoreStatus:
        """Return figures of the whole collection; reads all pages."""
        with self._database.reading() as sql:
            counts = sql.rows("count_rows", now=now)[0]
            n_by_status: dict[int, int] = dict(sql.rows("count_statuses"))
        n_hosts, n_due, n_leased, n_visits, n_changes, oldest_due_at = counts
        return StoreStatus(
            n_pages=sum(n_by_status.values()),
            n_hosts=n_hosts,
            n_due=n_due,
            n_leased=n_leased,
            n_visits=n_visits,
            n_changes=n_changes,
            oldest_due_at=NEVER if oldest_due_at is None else oldest_due_at,
            n_by_status=n_by_status,
        )

    def get_meta(self, name: str) -> str | None:
        """Return a named value kept beside the pages, or None."""
        found = self._read("get_meta", name=name)
        return found[0][0] if found else None

    def set_meta(self, name: str, value: str) -> None:
        """Keep a named value."""
        with self._database.writing() as sql:
            sql.run("set_meta", name=name, value=value)

    def swap_meta(self, name: str, old: str | None, new: str) -> bool:
        """Keep a named value if the one there is ``old``; see ``PageStore.swap_meta``."""
        with self._database.writing() as sql:
            there = sql.rows("get_meta", name=name)
            is_old = (there[0][0] if there else None) == old
            if is_old:
                sql.run("set_meta", name=name, value=new)
        return is_old

    def close(self) -> None:
        """Let go of the file; a second call does nothing."""
        self._database.close()

    def __iter__(self) -> Iterator[PageRow]:
        """Yield all pages in the order of their keys; a chunk at a time, so others may write."""
        pages = self.scan(limit=_CHUNK)
        while pages:
            yield from pages
            pages = self.scan(after=pages[-1].state.page_key, limit=_CHUNK)

    def _scan(self, query: str, after: int | None, limit: int) -> list[Row]:
        """Return rows with a key beyond ``after``."""
        if after is not None and after >= _LAST_KEY:
            return []
        first = _FIRST_KEY if after is None else after + 1
        return self._read(query, first=first, limit=max(limit, 0))

    def _read(self, query: str, **values: Any) -> list[Row]:
        """Return the rows of one query."""
        with self._database.reading() as sql:
            return sql.rows(query, **values)


def _first_pages(found: Iterator[Row], limit: int, per_host: int) -> list[PageRow]:
    """Return the pages to lease: stops reading at the host that fills the limit."""
    pages: list[PageRow] = []
    for _, host in groupby(found, key=itemgetter(0)):
        if len(pages) >= limit:
            break
        due = sorted(host, key=_DUE_AND_KEY)
        room = per_host - due[0][_N_HELD]
        pages += [rows.page_of(row[_N_HELD + 1 :]) for row in due[:room]]
    return pages[: max(limit, 0)]
