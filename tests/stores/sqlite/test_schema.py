from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from recrawl.core.columns import COLUMNS, NO_KEY, NO_TIME
from recrawl.errors import NotAStore, StoreError, StoreVersionError
from recrawl.stores.sqlite import SqliteStore, schema
from recrawl.stores.sqlite.rows import page_values
from recrawl.stores.sqlite.schema import APPLICATION_ID, SCHEMA_VERSION
from recrawl.testing.factories import page_row


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


def _make(path: Path, *statements: str) -> None:
    """Make an SQLite file by other means."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def _schema_of(path: Path) -> list[tuple[str, str, list[str]]]:
    connection = sqlite3.connect(path)
    objects = connection.execute("SELECT type, name, sql FROM sqlite_schema").fetchall()
    connection.close()
    # A column that a migration adds stands behind a comma of its own spelling.
    return sorted(
        (kind, name, re.sub(r"\s*([,)])\s*", r"\1 ", sql or "").split())
        for kind, name, sql in objects
    )


def _header(path: Path, name: str) -> int:
    connection = sqlite3.connect(path)
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    connection.close()
    return int(value)


def test_migrations_and_schema_agree(tmp_path: Path) -> None:
    """All migrations from nothing on give the schema of a new store."""
    new, migrated = tmp_path / "new", tmp_path / "migrated"
    _make(migrated, f"PRAGMA application_id = {APPLICATION_ID}")

    SqliteStore(new).close()
    SqliteStore(migrated).close()

    assert _schema_of(new) == _schema_of(migrated)
    assert _header(new, "user_version") == _header(migrated, "user_version") == SCHEMA_VERSION
    assert _header(new, "application_id") == APPLICATION_ID


def test_migrations_are_numbered_without_holes() -> None:
    """Migrations lead from one version to the next."""
    assert sorted(schema._migrations()) == list(range(1, SCHEMA_VERSION + 1))


def test_a_migration_is_whole_or_not_at_all(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A migration that fails leaves the file as it was; the next open tries again."""
    SqliteStore(path).close()
    before = _schema_of(path)
    scripts = schema._migrations() | {
        SCHEMA_VERSION + 1: "CREATE TABLE a (b);",
        SCHEMA_VERSION + 2: "CREATE TABLE c (d);\nCREATE TABLE pages (e);",
    }
    monkeypatch.setattr(schema, "_migrations", lambda: scripts)
    monkeypatch.setattr(schema, "SCHEMA_VERSION", SCHEMA_VERSION + 2)

    with pytest.raises(StoreError, match="pages already exists"):
        SqliteStore(path)
    assert _schema_of(path) == before
    assert _header(path, "user_version") == SCHEMA_VERSION

    scripts[SCHEMA_VERSION + 2] = "CREATE TABLE c (d);"
    SqliteStore(path).close()
    assert len(_schema_of(path)) == len(before) + 2
    assert _header(path, "user_version") == SCHEMA_VERSION + 2


def test_every_state_column_is_a_column(path: Path) -> None:
    """The table of pages has the columns of the page state, under their names."""
    SqliteStore(path).close()

    connection = sqlite3.connect(path)
    names = [row[1] for row in connection.execute("PRAGMA table_info(pages)")]
    connection.close()

    # In an order of its own: SQLite adds columns at the end.
    assert {column.name for column in COLUMNS} - set(names) == set()


def test_learned_state_is_added_to_a_store_of_version_3(path: Path) -> None:
    """A page of before keeps what it had; its group and what visits taught are unknown."""
    page = page_row("https://example.org/a", n_visits=7, moved_layers=3, title="Title")
    connection = sqlite3.connect(path, isolation_level=None)
    for number in (1, 2, 3):
        schema._run(connection, schema._migrations()[number], number)
    columns = [row[1] for row in connection.execute("PRAGMA table_info(pages)")]
    places = ", ".join(f":{name}" for name in columns)
    connection.execute(f"INSERT INTO pages VALUES ({places})", page_values(page))
    connection.close()

    store = SqliteStore(path, create=False)

    kept = store.get(page.state.page_key)
    store.close()
    assert repr(kept) == repr(replace(page, state=replace(page.state, group_key=NO_KEY)))
    assert _header(path, "user_version") == SCHEMA_VERSION


