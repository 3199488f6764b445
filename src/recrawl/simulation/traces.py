"""Worlds from real change histories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from recrawl.core.states import Seconds
from recrawl.errors import InputError
from recrawl.simulation.worlds.world import World

__all__ = ["History", "parse_history", "world_of_traces"]

_ENDS = ("alive", "deleted")
#: POSIX seconds; far enough for any history, and far from where floats lose the second.
_LATEST = 2.0**40


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """When one real page changed; instants are POSIX seconds.

    Parameters
    ----------
    group : int
        Site or section of the page.
    first, last : float
        The page was watched from, to. [s]
    is_deleted : bool
        The page ended at ``last``; else the watching did.
    changes : ndarray of float64
        Instants of change, sorted, each once. [s]
    """

    group: int
    first: float
    last: float
    is_deleted: bool
    changes: Seconds


def parse_history(record: Mapping[str, Any]) -> History:
    """Return the history of a page, read from the fields of a record.

    Parameters
    ----------
    record : mapping
        ``group`` (integer), ``first``, ``last`` and ``changes`` (POSIX seconds), ``end``
        (``alive`` or ``deleted``); others are ignored, such as ``technical``: changes of how the
        page was recorded, not of the page.

    Raises
    ------
    InputError
        If a field is missing or not usable.
    """
    for name in ("group", "first", "last", "end", "changes"):
        if name not in record:
            raise InputError(f"a history has a field {name!r}; there are: {', '.join(record)}")
    group, end = record["group"], record["end"]
    if type(group) is not int:
        raise InputError(f"group is not an integer: {group!r}", value=group)
    if end not in _ENDS:
        raise InputError(f"end is neither alive nor deleted: {end!r}", value=end)
    first, last = (_instant(record[name], name) for name in ("first", "last"))
    if first > last:
        raise InputError(f"first, {first:.0f}, is later than last, {last:.0f}", value=first)
    changes = record["changes"]
    if not isinstance(changes, list):
        raise InputError(f"changes is not a list: {changes!r}", value=changes)
    times = np.unique(np.array([_instant(change, "a change") for change in changes]))
    return History(group, first, last, end == "deleted", times)


def _instant(value: Any, name: str) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= _LATEST:
        raise InputError(f"{name} is not a time in POSIX seconds: {value!r}", value=value)
    return float(value)


def world_of_traces(histories: Iterable[History], *, window: float | None = None) -> World:
    """Return the world of real pages.

    Parameters
    ----------
    histories : iterable of History
        The pages; ``interop.traces.read_traces`` reads them from a file.
    window : float, optional
        Only the last so many seconds, and only the pages that were there throughout.  By default
        everything, from the first page on, with pages that come and go. [s]

    Returns
    -------
    World
        All pages of one importance; the host of a page is its group.  ``true_rate`` is the mean
        over the page's time in the world.

    Raises
    ------
    InputError
        If there is no page, or none was there throughout.
    """
    pages = list(histories)
    if not pages:
        raise InputError("there are no histories: the file is empty")
    end = max(page.last for page in pages)
    start = min(page.first for page in pages)
    if window is not None:
        if not 0 < window <= _LATEST:
            raise InputError(f"the window is not a time of more than 0 s: {window:g}", value=window)
        start = end - window
        n_pages = len(pages)
        pages = [page for page in pages if page.first <= start and page.last >= end]
        if not pages:
            raise InputError(
                f"none of {n_pages} pages was there throughout the last {window:g} s;"
                " take a shorter window",
                value=window,
            )
    if start >= end:
        raise InputError(f"all histories end where they begin, at {end:.0f}")
    born_at = np.array([page.first for page in pages]) - start
    gone_at = np.array([page.last if page.is_deleted else np.inf for page in pages]) - start
    if window is not None:
        # Whoever was deleted at the very end was there until then.
        gone_at[:] = np.inf
    changes = [p.changes[(p.changes >= start) & (p.changes < end)] - start for p in pages]
    counts = np.array([len(times) for times in changes])
    _, group = np.unique([page.group for page in pages], return_inverse=True)
    lived = gone_at.clip(max=end - start) - born_at.clip(min=0)
    return World.of(
        end - start,
        counts,
        np.concatenate(changes),
        group=group,
        host=group,
        born_at=born_at,
        gone_at=gone_at,
        true_rate=counts / np.maximum(lived, 1),
    )
