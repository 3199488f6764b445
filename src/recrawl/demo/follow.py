"""Follows the demo site with the real crawler on a real store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from recrawl.app.pages import find_page, new_page
from recrawl.app.report import VisitReport
from recrawl.clocks import SystemClock
from recrawl.config import (
    Config,
    CrawlSettings,
    FetchSettings,
    PolitenessSettings,
    ScheduleSettings,
    StoreSettings,
)
from recrawl.core.states import PageStatus
from recrawl.demo.site import PAGES, DemoSite
from recrawl.demo.verdict import PageVerdict, judge
from recrawl.wiring import make_policies, open_crawler, open_store, store_url

__all__ = ["Followed", "follow_site"]


@dataclass(frozen=True, slots=True)
class Followed:
    """How one page was followed, and what was learned of it."""

    verdict: PageVerdict
    interval: float
    status: str


class _Events:
    """Hands the events of the run on, with the time since the start [s]."""

    def __init__(self, started_at: int, tell: Callable[[float, VisitReport], None]) -> None:
        self._started_at = started_at
        self._tell = tell

    def visit(self, report: VisitReport) -> None:
        if report.change:
            self._tell((report.fetched_at - self._started_at) / 1000, report)

    def idle(self, next_due_at: int) -> None:
        del next_due_at


def _config(directory: Path) -> Config:
    """Return settings in which a day passes in a second or so."""
    return Config(
        store=StoreSettings(url=store_url(directory / "recrawl.sqlite"), keep_visits=1000),
        fetch=FetchSettings(allow_networks=("127.0.0.0/8",), proxy_from_environment=False),
        politeness=PolitenessSettings(min_delay=0.1, backoff=1.0, max_backoff=5.0),
        crawl=CrawlSettings(lease=60.0),
        schedule=ScheduleSettings(
            interval=2.0,
            min_interval=1.0,
            max_interval=10.0,
            dec_rate=0.3,
            retry_interval=2.0,
            sync_delta=False,
        ),
    )


async def follow_site(
    directory: Path,
    seconds: float,
    tell: Callable[[float, VisitReport], None],
    *,
    port: int = 0,
) -> list[Followed]:
    """Follow the demo site for a while.

    Parameters
    ----------
    directory : Path
        Where the store is made.
    seconds : float
        How long. [s]
    tell : callable
        Called with the time since the start [s] and the visit, for each event.
    port : int
        Port of the site; 0 takes a free one.

    Returns
    -------
    list of Followed
        One for each page of the site.
    """
    config, clock = _config(directory), SystemClock()
    policy_of = make_policies(config)
    store = open_store(config, create=True)
    try:
        demo = DemoSite(clock, port)
        async with demo.site:
            urls = [demo.url(page) for page in PAGES]
            store.add([new_page(url, policy_of(url), now=clock.now()) for url in urls])
            observer = _Events(demo.started_at, tell)
            async with open_crawler(config, store, clock=clock, observer=observer) as crawler:
                task = asyncio.create_task(crawler.run())
                await asyncio.wait([task], timeout=seconds)
                ended_at = clock.now()
                crawler.stop()
                await task
        followed = []
        for page in PAGES:
            row = find_page(store, demo.url(page))
            visits = store.visits(row.state.page_key)
            verdict = judge(demo, page, visits, ended_at)
            status = PageStatus(row.state.status).name.lower()
            followed.append(Followed(verdict, row.state.interval, status))
        return followed
    finally:
        store.close()
