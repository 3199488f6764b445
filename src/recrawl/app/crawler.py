"""The loop around the cycle: many hosts at once, each host one page after another."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from recrawl.app.committer import Committer, Finished
from recrawl.app.crash import Crash
from recrawl.app.cycle import Seen, recognise, request_of, sign
from recrawl.app.plan import Plan
from recrawl.app.policy import PolicyOf
from recrawl.app.report import Observer, Totals, visit_report
from recrawl.app.targets import RedirectTargets
from recrawl.core.layers import Layer
from recrawl.core.visit import Outcome
from recrawl.errors import StoreError
from recrawl.ports.clock import Clock
from recrawl.ports.extractor import Extractor
from recrawl.ports.fetcher import NOT_READY, Fetcher
from recrawl.ports.store import Commit, HostRow, PageRow, PageStore

__all__ = ["CrawlLimits", "Crawler"]

_LOG = logging.getLogger("recrawl.crawler")

#: ``run(once=True)`` leaves hosts that ask for a longer wait to the next run. [ms]
_PATIENCE = 60_000
#: While due pages cannot be leased, they are asked for again after this. [s]
_RETRY = 0.5


@dataclass(frozen=True, slots=True)
class CrawlLimits:
    """How much the crawler does at once.

    Parameters
    ----------
    hosts : int
        Hosts asked at once.
    pages_per_host : int
        Pages of a host leased at once.
    requests_per_host : int
        Requests under way at once to one host.
    lease : float
        How long a page may be held. [s]
    visit : float
        How long a visit may take: none starts later than this before the end of its lease, or
        than half a lease if that is short. [s]
    hold : float
        A host that must not be asked for longer than this gives its pages back. [s]
    poll : float
        Pages that other processes add are seen at the latest after this. [s]
    batch : int
        Pages leased and visits committed in one transaction at most.
    pause : float
        Least time between two leases; also how long a finished visit may wait for others
        before the commit. [s]
    grace : float
        How long requests under way may take to end after a stop. [s]
    """

    hosts: int = 64
    pages_per_host: int = 8
    requests_per_host: int = 1
    lease: float = 600.0
    visit: float = 40.0
    hold: float = 5.0
    poll: float = 5.0
    batch: int = 256
    pause: float = 0.2
    grace: float = 10.0


@dataclass(slots=True)
class _Host:
    """A host with leased pages: its row as it is now, pages that wait, and those visited."""

    row: HostRow
    until: int
    pages: deque[PageRow] = field(default_factory=deque)
    finished: set[int] = field(default_factory=set)
    task: asyncio.Task[None] | None = None


class Crawler:
    """Keeps the pages of a store fresh; runs once.

    Parameters
    ----------
    store : PageStore
        What is known.
    fetcher : Fetcher
        Asks the network.
    extractor : Extractor
        Reads documents.
    clock : Clock
        Says what time it is.
    policy_of : callable
        Gives the policy of a page by its URL.
    owner : str
        Name of this crawler in the store's leases; no two crawlers share one.
    limits : CrawlLimits, optional
        How much is done at once.
    redirects : RedirectTargets, optional
        Which redirect targets become pages.
    observer : Observer, optional
        Told of each visit after its commit.
    plan : Plan, optional
        The learned schedule: says which due pages are fetched.
    """

    def __init__(
        self,
        store: PageStore,
        fetcher: Fetcher,
        extractor: Extractor,
        clock: Clock,
        *,
        policy_of: PolicyOf,
        owner: str,
        limits: CrawlLimits | None = None,
        redirects: RedirectTargets | None = None,
        observer: Observer | None = None,
        plan: Plan | None = None,
    ) -> None:
        self._store = store
        self._plan = plan
        self._queue: PageStore | Plan = plan or store
        self._fetcher = fetcher
        self._extractor = extractor
        self._clock = clock
        self._policy_of = policy_of
        self._owner = owner
        self._limits = limits or CrawlLimits()
        self._observer = observer
        self._stop = asyncio.Event()
        self._wake = asyncio.Event()
        self._done = asyncio.Event()
        self._hosts: dict[int, _Host] = {}
        self._waiting: deque[int] = deque()
        #: Hosts whose newest row waits for its commit.
        self._rows: dict[int, HostRow] = {}
        self._held: set[int] = set()
        self._totals = Totals()
        self._committer = Committer(
            store,
            clock,
            owner=owner,
            policy_of=policy_of,
            redirects=redirects or RedirectTargets(),
            batch=self._limits.batch,
            pause=self._limits.pause,
            written=self._written,
            plan=plan,
        )

    @property
    def totals(self) -> Totals:
        """What was done so far."""
        return self._totals

    @property
    def is_stopping(self) -> bool:
        """Whether ``stop`` was called."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Take no more pages, end what is under way, give the rest back; safe to call twice."""
        self._stop.set()
        self._wake.set()
        self._done.set()

    async def run(self, *, once: bool = False) -> Totals:
        """Fetch pages as they come due, until stopped.

        Parameters
        ----------
        once : bool
            End when nothing that was due at the start is left, but for hosts that ask to wait
            for more than a minute: their pages stay due for the next run.

        Raises
        ------
        StoreError
            If the store failed; what was not committed is given back or comes back when its
            lease ends.
        asyncio.CancelledError
            If cancelled: requests under way are cut, all else is as after ``stop``.
        """
        due_by = self._clock.now() if once else None
        committer = asyncio.create_task(self._committer.run())
        committer.add_done_callback(lambda _: self.stop())
        grace = self._limits.grace
        try:
            while not self._stop.is_set():
                self._wake.clear()
                if self._plan is not None and self._plan.wants_survey(self._clock.now()):
                    await self._plan.survey(self._clock.now())
                if self._lease(due_by):
                    self._start_hosts()
                elif not await self._wait(due_by):
                    break
                await self._pause()
        except asyncio.CancelledError:
            grace = 0.0
            raise
        finally:
            await self._finish(committer, grace)
        return self._totals

    def _lease(self, due_by: int | None) -> bool:
        """Lease pages while few hosts wait for a place; return whether there were any."""
        if len(self._waiting) >= self._limits.hosts:
            return False
        now = self._clock.now()
        pages = self._queue.lease(
            self._owner,
            now,
            ttl=self._limits.lease,
            limit=self._limits.batch,
            per_host=self._limits.pages_per_host,
            due_by=due_by,
        )
        self._held.update(page.state.page_key for page in pages)
        until = now + round(self._limits.lease * 1000)
        keys = {page.state.host_key for page in pages} - self._hosts.keys()
        for key, row in self._store.hosts(keys).items() if keys else ():
            newer = self._rows.get(key, row)
            self._hosts[key] = _Host(max(row, newer, key=_ready_at), until)
            self._waiting.append(key)
        for page in pages:
            self._hosts[page.state.host_key].pages.append(page)
        return bool(pages)

    def _start_hosts(self) -> None:
        """Give waiting hosts the places that are free."""
        n_free = self._limits.hosts - (len(self._hosts) - len(self._waiting))
        for _ in range(min(n_free, len(self._waiting))):
            key = self._waiting.popleft()
            task = asyncio.create_task(self._work(self._hosts[key]))
            task.add_done_callback(functools.partial(self._host_done, key))
            self._hosts[key].task = task

    async def _wait(self, due_by: int | None) -> bool:
        """Wait until there may be something to lease; return False if there will be nothing."""
        now = self._clock.now()
        at = self._queue.next_due(now, due_by=due_by)
        if self._held:
            # Not by the clock: a simulated one stands still while work is under way.
            wait = (at - now) / 1000 if at > now else _RETRY
            await _wait_for(self._wake, min(wait, self._limits.poll))
            return True
        if due_by is not None and at > now + _PATIENCE:
            return False
        if self._observer is not None:
            self._observer.idle(at)
        if at > now:
            poll_at = now + round(self._limits.poll * 1000)
            await self._clock.sleep_until(min(at, poll_at), self._wake)
        else:
            await _wait_for(self._wake, _RETRY)
        return True

    async def _pause(self) -> None:
        """Leave the store alone for a moment, unless nothing is under way."""
        if self._held and not self._stop.is_set():
            self._done.clear()
            await _wait_for(self._done, self._limits.pause)

    async def _work(self, host: _Host) -> None:
        """Visit the host's pages until none is left or the host wants a long wait."""
        workers = self._limits.requests_per_host
        if workers == 1:
            await self._visit_pages(host)
        else:
            await asyncio.gather(*(self._visit_pages(host) for _ in range(workers)))

    async def _visit_pages(self, host: _Host) -> None:
        limits = self._limits
        last_start = host.until - round(min(limits.visit, limits.lease / 2) * 1000)
        while host.pages:
            now = self._clock.now()
            starts_at = max(now, host.row.ready_at)
            if self._stop.is_set() or starts_at > min(now + round(limits.hold * 1000), last_start):
                self._give_back(host.pages)
                return
            page = host.pages.popleft()
            try:
                finished = await self._visit(page, host)
            except Exception as error:
                _LOG.exception("visit_failed url=%s", page.url)
                finished = Crash(page, host.row, self._clock.now(), error)
            if finished is not None:
                host.finished.add(page.state.page_key)
                self._committer.put(finished)

    async def _visit(self, page: PageRow, host: _Host) -> Finished | None:
        """Fetch, extract and sign one page; None if its host first wants a long wait."""
        policy = self._policy_of(page.url)
        fetched, host.row = await self._fetcher.fetch(request_of(page, policy), host.row)
        if fetched.outcome is Outcome.RETRY and fetched.reason == NOT_READY:
            self._store.save_hosts([host.row])
            self._release([page.state.page_key])
            return None
        seen = recognise(Seen(page=page, policy=policy, fetched=fetched, host=host.row))
        if fetched.outcome is not Outcome.SUCCESS or seen.signature is not None:
            return seen
        extracted = await self._extractor.extract(
            fetched.body,
            content_type=fetched.headers.get("content-type"),
            url=page.url if Layer.LINKS in policy.signature.layers else None,
        )
        return sign(seen, extracted)

    def _host_done(self, key: int, task: asyncio.Task[None]) -> None:
        host = self._hosts.pop(key)
        self._give_back(host.pages)
        if not self._held.isdisjoint(host.finished):
            self._rows[key] = host.row
        if not task.cancelled() and (error := task.exception()) is not None:
            _LOG.error("host_failed host=%s", host.row.host, exc_info=error)
        if not self._stop.is_set():
            self._start_hosts()
        self._wake.set()

    def _give_back(self, pages: deque[PageRow]) -> None:
        keys = [page.state.page_key for page in pages]
        pages.clear()
        self._release(keys)

    def _release(self, keys: Sequence[int]) -> None:
        if not keys:
            return
        self._held.difference_update(keys)
        try:
            self._store.release(self._owner, keys)
            if self._plan is not None:
                self._plan.refund(len(keys), self._clock.now())
        except StoreError as error:
            # Leases end by themselves; what made the store fail is raised by the next commit.
            _LOG.warning("release_failed pages=%d error=%s", len(keys), error)

    def _written(self, commits: Sequence[Commit], lost: set[int]) -> None:
        """Count and tell what was committed."""
        self._held.difference_update(commit.page.state.page_key for commit in commits)
        for commit in commits:
            known = self._rows.get(commit.host.host_key)
            if known is not None and known.ready_at <= commit.host.ready_at:
                del self._rows[commit.host.host_key]
        for commit in commits:
            if commit.page.state.page_key in lost:
                self._totals.n_lost += 1
                continue
            report = visit_report(commit)
            self._totals.count(report)
            if self._observer is not None:
                self._observer.visit(report)
        self._wake.set()
        if not self._held:
            self._done.set()

    async def _finish(self, committer: asyncio.Task[None], grace: float) -> None:
        """Let requests under way end, commit them, and give the rest back."""
        self._stop.set()
        for key in self._waiting:
            self._give_back(self._hosts.pop(key).pages)
        self._waiting.clear()
        tasks = [host.task for host in self._hosts.values() if host.task is not None]
        try:
            if tasks:
                await asyncio.wait(tasks, timeout=grace)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._committer.close()
            try:
                await committer
            finally:
                self._release(list(self._held))


def _ready_at(row: HostRow) -> int:
    return row.ready_at


async def _wait_for(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, at most so long."""
    # Not wait_for: before Python 3.12 it loses a cancellation that comes with the event.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
