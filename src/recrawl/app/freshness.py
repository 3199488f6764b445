"""How fresh a collection is estimated to be just now, as a whole and by its parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from recrawl.app.learned import Learned
from recrawl.core.columns import NEVER, NO_TIME
from recrawl.core.group import group_of
from recrawl.core.states import PageStates
from recrawl.core.url import host_of
from recrawl.ports.store import PageRow, PageStore

__all__ = ["PartFreshness", "freshness_by", "total_freshness"]

_CHUNK = 10_000


@dataclass(frozen=True, slots=True)
class PartFreshness:
    """How fresh some pages are estimated to be.

    Parameters
    ----------
    part : str
        Host or pattern; "" for the whole collection.
    n_pages : int
        Pages that are to be fetched again.
    n_new : int
        Those among them that have no content yet.
    freshness : float
        Share of copies that are right, weighted by importance; pages without content count as
        wrong.  NaN without a page.
    oldest_due_at : int
        Earliest due time; NEVER without one. [ms]
    """

    part: str
    n_pages: int
    n_new: int
    freshness: float
    oldest_due_at: int


@dataclass(slots=True)
class _Sums:
    n_pages: int = 0
    n_new: int = 0
    weight: float = 0.0
    fresh: float = 0.0
    oldest_due_at: int = NEVER

    def add(self, states: PageStates, fresh: np.ndarray) -> None:
        weight = states.importance.astype(np.float64)
        self.n_pages += len(states)
        self.n_new += int((states.checked_at == NO_TIME).sum())
        self.weight += float(weight.sum())
        self.fresh += float((weight * fresh).sum())
        self.oldest_due_at = min(self.oldest_due_at, int(states.next_fetch_at.min()))

    def of(self, part: str) -> PartFreshness:
        freshness = self.fresh / self.weight if self.weight else np.nan
        return PartFreshness(part, self.n_pages, self.n_new, freshness, self.oldest_due_at)


def total_freshness(store: PageStore, now: int) -> PartFreshness:
    """Return how fresh the whole collection is estimated to be at ``now`` [ms]; reads all pages."""
    learned, sums, after = Learned(store), _Sums(), None
    while len(states := store.scan_planned(after=after, limit=_CHUNK)):
        after = int(states.page_key[-1])
        is_open = states.next_fetch_at != NEVER
        if is_open.any():
            some = states.take(is_open)
            sums.add(some, _fresh(learned, some, now))
    return sums.of("")


def freshness_by(store: PageStore, now: int, part: str) -> list[PartFreshness]:
    """Return how fresh each host or pattern is estimated to be, the least fresh pages first.

    Parameters
    ----------
    store : PageStore
        The store; all pages are read.
    now : int
        The present. [ms]
    part : str
        ``host``, or ``pattern``: host and first directories, as pages are grouped.
    """
    name_of: Callable[[str], str] = host_of if part == "host" else group_of
    learned, sums, after = Learned(store), dict[str, _Sums](), None
    while pages := store.scan(after=after, limit=_CHUNK):
        after = pages[-1].state.page_key
        _add(sums, [p for p in pages if p.state.next_fetch_at != NEVER], name_of, learned, now)
    found = [each.of(name) for name, each in sums.items()]
    # By how much is wrong, so that the parts come first that hold the collection down.
    stale = {name: each.weight - each.fresh for name, each in sums.items()}
    return sorted(found, key=lambda each: (-stale[each.part], each.part))


def _add(
    sums: dict[str, _Sums],
    pages: Sequence[PageRow],
    name_of: Callable[[str], str],
    learned: Learned,
    now: int,
) -> None:
    if not pages:
        return
    states = PageStates.from_rows([page.state for page in pages])
    fresh = _fresh(learned, states, now)
    names, row = np.unique([name_of(page.url) for page in pages], return_inverse=True)
    for i, name in enumerate(names.tolist()):
        at = np.flatnonzero(row == i)
        sums.setdefault(name, _Sums()).add(states.take(at), fresh[at])


def _fresh(learned: Learned, states: PageStates, now: int) -> np.ndarray:
    """Return the probability that each copy is right."""
    changes, _ = learned.knowledge(states, now).belief(states, now)
    return np.where(states.checked_at == NO_TIME, 0.0, np.exp(-changes))
