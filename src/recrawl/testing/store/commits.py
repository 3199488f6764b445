"""Tests of commits: all of a visit, or nothing of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from recrawl.core.columns import NEVER, NO_KEY, NO_TIME
from recrawl.errors import KeyClash, StoreError
from recrawl.ports.store import ChangeKind, Commit, PageRow, PageStore, VisitRow
from recrawl.testing.factories import DAY, NOW, commit_of, host_row, page_row, visit_row
from recrawl.testing.store.base import (
    KEEP_VISITS,
    StoreSuite,
    assert_same,
    lease_all,
    urls,
)

__all__ = ["CommitTests"]

_A = page_row("https://a.example/1")
_B = page_row("https://b.example/1")
_C = page_row("https://c.example/1")

_VISITS = {
    "plain": visit_row(_A),
    "full": visit_row(
        _A,
        NOW - 1,
        outcome=5,
        observation=2,
        status_code=503,
        reason="http_503",
        elapsed=1.5,
        n_bytes=5_000_000,
        modified_at=0,
        signature=bytes(range(16)),
        signature_scheme=-(2**63),
        hops='[["https://a.example/1", 301, "https://b.example/"]]',
    ),
    "no-answer": visit_row(_A, status_code=None, elapsed=float("nan"), n_bytes=0),
}


def _whole(page: PageRow, fetched_at: int = NOW) -> Commit:
    """Return a commit that writes all there is."""
    found = page_row(f"{page.url}/found", depth=1)
    return commit_of(page, fetched_at, kind=ChangeKind.NEW, text="text", found=(found,))


def _take_by_another(store: PageStore) -> int:
    lease_all(store, "b", NOW + 60_000)
    return NOW


def _release(store: PageStore) -> int:
    store.release("a", [_A.state.page_key])
    return NOW


# What may happen to a lease that begins at NOW, and when the commit comes.
_LOSSES: dict[str, Callable[[PageStore], int]] = {
    "ended": lambda _: NOW + 60_000,
    "taken-by-another": _take_by_another,
    "released": _release,
}


class CommitTests(StoreSuite):
    """Calls of ``commit`` and what it leaves."""

    def test_a_commit_writes_everything(self, store: PageStore) -> None:
        """Page, visit, host, event, text and found page are there afterwards."""
        store.add([_A])
        (page,) = lease_all(store)
        host = host_row(_A.url, ready_at=NOW + 1000, crawl_delay=1.0, n_errors=2)
        commit = replace(_whole(page), host=host)

        skipped = store.commit("a", [commit], NOW)

        assert skipped == []
        assert_same(store.get(_A.state.page_key), commit.page)
        assert_same(store.visits(_A.state.page_key), [commit.visit])
        assert_same(store.texts(_A.state.page_key), [commit.text])
        assert_same(store.get(commit.found[0].state.page_key), commit.found[0])
        assert store.hosts([host.host_key]) == {host.host_key: host}
        assert [change.kind for change in store.changes()] == [ChangeKind.NEW]
        assert self.n_rows(store) == {
            "pages": 2,
            "hosts": 1,
            "leases": 0,
            "visits": 1,
            "changes": 1,
            "texts": 1,
        }

    def test_a_commit_brings_what_the_page_lacked(self, store: PageStore) -> None:
        """A page without a group gets one by a commit, and so does what visits taught of it."""
        store.add([page_row(_A.url, group_key=NO_KEY)])
        (page,) = lease_all(store)
        commit = commit_of(
            page, group_key=5, rate_shape=0.5, rate_exposure=7.0, bulk_shape=2.0, bulk_exposure=0.25
        )

        store.commit("a", [commit], NOW)

        assert_same(store.get(_A.state.page_key), commit.page)

    def test_a_commit_of_nothing(self, store: PageStore) -> None:
        """No visits, nothing skipped."""
        assert store.commit("a", [], NOW) == []

    @pytest.mark.parametrize("visit", _VISITS.values(), ids=_VISITS.keys())
    def test_visits_come_back(self, store: PageStore, visit: VisitRow) -> None:
        """Every value of a visit, also unknown ones, comes back."""
        store.add([_A])
        (page,) = lease_all(store)

        store.commit("a", [replace(commit_of(page), visit=visit)], NOW)

        assert_same(store.visits(_A.state.page_key), [visit])

    def test_a_page_without_visits(self, store: PageStore) -> None:
        """A page that was never visited, or is not there, has no visits and no texts."""
        store.add([_A])

        assert store.visits(_A.state.page_key) == store.visits(1) == []
        assert store.texts(_A.state.page_key) == store.texts(1) == []

    def test_a_commit_ends_the_lease(self, store: PageStore) -> None:
        """Afterwards the page is free, due at its new time, and its host is open."""
        store.add([_A])
        (page,) = lease_all(store)

        store.commit("a", [commit_of(page, next_fetch_at=NOW + 5)], NOW)

        assert store.next_due(NOW) == NOW + 5
        assert lease_all(store, "b", NOW + 4) == []
        assert urls(lease_all(store, "b", NOW + 5)) == [_A.url]

    def test_a_page_may_be_never_due_again(self, store: PageStore) -> None:
        """After NEVER a page is not due, but it is there."""
        store.add([_A])
        (page,) = lease_all(store)

        store.commit("a", [commit_of(page, next_fetch_at=NEVER)], NOW)

        assert store.next_due(NOW) == NEVER
        assert urls(list(store)) == [_A.url]

    @pytest.mark.parametrize("lose", _LOSSES.values(), ids=_LOSSES.keys())
    def test_a_lost_lease_writes_nothing(
        self, store: PageStore, lose: Callable[[PageStore], int]
    ) -> None:
        """A page whose lease is not the owner's any more is skipped."""
        store.add([_A])
        (page,) = lease_all(store)
        now = lose(store)
        before = self.n_rows(store)

        skipped = store.commit("a", [_whole(page)], now)

        assert skipped == [_A.state.page_key]
        assert self.n_rows(store) == before
        assert_same(store.get(_A.state.page_key), _A)

    def test_lost_and_held_pages_in_one_call(self, store: PageStore) -> None:
        """Only the lost page is skipped."""
        store.add([_A, _B])
        pages = {page.url: page for page in lease_all(store)}
        store.release("a", [_A.state.page_key])

        skipped = store.commit("a", [_whole(pages[_A.url]), _whole(pages[_B.url])], NOW)

        assert skipped == [_A.state.page_key]
        assert [change.url for change in store.changes()] == [_B.url]
        assert store.visits(_A.state.page_key) == []
        assert store.get(page_row(f"{_A.url}/found").state.page_key) is None

    def test_a_page_of_anothers_lease(self, store: PageStore) -> None:
        """Nobody commits what another owner holds, and that lease stays."""
        store.add([_A])
        (page,) = lease_all(store, "b")

        assert store.commit("a", [_whole(page)], NOW) == [_A.state.page_key]
        assert store.commit("b", [_whole(page)], NOW) == []

    def test_a_page_that_is_not_there(self, store: PageStore) -> None:
        """A visit of an unknown page is skipped."""
        assert store.commit("a", [_whole(_A)], NOW) == [_A.state.page_key]
        assert set(self.n_rows(store).values()) == {0}

    def test_a_clash_undoes_the_whole_call(self, store: PageStore) -> None:
        """If one row is refused nothing of the call is written, and the leases stay."""
        store.add([_A, _B])
        pages = {page.url: page for page in lease_all(store)}
        clash = replace(pages[_B.url], url="https://other.example/")
        before = self.n_rows(store)

        with pytest.raises(KeyClash, match="other"):
            store.commit("a", [_whole(pages[_A.url]), _whole(clash)], NOW)

        assert self.n_rows(store) == before
        assert store.commit("a", [_whole(page) for page in pages.values()], NOW) == []
        assert [change.sequence for change in store.changes()] == [1, 2]

    def test_a_value_that_cannot_be_kept_undoes_the_whole_call(self, store: PageStore) -> None:
        """A number beyond what a store holds is a StoreError that leaves nothing behind."""
        store.add([_A, _B])
        first, second = lease_all(store)
        before = self.n_rows(store)
        commits = [_whole(first), replace(_whole(second), visit=visit_row(second, n_bytes=2**64))]

        try:
            store.commit("a", commits, NOW)
        except StoreError:
            assert self.n_rows(store) == before
            assert_same([store.get(p.state.page_key) for p in (first, second)], [first, second])
        else:
            assert store.visits(second.state.page_key)[0].n_bytes == 2**64

    def test_a_commit_with_the_row_of_another_host(self, store: PageStore) -> None:
        """A page's new due time counts, whichever host's row comes with it."""
        store.add([_A, _B])
        pages = {page.url: page for page in lease_all(store)}
        host = host_row(_B.url, n_errors=1)

        store.commit("a", [commit_of(pages[_A.url], host=host)], NOW)
        store.update([page_row(_B.url, next_fetch_at=NEVER)])

        assert store.next_due(NOW) == NOW + DAY
        assert store.hosts([host.host_key]) == {host.host_key: host}

    def test_a_repeated_commit_counts_as_done(self, store: PageStore) -> None:
        """The same visit a second time writes nothing and is not skipped."""
        store.add([_A])
        (page,) = lease_all(store)
        store.commit("a", [_whole(page)], NOW)
        before = self.n_rows(store)

        repeated = replace(_whole(page), host=host_row(_A.url, n_errors=9))
        skipped = store.commit("a", [repeated], NOW + DAY)

        assert skipped == []
        assert self.n_rows(store) == before
        assert store.hosts([_A.state.host_key])[_A.state.host_key].n_errors == 0

    def test_a_repeated_commit_does_not_overwrite(self, store: PageStore) -> None:
        """A repeated visit leaves the page as later calls made it, and ends the owner's lease."""
        store.add([_A])
        (page,) = lease_all(store)
        commit = _whole(page)
        store.commit("a", [commit], NOW)
        by_hand = page_row(_A.url, next_fetch_at=NOW - 1, title="by hand")
        store.update([by_hand])
        assert urls(lease_all(store, limit=1)) == [_A.url]

        assert store.commit("a", [commit], NOW) == []
        assert_same(store.get(_A.state.page_key), by_hand)
        assert self.n_rows(store)["leases"] == 0

    def test_a_page_twice_in_one_call(self, store: PageStore) -> None:
        """The second visit of a page in one call finds its lease ended by the first."""
        store.add([_A])
        (page,) = lease_all(store)

        skipped = store.commit("a", [_whole(page), _whole(page), _whole(page, NOW + 1)], NOW)

        assert skipped == [_A.state.page_key]
        assert len(store.visits(_A.state.page_key)) == 1
        assert len(store.changes()) == 1

    def test_the_newest_visits_are_kept(self, store: PageStore) -> None:
        """Visits beyond the newest ones go, in whatever order they came."""
        store.add([_A, _B])
        for at in (NOW, NOW + 3, NOW + 1, NOW + 4, NOW + 2, NOW - 1):
            pages = lease_all(store)
            store.commit("a", [commit_of(p, at, next_fetch_at=NOW) for p in pages], NOW)

        kept = [visit.fetched_at for visit in store.visits(_A.state.page_key)]

        assert kept == [NOW + 4, NOW + 3, NOW + 2]
        assert self.n_rows(store)["visits"] == 2 * KEEP_VISITS

    def test_the_newest_two_texts_are_kept(self, store: PageStore) -> None:
        """Texts beyond the newest two go; a visit without a text leaves them."""
        texts = {NOW: "", NOW + 1: "Größe\0\n" * 1000, NOW + 2: "half \ud800", NOW + 3: None}
        store.add([_A])
        for at, text in texts.items():
            (page,) = lease_all(store)
            store.commit("a", [commit_of(page, at, text=text, next_fetch_at=NOW)], NOW)

        kept = store.texts(_A.state.page_key)

        assert [version.text for version in kept] == [texts[NOW + 2], texts[NOW + 1]]
        assert [version.fetched_at for version in kept] == [NOW + 2, NOW + 1]
        assert self.n_rows(store)["texts"] == 2

    def test_found_pages_are_added_as_by_add(self, store: PageStore) -> None:
        """New pages and their hosts are made; those there are left alone; all can be leased."""
        store.add([_A])
        (page,) = lease_all(store)
        found = (replace(_A, title="found"), _B, replace(_B, title="second"), _C)

        store.commit("a", [commit_of(page, found=found)], NOW)

        assert_same(store.get(_B.state.page_key), _B)
        known = store.get(_A.state.page_key)
        assert known is not None
        assert known.title is None
        assert store.hosts([_C.state.host_key]) == {_C.state.host_key: host_row(_C.url)}
        assert set(urls(lease_all(store, "b"))) == {_B.url, _C.url}

    def test_a_found_page_with_a_taken_key_is_left_out(self, store: PageStore) -> None:
        """A URL made to clash with another stops neither the commit nor the other pages."""
        store.add([_A, _B])
        pages = [page for page in lease_all(store) if page.url == _A.url]
        clash = page_row("https://clash.example/", page_key=_B.state.page_key)

        skipped = store.commit("a", [commit_of(pages[0], found=(clash, _C))], NOW)

        assert skipped == []
        assert_same(store.get(_B.state.page_key), _B)
        assert_same(store.get(_C.state.page_key), _C)
        assert store.hosts([clash.state.host_key]) == {}

    def test_a_host_written_twice_keeps_the_last(self, store: PageStore) -> None:
        """Of two visits to one host in one call the later row of the host stays."""
        second = page_row("https://a.example/2")
        store.add([_A, second])
        pages = lease_all(store)
        rows = [host_row(_A.url, ready_at=NOW + i, n_errors=i) for i in range(2)]

        store.commit("a", [commit_of(p, host=row) for p, row in zip(pages, rows, strict=True)], NOW)

        assert store.hosts([_A.state.host_key]) == {_A.state.host_key: rows[1]}

    def test_validators_go_when_a_visit_has_none(self, store: PageStore) -> None:
        """A commit overwrites every value of the page, also by nothing."""
        store.add([replace(_A, etag='"1"', last_modified="x", title="t", reason="r")])
        (page,) = lease_all(store)
        bare = replace(page, etag=None, last_modified=None, title=None, reason="")

        store.commit("a", [commit_of(bare, changed_at=NO_TIME)], NOW)

        after = store.get(_A.state.page_key)
        assert after is not None
        assert (after.etag, after.last_modified, after.title, after.reason) == (
            None, None, None, "",
        )  # fmt: skip
