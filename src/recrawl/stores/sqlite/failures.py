"""SQLite's errors as errors of ours."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import zstandard

from recrawl.errors import NotAStore, StoreError, StoreFull

__all__ = ["store_error", "translated"]

# Primary result code: the class to raise, what was wrong, what to do next.
_BY_CODE: dict[int, tuple[type[StoreError], str, str]] = {
    sqlite3.SQLITE_FULL: (
        StoreFull,
        "has no room left",
        "nothing of this call was written; free some disk space and run again",
    ),
    sqlite3.SQLITE_NOTADB: (
        NotAStore,
        "is not a recrawl store",
        "name another file; this one was not touched",
    ),
    sqlite3.SQLITE_CORRUPT: (
        StoreError,
        "is damaged",
        "copy the file, then try the .recover command of the sqlite3 shell on the copy",
    ),
    sqlite3.SQLITE_BUSY: (
        StoreError,
        "is locked by another process",
        "nothing of this call was written; end the other process or try again later",
    ),
    sqlite3.SQLITE_READONLY: (
        StoreError,
        "cannot be written",
        "allow this user to write the file and its directory",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        StoreError,
        "cannot be opened",
        "allow this user to read and write the file and its directory: -wal and -shm lie beside it",
    ),
    sqlite3.SQLITE_IOERR: (
        StoreError,
        "cannot be read or written",
        "check the disk and the space on it; network file systems do not work",
    ),
    sqlite3.SQLITE_PERM: (
        StoreError,
        "is not accessible",
        "allow this user to read and write the file and its directory",
    ),
}
# Where the limit is a quota or a largest file, SQLite does not say full.
_BY_CODE[sqlite3.SQLITE_IOERR_WRITE] = (
    StoreFull,
    "cannot be written any further",
    "nothing of this call was written; free disk space, or raise the quota or the file size limit",
)
_BY_CODE[sqlite3.SQLITE_LOCKED] = _BY_CODE[sqlite3.SQLITE_BUSY]
_OTHERWISE = (
    StoreError,
    "cannot do this",
    "nothing of this call was written; if the values look right, report it as a bug",
)
# Overflow: a number beyond 64 bits; Unicode: a URL that is no text.
_DRIVER_ERRORS = (
    sqlite3.Error,
    sqlite3.Warning,
    zstandard.ZstdError,
    OverflowError,
    UnicodeError,
)


def store_error(error: Exception, path: Path) -> StoreError:
    """Return the error of ours that stands for one of the driver.

    Parameters
    ----------
    error : Exception
        From sqlite3, or from turning values into what SQLite stores.
    path : Path
        The store's file.
    """
    # The low byte is the primary code; the driver's own errors have none.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    kind, problem, advice = _BY_CODE.get(code) or _BY_CODE.get(code & 0xFF, _OTHERWISE)
    return kind(f"{path} {problem} ({error}): {advice}", value=str(path))


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise errors of the driver inside the block as errors of ours."""
    try:
        yield
    except _DRIVER_ERRORS as error:
        raise store_error(error, path) from error
