"""Random numbers for simulations: always from a seed, and the same whatever else is drawn."""

from __future__ import annotations

import numpy as np

__all__ = ["generator"]


def generator(seed: int, *path: int) -> np.random.Generator:
    """Return the generator of a seed and a path below it.

    Parameters
    ----------
    seed : int
        The seed of the whole, 0 or greater.
    *path : int
        What the numbers are for, such as the number of a block of pages.  Other paths give
        independent numbers.

    Examples
    --------
    >>> generator(1, 2).random() == generator(1, 2).random()
    True
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=path))
