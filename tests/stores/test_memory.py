from __future__ import annotations

from pathlib import Path

import pytest

from recrawl.errors import InputError
from recrawl.ports.store import PageStore
from recrawl.stores.memory import MemoryStore
from recrawl.testing.store import StoreContract


class TestMemoryStore(StoreContract):
    n_histories = 5

    def make_store(self, folder: Path, keep_visits: int) -> PageStore:
        return MemoryStore(keep_visits)

    def n_rows(self, store: PageStore) -> dict[str, int]:
        assert isinstance(store, MemoryStore)
        return {
            "pages": len(store._pages),
            "hosts": len(store._hosts),
            "leases": len(store._leases),
            "visits": sum(map(len, store._visits.values())),
            "changes": len(store._changes),
            "texts": sum(map(len, store._texts.values())),
        }


def test_keep_visits_below_one_is_refused() -> None:
    """A store that keeps no visit could not know a repeated commit."""
    with pytest.raises(InputError, match="keep_visits is 0"):
        MemoryStore(keep_visits=0)
