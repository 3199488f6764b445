"""Several processes on one file, and processes that die."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recrawl.ports.store import PageRow
from recrawl.stores.sqlite import SqliteStore
from recrawl.testing.factories import NOW, page_row

_WORKER = str(Path(__file__).with_name("worker.py"))
_N_KILLS = 8


def _start(path: Path, owner: str, now: int, n_turns: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, _WORKER, str(path), owner, str(now), str(n_turns)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _check(path: Path) -> int:
    """Check that the file is sound and its parts agree; return the number of events."""
    store = SqliteStore(path)
    pages = {page.state.page_key: page for page in store}
    changes = store.changes(limit=10**9)
    assert [change.sequence for change in changes] == list(range(1, len(changes) + 1))
    n_changes = Counter(change.page_key for change in changes)
    # Every commit of the workers raises n_visits by one and writes one event.
    assert {key: page.state.n_visits for key, page in pages.items() if page.state.n_visits} == (
        n_changes
    )
    for key in n_changes:
        visits = store.visits(key)
        assert len(visits) == min(n_changes[key], 20)
        assert visits[0].fetched_at == pages[key].state.fetched_at
        assert store.texts(key)[0].text == f"{pages[key].url} {visits[0].fetched_at}"
    store.close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    return len(changes)


def test_kill_at_any_moment(tmp_path: Path) -> None:
    """A killed process leaves a sound file: no page lost, the feed without hole or double."""
    path = tmp_path / "store.sqlite"
    rng = random.Random(20)
    n_changes = []

    for kill in range(_N_KILLS):
        # A minute apart, so that the dead process's leases have ended.
        process = _start(path, f"owner-{kill}", NOW + kill * 60_000, 100_000)
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(rng.uniform(0.0, 0.3))
        process.kill()
        process.communicate()
        n_changes.append(_check(path))

    assert n_changes == sorted(n_changes)
    assert n_changes[-1] > 0
    last = SqliteStore(path)
    pages = last.lease("last", NOW + 10**8, ttl=1.0, limit=1000, per_host=1000)
    assert len([page for page in pages if "found" not in page.url]) == 100
    last.close()


def test_processes_share_a_file(tmp_path: Path) -> None:
    """Processes that make and use one file at once get no page twice and lose none."""
    path = tmp_path / "store.sqlite"

    processes = [_start(path, owner, NOW, 40) for owner in ("a", "b", "c")]
    outputs = [process.communicate(timeout=60) for process in processes]

    assert [(p.returncode, errors) for p, (_, errors) in zip(processes, outputs, strict=True)] == [
        (0, "")
    ] * 3
    counts = [
        [int(word) for word in line.split()]
        for out, _ in outputs
        for line in out.splitlines()
        if line != "open"
    ]
    assert sum(n_skipped for _, n_skipped in counts) == 0
    assert _check(path) == sum(n_leased for n_leased, _ in counts) > 0


def test_threads_share_a_store(tmp_path: Path) -> None:
    """Threads that lease from one store at once get every page once."""
    store = SqliteStore(tmp_path / "store.sqlite")
    store.add([page_row(f"https://{i % 9}.example/{i}") for i in range(300)])

    def lease(turn: int) -> list[PageRow]:
        return store.lease(f"owner-{turn % 4}", NOW, ttl=60.0, limit=10, per_host=100)

    with ThreadPoolExecutor(4) as pool:
        pages = [page for pages in pool.map(lease, range(80)) for page in pages]

    assert len(pages) == len({page.url for page in pages}) == 300
    store.close()
