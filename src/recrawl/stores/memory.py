"""The reference store: plain dictionaries, gone with the process."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from recrawl.core.columns import MOST_SIGNALS, NEVER, NO_KEY, NO_TIME
from recrawl.core.states import PageStates
from recrawl.core.url import host_of
from recrawl.errors import InputError, KeyClash
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

__all__ = ["MemoryStore"]

_T = TypeVar("_T")

_KEEP_TEXTS = 2


class MemoryStore:
    """A page store in memory: for tests, for simulations, and as the measure of other stores.

    Every call looks at all pages; other stores do the same work with indexes.

    Parameters
    ----------
    keep_visits : int
        Visits kept a page, at least 1.

    Raises
    ------
    InputError
        If ``keep_visits`` is less than 1.
    """

    def __init__(self, keep_visits: int = 20) -> None:
        if keep_visits < 1:
            raise InputError(
                f"keep_visits is {keep_visits}; keep at least 1, a repeated commit is known by it",
                value=keep_visits,
            )
        self._keep_visits = keep_visits
        self._pages: dict[int, PageRow] = {}
        self._hosts: dict[int, HostRow] = {}
        self._leases: dict[int, tuple[str, int]] = {}
        self._visits: defaultdict[int, dict[int, VisitRow]] = defaultdict(dict)
        self._texts: defaultdict[int, dict[int, TextVersion]] = defaultdict(dict)
        self._changes: list[Change] = []
        self._robots: dict[str, RobotsRow] = {}
        self._learned: dict[int, bytes] = {}
        self._meta: dict[str, str] = {}

    def add(self, pages: Sequence[PageRow]) -> AddResult:
        """Add pages that are not there yet; see ``PageStore.add``."""
        urls = {key: page.url for key, page in self._pages.items()}
        for page in pages:
            _check_url(urls.setdefault(page.state.page_key, page.url), page)
        n_added = sum(self._add_one(page) for page in pages)
        return AddResult(n_added, len(pages) - n_added)

    def _add_one(self, page: PageRow) -> bool:
        """Add a page unless its key is taken; tell whether it was added."""
        state = page.state
        if state.page_key in self._pages:
            return False
        self._pages[state.page_key] = page
        self._hosts.setdefault(state.host_key, HostRow(state.host_key, host_of(page.url)))
        return True

    def get(self, page_key: int) -> PageRow | None:
        """Return the page, or None."""
        return self._pages.get(page_key)

    def update(self, pages: Sequence[PageRow]) -> int:
        """Overwrite pages by hand and cancel their leases; see ``PageStore.update``."""
        there = [page for page in pages if page.state.page_key in self._pages]
        for page in there:
            _check_url(self._pages[page.state.page_key].url, page)
        for page in there:
            self._pages[page.state.page_key] = page
            self._leases.pop(page.state.page_key, None)
        return len(there)

    def hosts(self, host_keys: Iterable[int]) -> dict[int, HostRow]:
        """Return the rows of those hosts that are there."""
        return {key: self._hosts[key] for key in host_keys if key in self._hosts}

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
        due_by = now if due_by is None else due_by
        self._leases = {
            key: (holder, until) for key, (holder, until) in self._leases.items() if until > now
        }
        by_host: defaultdict[int, list[PageRow]] = defaultdict(list)
        for page in sorted(self._pages.values(), key=_by_due):
            by_host[page.state.host_key].append(page)
        given: list[PageRow] = []
        for host_key, pages in sorted(by_host.items(), key=_by_first_due):
            holders = [self._leases[key][0] for key in map(_key, pages) if key in self._leases]
            if self._hosts[host_key].ready_at > now or set(holders) - {owner}:
                continue
            due = [p for p in pages if _is_due(p, due_by) and _key(p) not in self._leases]
            given += due[: max(per_host - len(holders), 0)]
        given = given[: max(limit, 0)]
        for page in given:
            self._leases[_key(page)] = (owner, now + round(ttl * 1000))
        return given

    def release(self, owner: str, page_keys: Sequence[int], moves: Sequence[Move] = ()) -> None:
        """Give back leases of ``owner`` without a visit; see ``PageStore.release``."""
        for key in page_keys:
            if key in self._leases and self._leases[key][0] == owner:
                del self._leases[key]
        self._move(moves)

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
        for commit in commits:
            if (there := self._pages.get(commit.page.state.page_key)) is not None:
                _check_url(there.url, commit.page)
        skipped = [
            commit.page.state.page_key
            for commit in commits
            if not self._commit_one(owner, commit, now)
        ]
        self.save_learned(learned or {})
        self._move(moves)
        return skipped

    def _move(self, moves: Sequence[Move]) -> None:
        """Let pages be due at another time."""
        for move in moves:
            page = self._pages.get(move.page_key)
            if page is not None and page.state.next_fetch_at != NEVER:
                state = replace(page.state, next_fetch_at=move.next_fetch_at)
                self._pages[move.page_key] = replace(page, state=state)

    def learned(self, keys: Iterable[int]) -> dict[int, bytes]:
        """Return what is known of those hosts and groups of which something is known."""
        return {key: self._learned[key] for key in keys if key in self._learned}

    def scan_learned(self, *, after: int | None = None, limit: int = 1000) -> dict[int, bytes]:
        """Return what is known of hosts and groups with ``key > after``, in that order."""
        keys = (key for key in self._learned if after is None or key > after)
        return {key: self._learned[key] for key in heapq.nsmallest(max(limit, 0), keys)}

    def save_learned(self, learned: Mapping[int, bytes]) -> None:
        """Insert or overwrite what is known of hosts and groups, by their keys."""
        self._learned.update(learned)

    def _commit_one(self, owner: str, commit: Commit, now: int) -> bool:
        """Write one visit; tell whether it stands in the store now."""
        key = commit.page.state.page_key
        holder, until = self._leases.get(key, ("", NO_TIME))
        is_known = commit.visit.fetched_at in self._visits[key]
        is_held = key in self._pages and holder == owner and until > now
        if is_held:
            del self._leases[key]
        if is_known or not is_held:
            return is_known
        self._pages[key] = commit.page
        self._hosts[commit.host.host_key] = commit.host
        _keep_newest(self._visits[key], commit.visit.fetched_at, commit.visit, self._keep_visits)
        if commit.text is not None:
            _keep_newest(self._texts[key], commit.text.fetched_at, commit.text, _KEEP_TEXTS)
        if commit.change is not None:
            self._changes.append(replace(commit.change, sequence=len(self._changes) + 1))
        for page in commit.found:
            self._add_one(page)
        return True

    def save_hosts(self, hosts: Sequence[HostRow]) -> None:
        """Overwrite rows of hosts that are there."""
        for host in hosts:
            if host.host_key in self._hosts:
                self._hosts[host.host_key] = host

    def robots(self, origin: str) -> RobotsRow | None:
        """Return what is known of an origin's robots.txt, or None."""
        return self._robots.get(origin)

    def save_robots(self, row: RobotsRow) -> None:
        """Insert or overwrite an origin's robots.txt."""
        self._robots[row.origin] = row

    def next_due(self, now: int, *, due_by: int | None = None) -> int:
        """Return when ``lease`` could give a page next; see ``PageStore.next_due``."""
        free_at: dict[int, int] = {}
        for key, (_, until) in self._leases.items():
            if until > now:
                host_key = self._pages[key].state.host_key
                free_at[host_key] = min(until, free_at.get(host_key, NEVER))
        return min(
            (
                max(
                    page.state.next_fetch_at,
                    self._hosts[page.state.host_key].ready_at,
                    free_at.get(page.state.host_key, NO_TIME),
                )
                for page in self._pages.values()
                if due_by is None or _is_due(page, due_by)
            ),
            default=NEVER,
        )

    def scan(self, *, after: int | None = None, limit: int = 1000) -> list[PageRow]:
        """Return pages with ``page_key > after``, in the order of their keys."""
        keys = (key for key in self._pages if after is None or key > after)
        return [self._pages[key] for key in heapq.nsmallest(max(limit, 0), keys)]

    def scan_planned(self, *, after: int | None = None, limit: int = 1000) -> PageStates:
        """Return what a plan is made of; see ``PageStore.scan_planned``."""
        return PageStates.from_rows([page.state for page in self.scan(after=after, limit=limit)])

    def grouped(self, group_keys: Iterable[int]) -> PageStates:
        """Return what a plan is made of, of all pages of groups; see ``PageStore.grouped``."""
        wanted = set(group_keys) - {NO_KEY}
        return PageStates.from_rows([p.state for p in self if p.state.group_key in wanted])

    def add_signals(self, page_keys: Sequence[int], moves: Sequence[Move] = ()) -> None:
        """Count one more signal of a change for each page; see ``PageStore.add_signals``."""
        for key in page_keys:
            if (page := self._pages.get(key)) is not None:
                n_signals = min(page.state.n_signals + 1, MOST_SIGNALS)
                self._pages[key] = replace(page, state=replace(page.state, n_signals=n_signals))
        self._move(moves)

    def due(self, now: int, *, limit: int) -> list[PageRow]:
        """Return the pages due at ``now``, earliest first, leased or not."""
        pages = (page for page in self._pages.values() if _is_due(page, now))
        return heapq.nsmallest(max(limit, 0), pages, key=_by_due)

    def visits(self, page_key: int) -> list[VisitRow]:
        """Return the kept visits of a page, newest first."""
        return [row for _, row in sorted(self._visits.get(page_key, {}).items(), reverse=True)]

    def texts(self, page_key: int) -> list[TextVersion]:
        """Return the kept text versions of a page, newest first, at most two."""
        return [row for _, row in sorted(self._texts.get(page_key, {}).items(), reverse=True)]

    def changes(self, after: int = 0, *, limit: int = 1000) -> list[Change]:
        """Return events with ``sequence > after``, in their order."""
        start = max(after, 0)
        return self._changes[start : start + max(limit, 0)]

    def status(self, now: int) -> StoreStatus:
        """Return figures of the whole collection."""
        states = [page.state for page in self._pages.values()]
        return StoreStatus(
            n_pages=len(states),
            n_hosts=len(self._hosts),
            n_due=sum(_is_due(page, now) for page in self._pages.values()),
            n_leased=sum(until > now for _, until in self._leases.values()),
            n_visits=sum(map(len, self._visits.values())),
            n_changes=len(self._changes),
            oldest_due_at=min((state.next_fetch_at for state in states), default=NEVER),
            n_by_status=dict(Counter(state.status for state in states)),
        )

    def get_meta(self, name: str) -> str | None:
        """Return a named value kept beside the pages, or None."""
        return self._meta.get(name)

    def set_meta(self, name: str, value: str) -> None:
        """Keep a named value."""
        self._meta[name] = value

    def swap_meta(self, name: str, old: str | None, new: str) -> bool:
        """Keep a named value if the one there is ``old``; see ``PageStore.swap_meta``."""
        if self._meta.get(name) != old:
            return False
        self._meta[name] = new
        return True

    def close(self) -> None:
        """Let go of the store; a second call does nothing."""

    def __iter__(self) -> Iterator[PageRow]:
        """Yield all pages in the order of their keys."""
        for key in sorted(self._pages):
            yield self._pages[key]


def _check_url(there: str, page: PageRow) -> None:
    """Raise KeyClash if the page's key belongs to another URL."""
    if there != page.url:
        raise KeyClash.of(page.state.page_key, there, page.url)


def _key(page: PageRow) -> int:
    return page.state.page_key


def _is_due(page: PageRow, now: int) -> bool:
    return page.state.next_fetch_at <= now and page.state.next_fetch_at != NEVER


def _by_due(page: PageRow) -> tuple[int, int]:
    return page.state.next_fetch_at, page.state.page_key


def _by_first_due(host: tuple[int, list[PageRow]]) -> tuple[int, int]:
    host_key, pages = host
    return pages[0].state.next_fetch_at, host_key


def _keep_newest(rows: dict[int, _T], at: int, row: _T, n_kept: int) -> None:
    """Put a row under its instant and drop the oldest beyond ``n_kept``."""
    rows[at] = row
    for old in sorted(rows)[:-n_kept]:
        del rows[old]
