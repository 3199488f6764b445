"""What the writing calls of the store do inside their transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from recrawl.core.columns import NEVER
from recrawl.core.url import host_of
from recrawl.errors import KeyClash
from recrawl.ports.store import Commit, Move, PageRow
from recrawl.stores.sqlite import rows
from recrawl.stores.sqlite.database import Transaction

__all__ = ["commit", "insert", "learn", "move", "update"]

_KEEP_TEXTS = 2


def insert(sql: Transaction, pages: Sequence[PageRow], *, is_strict: bool) -> int:
    """Add the pages that are not there; return how many.

    A page whose key belongs to another URL raises KeyClash if ``is_strict``, and is left out
    otherwise.
    """
    urls = {key: url for key, (url, _) in _pages_there(sql, pages).items()}
    new: dict[int, PageRow] = {}
    for page in pages:
        key = page.state.page_key
        if key not in urls:
            urls[key] = page.url
            new[key] = page
        elif is_strict:
            _check_url(urls[key], page)
    # In the order of the keys: neighbours in the file are written together.
    sql.run_many("insert_page", [rows.page_values(new[key]) for key in sorted(new)])
    hosts: dict[int, tuple[str, int]] = {}
    for page in new.values():
        host, due_at = hosts.get(page.state.host_key, (page.url, NEVER))
        hosts[page.state.host_key] = (host, min(due_at, page.state.next_fetch_at))
    sql.run_many(
        "add_host",
        [
            {"host_key": key, "host": host_of(url), "due_at": rows.due_value(due_at)}
            for key, (url, due_at) in hosts.items()
        ],
    )
    return len(new)


def update(sql: Transaction, pages: Sequence[PageRow]) -> int:
    """Overwrite the pages that are there and cancel their leases; return how many."""
    there = _pages_there(sql, pages)
    known = [page for page in pages if page.state.page_key in there]
    for page in known:
        _check_url(there[page.state.page_key][0], page)
    sql.run_many("update_page", map(rows.page_values, known))
    sql.run_many("cancel_lease", [{"page_key": page.state.page_key} for page in known])
    _refresh_hosts(sql, {host_key for _, host_key in there.values()})
    return len(known)


def learn(sql: Transaction, learned: Mapping[int, bytes]) -> None:
    """Insert or overwrite what is known of hosts and groups."""
    sql.run_many("save_learned", [{"key": k, "state": state} for k, state in learned.items()])


def move(sql: Transaction, moves: Sequence[Move]) -> None:
    """Let pages be due at another time."""
    if not moves:
        return
    sql.run_many("move_page", map(rows.move_values, moves))
    keys = json.dumps([each.page_key for each in moves])
    _refresh_hosts(sql, {host_key for _, _, host_key in sql.rows("get_urls", page_keys=keys)})


@dataclass(slots=True)
class _Verdict:
    """What becomes of the commits of one call."""

    accepted: list[Commit] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)
    # Pages whose lease ends, with their hosts.
    ended: dict[int, int] = field(default_factory=dict)


def commit(
    sql: Transaction, owner: str, commits: Sequence[Commit], now: int, *, keep_visits: int
) -> list[int]:
    """Write processed visits; return the page keys that were skipped."""
    verdict = _judge(sql, owner, commits, now)
    _write_visits(sql, verdict.accepted, keep_visits)
    sql.run_many(
        "end_lease",
        [{"page_key": key, "host_key": host_key} for key, host_key in verdict.ended.items()],
    )
    hosts = {each.host.host_key: rows.host_values(each.host) for each in verdict.accepted}
    sql.run_many("commit_host", hosts.values())
    _refresh_hosts(sql, set(verdict.ended.values()) - hosts.keys())
    insert(sql, [page for each in verdict.accepted for page in each.found], is_strict=False)
    return verdict.skipped


def _judge(sql: Transaction, owner: str, commits: Sequence[Commit], now: int) -> _Verdict:
    """Tell which commits are to be written, in their order."""
    verdict = _Verdict()
    written: set[tuple[int, int]] = set()
    visits = [(each.page.state.page_key, each.visit.fetched_at) for each in commits]
    there = sql.rows("check_commits", visits=json.dumps(visits))
    for each, (key, fetched_at), row in zip(commits, visits, there, strict=True):
        url, host_key, holder, until, is_known = row
        if url is None:
            verdict.skipped.append(key)
            continue
        _check_url(url, each.page)
        is_held = holder == owner and until > now and key not in verdict.ended
        if is_held:
            verdict.ended[key] = host_key
        if is_known or (key, fetched_at) in written:
            continue
        if is_held:
            verdict.accepted.append(each)
            written.add((key, fetched_at))
        else:
            verdict.skipped.append(key)
    return verdict


def _write_visits(sql: Transaction, commits: Sequence[Commit], keep_visits: int) -> None:
    """Write pages, visits, texts and events."""
    sql.run_many("update_page", [rows.page_values(each.page) for each in commits])
    sql.run_many("insert_visit", [rows.visit_values(each.visit) for each in commits])
    sql.run_many(
        "prune_visits",
        [{"page_key": each.visit.page_key, "n_kept": keep_visits} for each in commits],
    )
    texts = [each.text for each in commits if each.text is not None]
    sql.run_many("insert_text", map(rows.text_values, texts))
    sql.run_many(
        "prune_texts", [{"page_key": text.page_key, "n_kept": _KEEP_TEXTS} for text in texts]
    )
    sql.run_many(
        "insert_change",
        [rows.change_values(each.change) for each in commits if each.change is not None],
    )


def _refresh_hosts(sql: Transaction, host_keys: Iterable[int]) -> None:
    sql.run_many("refresh_host", [{"host_key": key} for key in host_keys])


def _pages_there(sql: Transaction, pages: Sequence[PageRow]) -> Mapping[int, tuple[str, int]]:
    """Return URL and host key of the pages whose keys are there."""
    if not pages:
        return {}
    keys = json.dumps(sorted({page.state.page_key for page in pages}))
    return {key: (url, host) for key, url, host in sql.rows("get_urls", page_keys=keys)}


def _check_url(there: str, page: PageRow) -> None:
    """Raise KeyClash if the page's key belongs to another URL."""
    if there != page.url:
        raise KeyClash.of(page.state.page_key, there, page.url)
