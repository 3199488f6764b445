"""Opening a file: is it a store, is it new, is its schema this one."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from recrawl.errors import NotAStore, StoreError, StoreVersionError

__all__ = ["APPLICATION_ID", "SCHEMA_VERSION", "is_new", "migrate", "prepare"]

#: "rcrw", in the file's header: tells a store from any other SQLite file.
APPLICATION_ID = 0x72637277

_FOLDER = files("recrawl.stores.sqlite")


def _migrations() -> dict[int, str]:
    """Return the migrations by the version that they lead to."""
    return {
        int(name.group(1)): file.read_text(encoding="utf-8")
        for file in _FOLDER.joinpath("migrations").iterdir()
        if (name := re.fullmatch(r"(\d{4})_\w+\.sql", file.name))
    }


#: Version of the schema, in the file's header: the number of the last migration.
SCHEMA_VERSION = max(_migrations())


def prepare(connection: sqlite3.Connection, path: Path, *, create: bool) -> None:
    """Make the file of an open connection a store of this version, or say why it cannot be one.

    Nothing is written before it is known that the file is a store or holds nothing.  After an
    error the caller closes the connection, which undoes what was begun.

    Raises
    ------
    NotAStore
        If the file holds something else.
    StoreVersionError
        If a newer recrawl wrote it.
    StoreError
        If it is new and ``create`` is false.
    """
    if _is_current(connection, path):
        return
    if is_new(connection) and not create:
        raise StoreError(f"{path} holds no store yet; make one by: recrawl init", value=str(path))
    connection.execute("BEGIN IMMEDIATE")
    # Asked again: another process may have been faster.
    if is_new(connection):
        schema = _FOLDER.joinpath("schema.sql").read_text(encoding="utf-8")
        _run(connection, schema, SCHEMA_VERSION)
    elif not _is_current(connection, path):
        migrate(connection)
    connection.execute("COMMIT")


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema to this version, inside the caller's transaction."""
    version = _pragma(connection, "user_version")
    for number, script in sorted(_migrations().items()):
        if number > version:
            _run(connection, script, number)


def is_new(connection: sqlite3.Connection) -> bool:
    """Tell whether the file holds nothing at all."""
    n_objects = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    return bool(
        n_objects == 0
        and _pragma(connection, "application_id") == 0
        and _pragma(connection, "user_version") == 0
    )


def _is_current(connection: sqlite3.Connection, path: Path) -> bool:
    """Tell whether the file is a store of this version; raise if it can never become one."""
    if is_new(connection):
        return False
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise NotAStore(
            f"{path} is an SQLite file of something else; name another file,"
            " this one was not touched",
            value=str(path),
        )
    version = _pragma(connection, "user_version")
    if version > SCHEMA_VERSION:
        raise StoreVersionError(
            f"{path} has schema version {version}, this recrawl knows versions up to"
            f" {SCHEMA_VERSION}; use the recrawl that wrote it, or a newer one",
            value=version,
        )
    return version == SCHEMA_VERSION


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _run(connection: sqlite3.Connection, script: str, version: int) -> None:
    """Run a script's statements and set the header, inside the caller's transaction."""
    for statement in _statements(script):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {version}")


def _statements(script: str) -> Iterator[str]:
    """Yield the statements of a script: executescript would end the transaction first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
