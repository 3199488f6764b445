"""Which pages of a queue are fetched in a tick."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recrawl.core.columns import NEVER
from recrawl.core.states import Times
from recrawl.core.turns import turns

__all__ = ["due_until", "earliest", "earliest_capped"]

#: How many more candidates than wanted are looked at first where hosts have caps.
_SPARE = 4


def due_until(due: Times, now: int) -> NDArray[np.int64]:
    """Return the positions of all that are due at ``now`` [ms], in order."""
    return np.flatnonzero(due <= now)


def earliest(due: Times, n: int) -> NDArray[np.int64]:
    """Return the positions of the n that are due first, in no order.

    Among those due at one instant, the first positions are taken.  NEVER is never taken, so
    that there may be fewer.  Linear in the length of ``due``.
    """
    if n <= 0:
        return np.zeros(0, dtype=np.int64)
    if n >= len(due):
        return np.flatnonzero(due < NEVER)
    last = np.partition(due, n - 1)[n - 1]
    sure = np.flatnonzero(due < last)
    if last == NEVER:
        return sure
    return np.concatenate([sure, np.flatnonzero(due == last)[: n - len(sure)]])


def earliest_capped(
    due: Times, host: NDArray[np.integer], n: int, cap: int, *, until: int = NEVER - 1
) -> NDArray[np.int64]:
    """Return the positions of the n that are due first, no more than ``cap`` of a host.

    Parameters
    ----------
    due : ndarray of int64, shape (n,)
        When each is due. [ms]
    host : ndarray of int, shape (n,)
        Host of each.
    n : int
        How many are wanted.
    cap : int
        How many of a host.
    until : int
        Later ones are left out. [ms]
    """
    n_looked = n * _SPARE
    while True:
        found = earliest(due, n_looked)
        is_all = len(found) < n_looked
        found = found[due[found] <= until]
        found = found[np.lexsort((found, due[found]))]
        chosen = found[turns(host[found]) < cap][:n]
        if is_all or len(chosen) == n or n_looked >= len(due):
            return chosen
        n_looked *= _SPARE
