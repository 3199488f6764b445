"""Keys of pages, hosts, groups and MIME types are made by one hash."""

from __future__ import annotations

from recrawl.core.columns import NO_KEY
from recrawl.core.keys import stored_key


def test_keys_of_different_kinds_differ() -> None:
    """The same bytes have a key of each kind, fixed for good."""
    assert stored_key(b"www.example.org", b"host") == -1817632993631232460
    assert stored_key(b"www.example.org", b"page") != stored_key(b"www.example.org", b"host")


def test_keys_are_signed_numbers_of_64_bits() -> None:
    """Half of them are negative, and none is the one that means none."""
    keys = [stored_key(str(i).encode(), b"page") for i in range(1000)]

    assert 400 < sum(key < 0 for key in keys) < 600
    assert all(-(2**63) <= key < 2**63 for key in keys)
    assert NO_KEY not in keys
