from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.size import parse_size, spell_size
from recrawl.errors import InputError


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("5MB", 5_000_000), ("500KiB", 512_000), ("1.5 GB", 1_500_000_000), ("2GiB", 2**31),
        ("1MiB", 2**20), ("7B", 7), ("7", 7), (7, 7), (0, 0), ("5mb", 5_000_000), ("2kB", 2000),
        (" 2KB ", 2000), ("0.5KiB", 512),
    ],
)  # fmt: skip
def test_sizes_are_read(value, size):
    """Decimal and binary units, in either case, and plain numbers give bytes."""
    assert parse_size(value) == size


@pytest.mark.parametrize(
    "value",
    ["", "MB", "5M", "5 megabytes", "-5MB", -1, "1.5B", "0.0001kB", "5MB5", "1e3", True, 1.5, None],
)
def test_what_is_no_size_is_refused(value):
    """The error shows the value and what is allowed."""
    with pytest.raises(InputError, match="not a size") as caught:
        parse_size(value)

    assert repr(value) in str(caught.value)
    assert "KiB" in str(caught.value)


def test_numbers_too_long_to_write_are_refused():
    """A number that Python cannot even show gives the same error."""
    with pytest.raises(InputError, match="too many digits"):
        parse_size(-(10**5000))


@given(st.integers(0, 10**15))
def test_spelling_is_exact(size):
    """What is spelt is read back."""
    assert parse_size(spell_size(size)) == size


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0B"), (7, "7B"), (5_000_000, "5MB"), (2**31, "2GiB"), (500 * 1024, "512kB")],
)
def test_spelling_is_short(size, text):
    """The shortest text wins, decimal units before binary ones."""
    assert spell_size(size) == text
