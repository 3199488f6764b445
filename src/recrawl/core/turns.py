"""Rows that share something, one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["turns"]


def turns(shared: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return how many entries before each have the same value.

    Examples
    --------
    >>> turns(np.array([7, 7, 3, 7, 3])).tolist()
    [0, 1, 0, 2, 1]
    """
    order = np.argsort(shared, kind="stable")
    is_first = np.ones(len(shared), dtype=bool)
    is_first[1:] = np.diff(shared[order]) != 0
    begin = np.maximum.accumulate(np.where(is_first, np.arange(len(shared)), 0))
    turn = np.empty(len(shared), dtype=np.int64)
    turn[order] = np.arange(len(shared)) - begin
    return turn
