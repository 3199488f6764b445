"""How fresh the parts of a collection are estimated to be."""

from __future__ import annotations

import math

import pytest

from recrawl.app.freshness import freshness_by, total_freshness
from recrawl.core.columns import NEVER
from recrawl.stores.memory import MemoryStore
from recrawl.testing.factories import DAY, NOW, page_row

SEEN = {"fetched_at": NOW, "checked_at": NOW, "signature": b"s" * 16, "signature_scheme": 1}


@pytest.fixture
def store() -> MemoryStore:
    """Return a store with pages seen now, one never seen, and one not to be fetched again."""
    store = MemoryStore()
    store.add(
        [
            page_row("https://a.example/x/1", next_fetch_at=NOW + DAY, **SEEN),
            page_row("https://a.example/y/1", next_fetch_at=NOW + 2 * DAY, importance=3.0, **SEEN),
            page_row("https://b.example/", next_fetch_at=NOW - 5),
            page_row("https://c.example/", next_fetch_at=NEVER, **SEEN),
        ]
    )
    return store


def test_copies_just_seen_are_right_and_missing_ones_are_not(store: MemoryStore):
    """Weighted by importance: 4 of 5 now, and less with time."""
    now, later = total_freshness(store, NOW), total_freshness(store, NOW + 40 * DAY)

    assert now.freshness == pytest.approx(4 / 5)
    assert (now.n_pages, now.n_new, now.oldest_due_at) == (3, 1, NOW - 5)
    assert later.freshness == pytest.approx(4 / 5 * math.exp(-1))


def test_the_parts_that_hold_it_down_come_first(store: MemoryStore):
    """By what is wrong: the page that is missing, then the others by their weight."""
    hosts = freshness_by(store, NOW + DAY, "host")
    patterns = freshness_by(store, NOW + DAY, "pattern")

    assert [each.part for each in hosts] == ["b.example", "a.example"]
    assert [each.part for each in patterns] == ["b.example/", "a.example/y/", "a.example/x/"]
    assert hosts[0].freshness == 0
    assert hosts[1].n_pages == 2


def test_nothing_is_neither_fresh_nor_stale():
    """An empty store, and one whose pages are not fetched again."""
    store = MemoryStore()
    empty = total_freshness(store, NOW)
    store.add([page_row("https://c.example/", next_fetch_at=NEVER)])

    assert math.isnan(empty.freshness)
    assert math.isnan(total_freshness(store, NOW).freshness)
    assert freshness_by(store, NOW, "host") == []
