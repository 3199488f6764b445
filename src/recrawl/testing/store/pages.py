"""Tests of pages, hosts, robots.txt, named values and figures."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from recrawl.core.columns import NEVER, NO_TIME
from recrawl.errors import KeyClash, StoreError
from recrawl.ports.store import AddResult, PageRow, PageStore, RobotsRow, StoreStatus
from recrawl.testing.factories import DAY, NOW, commit_of, host_row, page_row
from recrawl.testing.store.base import StoreSuite, assert_same, lease_all, urls

__all__ = ["PageTests"]

_A = page_row("https://a.example/1")
_B = page_row("https://b.example/1")
# A page that claims the key of _A.
_CLASH = page_row("https://c.example/1", page_key=_A.state.page_key)

_PAGES = {
    "as-added": page_row(),
    "all-unknown": page_row(next_fetch_at=NEVER, importance=0.0, added_at=NO_TIME),
    "no-time": page_row(next_fetch_at=NO_TIME),
    "all-known": page_row(
        status=6,
        announced=3,
        next_fetch_at=NOW + 1,
        interval=3600.5,
        fixed_interval=7200.0,
        importance=2.5,
        retries=3,
        n_visits=2**31 - 1,
        n_changes=7,
        fetched_at=NOW,
        checked_at=NOW,
        modified_at=-1,
        changed_at=0,
        redirect_key=-(2**63),
        signature=bytes(range(16)),
        signature_scheme=2**63 - 1,
        mime_key=-(2**63),
        moved_layers=15,
        group_key=-(2**63),
        rate_shape=0.5,
        rate_exposure=2.0**30,
        bulk_shape=1.25,
        bulk_exposure=2.0**-10,
        surprise=-50.0,
        n_signals=2**15 - 1,
        etag='W/"1"',
        last_modified="Fri, 22 Dec 2017 07:51:19 GMT",
        redirect_to="https://b.example/",
        title="Größe\n\u65e5\u672c",
        reason="timeout",
        depth=4,
        content_digest=bytes(range(16, 32)),
    ),
    "infinite-interval": page_row(interval=math.inf),
    "empty-texts": page_row(etag="", last_modified="", title="", redirect_to=""),
    "etag-of-bytes": page_row(etag='"caf\udce9"', last_modified="\udcff"),
    "nul": page_row(title="a\0b", etag='"a\0b"'),
    "no-scheme": page_row(signature=b"x" * 16, signature_scheme=0),
}


class PageTests(StoreSuite):
    """Calls on pages outside leases and commits."""

    def test_add_counts_added_and_known(self, store: PageStore) -> None:
        """Added pages are counted apart from those that were there."""
        store.add([_A])

        result = store.add([_A, _B])

        assert result == AddResult(n_added=1, n_known=1)
        assert self.n_rows(store)["pages"] == 2

    def test_add_takes_one_page_once(self, store: PageStore) -> None:
        """A page twice in one call is added once, as it came first."""
        result = store.add([_A, replace(_A, title="second")])

        assert result == AddResult(n_added=1, n_known=1)
        assert_same(store.get(_A.state.page_key), _A)

    def test_add_of_nothing(self, store: PageStore) -> None:
        """No pages are no change."""
        assert store.add([]) == AddResult(n_added=0, n_known=0)

    def test_add_leaves_known_pages_alone(self, store: PageStore) -> None:
        """A page already there stays as it is, whatever the new row says."""
        store.add([_A])

        store.add([page_row(_A.url, next_fetch_at=NEVER, title="new")])

        assert_same(store.get(_A.state.page_key), _A)

    @pytest.mark.parametrize("first", [[], [_A]], ids=["within-call", "in-store"])
    def test_add_refuses_two_urls_with_one_key(
        self, store: PageStore, first: list[PageRow]
    ) -> None:
        """Two URLs with one key are refused, both are named, nothing of the call is added."""
        store.add(first)

        with pytest.raises(KeyClash) as caught:
            store.add([_B, *([] if first else [_A]), _CLASH])

        assert _A.url in str(caught.value)
        assert _CLASH.url in str(caught.value)
        assert urls(list(store)) == urls(first)
        assert store.hosts([_B.state.host_key]) == {}

    def test_add_makes_hosts(self, store: PageStore) -> None:
        """Each page's host gets a row that may be asked at once."""
        store.add([_A, page_row("https://a.example/2"), _B])

        assert store.hosts([_A.state.host_key, _B.state.host_key]) == {
            _A.state.host_key: host_row(_A.url),
            _B.state.host_key: host_row(_B.url),
        }
        assert self.n_rows(store)["hosts"] == 2

    def test_add_leaves_known_hosts_alone(self, store: PageStore) -> None:
        """A host already there stays as it is when pages are added to it."""
        waiting = host_row(_A.url, ready_at=NOW + DAY, crawl_delay=2.5, n_errors=3)
        store.add([_A])
        store.save_hosts([waiting])

        store.add([page_row("https://a.example/2", next_fetch_at=NOW - 1)])

        assert store.hosts([waiting.host_key]) == {waiting.host_key: waiting}

    def test_add_of_an_earlier_page_moves_its_host_forward(self, store: PageStore) -> None:
        """A page added to a known host counts with its own due time."""
        store.add([page_row("https://a.example/later", next_fetch_at=NOW + DAY)])
        store.add([page_row("https://a.example/never", next_fetch_at=NEVER)])
        assert store.next_due(NOW) == NOW + DAY

        store.add([_A])

        assert store.next_due(NOW) == NOW
        assert urls(lease_all(store)) == [_A.url]

    def test_get_of_an_unknown_page(self, store: PageStore) -> None:
        """A page that is not there is None."""
        assert store.get(1) is None

    @pytest.mark.parametrize("page", _PAGES.values(), ids=_PAGES.keys())
    def test_pages_come_back_as_added(self, store: PageStore, page: PageRow) -> None:
        """Every value, also unknown and extreme ones, comes back from add."""
        store.add([page])

        assert_same(store.get(page.state.page_key), page)
        assert_same(list(store), [page])

    @pytest.mark.parametrize("page", _PAGES.values(), ids=_PAGES.keys())
    def test_pages_come_back_as_updated(self, store: PageStore, page: PageRow) -> None:
        """Every value comes back from update, and replaces any other."""
        for before in _PAGES.values():
            store.add([before])
            store.update([before])

            store.update([page])

            assert_same(store.get(page.state.page_key), page)

    def test_texts_that_are_no_unicode_stop_nothing(self, store: PageStore) -> None:
        """Half characters in what a page says do not stop the call."""
        store.add([replace(_A, title="a\ud800b", reason="\udfff", redirect_to="\ud800")])

        page = store.get(_A.state.page_key)
        assert page is not None
        assert page.title is not None
        assert page.title[0] + page.title[-1] == "ab"

    def test_update_skips_unknown_pages(self, store: PageStore) -> None:
        """Pages that are not there are not made, and not counted."""
        store.add([_A])

        assert store.update([_A, _B]) == 1
        assert store.get(_B.state.page_key) is None
        assert store.update([]) == 0

    def test_update_moves_the_due_time(self, store: PageStore) -> None:
        """A new due time counts at once, later or earlier."""
        store.add([_A, _B])

        store.update([page_row(_A.url, next_fetch_at=NOW + DAY)])
        assert urls(lease_all(store)) == [_B.url]
        store.update([page_row(_B.url, next_fetch_at=NEVER)])
        assert store.next_due(NOW) == NOW + DAY

        store.update([page_row(_A.url, next_fetch_at=NOW - DAY)])
        assert store.next_due(NOW) == NOW - DAY
        assert urls(lease_all(store, now=NOW - DAY)) == [_A.url]

    def test_update_cancels_the_lease(self, store: PageStore) -> None:
        """A page changed by hand under a lease is lost to its owner, and free."""
        store.add([_A])
        (page,) = lease_all(store)

        store.update([replace(_A, title="by hand")])

        assert store.commit("a", [commit_of(page)], NOW) == [_A.state.page_key]
        assert_same(store.get(_A.state.page_key), replace(_A, title="by hand"))
        assert urls(lease_all(store, "b")) == [_A.url]

    def test_update_refuses_another_url(self, store: PageStore) -> None:
        """A key that belongs to another URL is refused, and nothing is written."""
        store.add([_A, _B])

        with pytest.raises(KeyClash, match="two URLs"):
            store.update([replace(_B, title="new"), _CLASH])

        assert_same(store.get(_B.state.page_key), _B)

    def test_hosts_leaves_out_unknown_ones(self, store: PageStore) -> None:
        """Only hosts that are there are returned."""
        store.add([_A])

        assert list(store.hosts(iter([_B.state.host_key, _A.state.host_key]))) == [
            _A.state.host_key
        ]
        assert store.hosts([]) == {}

    def test_save_hosts_overwrites_known_hosts_only(self, store: PageStore) -> None:
        """Rows of hosts that are there are replaced; no host is made."""
        store.add([_A])
        saved = host_row(_A.url, ready_at=NOW - 1, crawl_delay=1.5, n_errors=1)

        store.save_hosts([saved, host_row(_B.url)])

        assert store.hosts([saved.host_key, _B.state.host_key]) == {saved.host_key: saved}
        assert urls(lease_all(store)) == [_A.url]

    def test_scan_pages_through_in_order(self, store: PageStore) -> None:
        """Scans go on after a key, in the order of the keys, up to the limit."""
        pages = [page_row(f"https://a.example/{i}", page_key=key) for i, key in enumerate(_KEYS)]
        store.add(pages)

        assert [page.state.page_key for page in store.scan()] == sorted(_KEYS)
        assert [page.state.page_key for page in store.scan(limit=2)] == sorted(_KEYS)[:2]
        assert [page.state.page_key for page in store.scan(after=-5, limit=2)] == [1, 7]
        assert store.scan(after=max(_KEYS)) == []
        assert store.scan(limit=0) == []
        assert [page.state.page_key for page in store] == sorted(_KEYS)

    def test_due_lists_earliest_first_leased_or_not(self, store: PageStore) -> None:
        """Due pages of all hosts come in the order of their times, also those out with a worker."""
        late = page_row("https://a.example/2", next_fetch_at=NOW - 1)
        early = page_row("https://b.example/2", next_fetch_at=NOW - 2)
        store.add([late, _A, early, page_row("https://a.example/3", next_fetch_at=NOW + 1)])
        store.add([page_row("https://c.example/", next_fetch_at=NEVER)])
        lease_all(store, limit=1)

        assert urls(store.due(NOW, limit=10)) == [early.url, late.url, _A.url]
        assert urls(store.due(NOW, limit=2)) == [early.url, late.url]
        assert store.due(NOW, limit=0) == []
        assert store.due(NOW - 3, limit=10) == []

    def test_robots_are_kept_by_origin(self, store: PageStore) -> None:
        """robots.txt is kept as bytes, replaced by the next one, None where never seen."""
        first = RobotsRow("https://a.example", NOW, NOW + DAY, 200, b"User-agent: *\xff\0")
        second = RobotsRow("https://a.example", NOW + 1, NOW + 2, None, b"")

        assert store.robots(first.origin) is None
        store.save_robots(first)
        assert store.robots(first.origin) == first
        store.save_robots(second)
        assert store.robots(first.origin) == second
        assert store.robots("https://a.example:8443") is None

    def test_meta_values_are_kept_by_name(self, store: PageStore) -> None:
        """A named value is replaced by the next, None where never set."""
        assert store.get_meta("name") is None
        store.set_meta("name", "1")
        store.set_meta("name", "ä")
        store.set_meta("other", "")

        assert store.get_meta("name") == "ä"
        assert store.get_meta("other") == ""

    def test_status_of_an_empty_store(self, store: PageStore) -> None:
        """An empty store has nothing due."""
        assert store.status(NOW) == StoreStatus(0, 0, 0, 0, 0, 0, NEVER, {})

    def test_status_counts(self, store: PageStore) -> None:
        """Figures count pages, hosts, due and leased pages, visits and statuses."""
        later = page_row("https://a.example/2", next_fetch_at=NOW + 1, status=2)
        never = page_row("https://c.example/", next_fetch_at=NEVER, status=3)
        store.add([_A, _B, later, never])
        pages = lease_all(store, now=NOW - DAY) + lease_all(store, limit=2)
        store.commit("a", [commit_of(page) for page in pages if page.url == _A.url], NOW)

        assert store.status(NOW) == StoreStatus(
            n_pages=4,
            n_hosts=3,
            n_due=1,
            n_leased=1,
            n_visits=1,
            n_changes=0,
            oldest_due_at=NOW,
            n_by_status={1: 1, 2: 2, 3: 1},
        )
        assert store.status(NOW + 60_000).n_leased == 0
        assert store.status(NOW + 60_000).n_due == 2

    def test_close_twice(self, store: PageStore) -> None:
        """A second close does nothing."""
        store.add([_A])

        store.close()
        store.close()

    def test_numbers_beyond_64_bits_are_errors_of_ours_or_kept(self, store: PageStore) -> None:
        """What a store cannot hold is a StoreError that leaves nothing behind."""
        page = page_row(n_visits=2**64)

        try:
            store.add([_A, page])
        except StoreError:
            assert list(store) == []
        else:
            assert_same(store.get(page.state.page_key), page)


_KEYS = [7, -5, 2**63 - 1, -(2**63), 1]