def test_a_newer_schema_is_refused(path: Path) -> None:
    """A store of a newer recrawl is named as such and left alone."""
    SqliteStore(path).close()
    _make(path, f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    before = path.read_bytes()

    with pytest.raises(StoreVersionError, match=f"version {SCHEMA_VERSION + 1}") as caught:
        SqliteStore(path)

    assert caught.value.value == SCHEMA_VERSION + 1
    assert path.read_bytes() == before


_OTHER_FILES: dict[str, Callable[[Path], object]] = {
    "text": lambda path: path.write_text("https://example.org/\n"),
    "long-text": lambda path: path.write_text("https://example.org/\n" * 1000),
    "one-byte": lambda path: path.write_bytes(b"\0"),
    "zeros": lambda path: path.write_bytes(b"\0" * 8192),
    "sqlite-of-another": lambda path: _make(path, "CREATE TABLE pages (page_key)"),
    "sqlite-with-another-id": lambda path: _make(path, "PRAGMA application_id = 7"),
    "sqlite-with-a-version": lambda path: _make(path, "PRAGMA user_version = 1"),
}


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize("write", _OTHER_FILES.values(), ids=_OTHER_FILES.keys())
def test_a_file_of_something_else_is_refused(
    path: Path, write: Callable[[Path], object], create: bool
) -> None:
    """A file that holds something else is not touched, not even by files beside it."""
    write(path)
    before = path.read_bytes()

    with pytest.raises(NotAStore, match="not touched"):
        SqliteStore(path, create=create)

    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


_EMPTY_FILES: dict[str, Callable[[Path], object]] = {
    "no-bytes": Path.touch,
    # What a kill during the first transaction may leave.
    "sqlite-of-nothing": lambda path: _make(path, "PRAGMA journal_mode = WAL"),
}


@pytest.mark.parametrize("write", _EMPTY_FILES.values(), ids=_EMPTY_FILES.keys())
def test_an_empty_file_is_a_new_store(path: Path, write: Callable[[Path], object]) -> None:
    """A file that holds nothing becomes a store, if one may be made."""
    write(path)

    with pytest.raises(StoreError, match="recrawl init"):
        SqliteStore(path, create=False)
    store = SqliteStore(path)

    store.add([page_row()])
    assert len(list(store)) == 1
    store.close()


def test_a_store_opens_again(path: Path) -> None:
    """What was written is there after a new open, under a path given as text as well."""
    page = page_row()
    first = SqliteStore(path)
    first.add([page])
    first.close()

    second = SqliteStore(str(path), create=False)

    assert second.get(page.state.page_key) is not None
    second.close()


def test_a_store_that_is_not_there(path: Path) -> None:
    """Without leave to make one, a missing file is an error and stays missing."""
    with pytest.raises(StoreError, match=r"not there.*recrawl init"):
        SqliteStore(path, create=False)

    assert not path.exists()


def test_a_directory_that_is_not_there(path: Path) -> None:
    """A missing directory is named, not made."""
    with pytest.raises(StoreError, match=r"store\.sqlite is not there; make that directory"):
        SqliteStore(path / "file")


def test_a_directory_is_no_store(tmp_path: Path) -> None:
    """What is no file is no store."""
    with pytest.raises(NotAStore, match="not touched"):
        SqliteStore(tmp_path)


@pytest.mark.parametrize("name", ["a b#c?d%20.sqlite", "größe;.sqlite", ":memory:"])
def test_names_are_taken_literally(tmp_path: Path, name: str) -> None:
    """Characters that mean something in a URI or to SQLite are part of the file's name."""
    SqliteStore(tmp_path / name).close()

    assert (tmp_path / name).exists()


def test_the_last_check_of_an_older_store_is_its_last_visit(path: Path) -> None:
    """Before version 5 nobody wrote when a page was checked: content stands for a good visit."""
    content = page_row("https://a.example/", fetched_at=7, signature=b"s" * 16, signature_scheme=1)
    nothing = page_row("https://b.example/", fetched_at=7)
    store = SqliteStore(path)
    store.add([content, nothing])

    checked = {page.url: page.state.checked_at for page in store}
    planned = sorted(store.scan_planned().checked_at.tolist())
    store.close()

    assert checked == {content.url: 7, nothing.url: NO_TIME}
    assert planned == [NO_TIME, 7]
