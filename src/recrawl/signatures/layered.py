"""Several signatures at once, so that a change says which layer of the page moved."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import reduce
from operator import or_

from recrawl.core.document import Document, Signature
from recrawl.core.layers import LANE_BYTES, Layer
from recrawl.errors import InputError

__all__ = ["Layered"]

_NO_LANE = bytes(LANE_BYTES)


@dataclass(frozen=True, slots=True)
class Layered:
    """A signature in which each of several layers has a lane of its own.

    Parameters
    ----------
    parts : tuple of Signature
        One signature a layer, in any order, at least two.

    Raises
    ------
    InputError
        If there are fewer than two parts, or two of one layer.

    Notes
    -----
    The page counts as changed if any layer moved; ``core.layers.moved_layers`` tells which.  A
    lane keeps 32 bits of its part's signature: one change in four thousand million is missed,
    and the whole still fits the column of one signature.
    """

    parts: tuple[Signature, ...]

    def __post_init__(self) -> None:
        names = ", ".join(part.scheme for part in self.parts)
        if len(self.parts) < 2:
            raise InputError(f"a list of signatures needs at least two: {names or 'none'}")
        if len({part.layers for part in self.parts}) < len(self.parts):
            raise InputError(f"two signatures look at the same layer: {names}; leave one out")

    @property
    def name(self) -> str:
        """Names of the parts, in the order of their layers."""
        return "+".join(part.name for part in self._by_layer())

    @property
    def scheme(self) -> str:
        """Schemes of the parts in one line; their order as given plays no part."""
        return f"layered/1 [{', '.join(part.scheme for part in self._by_layer())}]"

    @property
    def layers(self) -> Layer:
        """What the parts look at."""
        return reduce(or_, (part.layers for part in self.parts))

    def sign(self, document: Document) -> bytes:
        """Return the signature, 16 bytes: a lane for each of ``Layer``, empty without a part."""
        lanes = dict.fromkeys(Layer, _NO_LANE)
        for part in self.parts:
            digest = hashlib.md5(part.sign(document), usedforsecurity=False).digest()
            lanes[part.layers] = digest[:LANE_BYTES]
        return b"".join(lanes.values())

    def _by_layer(self) -> list[Signature]:
        return sorted(self.parts, key=lambda part: part.layers)
