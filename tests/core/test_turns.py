"""Rows that share something."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.turns import turns


@given(shared=st.lists(st.integers(0, 4), max_size=30))
def test_a_turn_is_the_number_of_equal_entries_before(shared: list[int]):
    """Whatever the order, each entry counts those before it that are equal."""
    found = turns(np.array(shared, dtype=np.int64))

    assert found.tolist() == [shared[:i].count(value) for i, value in enumerate(shared)]
