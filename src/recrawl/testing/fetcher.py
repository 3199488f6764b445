"""The contract suite of fetchers.

A fetcher's test file subclasses ``FetcherContract``, says how to make a fetcher over four pages,
and gets every test::

    class TestMyFetcher(FetcherContract):
        @pytest.fixture
        async def world(self): ...  # yields a FetcherWorld
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from recrawl.core.columns import NO_TIME
from recrawl.core.url import host_key, host_of
from recrawl.core.visit import Outcome
from recrawl.ports.fetcher import Fetcher, PageRequest
from recrawl.ports.store import HostRow
from recrawl.testing.clock import ManualClock

__all__ = ["FetcherContract", "FetcherWorld"]


@dataclass(frozen=True, slots=True)
class FetcherWorld:
    """A fetcher and what it can reach.

    Parameters
    ----------
    fetcher : Fetcher
        Paces hosts with ``delay`` between two starts.
    clock : ManualClock
        The fetcher's clock.
    delay : float
        More than 0. [s]
    good : str
        URL of a page that answers ``hello``, with ETag ``"v1"`` and 304 to it.
    gone : str
        URL of a page on the same host that answers 404.
    broken : str
        URL of a page on a host of its own that gives no answer.
    other : str
        URL of a page like ``good`` on another host.
    departures : callable
        Returns by the back door when requests for pages left, in their order. [ms]
    """

    fetcher: Fetcher
    clock: ManualClock
    delay: float
    good: str
    gone: str
    broken: str
    other: str
    departures: Callable[[], list[int]]

    def row(self, url: str) -> HostRow:
        """Return the row of a URL's host, as if it were never asked."""
        host = host_of(url)
        return HostRow(host_key(host), host)


class FetcherContract:
    """Every line of the contract in ``recrawl.ports.fetcher``, as tests."""

    async def test_a_success_has_its_content(self, world: FetcherWorld) -> None:
        """Outcome, status, headers, body and the time of the request."""
        fetched, _ = await world.fetcher.fetch(PageRequest(world.good), world.row(world.good))

        assert (fetched.outcome, fetched.status_code) == (Outcome.SUCCESS, 200)
        assert (fetched.body, fetched.reason, fetched.hops) == (b"hello", "", ())
        assert fetched.headers["etag"] == '"v1"'
        assert fetched.modified_at == NO_TIME
        assert [fetched.fetched_at] == world.departures()

    async def test_validators_give_304(self, world: FetcherWorld) -> None:
        """A page that has not changed is NOTMODIFIED and has no body."""
        request = PageRequest(world.good, etag='"v1"')

        fetched, _ = await world.fetcher.fetch(request, world.row(world.good))

        assert (fetched.outcome, fetched.status_code) == (Outcome.NOTMODIFIED, 304)
        assert fetched.body == b""

    async def test_a_failure_is_an_outcome(self, world: FetcherWorld) -> None:
        """Neither a 404 nor a server without an answer raises; each has a reason."""
        gone, _ = await world.fetcher.fetch(PageRequest(world.gone), world.row(world.gone))
        broken, row = await world.fetcher.fetch(PageRequest(world.broken), world.row(world.broken))

        assert (gone.outcome, gone.status_code) == (Outcome.GONE, 404)
        assert (broken.outcome, broken.status_code) == (Outcome.RETRY, None)
        assert gone.reason
        assert broken.reason
        assert row.n_errors == 1
        assert row.ready_at > broken.fetched_at + 1000 * world.delay

    async def test_no_request_leaves_before_the_hosts_time(self, world: FetcherWorld) -> None:
        """The given row's time is waited for; the returned row's is a delay later."""
        ready_at = world.clock.now() + 60_000
        row = replace(world.row(world.good), ready_at=ready_at)

        fetched, after = await world.fetcher.fetch(PageRequest(world.good), row)

        assert world.departures() == [fetched.fetched_at] == [ready_at]
        assert after.ready_at == ready_at + round(1000 * world.delay)

    async def test_pages_of_a_host_leave_one_after_another(self, world: FetcherWorld) -> None:
        """With the row handed on, each request leaves a delay after the one before."""
        row, starts = world.row(world.good), []

        for url in (world.good, world.gone, world.good):
            fetched, row = await world.fetcher.fetch(PageRequest(url), row)
            starts.append(fetched.fetched_at)

        delay = round(1000 * world.delay)
        assert [start - starts[0] for start in starts] == [0, delay, 2 * delay]
        assert world.departures() == starts

    async def test_hosts_do_not_share_their_time(self, world: FetcherWorld) -> None:
        """Calls for two hosts side by side leave together."""
        now = world.clock.now()

        answers = await asyncio.gather(
            *(
                world.fetcher.fetch(PageRequest(url), world.row(url))
                for url in (world.good, world.other)
            )
        )

        assert [fetched.fetched_at for fetched, _ in answers] == [now, now]
        assert len({row.host_key for _, row in answers}) == 2

    async def test_closing_twice_does_nothing(self, world: FetcherWorld) -> None:
        """A second close is no error."""
        await world.fetcher.fetch(PageRequest(world.good), world.row(world.good))

        await world.fetcher.close()
        await world.fetcher.close()
