"""What a fetch of each page is worth, when it is worth its price, and what the price becomes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recrawl.core.states import Keys, Mask, PageStates, Seconds, Times
from recrawl.core.turns import turns
from recrawl.planning.knowledge import Knowledge
from recrawl.schedules.optimal import Optimal

__all__ = ["Appraisal", "appraise", "choose", "follow", "moved"]

#: A sibling's turn is moved if that changes its interval by more than these parts of it: earlier
#: at once, for a change may wait; later seldom, for who comes too early is asked again anyway.
_EARLIER, _LATER = 0.1, 0.3
#: The price moves by no more than this factor a time, so that one flood does not carry it away.
_LARGEST_STEP = math.e


@dataclass(frozen=True, slots=True)
class Appraisal:
    """What a fetch of each of n pages is worth.

    Parameters
    ----------
    value : ndarray of float64, shape (n,)
        Importance times stale time that a fetch now would save; infinite for a page that is to be
        fetched whatever it costs: a new one, or one at its longest interval. [s]
    due : ndarray of int64, shape (n,)
        When it is worth the price. [ms]
    """

    value: Seconds
    due: Times


def appraise(schedule: Optimal, knowledge: Knowledge, states: PageStates, now: int) -> Appraisal:
    """Return what a fetch of each page is worth at ``now`` [ms]."""
    changes, outlook = knowledge.belief(states, now)
    due = schedule.due(states, changes, outlook, now)
    value = schedule.value(states, changes, outlook)
    is_late = states.fetched_at + round(schedule.max_interval * 1000) <= now
    value[is_late | (schedule.is_set(states) & (due <= now))] = np.inf
    return Appraisal(value, due)


def choose(
    appraisal: Appraisal,
    now: int,
    n: int | None = None,
    *,
    host_key: Keys | None = None,
    host_cap: int | None = None,
) -> NDArray[np.int64]:
    """Return the positions of the pages to fetch, the most worth first.

    Parameters
    ----------
    appraisal : Appraisal
        What the pages are worth.
    now : int
        The present. [ms]
    n : int, optional
        How many, due or not; by default all that are due.
    host_key : ndarray of int64, shape (n,), optional
        The pages' hosts, if there is a cap.
    host_cap : int, optional
        How many of a host at most.
    """
    order = np.argsort(-appraisal.value, kind="stable")
    if host_key is not None and host_cap is not None:
        order = order[turns(host_key[order]) < host_cap]
    return order[appraisal.due[order] <= now] if n is None else order[:n]


def follow(schedule: Optimal, value: float, share: float) -> Optimal:
    """Return the schedule with a price that has followed the value of the last fetch allowed.

    Parameters
    ----------
    schedule : Optimal
        With the price so far.
    value : float
        Value of the fetch worth least among those that the budget allowed. [s]
    share : float
        How many fetches these were, as a share of the collection's pages: the price follows within
        one round of the collection.  Much faster, and each flood of bulk edits takes it along.
    """
    if not (0 < value < math.inf and schedule.price < math.inf):
        return schedule
    step = min(max(value / schedule.price, 1 / _LARGEST_STEP), _LARGEST_STEP)
    return replace(schedule, price=schedule.price * step ** min(share, 1.0))


def moved(states: PageStates, due: Times) -> Mask:
    """Return which pages are to be moved to the times at which they are due by now."""
    wait = np.maximum(states.next_fetch_at - states.fetched_at, 1)
    is_moved: Mask = (states.next_fetch_at - due > _EARLIER * wait) | (
        due - states.next_fetch_at > _LATER * wait
    )
    return is_moved
