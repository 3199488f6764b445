from __future__ import annotations

import sqlite3
from pathlib import Path

from recrawl.ports.store import PageStore
from recrawl.stores.sqlite import SqliteStore
from recrawl.testing.store import StoreContract


class TestSqliteStore(StoreContract):
    def make_store(self, folder: Path, keep_visits: int) -> PageStore:
        self.path = folder / "store.sqlite"
        return SqliteStore(self.path, keep_visits=keep_visits)

    def n_rows(self, store: PageStore) -> dict[str, int]:
        connection = sqlite3.connect(self.path)
        counts = {
            table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("pages", "hosts", "leases", "visits", "changes", "texts")
        }
        connection.close()
        return counts
