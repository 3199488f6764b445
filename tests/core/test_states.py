"""Page states are columns, and rows can be read from them."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from recrawl.core.columns import COLUMNS
from recrawl.core.states import PageState, PageStates
from recrawl.errors import InputError
from recrawl.testing.schedule import differing_columns, random_pages


@pytest.mark.parametrize("table", [PageStates, PageState])
def test_fields_are_the_columns_of_the_table(table: type) -> None:
    """The table of columns is the single source of their names and order."""
    assert [f.name for f in fields(table)] == [column.name for column in COLUMNS]


def test_columns_have_the_types_of_the_table() -> None:
    """Defaults included."""
    states = PageStates.of(2)

    for column in COLUMNS:
        assert getattr(states, column.name).dtype == np.dtype(column.dtype)
        assert getattr(states, column.name).shape == (2,)


def test_rows_and_columns_hold_the_same() -> None:
    """Rows made of columns make the same columns again."""
    states, _ = random_pages(20)
    rows = list(states.rows())

    assert differing_columns(PageStates.from_rows(rows), states) == []
    assert repr(rows[7]) == repr(states.row(7))


def test_parts_are_put_together() -> None:
    """Taken apart and concatenated, the rows are the same."""
    states, _ = random_pages(10)
    parts = [states.take(np.arange(0, 4)), states.take(np.arange(4, 10))]

    assert differing_columns(PageStates.concatenate(parts), states) == []
    assert len(PageStates.concatenate([])) == 0


def test_with_columns_replaces_and_casts() -> None:
    """The other columns stay, and so does the value replaced from."""
    states = PageStates.of(2, retries=1)

    changed = states.with_columns({"retries": np.array([5, 6])})

    assert changed.retries.dtype == np.int16
    assert changed.retries.tolist() == [5, 6]
    assert states.retries.tolist() == [1, 1]


def test_a_name_that_is_no_column_is_refused() -> None:
    """A misspelt column does not get lost."""
    with pytest.raises(InputError, match="not page-state columns: colour, size"):
        PageStates.of(1, size=1, colour=2)


def test_a_column_of_another_length_is_refused() -> None:
    """The message has the column and the shape that is wanted."""
    with pytest.raises(InputError, match=r"column retries does not have shape \(2,\)"):
        PageStates.of(2, retries=[1, 2, 3])
