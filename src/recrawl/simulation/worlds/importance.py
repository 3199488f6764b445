"""Importance of pages: equal, or a few that matter far more than the rest."""

from __future__ import annotations

import numpy as np

from recrawl.core.states import Importances
from recrawl.errors import InputError
from recrawl.simulation.seeds import generator
from recrawl.simulation.worlds.world import World

__all__ = ["KINDS", "draw", "with_importance"]

#: Exponent of the Pareto law, and where it is cut off.
_EXPONENT = 1.5
_MOST = 200.0
#: Kinds of importance by name.
KINDS = ("equal", "pareto")


def draw(rng: np.random.Generator, n: int, kind: str) -> Importances:
    """Return the importances of n pages.

    Parameters
    ----------
    rng : Generator
        Chance.
    n : int
        Pages.
    kind : str
        ``equal``: 1.  ``pareto``: at least 1, P(w > x) = x**-1.5, cut off at 200.

    Raises
    ------
    InputError
        If the kind is neither.
    """
    if kind not in KINDS:
        raise InputError(
            f"not a kind of importance: {kind!r}; there are: {', '.join(KINDS)}", value=kind
        )
    if kind == "equal":
        return np.ones(n, dtype=np.float32)
    return np.minimum(rng.pareto(_EXPONENT, n) + 1, _MOST).astype(np.float32)


def with_importance(world: World, kind: str, *, seed: int = 0) -> World:
    """Return the world with other importances, whatever its own; see ``draw``."""
    return world.with_columns(importance=draw(generator(seed), len(world), kind))
