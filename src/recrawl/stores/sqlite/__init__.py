"""The default store: one SQLite file."""

from __future__ import annotations

from recrawl.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
