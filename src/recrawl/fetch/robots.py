"""robots.txt by RFC 9309: what the status says first, what the body says second.

========================  =======================================================
2xx                       the rules of the body, its first 500 KiB
3xx                       followed, up to 5 hops; beyond that, or where a hop leads
                          nowhere, as 4xx
4xx but 429               no rules: everything is allowed
429, 5xx, no answer       nothing is allowed for now: pages wait
========================  =======================================================

Rules belong to the origin that was asked, wherever redirects led.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

from protego import Protego

from recrawl.core.url import host_key, host_of, origin_of, resolve
from recrawl.fetch.address import AddressRule
from recrawl.fetch.failures import LOCAL_REASONS, PRIVATE_ADDRESS
from recrawl.fetch.politeness import Politeness
from recrawl.fetch.turns import PacedWire, Turn
from recrawl.fetch.wire import Reply
from recrawl.ports.clock import Clock
from recrawl.ports.store import HostRow, RobotsRow

__all__ = ["MAX_ROBOTS", "RobotsFiles", "RobotsStore", "Rules"]

#: Bytes of robots.txt that are read (RFC 9309, section 2.5).
MAX_ROBOTS = 500 * 1024
#: Redirects of robots.txt that are followed (section 2.3.1.2).
_MAX_HOPS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Files kept parsed in memory, by number and by their bytes; the store has the rest.
_MANY_ORIGINS = 4096
_MANY_BYTES = 16 << 20


class RobotsStore(Protocol):
    """The part of ``ports.store.PageStore`` that robots.txt needs."""

    def robots(self, origin: str) -> RobotsRow | None:
        """Return what is known of an origin's robots.txt, or None."""
        ...

    def save_robots(self, row: RobotsRow) -> None:
        """Insert or overwrite an origin's robots.txt."""
        ...

    def hosts(self, host_keys: Iterable[int]) -> dict[int, HostRow]:
        """Return the rows of those hosts that are there."""
        ...

    def save_hosts(self, hosts: Sequence[HostRow]) -> None:
        """Overwrite rows of hosts that are there."""
        ...


@dataclass(frozen=True, slots=True)
class Rules:
    """What one origin's robots.txt says to us.

    Parameters
    ----------
    expires_at : int
        When it is to be asked for again. [ms]
    fetched_at : int
        When it was asked for. [ms]
    is_known : bool
        False while the server cannot say: pages wait.
    token : str
        The product token by which robots.txt calls us.
    crawl_delay : float or None
        Time between two requests; None if none is named, or not as a number. [s]
    file : Protego or None
        The rules; None where everything is allowed.
    n_bytes : int
        Size of the file. [byte]
    """

    expires_at: int
    fetched_at: int
    is_known: bool
    token: str
    crawl_delay: float | None = None
    file: Protego | None = None
    n_bytes: int = 0

    @classmethod
    def of(cls, row: RobotsRow, token: str) -> Self:
        """Return the rules in a row of the store."""
        status = row.status_code
        is_known = status is not None and status < 500 and status != 429
        rules = cls(row.expires_at, row.fetched_at, is_known, token)
        if status is None or not 200 <= status < 300 or not row.body:
            return rules
        file = Protego.parse(row.body.decode("utf-8-sig", errors="replace"))
        return replace(
            rules, file=file, crawl_delay=_usable(file.crawl_delay(token)), n_bytes=len(row.body)
        )

    def allows(self, url: str) -> bool:
        """Say whether a page may be fetched; whoever asks has looked at ``is_known``."""
        return self.file is None or self.file.can_fetch(url, self.token)


def _usable(delay: float | None) -> float | None:
    """Return a delay that is a number of seconds; older parsers let ``nan`` and ``-1`` through."""
    return delay if delay is not None and 0 <= delay < math.inf else None


