"""Side signals of changes, such as sitemaps and feeds give them: some missing, some false."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recrawl.core.states import Seconds
from recrawl.simulation.worlds.processes import Changes

__all__ = ["HostSignals", "draw_host_signals", "draw_signals"]

#: A signal comes this long after the change. [s]
_DELAY = 1800.0
#: Where precision and recall of a host lie.
_PRECISION = (0.4, 0.98)
_RECALL = (0.5, 0.95)


@dataclass(frozen=True, slots=True)
class HostSignals:
    """How good the signals of each host are; NaN for a host that sends none."""

    precision: Seconds
    recall: Seconds


def draw_host_signals(
    rng: np.random.Generator, n_hosts: int, share: float, precision: float, recall: float
) -> HostSignals:
    """Return the signals of hosts.

    Parameters
    ----------
    rng : Generator
        Chance.
    n_hosts : int
        Hosts.
    share : float
        Share of them that send signals: exactly, but for rounding.
    precision, recall : float
        Of all of them; NaN to draw them from 0.4 to 0.98 and from 0.5 to 0.95.
    """
    sends = rng.permutation(n_hosts) < round(share * n_hosts)
    drawn = [
        rng.uniform(*between, n_hosts) if math.isnan(given) else np.full(n_hosts, given)
        for given, between in ((precision, _PRECISION), (recall, _RECALL))
    ]
    return HostSignals(*(np.where(sends, values, np.nan) for values in drawn))


def draw_signals(
    rng: np.random.Generator,
    changes: Changes,
    precision: Seconds,
    recall: Seconds,
    horizon: float,
) -> Changes:
    """Return the signals of pages, in no order.

    Parameters
    ----------
    rng : Generator
        Chance.
    changes : tuple of ndarray
        Row of the page and time of each change. [s]
    precision, recall : ndarray, shape (n,)
        Of each page's signals; NaN for none.
    horizon : float
        Signals from here on are left out. [s]

    Notes
    -----
    A change is told with the probability of the recall, half an hour later.  False signals come
    at any instant alike, so many that the precision holds on average.
    """
    page, time = changes
    told = rng.random(len(page)) < recall[page]
    n_changes = np.bincount(page, minlength=len(precision))
    n_false = np.nan_to_num(recall * n_changes * (1 - precision) / precision)
    false_page = np.repeat(np.arange(len(precision)), rng.poisson(n_false))
    pages: NDArray[np.int64] = np.concatenate([page[told], false_page])
    times = np.concatenate([time[told] + _DELAY, rng.random(len(false_page)) * horizon])
    is_within = times < horizon
    return pages[is_within], times[is_within]
