from __future__ import annotations

import subprocess
import sys

import pytest

from recrawl.core.columns import COLUMNS
from recrawl.core.group import group_key
from recrawl.core.url import host_key, page_key
from recrawl.ports.store import ChangeKind
from recrawl.testing.factories import DAY, NOW, commit_of, host_row, page_row


def test_a_page_has_the_keys_of_its_url() -> None:
    """Keys follow from the URL, all else is as after add, and due now."""
    page = page_row("https://a.example/1")

    assert page.state.page_key == page_key("https://a.example/1")
    assert page.state.host_key == host_key("a.example") == host_row(page.url).host_key
    assert page.state.group_key == group_key("https://a.example/1")
    given = {"page_key", "host_key", "group_key", "next_fetch_at"}
    for column in COLUMNS:
        if column.name not in given:
            assert repr(getattr(page.state, column.name)) == repr(column.default)
    assert page.state.next_fetch_at == page.added_at == NOW


def test_values_go_where_they_belong() -> None:
    """Columns go into the state, the rest into the row."""
    page = page_row(status=3, page_key=7, etag='"1"', added_at=5)

    assert (page.state.status, page.state.page_key, page.etag, page.added_at) == (3, 7, '"1"', 5)


def test_a_commit_follows_from_its_page() -> None:
    """A commit is one visit later, due in a day, and carries what was asked for."""
    page = page_row(n_visits=4)
    found = (page_row("https://b.example/"),)

    bare = commit_of(page, NOW + 1)
    full = commit_of(page, NOW + 1, kind=ChangeKind.NEW, text="t", found=found, retries=2)

    assert (bare.page.state.n_visits, bare.page.state.next_fetch_at) == (5, NOW + 1 + DAY)
    assert (bare.change, bare.text, bare.found) == (None, None, ())
    assert bare.visit.fetched_at == bare.page.state.fetched_at == NOW + 1
    assert full.change is not None
    assert full.change.kind is ChangeKind.NEW
    assert full.text is not None
    assert full.text.text == "t"
    assert (full.found, full.page.state.retries) == (found, 2)


@pytest.mark.parametrize("make", [page_row, lambda **kw: commit_of(page_row(), **kw)])
def test_unknown_names_are_refused(make) -> None:
    """A misspelt column is an error, not a value that nobody reads."""
    with pytest.raises(TypeError, match="statsu"):
        make(statsu=1)


def test_factories_need_no_test_framework() -> None:
    """Rows for benchmarks and demos come without pytest and hypothesis."""
    code = (
        "import sys, recrawl.testing.factories, recrawl.testing.clock;"
        "print(sorted({'pytest', 'hypothesis'} & set(sys.modules)))"
    )

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert result.stdout == "[]\n", result.stderr
