"""Which pages are fetched next out of many that are due: Nutch's Generator over columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recrawl.core.columns import NO_TIME
from recrawl.core.states import Importances, Keys, Mask, PageStates, PageStatus, Times
from recrawl.errors import InputError

__all__ = ["Fetchlist", "LeftOut", "Selection", "choose"]

Index = NDArray[np.intp]

#: Nutch's ``crawl.gen.delay``: seven days. [s]
_LOCK = 604_800.0


class LeftOut(StrEnum):
    """Why a page is not in the list, in the order of the tests; named as the counters of Nutch."""

    SCHEDULE_REJECTED = "schedule_rejected"
    WAIT_FOR_UPDATE = "wait_for_update"
    STATUS_REJECTED = "status_rejected"
    SCORE_TOO_LOW = "score_too_low"
    INTERVAL_REJECTED = "interval_rejected"
    URLS_SKIPPED_PER_HOST_OVERFLOW = "urls_skipped_per_host_overflow"
    #: The list was full; Nutch stops reading there and has no counter.
    BEYOND_TOP_N = "beyond_top_n"


@dataclass(frozen=True, slots=True)
class Selection:
    """Settings of a fetch list.

    Parameters
    ----------
    top_n : int, optional
        Longest list; by default any length (``-topN``).
    max_count : int, optional
        Most pages of one host or domain; by default any number (``generate.max.count``).
    min_score : float, optional
        Pages of less importance are left out (``generate.min.score``).
    max_interval : float, optional
        Pages of a longer interval are left out (``generate.min.interval``, which is a maximum). [s]
    status : PageStatus, optional
        Only pages of this status (``generate.restrict.status``).
    lock : float
        How long a page that was put on a list waits for its update before it may be put on
        another (``crawl.gen.delay``). [s]

    Raises
    ------
    InputError
        If a number is negative or NaN, or ``max_count`` is 0.
    """

    top_n: int | None = None
    max_count: int | None = None
    min_score: float | None = None
    max_interval: float | None = None
    status: PageStatus | None = None
    lock: float = _LOCK

    def __post_init__(self) -> None:
        for name, least in (("top_n", 0), ("max_count", 1), ("max_interval", 0), ("lock", 0)):
            value = getattr(self, name)
            if value is not None and not value >= least:
                raise InputError(
                    f"fetchlist: {name} is {value}, allowed is {least} or more;"
                    " leave it out for the default",
                    value=value,
                )
        if self.min_score is not None and np.isnan(self.min_score):
            raise InputError("fetchlist: min_score is NaN; leave it out for no limit")


@dataclass(frozen=True, slots=True)
class Fetchlist:
    """The pages chosen, and why others were not.

    Parameters
    ----------
    rows : ndarray of intp, shape (m,)
        Rows of the chosen pages, those of highest score first.
    counts : dict of LeftOut to int
        Pages left out for each reason; each page counts once, for the first reason that holds.
    n_hosts_cut : int
        Hosts or domains of which pages were left out because there were too many
        (``hosts_affected_per_host_overflow``).
    """

    rows: Index
    counts: dict[LeftOut, int]
    n_hosts_cut: int


def choose(
    states: PageStates,
    now: int,
    selection: Selection | None = None,
    *,
    generated_at: Times | None = None,
    score: Importances | None = None,
    domain: Callable[[PageStates], Keys] | None = None,
    is_due: Mask | None = None,
) -> Fetchlist:
    """Return the pages to fetch next.

    Parameters
    ----------
    states : PageStates
        The pages.
    now : int
        The present. [ms]
    selection : Selection, optional
        Settings; by default every due page.
    generated_at : ndarray of int64, shape (n,), optional
        When the page was last put on a list and not updated since, Nutch's mark ``_ngt_``;
        NO_TIME for not. [ms]
    score : ndarray, shape (n,), optional
        What the list is sorted by; by default ``states.importance``.
    domain : callable, optional
        Gives the key by which ``max_count`` counts, shape (n,); by default the host.  A domain
        needs a list of public suffixes, which is the caller's.
    is_due : ndarray of bool, shape (n,), optional
        Which pages are due, such as ``lifecycle.should_fetch`` says, or a URL filter leaves; by
        default those whose ``next_fetch_at`` has come.

    Returns
    -------
    Fetchlist
        A page of equal score is chosen by the earlier ``next_fetch_at``, then by its key, so that
        the list does not depend on the order of the rows.

    Notes
    -----
    The tests are made in the order of ``LeftOut``, all before any page is counted for its host,
    so that a host has exactly ``max_count`` pages if it has that many (case sch-038).  With
    ``top_n`` alone one large host may fill the list (case sch-037); with ``max_count`` it cannot.
    A score of NaN is less than any other and passes ``min_score``, as it does in the original.

    Columns read: host_key, importance, interval, next_fetch_at, page_key, status.

    References
    ----------
    Nutch, Generator.SelectorMapper and SelectorReducer, with one segment.
    """
    selection = selection or Selection()
    scores = (states.importance if score is None else score).astype(np.float32)
    counts: dict[LeftOut, int] = {}
    is_open = np.ones(len(states), dtype=np.bool_)
    tests = _tests(states, now, selection, scores, generated_at, is_due)
    for reason, is_good in tests.items():
        counts[reason] = int((is_open & ~is_good).sum())
        is_open &= is_good
    rows = np.flatnonzero(is_open)
    rank = np.where(np.isnan(scores[rows]), -np.inf, scores[rows])
    rows = rows[np.lexsort((states.page_key[rows], states.next_fetch_at[rows], -rank))]
    n_hosts_cut = n_skipped = 0
    if selection.max_count is not None:
        keys = states.host_key if domain is None else domain(states)
        nth = _nth_of_group(keys[rows])
        is_kept = nth < selection.max_count
        n_hosts_cut, n_skipped = _n_cut(keys[rows], nth, is_kept, selection)
        kept = np.flatnonzero(is_kept)
    else:
        kept = np.arange(len(rows))
    chosen = rows[kept[: selection.top_n]]
    counts[LeftOut.URLS_SKIPPED_PER_HOST_OVERFLOW] = n_skipped
    counts[LeftOut.BEYOND_TOP_N] = len(rows) - n_skipped - len(chosen)
    return Fetchlist(chosen, counts, n_hosts_cut)


def _tests(
    states: PageStates,
    now: int,
    selection: Selection,
    scores: Importances,
    generated_at: Times | None,
    is_due: Mask | None,
) -> dict[LeftOut, Mask]:
    """Return where each test is passed, in the order of the tests."""
    passed = np.ones(len(states), dtype=np.bool_)
    tests = {
        LeftOut.SCHEDULE_REJECTED: states.next_fetch_at <= now if is_due is None else is_due,
        LeftOut.WAIT_FOR_UPDATE: passed,
        LeftOut.STATUS_REJECTED: passed,
        LeftOut.SCORE_TOO_LOW: passed,
        LeftOut.INTERVAL_REJECTED: passed,
    }
    if generated_at is not None:
        is_free = generated_at <= now - round(selection.lock * 1000)
        tests[LeftOut.WAIT_FOR_UPDATE] = (generated_at == NO_TIME) | is_free
    if selection.status is not None:
        tests[LeftOut.STATUS_REJECTED] = states.status == selection.status
    if selection.min_score is not None:
        tests[LeftOut.SCORE_TOO_LOW] = ~(scores < np.float32(selection.min_score))
    if selection.max_interval is not None:
        tests[LeftOut.INTERVAL_REJECTED] = ~(states.interval > selection.max_interval)
    return tests


def _nth_of_group(keys: NDArray[Any]) -> Index:
    """Return how many rows of the same key stand before each row."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    is_first = np.ones(len(keys), dtype=np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(is_first)
    sizes = np.diff(np.append(starts, len(keys)))
    nth = np.empty(len(keys), dtype=np.intp)
    nth[order] = np.arange(len(keys)) - np.repeat(starts, sizes)
    return nth


def _n_cut(keys: Keys, nth: Index, is_kept: Mask, selection: Selection) -> tuple[int, int]:
    """Return hosts that were cut and pages skipped, up to where the list is full."""
    end = len(keys)
    if selection.top_n is not None and is_kept.sum() >= selection.top_n:
        kept = np.flatnonzero(is_kept)
        end = int(kept[selection.top_n - 1]) + 1 if selection.top_n else 0
    is_cut = nth[:end] == selection.max_count
    return int(is_cut.sum()), int((~is_kept[:end]).sum())
