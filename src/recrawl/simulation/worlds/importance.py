"""Importance of pages: equal, or a few that matter far more than the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recrawl.core.states import Importances
from recrawl.errors import InputError
from recrawl.simulation.seeds import generator
from recrawl.simulation.worlds.world import World

__all__ = ["KINDS", "pareto", "with_importance"]

#: Exponent of the Pareto law, and where it is cut off.
_EXPONENT = 1.5
_MOST = 200.0
#: Kinds of importance by name.
KINDS = ("equal", "pareto")


def pareto(rng: np.random.Generator, n: int) -> Importances:
    """Return importances of at least 1 with P(w > x) = x**-1.5, cut off at 200."""
    drawn: NDArray[np.float64] = rng.pareto(_EXPONENT, n) + 1
    return np.minimum(drawn, _MOST).astype(np.float32)


def with_importance(world: World, kind: str, *, seed: int = 0) -> World:
    """Return the world with other importances: ``equal`` or ``pareto``.

    Raises
    ------
    InputError
        If the kind is neither.
    """
    if kind not in KINDS:
        raise InputError(
            f"not a kind of importance: {kind!r}; there are: {', '.join(KINDS)}", value=kind
        )
    n = len(world)
    return world.with_columns(
        importance=np.ones(n, dtype=np.float32) if kind == "equal" else pareto(generator(seed), n)
    )
