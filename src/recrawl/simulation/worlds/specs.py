"""Worlds by name, drawn in blocks of pages, so that a part is the same as in the whole."""

from __future__ import annotations

import math

import numpy as np

from recrawl.errors import InputError
from recrawl.simulation.worlds.blocks import draw_block, draw_shared
from recrawl.simulation.worlds.grammar import parse_recipe
from recrawl.simulation.worlds.world import World

__all__ = ["world"]

#: Pages drawn by one generator.  Another size, other worlds.
_BLOCK = 1024


def world(
    spec: str,
    n: int,
    *,
    horizon: float,
    seed: int = 0,
    importance: str = "pareto",
    rows: slice | None = None,
) -> World:
    """Return the world that a text names.

    Parameters
    ----------
    spec : str
        ``S1`` to ``S11``, ``fixed:31d``, ``poisson:lognormal``; see ``grammar.parse_recipe``.
    n : int
        Pages of the whole world.
    horizon : float
        Length. [s]
    seed : int
        Another seed, another world.
    importance : str
        ``pareto`` or ``equal``.
    rows : slice, optional
        Only these pages of it, the same to the last bit; without a step.

    Raises
    ------
    InputError
        If the text is no world, or a number is out of range.

    Examples
    --------
    >>> world("fixed:31d", 1, horizon=100 * 86_400).change_time / 86_400
    array([31., 62., 93.])
    """
    recipe = parse_recipe(spec)
    _check(n, horizon, seed)
    start, stop, step = (rows or slice(None)).indices(n)
    if step != 1 or stop <= start:
        raise InputError(f"rows are not a range with pages in it: {rows}", value=rows)
    shared = draw_shared(recipe, horizon=horizon, seed=seed, importance=importance)
    first, last = start // _BLOCK, (stop - 1) // _BLOCK
    # Each block has generators of its own, so the loop is over blocks and not over pages.
    blocks = [draw_block(shared, i, min(_BLOCK, n - i * _BLOCK)) for i in range(first, last + 1)]
    drawn = World.concatenate(blocks)
    offset = first * _BLOCK
    return drawn.take(np.arange(start - offset, stop - offset))


def _check(n: int, horizon: float, seed: int) -> None:
    if n < 1:
        raise InputError(f"a world has at least one page: {n}", value=n)
    if not 0 < horizon < math.inf:
        raise InputError(f"the horizon is not a time after 0 s: {horizon:g}", value=horizon)
    if seed < 0:
        raise InputError(f"the seed is less than 0: {seed}", value=seed)
