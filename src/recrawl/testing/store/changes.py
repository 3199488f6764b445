"""Tests of the change feed."""

from __future__ import annotations

from dataclasses import replace

from recrawl.ports.store import ChangeKind, PageStore
from recrawl.testing.factories import NOW, change_of, commit_of, page_row
from recrawl.testing.store.base import StoreSuite, assert_same, lease_all

__all__ = ["ChangeTests"]

_PAGES = [page_row(f"https://{host}.example/") for host in "abcde"]


class ChangeTests(StoreSuite):
    """Calls of ``changes``."""

    def test_the_feed_of_an_empty_store(self, store: PageStore) -> None:
        """Without commits there are no events."""
        assert store.changes() == []

    def test_events_come_back_with_their_place(self, store: PageStore) -> None:
        """All kinds and values come back, numbered from 1 in the order given."""
        store.add(_PAGES)
        lease_all(store)
        events = [
            change_of(page, kind, NOW + i, old_signature=old, new_signature=new, redirect_to=to)
            for i, (page, kind, old, new, to) in enumerate(
                zip(
                    _PAGES,
                    ChangeKind,
                    [None, b"o" * 16, b"\0" * 16, b"o" * 16, None],
                    [b"n" * 16, b"\0" * 16, None, None, b"n" * 16],
                    [None, None, "https://a.example/2", None, None],
                    strict=True,
                )
            )
        ]

        store.commit(
            "a",
            [replace(commit_of(p), change=e) for p, e in zip(_PAGES, events, strict=True)],
            NOW,
        )

        assert_same(
            store.changes(), [replace(e, sequence=i) for i, e in enumerate(events, start=1)]
        )

    def test_the_feed_pages_through(self, store: PageStore) -> None:
        """Events after a position come in order, up to the limit."""
        store.add(_PAGES)
        lease_all(store)
        store.commit("a", [commit_of(page, kind=ChangeKind.NEW) for page in _PAGES], NOW)

        assert [change.sequence for change in store.changes(2, limit=2)] == [3, 4]
        assert [change.sequence for change in store.changes(-1)] == [1, 2, 3, 4, 5]
        assert store.changes(5) == []
        assert store.changes(limit=0) == []

    def test_visits_without_an_event_leave_no_hole(self, store: PageStore) -> None:
        """Numbers go on without holes over quiet and skipped visits and over calls."""
        store.add(_PAGES)
        for turn in range(3):
            pages = lease_all(store)
            store.release("a", [pages[1].state.page_key])
            store.commit(
                "a",
                [
                    commit_of(
                        page,
                        NOW + turn,
                        next_fetch_at=NOW,
                        kind=ChangeKind.CHANGED if i % 2 else None,
                    )
                    for i, page in enumerate(pages)
                ],
                NOW,
            )

        # Of five pages the second and fourth have an event, and the second is skipped.
        assert [change.sequence for change in store.changes()] == [1, 2, 3]
