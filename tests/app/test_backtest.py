"""The history that a store tells."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recrawl.app.backtest import Coverage, read_history
from recrawl.core.visit import Observation, Outcome
from recrawl.stores.memory import MemoryStore
from recrawl.testing.factories import DAY, NOW, commit_of, page_row

NEW, CHANGED, SAME = Observation.UNKNOWN, Observation.CHANGED, Observation.UNCHANGED


def visit(
    store: MemoryStore, key: int, at: int, seen: Observation, outcome: Outcome = Outcome.SUCCESS
) -> None:
    """Commit a visit of a page as a crawl does."""
    (page,) = store.lease("me", at, ttl=60, limit=1, per_host=1)
    assert page.state.page_key == key
    commit = commit_of(page, at)
    commit = replace(
        commit, visit=replace(commit.visit, observation=int(seen), outcome=int(outcome))
    )
    assert store.commit("me", [commit], at) == []


def test_a_store_tells_what_its_visits_saw():
    """Pages with their visits, oldest first; a failure is none, and one page was never visited."""
    store = MemoryStore()
    store.add([page_row("https://a.example/", importance=2.0)])
    key = page_row("https://a.example/").state.page_key
    visit(store, key, NOW, NEW)
    visit(store, key, NOW + DAY, CHANGED)
    visit(store, key, NOW + 2 * DAY, NEW, Outcome.RETRY)
    visit(store, key, NOW + 3 * DAY, SAME)
    store.add([page_row("https://b.example/")])

    history, coverage = read_history(store)

    assert history.page_key.tolist() == [key]
    assert history.at.tolist() == [NOW, NOW + DAY, NOW + 3 * DAY]
    assert history.observation.tolist() == [NEW, CHANGED, SAME]
    assert history.importance.tolist() == [2]
    assert coverage == Coverage(n_pages=2, n_cut=0)


def test_visits_that_are_kept_no_longer_are_counted_as_cut():
    """Of a page that was visited more often than is kept the last visits are told."""
    store = MemoryStore(keep_visits=2)
    store.add([page_row()])
    for k in range(4):
        visit(store, page_row().state.page_key, NOW + k * DAY, SAME)

    history, coverage = read_history(store)

    assert history.at.tolist() == [NOW + 2 * DAY, NOW + 3 * DAY]
    assert coverage == Coverage(n_pages=1, n_cut=1)


@pytest.mark.parametrize("chunk", [1, 2, 1000])
def test_all_pages_are_read(monkeypatch: pytest.MonkeyPatch, chunk: int):
    """However many are read at a time."""
    monkeypatch.setattr("recrawl.app.backtest._CHUNK", chunk)
    store = MemoryStore()
    store.add([page_row(f"https://h{k}.example/") for k in range(5)])

    history, coverage = read_history(store)

    assert (len(history), coverage.n_pages) == (0, 5)
