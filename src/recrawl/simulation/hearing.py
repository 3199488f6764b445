"""The signals of a world in the order in which a crawl hears of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recrawl.core.states import Times
from recrawl.simulation.worlds.world import World, millis_after

__all__ = ["Hearing"]


@dataclass(slots=True)
class Hearing:
    """What has not been heard yet.

    Parameters
    ----------
    at : ndarray of int64, shape (s,)
        When the signals come, in order. [ms]
    page : ndarray of int64, shape (s,)
        Rows of their pages.
    n_heard : int
        How many were heard.
    """

    at: Times
    page: NDArray[np.int64]
    n_heard: int = 0

    @classmethod
    def of(cls, world: World) -> Hearing:
        """Return the signals of all pages while they are there."""
        page = np.repeat(np.arange(len(world)), np.diff(world.signal_start))
        time = world.signal_time
        is_there = (time >= world.born_at[page]) & (time < world.gone_at[page])
        at, page = millis_after(time[is_there]), page[is_there]
        order = np.argsort(at, kind="stable")
        return cls(at[order], page[order])

    def until(self, now: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the pages of which signals came by ``now`` [ms], and how many, not heard yet."""
        end = int(np.searchsorted(self.at, now, side="right"))
        page = self.page[self.n_heard : end]
        self.n_heard = end
        return np.unique(page, return_counts=True)
