"""Change processes: when pages change.

Each function takes a generator, the change rate of each page [1/s] and the horizon [s], and
returns the changes in no order: the row of the page, and the time [s].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from recrawl.core.states import Rates, Seconds
from recrawl.simulation.worlds.world import offsets_of

__all__ = ["Changes", "bulk", "every", "periodic", "poisson", "rhythmic", "switching"]

Changes: TypeAlias = tuple[NDArray[np.int64], Seconds]

_DAY = 86_400.0
#: How far the rate swings around its mean within a day.
_SWING = 0.9
#: Rate on the first five days of a week and on the last two; the mean over the week is 1.
_WEEK = np.array([1.28] * 5 + [0.3] * 2)


def every(period: Seconds, phase: Seconds, horizon: float) -> Changes:
    """Return changes at ``phase``, ``phase + period``, ...; an infinite period gives none."""
    is_moving = np.isfinite(period) & (phase < horizon)
    counts = np.zeros(len(period), dtype=np.int64)
    counts[is_moving] = np.ceil((horizon - phase[is_moving]) / period[is_moving]).astype(np.int64)
    page = np.repeat(np.arange(len(period)), counts)
    number = np.arange(len(page)) - offsets_of(counts)[page]
    time = phase[page] + number * period[page]
    is_within = time < horizon
    return page[is_within], time[is_within]


def periodic(rng: np.random.Generator, rate: Rates, horizon: float) -> Changes:
    """Return changes at a fixed period of ``1 / rate`` that began anywhere within it."""
    with np.errstate(divide="ignore"):
        period = 1 / rate
    phase = np.full(len(rate), np.inf)
    np.multiply(period, rng.random(len(rate)), out=phase, where=np.isfinite(period))
    return every(period, phase, horizon)


def poisson(rng: np.random.Generator, rate: Rates, horizon: float) -> Changes:
    """Return changes that come at any instant alike."""
    page = np.repeat(np.arange(len(rate)), rng.poisson(rate * horizon))
    return page, rng.random(len(page)) * horizon


def rhythmic(rng: np.random.Generator, rate: Rates, horizon: float, *, is_weekly: bool) -> Changes:
    """Return changes whose rate swings with the day, and with the week if wanted.

    Each page has its hour of most changes; the week begins for all at time 0.  A Poisson
    process of the greatest rate, thinned.
    """
    most = (1 + _SWING) * (_WEEK.max() if is_weekly else 1)
    hour = rng.random(len(rate))
    page, time = poisson(rng, rate * most, horizon)
    share = 1 + _SWING * np.cos(2 * np.pi * (time / _DAY - hour[page]))
    if is_weekly:
        share *= _WEEK[(time // _DAY % 7).astype(np.int64)]
    kept = rng.random(len(page)) * most < share
    return page[kept], time[kept]


def switching(
    rng: np.random.Generator, rate: Rates, switch_at: Seconds, switch_rate: Rates, horizon: float
) -> Changes:
    """Return changes that come as ``poisson`` until the rate becomes another.

    Parameters
    ----------
    rng : Generator
        Chance.
    rate : ndarray, shape (n,)
        The first rate. [1/s]
    switch_at : ndarray, shape (n, k)
        When each next rate begins, sorted within a page. [s]
    switch_rate : ndarray, shape (n, k)
        The next rates. [1/s]
    horizon : float
        End of the last. [s]
    """
    n = len(rate)
    begin = np.column_stack([np.zeros(n), switch_at]).clip(max=horizon)
    length = np.diff(np.column_stack([begin, np.full(n, horizon)]))
    counts = rng.poisson(np.column_stack([rate, switch_rate]) * length).ravel()
    segment = np.repeat(np.arange(counts.size), counts)
    time = begin.ravel()[segment] + rng.random(len(segment)) * length.ravel()[segment]
    return segment // begin.shape[1], time


def bulk(
    rng: np.random.Generator, group: NDArray[np.int64], edits: Sequence[Seconds], share: float
) -> Changes:
    """Return the changes that edits of whole groups make.

    Parameters
    ----------
    rng : Generator
        Chance.
    group : ndarray, shape (n,)
        Group of each page.
    edits : sequence of ndarray
        When each group was edited, by number of the group. [s]
    share : float
        Share of a group's pages that an edit changes.
    """
    counts = np.array([len(times) for times in edits])
    start = offsets_of(counts)
    page = np.repeat(np.arange(len(group)), counts[group])
    number = np.arange(len(page)) - np.repeat(offsets_of(counts[group])[:-1], counts[group])
    time = np.concatenate(edits)[start[group[page]] + number]
    kept = rng.random(len(page)) < share
    return page[kept], time[kept]
