"""Worlds from real change histories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from recrawl.simulation.worlds.world import World

__all__ = ["world_of_traces"]


def world_of_traces(records: Iterable[Mapping[str, Any]], *, window: float | None = None) -> World:
    """Return the world of the pages that were there throughout the last ``window`` seconds.

    ``interop.traces.read_traces(path)`` gives the records; by default the window is that
    from the earliest ``first`` to the latest ``last``, with pages that come and go.
    """
    raise NotImplementedError
