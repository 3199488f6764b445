"""Which layers of a page moved."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.layers import LANE_BYTES, Layer, moved_layers

LANES = st.lists(st.sampled_from([b"aaaa", b"bbbb", bytes(4)]), min_size=4, max_size=4)


def signatures(*values: bytes) -> np.ndarray:
    return np.array(values, dtype="V16")


@pytest.mark.parametrize("layer", list(Layer))
def test_one_layer_is_the_whole_signature(layer):
    """Where a scheme looks at one layer, any difference is that layer's."""
    before = signatures(b"a" * 16, b"b" * 16)
    after = signatures(b"a" * 16, b"b" * 15 + b"c")

    assert moved_layers(before, after, layer).tolist() == [0, layer]


@given(LANES, LANES)
def test_each_of_several_layers_has_its_lane(before, after):
    """The bits are those of the lanes that differ, within the layers of the scheme."""
    layers = Layer.TEXT | Layer.LINKS
    expected = sum(
        layer
        for layer, a, b in zip(Layer, before, after, strict=True)
        if a != b and layer in layers
    )

    moved = moved_layers(signatures(b"".join(before)), signatures(b"".join(after)), layers)

    assert moved.dtype == np.int8
    assert moved.tolist() == [expected]


def test_no_pages():
    """An empty batch gives an empty answer."""
    assert len(moved_layers(signatures(), signatures(), Layer.TEXT | Layer.LINKS)) == 0
    assert LANE_BYTES == 4
