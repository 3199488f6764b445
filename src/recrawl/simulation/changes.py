"""How often pages have changed by some instant, for many pages and instants at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.core.states import Times
from recrawl.errors import InputError
from recrawl.simulation.worlds.world import Offsets, World, millis_after

__all__ = ["ChangeIndex"]

_KEY_BITS = 63


@dataclass(frozen=True, slots=True)
class ChangeIndex:
    """The changes of a world as one sorted array of integers: the page, then the time.

    One binary search in it costs less than a search within each page, and the number of changes
    of a page does not matter.

    Parameters
    ----------
    key : ndarray of int64, shape (m,)
        Page and millisecond of each change, packed.
    start : ndarray of int64, shape (n + 1,)
        Where the changes of each page begin.
    n_bits : int
        Bits of the time.
    """

    key: NDArray[np.int64]
    start: Offsets
    n_bits: int

    @classmethod
    def of(cls, world: World) -> ChangeIndex:
        """Return the index of a world's changes.

        Raises
        ------
        InputError
            If pages and milliseconds do not fit into 63 bits together.
        """
        n_bits = int(world.horizon * 1000).bit_length() + 1
        if len(world).bit_length() + n_bits > _KEY_BITS:
            raise InputError(
                f"{len(world)} pages over {world.horizon:g} s are too many to simulate at once:"
                " take fewer pages, or a nearer horizon",
                value=len(world),
            )
        page = np.repeat(np.arange(len(world)), world.n_changes)
        key = (page << n_bits) + millis_after(world.change_time)
        return cls(key, world.change_start, n_bits)

    def position(self, page: NDArray[np.integer], at: ArrayLike) -> NDArray[np.int64]:
        """Return the flat position of the first change of each page that is after ``at`` [ms].

        It is the position of the next page's first change where there is none.
        """
        wanted = (page.astype(np.int64) << self.n_bits) + np.asarray(at, dtype=np.int64)
        found: NDArray[np.int64] = np.searchsorted(self.key, wanted, side="right")
        return found

    def count(self, page: NDArray[np.integer], at: Times | int) -> NDArray[np.int64]:
        """Return how often each page changed until ``at`` [ms], that instant included."""
        counted: NDArray[np.int64] = self.position(page, at) - self.start[page]
        return counted
