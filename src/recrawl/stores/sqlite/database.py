"""One connection: opened with the right settings, one transaction a block, errors translated."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from recrawl.errors import NotAStore, StoreError
from recrawl.stores.sqlite.failures import translated
from recrawl.stores.sqlite.queries import QUERIES
from recrawl.stores.sqlite.schema import prepare

__all__ = ["Database", "Row", "Transaction", "Values"]

Row: TypeAlias = tuple[Any, ...]
Values: TypeAlias = Mapping[str, Any]

# FULL: with NORMAL a power cut could take back the last commits, and a change event that was
# already handed on would come back with other contents under the same number.
_SETTINGS = (
    "PRAGMA synchronous = FULL",
    "PRAGMA cache_size = -65536",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA wal_autocheckpoint = 4000",
    "PRAGMA journal_size_limit = 67108864",
)
# [s]
_WAL_WAIT = 0.02


class Transaction:
    """Named statements inside one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, name: str, /, **values: Any) -> list[Row]:
        """Return all rows of a query."""
        query = QUERIES[name]
        return self._connection.execute(query.text, query.bind(values)).fetchall()

    def stream(self, name: str, /, **values: Any) -> Generator[Row, None, None]:
        """Yield the rows of a query; the query ends when the caller stops."""
        query = QUERIES[name]
        cursor = self._connection.execute(query.text, query.bind(values))
        try:
            yield from cursor
        finally:
            cursor.close()

    def run(self, name: str, /, **values: Any) -> None:
        """Run a statement."""
        query = QUERIES[name]
        self._connection.execute(query.text, query.bind(values))

    def run_many(self, name: str, rows: Iterable[Values]) -> None:
        """Run a statement for each row of values."""
        query = QUERIES[name]
        self._connection.executemany(query.text, map(query.bind, rows))


class Database:
    """The file of a store; any thread may call, one at a time.

    Parameters
    ----------
    path : Path
        The file.
    create : bool
        Whether a missing or empty file becomes a new store.
    busy_timeout : float
        How long to wait for another process's transaction. [s]
    """

    def __init__(self, path: Path, *, create: bool, busy_timeout: float) -> None:
        self.path = path
        self._lock = threading.RLock()
        _check_place(path, create=create)
        with translated(path):
            self._connection = sqlite3.connect(
                f"file:{quote(str(path.absolute()))}?mode={'rwc' if create else 'rw'}",
                uri=True,
                timeout=busy_timeout,
                isolation_level=None,
                check_same_thread=False,
            )
            try:
                prepare(self._connection, path, create=create)
                for setting in _SETTINGS:
                    self._connection.execute(setting)
                self._use_wal(busy_timeout)
            except BaseException:
                self._connection.close()
                raise

    def _use_wal(self, busy_timeout: float) -> None:
        """Switch to write-ahead logging; SQLite does not wait for others here, so we do."""
        n_waits = round(busy_timeout / _WAL_WAIT)
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or n_waits == 0:
                    raise
                n_waits -= 1
                time.sleep(_WAL_WAIT)
            else:
                return

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Give one consistent view for the block."""
        with self._transaction("BEGIN") as transaction:
            yield transaction

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """Write what the block does as a whole, or nothing of it if the block raises."""
        with self._transaction("BEGIN IMMEDIATE") as transaction:
            yield transaction

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Transaction]:
        with self._lock, translated(self.path):
            self._connection.execute(begin)
            try:
                yield Transaction(self._connection)
                self._connection.execute("COMMIT")
            finally:
                # SQLite may have rolled back on its own, on a full disk for one.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection; a second call does nothing."""
        with self._lock, translated(self.path):
            self._connection.close()


def _check_place(path: Path, *, create: bool) -> None:
    """Say what is wrong with a path before SQLite says "unable to open"."""
    # SQLite takes a file of one byte for an empty one, and would overwrite it.
    if path.exists() and (not path.is_file() or path.stat().st_size == 1):
        raise NotAStore(
            f"{path} is not a recrawl store; name another file, this one was not touched",
            value=str(path),
        )
    if not path.parent.is_dir():
        raise StoreError(
            f"{path.parent} is not there; make that directory or name another file",
            value=str(path),
        )
    if not create and not path.exists():
        raise StoreError(f"{path} is not there; make a store by: recrawl init", value=str(path))
