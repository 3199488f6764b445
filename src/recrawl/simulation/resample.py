"""Worlds in which a history could have come about: what changed when, drawn anew."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recrawl.core.columns import NO_TIME
from recrawl.core.states import Keys, Mask, Rates, Seconds, Small, Times
from recrawl.core.visit import Observation
from recrawl.simulation.history import VisitHistory
from recrawl.simulation.rate_mixture import RateMixture
from recrawl.simulation.worlds.world import World, seconds_at

__all__ = ["draw_world"]


def draw_world(history: VisitHistory, known: RateMixture, rng: np.random.Generator) -> World:
    """Return a world in which the visits of the history see what they saw.

    Parameters
    ----------
    history : VisitHistory
        The visits.
    known : RateMixture
        What is known of the change rate of each page.
    rng : numpy Generator
        Source of chance.

    Returns
    -------
    World
        Its time 0 is ``history.zero_at``; a page is there while it is watched.  ``true_rate`` is
        the expected rate.  Noisy pages differ at every fetch and never change.

    Notes
    -----
    Of a change only the two visits around it are known, and not whether it was the only one
    between them.  So the page's rate is drawn from what is known of it, and then the times: those
    of a Poisson process of this rate that has an event in the gap [Kingman1993]_.  The first
    event follows the exponential distribution cut off at the end of the gap, those after it are
    as many and as anywhere as if nothing were known.  Where the server said when the page changed
    last, that is the last change, and those before it are drawn as if nothing were known.  In a
    gap without a change nothing is drawn, and in one that ends with a visit that could not tell,
    a new signature for instance, all is.

    Pages are drawn by themselves: edits of many pages at one instant are spread over the gaps of
    each, which is against schedules that use them.
    """
    later = history.later()
    page = history.page[later]
    low, high = history.at[later - 1].astype(np.float64), history.at[later].astype(np.float64)
    rate = known.draw(rng)
    sure, low, high = _sure(history, later, rate[page] / 1000, low, high, rng)
    is_open = _seen(history, later) != Observation.UNCHANGED
    is_open &= ~history.is_noisy[page]
    n_more = rng.poisson(np.where(is_open, rate[page] / 1000 * (high - low), 0))
    gap = np.repeat(np.arange(len(later)), n_more)
    more = low[gap] + rng.random(len(gap)) * (high - low)[gap]
    is_sure = np.flatnonzero(np.isfinite(sure))
    gap = np.concatenate([gap, is_sure])
    at = np.concatenate([more, sure[is_sure]])
    # To the millisecond, later than the one visit and not later than the other.
    first, last = history.at[later - 1][gap] + 1, history.at[later][gap]
    millis = np.clip(np.ceil(at).astype(np.int64), first, last)
    order = np.lexsort((millis, page[gap]))
    zero_at = history.zero_at
    return World.of(
        (int(history.last_at.max()) - zero_at + 1) / 1000,
        np.bincount(page[gap], minlength=len(history)),
        seconds_at(millis[order] - zero_at),
        importance=history.importance,
        host=_numbers(history.host_key),
        group=_numbers(history.group_key),
        true_rate=known.mean,
        has_last_modified=_is_dated(history),
        is_noisy=history.is_noisy,
        born_at=seconds_at(history.first_at - zero_at),
        gone_at=seconds_at(history.last_at - zero_at),
    )


def _seen(history: VisitHistory, later: NDArray[np.int64]) -> Small:
    """Return what the visits that end gaps tell; those of noisy pages tell nothing."""
    is_noisy = history.is_noisy[history.page[later]]
    return np.where(is_noisy, Observation.UNKNOWN, history.observation[later]).astype(np.int8)


def _sure(
    history: VisitHistory,
    later: NDArray[np.int64],
    rate: Rates,
    low: Seconds,
    high: Seconds,
    rng: np.random.Generator,
) -> tuple[Seconds, Seconds, Seconds]:
    """Return the change that each gap is sure to have, and where others may lie.

    Parameters
    ----------
    history : VisitHistory
        The visits.
    later : ndarray of int64, shape (g,)
        The visits that end the gaps.
    rate : ndarray of float64, shape (g,)
        Rate of the page of each gap. [1/ms]
    low, high : ndarray of float64, shape (g,)
        Where the gaps begin and end. [ms]
    rng : numpy Generator
        Source of chance.

    Returns
    -------
    sure, low, high : ndarray of float64, shape (g,)
        ``sure`` is NaN where there need be no change. [ms]
    """
    is_changed = _seen(history, later) == Observation.CHANGED
    dates = history.modified_at[later]
    is_dated = is_changed & (dates != NO_TIME)
    length = high - low
    # The inverse of the cut-off distribution function; evenly where the rate is as good as 0.
    part = 1 - rng.random(len(later))
    is_slow = rate * length < 1e-9
    slower = np.where(is_slow, 1, rate)
    wait = np.where(is_slow, part * length, -np.log1p(part * np.expm1(-slower * length)) / slower)
    first = np.minimum(low + wait, high)
    sure = np.where(is_dated, dates, np.where(is_changed, first, np.nan))
    is_first = is_changed & ~is_dated
    return sure, np.where(is_first, first, low), np.where(is_dated, dates, high)


def _is_dated(history: VisitHistory) -> Mask:
    """Return whether the server said of most versions of a page when it changed."""
    is_new = history.observation != Observation.UNCHANGED
    n_new = np.bincount(history.page, is_new, minlength=len(history))
    is_dated = is_new & (history.modified_at != NO_TIME)
    dated: Mask = 2 * np.bincount(history.page, is_dated, minlength=len(history)) > n_new
    return dated


def _numbers(keys: Keys) -> Times:
    """Return the place of each key among all."""
    return np.unique(keys, return_inverse=True)[1]
