"""When the copies of pages were not what the pages were: exact, from changes and visits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recrawl.core.states import Mask, Seconds, Times
from recrawl.core.visit import Outcome
from recrawl.simulation.changes import ChangeIndex
from recrawl.simulation.log import Log
from recrawl.simulation.worlds.world import World

__all__ = ["Detections", "Spells", "detections", "lifetime", "stale_spells", "visit_gains"]


@dataclass(frozen=True, slots=True)
class Spells:
    """Spells of staleness, each of one page; arrays of shape ``(s,)``.

    Parameters
    ----------
    page : ndarray of int64
        Row of the page.
    start, end : ndarray of float64
        From the first change that was not seen, or the birth of the page, to the next visit,
        the end of the page or of the world. [s]
    """

    page: NDArray[np.int64]
    start: Seconds
    end: Seconds


@dataclass(frozen=True, slots=True)
class Detections:
    """What became of each change of the world; arrays of shape ``(m,)``.

    Parameters
    ----------
    page : ndarray of int64
        Row of the page.
    seen_at : ndarray of float64
        The first visit not before the change; infinite for none. [s]
    is_missed : ndarray of bool
        No visit came before the next change of the page, or at all.
    """

    page: NDArray[np.int64]
    seen_at: Seconds
    is_missed: Mask


def lifetime(world: World) -> tuple[Seconds, Seconds]:
    """Return from when to when each page is there within the world [s], each of shape (n,)."""
    return world.born_at.clip(0, world.horizon), world.gone_at.clip(0, world.horizon)


def stale_spells(world: World, index: ChangeIndex, log: Log) -> Spells:
    """Return all spells of staleness, those of no length included."""
    born_at, gone_at = lifetime(world)
    page, at, _ = _content_visits(log)
    n = len(world)
    # Each page's time falls into gaps: one from its birth, and one from each visit.
    gap_page = np.concatenate([np.arange(n), page])
    gap_start = np.concatenate([born_at, at / 1000])
    position = np.concatenate([np.full(n, -1), index.position(page, at)])
    order = np.lexsort((position, gap_start, gap_page))
    gap_page, gap_start, position = gap_page[order], gap_start[order], position[order]
    gap_end = gone_at[gap_page]
    is_inner = gap_page[:-1] == gap_page[1:]
    gap_end[:-1] = np.where(is_inner, gap_start[1:], gap_end[:-1])
    # Nothing is known from birth on; after a visit, until the next change.
    is_birth = position < 0
    is_changing = position < world.change_start[gap_page + 1]
    change = np.append(world.change_time, np.inf)[np.where(is_birth, 0, position)]
    start = np.where(is_birth, gap_start, np.where(is_changing, change, np.inf))
    return Spells(gap_page, np.minimum(start, gap_end), gap_end)


def detections(world: World, index: ChangeIndex, log: Log) -> Detections:
    """Return what became of each change of the world, in the world's order."""
    page, at, _ = _content_visits(log)
    key = np.sort((page << index.n_bits) + at)
    change_page = np.repeat(np.arange(len(world)), world.n_changes)
    following = np.searchsorted(key, index.key)
    mask = (1 << index.n_bits) - 1
    found = np.append(key, -1)[following]
    is_seen = found >> index.n_bits == change_page
    is_last = np.ones(len(change_page), dtype=bool)
    is_last[:-1] = change_page[:-1] != change_page[1:]
    next_key = np.append(index.key[1:], 0)
    is_missed = ~is_seen | (~is_last & (found >= next_key))
    return Detections(change_page, np.where(is_seen, (found & mask) / 1000, np.inf), is_missed)


def visit_gains(index: ChangeIndex, log: Log) -> Mask:
    """Return which visits, in the log's order, brought content that was not known before."""
    page, at, row = _content_visits(log)
    order = np.lexsort((at, page))
    count = index.count(page, at)[order]
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (np.diff(page[order]) != 0) | (np.diff(count) != 0)
    gains = np.zeros(len(log), dtype=bool)
    gains[row[order]] = is_new
    return gains


def _content_visits(log: Log) -> tuple[NDArray[np.int64], Times, NDArray[np.int64]]:
    """Return page, time [ms] and row of the visits that found the page there."""
    row = np.flatnonzero(log.outcome != Outcome.GONE)
    return log.page[row].astype(np.int64), log.at[row], row
