"""The visit history of a store, for trying other schedules on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.core.states import PageStates
from recrawl.core.visit import Visits
from recrawl.ports.store import PageStore
from recrawl.simulation.history import VisitHistory

__all__ = ["Coverage", "read_history"]

_CHUNK = 1000


@dataclass(frozen=True, slots=True)
class Coverage:
    """What of a store its history tells.

    Parameters
    ----------
    n_pages : int
        Pages of the store.
    n_cut : int
        Pages that were visited more often than visits are kept of them.
    """

    n_pages: int
    n_cut: int


def read_history(store: PageStore) -> tuple[VisitHistory, Coverage]:
    """Return the history of the pages that two visits or more tell of, and what there was.

    Parameters
    ----------
    store : PageStore
        All of its pages are read, with their kept visits.
    """
    parts: list[PageStates] = [PageStates.of(0)]
    rows: list[tuple[int, int, int, int, int]] = []
    n_cut, after = 0, None
    while len(states := store.scan_planned(after=after, limit=_CHUNK)):
        parts.append(states)
        for key, n_visits in zip(states.page_key.tolist(), states.n_visits.tolist(), strict=True):
            visits = store.visits(key)
            n_cut += n_visits > len(visits)
            rows += [
                (key, visit.fetched_at, visit.outcome, visit.observation, visit.modified_at)
                for visit in visits
            ]
        after = int(states.page_key[-1])
    columns = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    names = ("page_key", "fetched_at", "outcome", "observation", "modified_at")
    visits_read = Visits.of(len(rows), **dict(zip(names, columns, strict=True)))
    pages = PageStates.concatenate(parts)
    coverage = Coverage(len(pages), n_cut)
    return VisitHistory.of(pages, visits_read), coverage
