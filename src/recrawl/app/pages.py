"""Pages that users name: add them, look them up, force them."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from recrawl.app.policy import PagePolicy, PolicyOf
from recrawl.app.seeds import Seed
from recrawl.core.columns import NO_TIME
from recrawl.core.group import group_key
from recrawl.core.states import PageStates
from recrawl.core.url import canonical_url, host_key, host_of, page_key
from recrawl.errors import NotFound
from recrawl.ports.store import AddResult, HostRow, PageRow, PageStore, VisitRow

__all__ = ["add_seeds", "find_page", "force_pages", "look_up", "match_pages", "new_page"]

_ADD_BATCH = 1000
# Few, so that little time passes between reading a page and writing it.
_FORCE_BATCH = 100


def new_page(
    url: str,
    policy: PagePolicy,
    *,
    now: int,
    depth: int = 0,
    importance: float | None = None,
    interval: float | None = None,
    fixed_interval: float | None = None,
) -> PageRow:
    """Return the row of a page that was never fetched.

    Parameters
    ----------
    url : str
        Any spelling of the URL.
    policy : PagePolicy
        What the settings say about it.
    now : int
        When it is added, and due. [ms]
    depth : int
        Redirects between the page added by hand and this one.
    importance, interval, fixed_interval : float, optional
        Given by hand; the policy's where None. Intervals in [s]

    Raises
    ------
    UrlError
        If the URL cannot name a page.
    """
    canonical = canonical_url(url)
    states = PageStates.of(
        1,
        page_key=page_key(canonical),
        host_key=host_key(host_of(canonical)),
        group_key=group_key(canonical),
        interval=policy.interval if interval is None else interval,
        fixed_interval=np.nan if fixed_interval is None else fixed_interval,
        importance=policy.importance if importance is None else importance,
    )
    timing = policy.schedule.first(states, now)
    states = states.with_columns(
        {"interval": timing.interval, "next_fetch_at": timing.next_fetch_at}
    )
    return PageRow(url=canonical, state=states.row(0), added_at=now, depth=depth)


def add_seeds(
    store: PageStore, seeds: Iterable[Seed], *, policy_of: PolicyOf, now: int
) -> AddResult:
    """Add the pages of seed lines, in transactions of a thousand.

    Pages already there keep their state, also what a seed line says otherwise.
    """
    n_added = n_known = 0
    rows: list[PageRow] = []

    def flush() -> None:
        nonlocal n_added, n_known
        result = store.add(rows)
        n_added += result.n_added
        n_known += result.n_known
        rows.clear()

    for seed in seeds:
        rows.append(
            new_page(
                seed.url,
                policy_of(seed.url),
                now=now,
                importance=seed.importance,
                interval=seed.interval,
                fixed_interval=seed.fixed_interval,
            )
        )
        if len(rows) >= _ADD_BATCH:
            flush()
    if rows:
        flush()
    return AddResult(n_added=n_added, n_known=n_known)


def find_page(store: PageStore, url: str) -> PageRow:
    """Return the page of any spelling of its URL.

    Raises
    ------
    UrlError
        If the URL cannot name a page.
    NotFound
        If the store does not hold the page.
    """
    canonical = canonical_url(url)
    page = store.get(page_key(canonical))
    if page is None or page.url != canonical:
        raise NotFound(
            f"no page {canonical} in the store: add it with `recrawl add`, or list what is there "
            "with `recrawl export`",
            value=canonical,
        )
    return page


def look_up(store: PageStore, url: str) -> tuple[PageRow, list[VisitRow], HostRow | None]:
    """Return a page as ``find_page`` finds it, its kept visits, newest first, and its host."""
    page = find_page(store, url)
    host = store.hosts([page.state.host_key]).get(page.state.host_key)
    return page, store.visits(page.state.page_key), host


def match_pages(store: PageStore, pattern: str) -> list[PageRow]:
    """Return the pages whose canonical URL matches a pattern such as ``https://a.example/*``.

    ``*`` stands for any run of characters, every other character for itself.
    """
    glob = re.sub(r"[?[]", r"[\g<0>]", pattern)
    return [page for page in store if fnmatch.fnmatchcase(page.url, glob)]


def force_pages(store: PageStore, pages: Sequence[PageRow], *, now: int) -> int:
    """Make pages due now and their next request unconditional; return how many were there.

    The answer is read anew even if it is the one of before.  What is known of the content
    stays: a forced fetch reports a change only if there is one.
    Pages named twice count once.  Each is read again just before it is written, as a crawler may
    have visited it since it was looked up.
    """
    keys = list(dict.fromkeys(page.state.page_key for page in pages))
    n_forced = 0
    for start in range(0, len(keys), _FORCE_BATCH):
        found = map(store.get, keys[start : start + _FORCE_BATCH])
        n_forced += store.update([_forced(page, now) for page in found if page is not None])
    return n_forced


def _forced(page: PageRow, now: int) -> PageRow:
    # A turn that lies before the last visit is nobody's but a hand's: no schedule puts it off.
    fetched_at = page.state.fetched_at
    due_at = now if fetched_at == NO_TIME else min(now, fetched_at)
    state = replace(page.state, next_fetch_at=due_at)
    return replace(page, state=state, etag=None, last_modified=None, content_digest=None)
