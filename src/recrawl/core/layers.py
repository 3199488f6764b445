"""Layers of a page, and which of them moved between two signatures."""

from __future__ import annotations

from enum import IntFlag

import numpy as np
from numpy.typing import NDArray

from recrawl.core.columns import SIGNATURE_BYTES
from recrawl.core.states import Signatures, Small

__all__ = ["LANE_BYTES", "Layer", "moved_layers"]

#: A signature of several layers gives each so many bytes, in the order of ``Layer``.
LANE_BYTES = SIGNATURE_BYTES // 4


class Layer(IntFlag):
    """What a signature looks at; the values are bits of the column ``moved_layers``."""

    BYTES = 1
    TEXT = 2
    PROFILE = 4
    LINKS = 8


def moved_layers(before: Signatures, after: Signatures, layers: Layer) -> Small:
    """Return which layers differ between two signatures of one scheme.

    Parameters
    ----------
    before, after : ndarray of V16, shape (n,)
        The signatures.
    layers : Layer
        What the scheme looks at.  One layer fills the whole signature; of several, each has its
        lane of ``LANE_BYTES``.

    Returns
    -------
    ndarray of int8, shape (n,)
        Bits of ``Layer``; 0 where the signatures are equal.
    """
    if layers in tuple(Layer):
        return np.where(before != after, layers, 0).astype(np.int8)
    differs = _lanes(before) != _lanes(after)
    bits = np.array([int(layer) for layer in Layer], dtype=np.int8)
    moved: Small = (differs * bits).sum(axis=1, dtype=np.int8)
    return moved & np.int8(layers)


def _lanes(signatures: Signatures) -> NDArray[np.uint32]:
    return np.ascontiguousarray(signatures).view(np.uint32).reshape(len(signatures), len(Layer))
