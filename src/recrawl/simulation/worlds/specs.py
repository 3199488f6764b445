"""Worlds by name."""

from __future__ import annotations

from recrawl.simulation.worlds.world import World

__all__ = ["world"]


def world(spec: str, n: int, *, horizon: float, seed: int = 0, rows: slice | None = None) -> World:
    """Return the world that a text names.

    Parameters
    ----------
    spec : str
        ``S1`` to ``S11``, ``fixed:31d``, ``poisson:lognormal``, ...
    n : int
        Pages of the whole world.
    horizon : float
        Length. [s]
    seed : int
        Another seed, another world.
    rows : slice, optional
        Only these pages of it, the same to the last bit.
    """
    raise NotImplementedError
