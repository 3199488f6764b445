"""Fetches pages over HTTP: politely, conditionally, and only from where it may."""

from __future__ import annotations

from collections.abc import Iterable

from aiohttp.abc import AbstractResolver

from recrawl.core.url import host_of, resolve
from recrawl.core.visit import Outcome
from recrawl.errors import ConfigError
from recrawl.fetch.address import AddressRule, is_loopback
from recrawl.fetch.agent import PRODUCT, has_contact
from recrawl.fetch.conditional import conditional_headers, modified_at
from recrawl.fetch.failures import PRIVATE_ADDRESS
from recrawl.fetch.outcomes import PERMANENT, REDIRECTS, outcome_of
from recrawl.fetch.politeness import DAY, Politeness
from recrawl.fetch.proxy import Proxies
from recrawl.fetch.robots import RobotsFiles, RobotsStore
from recrawl.fetch.turns import PacedWire, Turn
from recrawl.fetch.wire import Reply, Wire
from recrawl.ports.clock import Clock
from recrawl.ports.fetcher import NOT_READY, Fetched, Hop, PageRequest
from recrawl.ports.store import HostRow

__all__ = ["HttpFetcher"]

# Hosts whose refusal is remembered: parsing an address costs more than all else we add.
_MANY_HOSTS = 4096
_RANGES: dict[str, tuple[float, float]] = {
    "timeout": (0.001, DAY),
    "connect_timeout": (0.001, DAY),
    "max_size": (1, 1 << 30),
    "max_redirects": (1, 50),
    "requests_per_host": (1, 1000),
    "robots_max_age": (0, DAY),
    "keepalive": (0, 3600),
    "max_wait": (0, DAY),
}


