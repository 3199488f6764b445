"""Two crawlers on one store."""

from __future__ import annotations

import threading
from collections import Counter
from itertools import pairwise
from pathlib import Path

from recrawl.core.url import host_of
from recrawl.stores.sqlite import SqliteStore
from recrawl.testing.background import LOOPBACK_SETTINGS, CommandLine, SiteThread
from recrawl.testing.site import Answer, Asked

_HOSTS = [f"127.0.0.{i}" for i in range(1, 9)]
_N_PAGES = 8
#: Least time between two requests to a host. [ms]
_DELAY = 100
_SETTINGS = LOOPBACK_SETTINGS.replace('"0s"', f'"{_DELAY}ms"') + "\n[crawl]\nlease = '30s'\n"


def test_two_processes_share_the_work(tmp_path: Path) -> None:
    """No page is fetched twice, no host is asked too early, and both have some of the work."""
    agents: set[str] = set()
    both = threading.Event()

    def page(asked: Asked) -> Answer:
        agents.add(asked.headers["user-agent"])
        if len(agents) == 2:
            both.set()
        return Answer(f"{asked.host}{asked.path}")

    with SiteThread(_HOSTS) as site, CommandLine(tmp_path, _SETTINGS) as command_line:
        urls = [site.url(f"/{i}", host) for host in _HOSTS for i in range(_N_PAGES)]
        for host in _HOSTS:
            for i in range(_N_PAGES):
                site.route(f"/{i}", page, host=host)
        assert command_line.run("add", "-", text="\n".join(urls))[0] == 0

        workers = [
            command_line.start(
                "run", "--once", "-q",
                "-s", "crawl.hosts=4", "-s", "crawl.batch=8",
                "-s", f"fetch.user_agent=worker{i} (+https://crawler.example/)",
            )
            for i in range(2)
        ]  # fmt: skip
        results = [worker.communicate(timeout=60) for worker in workers]
        requests = site.requests

    store = SqliteStore(tmp_path / "recrawl.sqlite")
    status = store.status(0)
    starts: dict[str, list[int]] = {host: [] for host in _HOSTS}
    for row in store:
        starts[host_of(row.url)] += [v.fetched_at for v in store.visits(row.state.page_key)]
    store.close()

    assert results == [("", "")] * 2
    assert [worker.returncode for worker in workers] == [0, 0]
    pages = Counter((asked.host, asked.path) for asked in requests if asked.path != "/robots.txt")
    assert len(pages) == len(urls)
    assert set(pages.values()) == {1}
    for host in _HOSTS:
        left = sorted(starts[host])
        assert min(later - earlier for earlier, later in pairwise(left)) >= _DELAY
        arrived = [asked.at for asked in requests if asked.host == host]
        # On its way a request may take longer or shorter than another, but not all of them.
        assert arrived[-1] - arrived[0] > (len(arrived) - 2) * _DELAY
    assert both.is_set()
    assert status.n_visits == status.n_changes == len(urls)
    assert status.n_leased == 0
