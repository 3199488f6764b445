"""Tests of leases: who gets which page when."""

from __future__ import annotations

import pytest

from recrawl.core.columns import NEVER, NO_TIME
from recrawl.ports.store import PageStore
from recrawl.testing.factories import DAY, NOW, commit_of, host_row, page_row
from recrawl.testing.store.base import StoreSuite, assert_same, lease_all, urls

__all__ = ["LeaseTests"]

_A1 = page_row("https://a.example/1", next_fetch_at=NOW - 30)
_A2 = page_row("https://a.example/2", next_fetch_at=NOW - 10)
_B1 = page_row("https://b.example/1", next_fetch_at=NOW - 20)
# Leases of these tests last a minute.
_END = NOW + 60_000


class LeaseTests(StoreSuite):
    """Calls of ``lease``, ``release`` and ``next_due``."""

    def test_lease_gives_due_pages_as_they_are(self, store: PageStore) -> None:
        """Due pages come as they were stored; later and never-due pages do not."""
        on_time = page_row("https://c.example/", next_fetch_at=NOW, title="t")
        store.add(
            [
                on_time,
                page_row("https://d.example/", next_fetch_at=NOW + 1),
                page_row("https://e.example/", next_fetch_at=NEVER),
            ]
        )

        pages = lease_all(store)

        assert_same(pages, [on_time])
        assert self.n_rows(store)["leases"] == 1

    def test_a_page_without_a_time_is_due(self, store: PageStore) -> None:
        """NO_TIME lies before every instant."""
        store.add([page_row(next_fetch_at=NO_TIME)])

        assert len(lease_all(store, now=-DAY)) == 1

    def test_never_is_no_instant(self, store: PageStore) -> None:
        """A page that is never due is not due at the last instant either."""
        store.add([page_row(next_fetch_at=NEVER)])

        assert lease_all(store, now=NEVER, ttl=0.0) == []
        assert store.due(NEVER, limit=1) == []

    def test_a_page_is_not_given_twice(self, store: PageStore) -> None:
        """While a lease lasts nobody gets the page, not its owner either."""
        store.add([_A1])
        lease_all(store)

        assert lease_all(store) == []
        assert lease_all(self.second_handle(store), "b", _END - 1) == []

    def test_an_ended_lease_counts_as_none(self, store: PageStore) -> None:
        """At its end a lease is over and another owner gets the page."""
        store.add([_A1])
        lease_all(store)

        assert urls(lease_all(self.second_handle(store), "b", _END)) == [_A1.url]

    def test_an_ended_lease_stays_ended(self, store: PageStore) -> None:
        """A lease seen to have ended does not come back when the clock goes back."""
        store.add([_A1])
        (page,) = lease_all(store)
        lease_all(store, "b", _END, limit=0)

        assert store.commit("a", [commit_of(page)], NOW) == [_A1.state.page_key]
        assert urls(lease_all(store, "b", NOW)) == [_A1.url]

    def test_a_held_host_is_closed_to_others(self, store: PageStore) -> None:
        """While one owner holds a page of a host, others get none of that host."""
        store.add([_A1, _A2, _B1])
        assert urls(lease_all(store, "a", limit=1)) == [_A1.url]

        assert urls(lease_all(store, "b")) == [_B1.url]
        assert urls(lease_all(store, "a")) == [_A2.url]

    def test_a_host_opens_when_all_its_leases_ended(self, store: PageStore) -> None:
        """The last end of a lease on a host opens it to others."""
        store.add([_A1, _A2])
        lease_all(store, "a", limit=1, ttl=1.0)
        lease_all(store, "a", limit=1, ttl=2.0)

        assert lease_all(store, "b", NOW + 1999) == []
        assert urls(lease_all(store, "b", NOW + 2000)) == [_A1.url, _A2.url]

    def test_a_host_that_must_wait_gives_nothing(self, store: PageStore) -> None:
        """No page of a host leaves before its ready time."""
        store.add([_A1])
        store.save_hosts([host_row(_A1.url, ready_at=NOW + 1)])

        assert lease_all(store, now=NOW) == []
        assert urls(lease_all(store, now=NOW + 1)) == [_A1.url]

    def test_per_host_counts_what_the_owner_holds(self, store: PageStore) -> None:
        """The number of pages of a host that are out stays at per_host."""
        store.add([page_row(f"https://a.example/{i}", next_fetch_at=NOW - i) for i in range(5)])

        first = lease_all(store, per_host=2)
        assert urls(first) == ["https://a.example/4", "https://a.example/3"]
        assert urls(lease_all(store, per_host=3)) == ["https://a.example/2"]
        assert lease_all(store, per_host=3) == []
        store.release("a", [first[0].state.page_key])
        assert urls(lease_all(store, per_host=3)) == ["https://a.example/4"]
        assert lease_all(store, per_host=0) == []

    def test_order_is_by_host_then_by_time(self, store: PageStore) -> None:
        """The host with the earliest page comes first, its earliest page before the others."""
        store.add([_A2, _B1, _A1])

        assert urls(lease_all(store)) == [_A1.url, _A2.url, _B1.url]

    def test_order_of_hosts_counts_leased_pages(self, store: PageStore) -> None:
        """A host keeps its place when its earliest page is out."""
        store.add([_A2, _B1, _A1])
        lease_all(store, limit=1)

        assert urls(lease_all(store)) == [_A2.url, _B1.url]

    def test_ties_are_broken_by_key(self, store: PageStore) -> None:
        """Pages due at one time come in the order of host key and page key."""
        pages = [page_row(f"https://{h}.example/{i}") for h in "abcdef" for i in range(3)]
        store.add(pages)

        keys = [(p.state.host_key, p.state.page_key) for p in lease_all(store)]

        assert keys == sorted((p.state.host_key, p.state.page_key) for p in pages)

    @pytest.mark.parametrize("limit", [0, 1, 2])
    def test_limit_takes_the_first(self, store: PageStore, limit: int) -> None:
        """A limit cuts the list, and what was cut off stays free."""
        store.add([_A1, _A2, _B1])

        assert urls(lease_all(store, limit=limit)) == [_A1.url, _A2.url, _B1.url][:limit]
        assert self.n_rows(store)["leases"] == limit
        assert len(lease_all(store)) == 3 - limit

    def test_a_large_host_keeps_no_other_out(self, store: PageStore) -> None:
        """Many pages that are due before all others leave room for the other hosts."""
        store.add(
            [page_row(f"https://a.example/{i}", next_fetch_at=NOW - DAY) for i in range(50)]
            + [page_row(f"https://{h}.example/") for h in "bcde"]
        )

        pages = lease_all(store, limit=6, per_host=2)

        assert {page.state.host_key for page in pages} >= {
            host_row(f"https://{h}.example/").host_key for h in "bcde"
        }
        assert len(pages) == 6

    def test_release_frees_the_owners_pages_only(self, store: PageStore) -> None:
        """Leases of others and unknown keys are ignored."""
        store.add([_A1, _B1])
        lease_all(store, "a", limit=1)
        lease_all(store, "b")

        store.release("a", [_A1.state.page_key, _B1.state.page_key, 1])

        assert urls(lease_all(store, "c")) == [_A1.url]
        store.release("c", [])
        assert lease_all(store, "d") == []

    def test_released_pages_are_as_before(self, store: PageStore) -> None:
        """A release writes nothing to the page; its former owner cannot commit it."""
        store.add([_A1])
        (page,) = lease_all(store)

        store.release("a", [_A1.state.page_key])

        assert store.commit("a", [commit_of(page)], NOW) == [_A1.state.page_key]
        assert_same(store.get(_A1.state.page_key), _A1)

    def test_nothing_is_due_in_an_empty_store(self, store: PageStore) -> None:
        """Without a page that is due some time the answer is NEVER."""
        assert store.next_due(NOW) == NEVER
        store.add([page_row(next_fetch_at=NEVER)])
        assert store.next_due(NOW) == NEVER

    def test_next_due_is_the_earliest_time(self, store: PageStore) -> None:
        """The earliest page of all hosts counts, also if it is still to come."""
        store.add([page_row("https://a.example/", next_fetch_at=NOW + 5)])
        store.add([page_row("https://b.example/", next_fetch_at=NOW + 3)])

        assert store.next_due(NOW) == NOW + 3

    def test_next_due_waits_for_the_host(self, store: PageStore) -> None:
        """A host's ready time holds its pages back, and lets another host come first."""
        store.add([_A1])
        store.save_hosts([host_row(_A1.url, ready_at=NOW + DAY)])
        assert store.next_due(NOW) == NOW + DAY

        store.add([page_row("https://b.example/", next_fetch_at=NOW + 5)])
        assert store.next_due(NOW) == NOW + 5

    def test_next_due_waits_for_leases(self, store: PageStore) -> None:
        """A held host gives pages when the first of its leases ends."""
        store.add([_A1, _A2])
        lease_all(store, limit=1, ttl=2.0)
        lease_all(store, limit=1, ttl=1.0)

        assert store.next_due(NOW) == NOW + 1000
        assert store.next_due(NOW + 1000) == NOW + 2000
        assert store.next_due(NOW + 2000) == _A1.state.next_fetch_at

    def test_next_due_after_a_release(self, store: PageStore) -> None:
        """A page given back can be had at once."""
        store.add([_A1])
        lease_all(store)
        store.release("a", [_A1.state.page_key])

        assert store.next_due(NOW) == _A1.state.next_fetch_at

    def test_due_by_leaves_later_pages_alone(self, store: PageStore) -> None:
        """With ``due_by`` only pages due until then are given, though more are due by now."""
        store.add([_A1, _A2, _B1])

        pages = store.lease("a", NOW, ttl=60.0, limit=9, per_host=9, due_by=NOW - 20)

        assert urls(pages) == [_A1.url, _B1.url]

    def test_due_by_moves_no_other_clock(self, store: PageStore) -> None:
        """With ``due_by`` the host's ready time is still held against ``now``."""
        store.add([_A1])
        store.save_hosts([host_row(_A1.url, ready_at=NOW - 5)])

        pages = store.lease("a", NOW, ttl=60.0, limit=9, per_host=9, due_by=NOW - 20)

        assert urls(pages) == [_A1.url]

    def test_next_due_with_due_by_knows_of_earlier_pages_only(self, store: PageStore) -> None:
        """With ``due_by`` a page due later counts as none."""
        store.add([_A1, _A2])

        assert store.next_due(NOW, due_by=NOW - 10) == _A1.state.next_fetch_at
        assert store.next_due(NOW, due_by=NOW - 31) == NEVER