class HttpFetcher:
    """Implements ``ports.fetcher.Fetcher`` over one pool of connections.

    Parameters
    ----------
    clock : Clock
        Tells the time, and sleeps until a host is ready.
    user_agent : str
        See ``fetch.agent.user_agent_for``. Without a contact in it, only loopback is fetched;
        other pages are DENIED with reason ``contact_missing``.
    store : RobotsStore or None
        Keeps robots.txt between runs; any ``PageStore`` will do. None: memory only.
    timeout : float
        Longest time for one request, to its last byte. [s]
    connect_timeout : float
        Longest time for DNS, TCP and TLS together. [s]
    max_size : int
        Most bytes of a body, on the wire and again decoded. [byte]
    max_redirects : int
        Most redirects in a row, at least 1.
    allow_networks : iterable of str
        Networks that may be connected to although they are not public.
    min_delay : float
        Least time between the starts of two requests to a host. [s]
    requests_per_host : int
        Requests to one host at once; their starts are still apart by the delay.
    backoff, max_backoff : float
        First and longest wait after failures of a host. [s]
    robots_txt : bool
        Whether robots.txt is obeyed.
    robots_token : str
        What robots.txt calls us.
    robots_max_age : float
        How long a robots.txt is used, at most a day. [s]
    proxies : Proxies
        Proxies by scheme. Names are then resolved by the proxy, not by us.
    accept_language : str
        Sent with every request; one value, so that a page does not change with it.
    keepalive : float
        How long an idle connection is kept. [s]
    max_wait : float
        Longest wait inside a call once robots.txt is known: a Crawl-delay may be hours, and a
        lease is not. Beyond it a page is RETRY with reason ``NOT_READY``, nothing sent, and a
        chain of redirects ends at the hop reached. [s]
    resolver : AbstractResolver or None
        DNS; the system's by default.

    Raises
    ------
    ConfigError
        If a value is out of its range.

    Notes
    -----
    **Redirects.** Hops to the same host are followed to learn where they end; each is paced,
    checked against robots.txt and its address, and carries no validators. A hop to another host
    ends the chain, unasked: the target is a page of its own. The chain is REDIR_PERM if every
    hop is permanent, else REDIR_TEMP. Where the last answer was an error, or a hop could not be
    asked, the redirect still stands, with ``status_code`` that of the last answer and ``reason``
    saying what ended the chain. Only a loop or a chain longer than ``max_redirects`` is a RETRY.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        user_agent: str,
        store: RobotsStore | None = None,
        timeout: float = 30.0,
        connect_timeout: float = 10.0,
        max_size: int = 5_000_000,
        max_redirects: int = 5,
        allow_networks: Iterable[str] = (),
        min_delay: float = 1.0,
        requests_per_host: int = 1,
        backoff: float = 60.0,
        max_backoff: float = DAY,
        robots_txt: bool = True,
        robots_token: str = PRODUCT,
        robots_max_age: float = DAY,
        proxies: Proxies | None = None,
        accept_language: str = "en,*;q=0.5",
        keepalive: float = 10.0,
        max_wait: float = DAY,
        resolver: AbstractResolver | None = None,
    ) -> None:
        _check(timeout=timeout, connect_timeout=connect_timeout, keepalive=keepalive)
        _check(max_size=max_size, max_redirects=max_redirects, max_wait=max_wait)
        _check(requests_per_host=requests_per_host, robots_max_age=robots_max_age)
        self._clock = clock
        self._has_contact = has_contact(user_agent)
        self._rule = AddressRule(allow_networks)
        self._refusals: dict[str, str] = {}
        self._max_size = max_size
        self._max_redirects = max_redirects
        self._max_wait = round(1000 * max_wait)
        self._obeys_robots = robots_txt
        politeness = Politeness(min_delay, backoff, max_backoff)
        self._wire = Wire(
            user_agent=user_agent,
            accept_language=accept_language,
            timeout=timeout,
            connect_timeout=connect_timeout,
            keepalive=keepalive,
            rule=self._rule,
            proxies=proxies or Proxies(),
            resolver=resolver,
        )
        self._paced = PacedWire(
            self._wire, clock, politeness, n_at_once=requests_per_host, keepalive=keepalive
        )
        self._robots = RobotsFiles(
            self._paced,
            clock,
            politeness,
            rule=self._rule,
            store=store,
            token=robots_token,
            max_age=robots_max_age,
        )

    async def fetch(self, request: PageRequest, host: HostRow) -> tuple[Fetched, HostRow]:
        """Fetch one page; see ``ports.fetcher.Fetcher``.

        With calls for one host side by side, the newest row is kept here: a call may be given
        an older one.
        """
        refusal = self._refusal(host_of(request.url))
        if refusal:
            return Fetched(Outcome.DENIED, self._clock.now(), reason=refusal), host
        async with self._paced.turn(host) as turn:
            return await self._visit(request, turn), turn.row

    async def close(self) -> None:
        """Close all connections; a second call does nothing."""
        await self._wire.close()

    def _refusal(self, host: str) -> str:
        """Return why no page of a host is fetched, whatever robots.txt says; "" if it may be."""
        known = self._refusals.get(host)
        if known is None:
            if len(self._refusals) >= _MANY_HOSTS:
                self._refusals.clear()
            known = self._refusals[host] = self._find_refusal(host)
        return known

    def _find_refusal(self, host: str) -> str:
        if self._rule.refuses_host(host):
            return PRIVATE_ADDRESS
        if not self._has_contact and not is_loopback(host):
            return "contact_missing"
        return ""

    async def _verdict(self, url: str, turn: Turn) -> str:
        """Return why a page is not asked for now; "" if it may be."""
        verdict = await self._robots.verdict(url, turn) if self._obeys_robots else ""
        if not verdict and turn.row.ready_at - self._clock.now() > self._max_wait:
            return NOT_READY
        return verdict

    async def _visit(self, request: PageRequest, turn: Turn) -> Fetched:
        await self._paced.wait(turn)
        verdict = await self._verdict(request.url, turn)
        if verdict:
            is_denied = verdict in ("robots", PRIVATE_ADDRESS)
            outcome = Outcome.DENIED if is_denied else Outcome.RETRY
            return Fetched(outcome, self._clock.now(), reason=verdict)
        headers = conditional_headers(request.etag, request.last_modified, self._clock.now())
        is_conditional = bool(headers)
        if request.no_cache:
            headers["Cache-Control"] = "no-cache"
        start, reply = await self._paced.send(
            request.url, turn, headers=headers, max_size=self._max_size
        )
        elapsed = (self._clock.now() - start) / 1000
        if reply.status_code in REDIRECTS:
            outcome, reason, hops, reply = await self._follow(request.url, reply, turn)
        else:
            outcome, reason = outcome_of(reply, is_conditional=is_conditional)
            hops = ()
        return Fetched(
            outcome=outcome,
            fetched_at=start,
            status_code=reply.status_code,
            headers=reply.headers,
            body=reply.content if outcome is Outcome.SUCCESS else b"",
            hops=hops,
            reason=reason,
            modified_at=modified_at(reply.headers, start + round(1000 * elapsed)),
            elapsed=elapsed,
            n_bytes=reply.n_bytes,
        )

    async def _follow(
        self, source: str, reply: Reply, turn: Turn
    ) -> tuple[Outcome, str, tuple[Hop, ...], Reply]:
        """Follow redirects within the host; return outcome, reason, hops and the last answer."""
        hops: list[Hop] = []
        seen = {source}
        url, reason = source, ""
        while reply.status_code in REDIRECTS:
            assert reply.status_code is not None  # it is one of REDIRECTS
            location = reply.headers.get("location", "")
            target = resolve(url, location)
            if target is None:
                if not hops:
                    hop = Hop(url, reply.status_code, location)
                    return Outcome.RETRY, "bad_redirect", (hop,), reply
                reason = "bad_redirect"
                break
            hops.append(Hop(url, reply.status_code, target))
            if target in seen:
                return Outcome.RETRY, "redirect_loop", tuple(hops), reply
            if len(hops) > self._max_redirects:
                return Outcome.RETRY, "too_many_redirects", tuple(hops), reply
            seen.add(target)
            host = host_of(target)
            if host != turn.row.host:
                reason = PRIVATE_ADDRESS if self._rule.refuses_host(host) else ""
                break
            reason = await self._verdict(target, turn)
            if reason:
                break
            url = target
            _, answer = await self._paced.send(url, turn, max_size=0)
            if answer.status_code is None:
                reason = answer.reason
                break
            reply = answer
        is_permanent = all(hop.status_code in PERMANENT for hop in hops)
        return (
            Outcome.REDIR_PERM if is_permanent else Outcome.REDIR_TEMP,
            reason,
            tuple(hops),
            reply,
        )


def _check(**values: float) -> None:
    """Refuse values outside their range."""
    for name, value in values.items():
        least, most = _RANGES[name]
        if not least <= value <= most:
            raise ConfigError(f"{name} is {value}; allowed is {least:g} to {most:g}", value=value)