class RobotsFiles:
    """Gives the rules of origins: from memory, from the store, or from the network.

    Parameters
    ----------
    paced : PacedWire
        Sends requests at their time.
    clock : Clock
        Tells the time.
    politeness : Politeness
        How long a failure is remembered.
    rule : AddressRule
        Where redirects may lead.
    store : RobotsStore or None
        Keeps the files between runs; None: memory only.
    token : str
        Product token.
    max_age : float
        How long a file is used, at most a day (RFC 9309, section 2.4). [s]
    """

    def __init__(
        self,
        paced: PacedWire,
        clock: Clock,
        politeness: Politeness,
        *,
        rule: AddressRule,
        store: RobotsStore | None,
        token: str,
        max_age: float,
    ) -> None:
        self._paced = paced
        self._clock = clock
        self._politeness = politeness
        self._rule = rule
        self._store = store
        self._token = token
        self._max_age = round(1000 * max_age)
        self._known: OrderedDict[str, Rules] = OrderedDict()
        self._n_bytes = 0

    async def verdict(self, url: str, turn: Turn) -> str:
        """Say whether a page may be fetched now, and take over the host's Crawl-delay.

        Parameters
        ----------
        url : str
            Canonical URL.
        turn : Turn
            The turn of its host.

        Returns
        -------
        str
            "" for yes; ``robots`` if the rules forbid it; ``robots_unavailable`` while they are
            not known; or the reason why the file could not be asked for at all.
        """
        origin = origin_of(url)
        cached = self._cached(origin)
        rules = await self._ask_once(origin, turn) if cached is None else cached
        if isinstance(rules, str):
            return rules
        self._adopt(rules, turn)
        if not rules.is_known:
            return "robots_unavailable"
        return "" if rules.allows(url) else "robots"

    def _adopt(self, rules: Rules, turn: Turn) -> None:
        """Bring the host's row in line: its delay, also after the request for robots.txt."""
        row = turn.row
        if rules.is_known and rules.crawl_delay != row.crawl_delay:
            row = replace(row, crawl_delay=rules.crawl_delay)
        after = rules.fetched_at + round(1000 * self._politeness.delay(row.crawl_delay))
        turn.row = row if row.ready_at >= after else replace(row, ready_at=after)

    def _cached(self, origin: str) -> Rules | None:
        now = self._clock.now()
        rules = self._known.get(origin)
        if rules is not None and now < rules.expires_at:
            return rules
        row = None if self._store is None else self._store.robots(origin)
        # A row from the future was written by a clock that has been set back since.
        if row is None or not row.fetched_at <= now < row.expires_at:
            return None
        return self._remember(origin, Rules.of(row, self._token))

    def _remember(self, origin: str, rules: Rules) -> Rules:
        old = self._known.pop(origin, None)
        self._n_bytes += rules.n_bytes - (old.n_bytes if old is not None else 0)
        self._known[origin] = rules
        while len(self._known) > _MANY_ORIGINS or self._n_bytes > _MANY_BYTES:
            self._n_bytes -= self._known.popitem(last=False)[1].n_bytes
        return rules

    async def _ask_once(self, origin: str, turn: Turn) -> Rules | str:
        async with turn.asking_robots:
            cached = self._cached(origin)  # another call may have asked meanwhile
            return await self._ask(origin, turn) if cached is None else cached

    async def _ask(self, origin: str, turn: Turn) -> Rules | str:
        """Ask the network; return the rules, or why no request could be sent."""
        fetched_at, reply = await self._follow(f"{origin}/robots.txt", turn)
        status = reply.status_code
        if status is None and reply.reason in LOCAL_REASONS:
            return reply.reason
        if status is not None and reply.reason not in ("", "too_large"):
            status = None  # rules cut off in the middle could allow what they forbid
        row = RobotsRow(
            origin=origin,
            fetched_at=fetched_at,
            expires_at=fetched_at + self._max_age,
            status_code=status,
            body=reply.content if status is not None and 200 <= status < 300 else b"",
        )
        rules = Rules.of(row, self._token)
        if not rules.is_known:
            wait = round(1000 * self._politeness.wait(max(turn.row.n_errors, 1)))
            retry_at = max(fetched_at + min(wait, self._max_age), turn.row.ready_at)
            row = replace(row, expires_at=retry_at)
            rules = replace(rules, expires_at=retry_at)
        self._adopt(rules, turn)
        if self._store is not None:
            self._store.save_robots(row)
            # The wait must outlive this process, and a page whose lease is lost.
            self._store.save_hosts([turn.row])
        return self._remember(origin, rules)

    async def _follow(self, url: str, turn: Turn) -> tuple[int, Reply]:
        """Return when the last request to the host itself left, and the last answer."""
        home = turn.row.host_key
        fetched_at, reply = await self._paced.send(url, turn, max_size=MAX_ROBOTS)
        for _ in range(_MAX_HOPS):
            if reply.status_code not in _REDIRECTS:
                break
            target = resolve(url, reply.headers.get("location", ""))
            if target is None or target == url or self._rule.refuses_host(host_of(target)):
                break
            url = target
            host = host_of(url)
            key = host_key(host)
            if key == home:
                fetched_at, answer = await self._paced.send(url, turn, max_size=MAX_ROBOTS)
            else:
                answer = await self._send_elsewhere(url, HostRow(key, host))
            if answer.reason == PRIVATE_ADDRESS:
                break  # leads nowhere: the redirect stands as the answer
            reply = answer
        return fetched_at, reply

    async def _send_elsewhere(self, url: str, row: HostRow) -> Reply:
        """Send a request to another host than the one whose turn it is; that one is paced too.

        No slot of that host is taken: two hosts that redirect to each other would wait forever.
        """
        if self._store is not None:
            row = self._store.hosts([row.host_key]).get(row.host_key, row)
        turn = self._paced.turn(row)
        turn.n_users += 1
        try:
            _, reply = await self._paced.send(url, turn, max_size=MAX_ROBOTS)
        finally:
            turn.n_users -= 1
        if self._store is not None:
            self._store.save_hosts([turn.row])
        return reply
