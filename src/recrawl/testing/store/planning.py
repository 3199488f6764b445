"""Tests of what a plan needs: states without texts, moves, what is known of hosts and groups."""

from __future__ import annotations

from recrawl.core.columns import MOST_SIGNALS, NEVER, NO_KEY, NO_TIME
from recrawl.core.group import group_key
from recrawl.ports.store import Move, PageStore
from recrawl.testing.factories import NOW, commit_of, page_row
from recrawl.testing.store.base import StoreSuite, assert_same, lease_all, urls

__all__ = ["PlanningTests"]

_A = page_row("https://a.example/news/1", next_fetch_at=NOW, importance=2.5, rate_shape=1.5)
_A2 = page_row("https://a.example/news/2", next_fetch_at=NEVER, n_signals=3, surprise=-50.0)
_B = page_row(
    "https://b.example/", next_fetch_at=NOW + 5, fetched_at=NOW - 9, checked_at=NOW - 10,
    signature=b"s" * 16, signature_scheme=7, fixed_interval=60.0, bulk_shape=0.5,
)  # fmt: skip
#: The columns that a plan is made of.
_PLANNED = (
    "page_key", "host_key", "group_key", "status", "next_fetch_at", "fixed_interval",
    "importance", "fetched_at", "checked_at", "n_visits", "rate_shape", "rate_exposure",
    "bulk_shape", "bulk_exposure", "surprise", "n_signals",
)  # fmt: skip


class PlanningTests(StoreSuite):
    """Calls of ``scan_planned``, ``grouped``, ``learned`` and what moves pages."""

    def test_a_plan_sees_the_columns_it_needs(self, store: PageStore) -> None:
        """Planned states have the same values as the pages, in the order of the keys."""
        store.add([_A, _A2, _B])

        planned = store.scan_planned(limit=10)

        whole = [page.state for page in store.scan(limit=10)]
        for name in _PLANNED:
            assert_same(getattr(planned, name).tolist(), [getattr(s, name) for s in whole])

    def test_planned_states_come_in_chunks(self, store: PageStore) -> None:
        """``after`` and ``limit`` cut the scan as those of ``scan`` do."""
        store.add([_A, _A2, _B])
        keys = [page.state.page_key for page in store]

        first = store.scan_planned(limit=2)
        rest = store.scan_planned(after=keys[1], limit=2)

        assert [*first.page_key.tolist(), *rest.page_key.tolist()] == keys
        assert len(store.scan_planned(after=2**63 - 1)) == 0

    def test_the_pages_of_a_group_are_found(self, store: PageStore) -> None:
        """All pages of the groups asked for come, each once, and none without a group."""
        loose = page_row("https://a.example/x", group_key=NO_KEY)
        store.add([_A, _A2, _B, loose])

        pages = store.grouped([_A.state.group_key, _A.state.group_key, NO_KEY, 77])

        assert sorted(pages.page_key.tolist()) == sorted([_A.state.page_key, _A2.state.page_key])
        assert group_key(_A.url) == _A.state.group_key == _A2.state.group_key
        assert len(store.grouped([])) == 0

    def test_what_is_known_of_hosts_and_groups_is_kept(self, store: PageStore) -> None:
        """What was saved last under a key comes back; of other keys nothing is known."""
        store.save_learned({1: b"one", -(2**63): b""})
        store.save_learned({1: b"\0two"})

        assert store.learned([1, 2]) == {1: b"\0two"}
        assert store.scan_learned() == {-(2**63): b"", 1: b"\0two"}
        assert list(store.scan_learned(limit=1)) == [-(2**63)]
        assert list(store.scan_learned(after=-(2**63))) == [1]

    def test_a_commit_writes_what_was_learned_and_moves_others(self, store: PageStore) -> None:
        """Both land with the visit; a page that is never due and an unknown one stay."""
        store.add([_A, _A2, _B])
        lease_all(store)
        moves = [
            Move(_B.state.page_key, NOW - 1),
            Move(_A2.state.page_key, NOW - 1),
            Move(99, NOW),
        ]

        store.commit("a", [commit_of(_A)], NOW, learned={5: b"five"}, moves=moves)

        assert store.learned([5]) == {5: b"five"}
        assert urls(lease_all(store)) == [_B.url]
        assert store.next_due(NOW) > NOW
        kept = store.get(_A2.state.page_key)
        assert kept is not None
        assert kept.state.next_fetch_at == NEVER

    def test_a_page_is_given_back_for_later(self, store: PageStore) -> None:
        """A released page that moves is due at its new time and no lease is left."""
        store.add([_A])
        lease_all(store)

        store.release("a", [_A.state.page_key], [Move(_A.state.page_key, NOW + 7)])

        assert lease_all(store, now=NOW + 6) == []
        assert store.next_due(NOW) == NOW + 7
        assert urls(lease_all(store, now=NOW + 7)) == [_A.url]

    def test_signals_are_counted(self, store: PageStore) -> None:
        """One more each time, up to a limit; leases stay, and pages may come forward."""
        full = page_row("https://c.example/", next_fetch_at=NEVER, n_signals=MOST_SIGNALS)
        store.add([_A, _B, full])
        lease_all(store)
        keys = [_A.state.page_key, _B.state.page_key, full.state.page_key, 99]

        store.add_signals(keys, [Move(_B.state.page_key, NOW)])
        store.add_signals(keys[:1])

        counts = [page.state.n_signals for key in keys if (page := store.get(key)) is not None]
        assert counts == [2, 1, MOST_SIGNALS]
        assert urls(lease_all(store)) == [_B.url]

    def test_a_content_of_unknown_check_was_checked_at_the_last_visit(
        self, store: PageStore
    ) -> None:
        """Pages never checked have no time; the others have that of their last telling visit."""
        store.add([_A, _B])

        planned = store.scan_planned()

        by_key = dict(zip(planned.page_key.tolist(), planned.checked_at.tolist(), strict=True))
        assert by_key == {_A.state.page_key: NO_TIME, _B.state.page_key: NOW - 10}

    def test_a_value_is_swapped_by_one_of_two(self, store: PageStore) -> None:
        """Whoever knows the value that is there may replace it; the other learns it is too late."""
        assert store.swap_meta("x", None, "1")
        assert not self.second_handle(store).swap_meta("x", None, "2")
        assert store.swap_meta("x", "1", "3")
        assert store.get_meta("x") == "3"
