"""A site on loopback, a clock that stands still, and a fetcher between the two."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from recrawl.core.url import host_key, host_of
from recrawl.fetch.http import HttpFetcher
from recrawl.ports.fetcher import Fetched, PageRequest
from recrawl.ports.store import HostRow
from recrawl.testing.clock import ManualClock
from recrawl.testing.site import LoopbackSite


class Rig:
    """Fetches from a site on loopback and keeps the hosts' rows between fetches."""

    def __init__(self, site: LoopbackSite, clock: ManualClock) -> None:
        self.site = site
        self.clock = clock
        self.rows: dict[str, HostRow] = {}
        self.settings: dict = {
            "clock": clock,
            "user_agent": "recrawl/0 (+https://crawl.example.org/)",
            "allow_networks": ["127.0.0.0/8"],
            "resolver": site.resolver(),
            "robots_txt": False,
            "min_delay": 0.0,
        }
        self._fetcher: HttpFetcher | None = None

    @property
    def fetcher(self) -> HttpFetcher:
        if self._fetcher is None:
            self._fetcher = HttpFetcher(**self.settings)
        return self._fetcher

    def row(self, host: str) -> HostRow:
        return self.rows.get(host, HostRow(host_key(host), host))

    async def fetch(
        self, path: str = "/", host: str | None = None, *, url: str | None = None, **validators
    ) -> Fetched:
        url = url or self.site.url(path, host)
        row = self.row(host_of(url))
        fetched, self.rows[row.host] = await self.fetcher.fetch(PageRequest(url, **validators), row)
        return fetched

    async def close(self) -> None:
        if self._fetcher is not None:
            await self._fetcher.close()
            self._fetcher = None


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def site(clock: ManualClock) -> AsyncIterator[LoopbackSite]:
    async with LoopbackSite(clock=clock) as site:
        yield site


@pytest.fixture
async def rig(site: LoopbackSite, clock: ManualClock) -> AsyncIterator[Rig]:
    rig = Rig(site, clock)
    yield rig
    await rig.close()
