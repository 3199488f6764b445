"""Killed at any moment, a crawler loses nothing and tells nothing twice."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import threading
import time
from bisect import bisect_left
from collections import defaultdict
from pathlib import Path

import pytest

from recrawl.core.columns import NO_TIME
from recrawl.ports.store import Change
from recrawl.stores.sqlite import SqliteStore
from recrawl.testing.background import LOOPBACK_SETTINGS, CommandLine, SiteThread
from recrawl.testing.site import Answer, Asked, LoopbackSite

_N_KILLS = 30
_HOSTS = [f"127.0.1.{i}" for i in range(1, 41)]
_N_PAGES = 50
_SETTINGS = LOOPBACK_SETTINGS.replace(
    "[extract]",
    """[crawl]
lease = "1s"
hosts = 16
batch = 64

[schedule]
name = "fixed"
interval = "2s"
min_interval = "1s"
retry_interval = "1s"

[store]
url = "sqlite:///recrawl.sqlite"
keep_visits = 1000

[extract]""",
)
#: Every second page has a new version so often. [ms]
_PERIOD = 3_000


class ChangingSite:
    """Two thousand pages on forty hosts; notes down which version it showed when."""

    def __init__(self, site: LoopbackSite) -> None:
        self.urls = [site.url(f"/{i}", host) for host in _HOSTS for i in range(_N_PAGES)]
        #: When each URL was asked [ms], and the version shown.
        self.shown: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self.is_asked = threading.Event()
        self._port = site.port
        for host in _HOSTS:
            for i in range(_N_PAGES):
                site.route(f"/{i}", self.answer, host=host)

    def answer(self, asked: Asked) -> Answer:
        number = int(asked.path[1:])
        version = asked.at // _PERIOD if number % 2 else 0
        self.shown[f"http://{asked.host}:{self._port}{asked.path}"].append((asked.at, version))
        self.is_asked.set()
        etag = f'"{version}"'
        has_etag = number % 3 == 0
        if has_etag and asked.headers.get("if-none-match") == etag:
            return Answer(status=304, headers={"ETag": etag})
        return Answer(
            f"<title>{number}</title>Version {version} of {asked.host}{asked.path}",
            headers={"ETag": etag if has_etag else None},
        )

    def is_shown(self, url: str, since: int) -> bool:
        """Tell whether a URL was asked for since an instant."""
        shown = self.shown.get(url)
        return bool(shown) and shown[-1][0] > since

    def version_seen(self, url: str, fetched_at: int, elapsed: float) -> int:
        """Return the version that a visit was shown."""
        shown = self.shown[url]
        at, version = shown[bisect_left(shown, (fetched_at, 0))]
        assert fetched_at <= at <= fetched_at + elapsed * 1000 + 2
        return version


def check_whole(folder: Path, site: ChangingSite, before: list[Change]) -> list[Change]:
    """Check that nothing is missing, torn or told twice; return the feed."""
    connection = sqlite3.connect(folder / "recrawl.sqlite")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    newest = dict(
        connection.execute("SELECT page_key, max(fetched_at) FROM visits GROUP BY page_key")
    )
    n_visits = dict(connection.execute("SELECT page_key, count(*) FROM visits GROUP BY page_key"))
    connection.close()
    store = SqliteStore(folder / "recrawl.sqlite")
    pages = list(store)
    changes = store.changes(limit=10**9)
    store.close()
    assert {page.url for page in pages} == set(site.urls)
    for page in pages:
        key, state = page.state.page_key, page.state
        assert state.fetched_at == newest.get(key, NO_TIME)
        assert state.n_visits == n_visits.get(key, 0)
    assert [change.sequence for change in changes] == list(range(1, len(changes) + 1))
    assert changes[: len(before)] == before
    return changes


def check_feed(folder: Path, site: ChangingSite, changes: list[Change]) -> None:
    """Check that there is an event for each version that a visit was the first to see."""
    told = defaultdict(list)
    for change in changes:
        told[change.page_key].append((change.at, change.kind.value))
    store = SqliteStore(folder / "recrawl.sqlite")
    for page in store:
        expected, known = [], None
        for visit in reversed(store.visits(page.state.page_key)):
            assert visit.status_code in (200, 304), visit
            version = site.version_seen(page.url, visit.fetched_at, visit.elapsed)
            if version != known:
                expected.append((visit.fetched_at, "new" if known is None else "changed"))
            known = version
        assert told[page.state.page_key] == expected, page.url
        assert store.texts(page.state.page_key)[0].text.startswith(f"Version {known} of")
    store.close()


def kill(process: subprocess.Popen[str], after: float, log: Path | None) -> None:
    """Kill a crawler that runs, once some time has passed.

    With ``log``, SQLite's write-ahead log, it is killed when that is next written to: a commit
    takes a small part of the time, and a random moment seldom meets one.
    """
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(after)
    if log is not None:
        written_at, deadline = log.stat().st_mtime_ns, time.monotonic() + 5
        while log.stat().st_mtime_ns == written_at:
            assert time.monotonic() < deadline, "nothing was written"
    process.send_signal(signal.SIGKILL)
    process.wait(10)


def test_kill_at_any_moment(tmp_path: Path) -> None:
    """After each of thirty kills all is whole; in the end every page was visited again.

    Eighteen come at random moments, six of them while the crawler starts, and twelve in a commit.
    """
    rng = random.Random(2)
    changes: list[Change] = []
    with (
        SiteThread(_HOSTS, keep_log=False) as loopback,
        CommandLine(tmp_path, _SETTINGS) as command_line,
    ):
        site = ChangingSite(loopback)
        assert command_line.run("add", "-", text="\n".join(site.urls))[0] == 0

        for nth in range(_N_KILLS):
            site.is_asked.clear()
            process = command_line.start("run", "-q")
            if nth % 5:  # every fifth is killed while it starts
                assert site.is_asked.wait(20)
            log = tmp_path / "recrawl.sqlite-wal" if nth % 2 and nth % 5 else None
            kill(process, rng.uniform(0.0, 0.5), log)
            changes = check_whole(tmp_path, site, changes)

        killed_at = time.time_ns() // 1_000_000
        process = command_line.start("run", "-q")
        wait_for_all(site, killed_at)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)

    assert (process.returncode, "Traceback" in err) == (0, False)
    n_before = len(changes)
    changes = check_whole(tmp_path, site, changes)
    assert len(changes) > n_before > 0
    check_feed(tmp_path, site, changes)
    store = SqliteStore(tmp_path / "recrawl.sqlite")
    assert store.status(killed_at).n_leased == 0
    assert min(page.state.fetched_at for page in store) > killed_at
    store.close()


def wait_for_all(site: ChangingSite, since: int) -> None:
    """Wait until every page was asked for since an instant; a stop then commits the last."""
    deadline = time.monotonic() + 60
    waiting = threading.Event()
    while not all(site.is_shown(url, since) for url in site.urls):
        assert time.monotonic() < deadline, "pages were left out"
        waiting.wait(0.2)
