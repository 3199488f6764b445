"""A fetcher in front of a site on loopback, with a clock that stands still."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from recrawl.core.url import host_key, host_of
from recrawl.fetch.http import HttpFetcher
from recrawl.ports.fetcher import Fetched, PageRequest
from recrawl.ports.store import HostRow
from recrawl.testing.clock import ManualClock
from recrawl.testing.site import LoopbackSite

__all__ = ["FetchRig"]


class FetchRig:
    """Fetches from a site and keeps the hosts' rows between fetches; a context manager.

    Parameters
    ----------
    **settings
        Arguments of ``HttpFetcher``, over the rig's own: loopback is allowed, every name leads
        to the site, robots.txt is ignored and nothing is paced. ``settings`` may be changed up
        to the first fetch, and again after ``close``.

    Examples
    --------
    ::

        async with FetchRig(min_delay=2.0) as rig:
            rig.site.route("/", Answer("hello"), host="a.example")
            fetched = await rig.fetch("/", "a.example")
    """

    def __init__(self, **settings: Any) -> None:
        self.clock = ManualClock()
        self.site = LoopbackSite(clock=self.clock)
        #: The rows of the hosts asked so far, by name.
        self.rows: dict[str, HostRow] = {}
        self.settings: dict[str, Any] = {
            "clock": self.clock,
            "user_agent": "recrawl/0 (+https://crawl.example.org/)",
            "allow_networks": ["127.0.0.0/8"],
            "resolver": self.site.resolver(),
            "robots_txt": False,
            "min_delay": 0.0,
        } | settings
        self._fetcher: HttpFetcher | None = None

    async def __aenter__(self) -> Self:
        await self.site.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
        await self.site.close()

    @property
    def fetcher(self) -> HttpFetcher:
        """The fetcher, made of ``settings`` when it is first asked for."""
        if self._fetcher is None:
            self._fetcher = HttpFetcher(**self.settings)
        return self._fetcher

    def row(self, host: str) -> HostRow:
        """Return the row of a host, new if it was not asked yet."""
        return self.rows.get(host, HostRow(host_key(host), host))

    async def fetch(
        self, path: str = "/", host: str | None = None, *, url: str | None = None, **request: Any
    ) -> Fetched:
        """Fetch a path of the site, or any URL; ``request`` has the fields of ``PageRequest``."""
        url = url or self.site.url(path, host)
        row = self.row(host_of(url))
        fetched, self.rows[row.host] = await self.fetcher.fetch(PageRequest(url, **request), row)
        return fetched

    async def close(self) -> None:
        """Close the fetcher; the next fetch makes a new one, as after a restart."""
        if self._fetcher is not None:
            await self._fetcher.close()
            self._fetcher = None
