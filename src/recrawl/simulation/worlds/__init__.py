"""Worlds: when pages change, drawn from change processes or taken from real histories."""

from __future__ import annotations

from recrawl.simulation.worlds.importance import with_importance
from recrawl.simulation.worlds.specs import world
from recrawl.simulation.worlds.world import World

__all__ = ["World", "with_importance", "world"]
