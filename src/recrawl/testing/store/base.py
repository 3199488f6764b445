"""What all parts of the suite share: the store, its back door, comparing rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest

from recrawl.ports.store import PageRow, PageStore
from recrawl.testing.factories import NOW

__all__ = ["KEEP_VISITS", "StoreSuite", "assert_same", "lease_all", "urls"]

#: ``keep_visits`` of the stores under test.
KEEP_VISITS = 3

Rows: TypeAlias = object


class StoreSuite:
    """Makes the store under test."""

    def make_store(self, folder: Path, keep_visits: int) -> PageStore:
        """Return a new, empty store; ``folder`` is its own."""
        raise NotImplementedError

    def n_rows(self, store: PageStore) -> dict[str, int]:
        """Count by the back door what is kept: pages, hosts, leases, visits, changes, texts."""
        raise NotImplementedError

    def second_handle(self, store: PageStore) -> PageStore:
        """Return another handle on the same data, if the store has such, else the store."""
        return store

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[PageStore]:
        store = self.make_store(tmp_path, KEEP_VISITS)
        yield store
        store.close()


def assert_same(got: Rows, wanted: Rows) -> None:
    """Compare rows field by field; NaN equals NaN."""
    assert repr(got) == repr(wanted)


def urls(pages: Sequence[PageRow]) -> list[str]:
    """Return the URLs, in order."""
    return [page.url for page in pages]


def lease_all(
    store: PageStore,
    owner: str = "a",
    now: int = NOW,
    *,
    ttl: float = 60.0,
    limit: int = 100,
    per_host: int = 100,
) -> list[PageRow]:
    """Lease what can be had."""
    return store.lease(owner, now, ttl=ttl, limit=limit, per_host=per_host)
