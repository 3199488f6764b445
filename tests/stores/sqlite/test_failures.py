from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from recrawl.errors import InputError, NotAStore, StoreError, StoreFull
from recrawl.ports.store import ChangeKind, PageRow
from recrawl.stores.sqlite import SqliteStore
from recrawl.stores.sqlite.failures import store_error, translated
from recrawl.testing.factories import NOW, commit_of, page_row
from recrawl.testing.store.base import assert_same

_PLACE = Path("store.sqlite")
# All result codes of SQLite that the driver knows, primary and extended.
_CODES = {
    name: code
    for name, code in vars(sqlite3).items()
    if name.startswith("SQLITE_") and isinstance(code, int) and hasattr(sqlite3, name)
}
_CLASSES = [
    sqlite3.DataError,
    sqlite3.DatabaseError,
    sqlite3.Error,
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.InternalError,
    sqlite3.NotSupportedError,
    sqlite3.OperationalError,
    sqlite3.ProgrammingError,
    sqlite3.Warning,
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(path, busy_timeout=0.01)
    yield store
    store.close()


def _pages(n: int, host: str = "a") -> list[PageRow]:
    return [page_row(f"https://{host}.example/{i}", title="t" * 500) for i in range(n)]


def test_every_driver_class_is_known() -> None:
    """The list of classes above is all that the driver has."""
    classes = {
        value
        for value in vars(sqlite3).values()
        if isinstance(value, type) and issubclass(value, Exception)
    }

    assert classes == set(_CLASSES)


@pytest.mark.parametrize("driver_class", _CLASSES)
def test_every_driver_error_is_one_of_ours(driver_class: type[Exception]) -> None:
    """Whatever class the driver raises, the caller sees a StoreError that names the file."""
    with (
        pytest.raises(StoreError, match=r"store\.sqlite.*no such luck") as caught,
        translated(_PLACE),
    ):
        raise driver_class("no such luck")

    assert isinstance(caught.value.__cause__, driver_class)


@pytest.mark.parametrize("code", _CODES.values(), ids=_CODES.keys())
def test_every_result_code_is_one_of_ours(code: int) -> None:
    """Every code gives a StoreError with a next step; full and foreign files have their class."""
    error = sqlite3.OperationalError("driver text")
    error.sqlite_errorcode = code

    ours = store_error(error, _PLACE)

    full = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE}
    wanted = dict.fromkeys(full, StoreFull) | {sqlite3.SQLITE_NOTADB: NotAStore}
    assert type(ours) is (wanted.get(code) or wanted.get(code & 0xFF, StoreError))
    assert ours.value == "store.sqlite"
    assert len(ours.message.split(": ", 1)[1]) > 10


def test_other_errors_pass() -> None:
    """A bug is not dressed up as an error of the store."""
    with pytest.raises(ZeroDivisionError), translated(_PLACE):
        raise ZeroDivisionError


def test_a_full_disk_loses_nothing(store: SqliteStore) -> None:
    """What does not fit is refused as a whole; what was there stays; with room it goes on."""
    store.add(_pages(50))
    leased = store.lease("a", NOW, ttl=60.0, limit=10, per_host=10)
    before = list(store)
    connection = store._database._connection
    (n_file_pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {n_file_pages + 2}")
    found = tuple(_pages(500, "b"))
    commits = [commit_of(page, kind=ChangeKind.NEW, found=found) for page in leased]

    with pytest.raises(StoreFull, match="no room left"):
        store.add(found)
    with pytest.raises(StoreFull, match="free some disk space"):
        store.commit("a", commits, NOW)

    assert_same(list(store), before)
    assert (store.status(NOW).n_visits, store.changes()) == (0, [])
    assert not connection.in_transaction
    connection.execute("PRAGMA max_page_count = 1000000")
    assert store.commit("a", commits, NOW) == []
    assert [change.sequence for change in store.changes()] == list(range(1, 11))
    assert len(list(store)) == 550
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_locked_file(store: SqliteStore, path: Path) -> None:
    """Another process's transaction is waited for, then named; reading goes on meanwhile."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreError, match="locked by another process"):
        store.add(_pages(1))
    assert list(store) == []
    other.execute("ROLLBACK")
    assert store.add(_pages(1)).n_added == 1

    other.close()


def test_a_file_locked_while_it_is_made(path: Path) -> None:
    """A new file that another process keeps to itself is an error, not a wait without end."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    other.execute("CREATE TABLE a (b)")

    with pytest.raises(StoreError, match="locked by another process"):
        SqliteStore(path, busy_timeout=0.01)

    other.close()


def test_a_reader_of_a_file_without_a_log(path: Path) -> None:
    """A store whose journal was set back waits for its readers, then says who is in the way."""
    SqliteStore(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA journal_mode = DELETE")
    other.execute("BEGIN")
    other.execute("SELECT * FROM pages").fetchall()

    with pytest.raises(StoreError, match="locked by another process"):
        SqliteStore(path, busy_timeout=0.05)

    other.close()
    SqliteStore(path).close()


def test_a_file_that_must_not_be_written(store: SqliteStore) -> None:
    """A write that is not allowed says what to allow."""
    store._database._connection.execute("PRAGMA query_only = 1")

    with pytest.raises(StoreError, match=r"cannot be written.*allow this user"):
        store.add(_pages(1))


def test_a_damaged_file(path: Path) -> None:
    """Damage is called damage, with a way out."""
    store = SqliteStore(path)
    store.add(_pages(500))
    store.close()
    content = bytearray(path.read_bytes())
    content[3 * 4096 :] = b"\xff" * (len(content) - 3 * 4096)
    path.write_bytes(content)
    store = SqliteStore(path)

    with pytest.raises(StoreError, match=r"is damaged.*recover"):
        list(store)

    store.close()


def test_a_damaged_text(store: SqliteStore) -> None:
    """A text that cannot be decompressed is an error of the store."""
    store.add(_pages(1))
    (page,) = store.lease("a", NOW, ttl=60.0, limit=1, per_host=1)
    store.commit("a", [commit_of(page, text="text")], NOW)
    store._database._connection.execute("UPDATE texts SET body = x'00'")

    with pytest.raises(StoreError, match=r"store\.sqlite"):
        store.texts(page.state.page_key)


def test_a_closed_store(store: SqliteStore) -> None:
    """A call after close is an error of ours."""
    store.close()

    with pytest.raises(StoreError, match="closed"):
        store.get(1)


def test_keep_visits_below_one_is_refused(path: Path) -> None:
    """A store that keeps no visit could not know a repeated commit; no file is made."""
    with pytest.raises(InputError, match="keep_visits is 0"):
        SqliteStore(path, keep_visits=0)

    assert not path.exists()
