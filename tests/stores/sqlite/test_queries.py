from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from recrawl.stores import sqlite as package
from recrawl.stores.sqlite import SqliteStore
from recrawl.stores.sqlite.queries import QUERIES

# Calls that look at the whole collection and say so.
_WHOLE = {"count_rows", "count_statuses"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "store.sqlite")
    yield store
    store.close()


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_compiles_and_scans_no_pages(store: SqliteStore, name: str) -> None:
    """Every statement fits the schema and finds its pages and visits by an index."""
    query = QUERIES[name]

    plan = store._database._connection.execute(
        f"EXPLAIN QUERY PLAN {query.text}", [1] * len(query.names)
    )

    scanned = [step for *_, step in plan if re.match(r"SCAN (pages|p|q|visits|v|texts)\b", step)]
    # A scan in the order of the keys that ends at a limit is none.
    assert not scanned or name in _WHOLE


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_is_used(name: str) -> None:
    """A statement that no call runs is not kept."""
    folder = Path(package.__file__).parent
    code = "".join(path.read_text() for path in folder.glob("*.py"))

    assert f'"{name}"' in code


def test_every_query_has_a_purpose() -> None:
    """Each statement begins with its name and one line of purpose, each name once."""
    text = files("recrawl.stores.sqlite").joinpath("queries.sql").read_text()

    names = re.findall(r"^-- name: (\w+)\n-- [A-Z].*\.\n", text, flags=re.MULTILINE)

    assert sorted(names) == sorted([*QUERIES, "page_columns", "planned_columns"])
    assert text.count("-- name:") == len(names)


def test_no_query_reads_the_clock() -> None:
    """Time comes in as a parameter."""
    text = " ".join(query.text for query in QUERIES.values()).lower()

    assert not re.search(r"current_time|datetime|julianday|unixepoch|strftime|'now'", text)
