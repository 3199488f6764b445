"""One request on the wire: aiohttp behind one call, every failure a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from recrawl.fetch.address import AddressRule, GuardedResolver
from recrawl.fetch.decoding import ACCEPT_ENCODING, decode
from recrawl.fetch.failures import TRANSPORT_ERRORS, reason_of
from recrawl.fetch.proxy import Proxies

__all__ = ["Reply", "Wire"]

_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
# Real sites send policies and link lists of tens of kilobytes in one header.
_MAX_HEADER = 32_768
# The rest of an answer that nobody reads: up to here it is cheaper than a new connection.
_MAX_DRAIN = 65_536
# Statuses whose body is the page.
_WITH_CONTENT = frozenset({200, 201, 203})


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back.

    Parameters
    ----------
    status_code : int or None
        None if no answer came.
    headers : mapping of str to str
        Names in lower case, repeated ones joined by ", ".
    content : bytes
        Decoded body of a 200, 201 or 203, up to the limit; else empty.
    reason : str
        "" or what went wrong below HTTP: ``timeout``, ``dns``, ``truncated``, ``too_large`` ...
    n_bytes : int
        Bytes of the body that were read from the wire.
    is_stale_connection : bool
        A kept connection turned out to be closed: the server may never have seen the request.
    """

    status_code: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = b""
    reason: str = ""
    n_bytes: int = 0
    is_stale_connection: bool = False


class Wire:
    """Sends GET requests over one connection pool.

    Parameters
    ----------
    user_agent, accept_language : str
        Sent with every request.
    timeout : float
        Longest time for a whole request, from connecting to the last byte. [s]
    connect_timeout : float
        Longest time for DNS, TCP and TLS together. [s]
    keepalive : float
        How long an idle connection is kept. [s]
    rule : AddressRule
        Which addresses may be connected to.
    proxies : Proxies
        Which URLs go through a proxy.
    resolver : AbstractResolver or None
        DNS; the system's by default.
    """

    def __init__(
        self,
        *,
        user_agent: str,
        accept_language: str,
        timeout: float,
        connect_timeout: float,
        keepalive: float,
        rule: AddressRule,
        proxies: Proxies,
        resolver: AbstractResolver | None,
    ) -> None:
        self._headers = {
            "User-Agent": user_agent,
            "Accept": _ACCEPT,
            "Accept-Language": accept_language,
            "Accept-Encoding": ACCEPT_ENCODING,
        }
        self._timeout = aiohttp.ClientTimeout(total=timeout, connect=connect_timeout)
        self._keepalive = keepalive
        self._rule = rule
        self._proxies = proxies
        self._resolver = resolver
        self._guard: GuardedResolver | None = None
        self._direct: aiohttp.ClientSession | None = None
        self._proxied: aiohttp.ClientSession | None = None

    async def get(self, url: str, headers: Mapping[str, str], *, max_size: int) -> Reply:
        """Send one request and read its answer; never raises for what a server or network does.

        Parameters
        ----------
        url : str
            Canonical URL; sent as it is.
        headers : mapping of str to str
            Sent beside those of every request.
        max_size : int
            Most bytes of the body, on the wire and again after decoding; 0 reads no body. [byte]
        """
        proxy = self._proxies.proxy_for(url)
        try:
            response = await self._session(proxy).get(
                URL(url, encoded=True), headers=headers, allow_redirects=False, proxy=proxy
            )
        except TRANSPORT_ERRORS as error:
            is_stale = isinstance(
                error, (aiohttp.ServerDisconnectedError, ConnectionResetError)
            ) or (
                isinstance(error, aiohttp.ClientOSError)
                and not isinstance(error, aiohttp.ClientConnectorError)
            )
            return Reply(reason=reason_of(error), is_stale_connection=is_stale)
        try:
            return await _read(response, max_size)
        finally:
            response.release()

    async def close(self) -> None:
        """Close all connections; a second call does nothing."""
        sessions, self._direct, self._proxied = (self._direct, self._proxied), None, None
        for session in sessions:
            if session is not None:
                await session.close()
        if self._guard is not None and self._resolver is None:
            await self._guard.close()
            self._guard = None

    def _session(self, proxy: str | None) -> aiohttp.ClientSession:
        """Return the session for direct or for proxied requests.

        They are two, because a proxy may well live at a private address: the connector of the
        second only ever connects to proxies, so it needs no guard.
        """
        if proxy is None:
            if self._direct is None:
                resolver = self._resolver or aiohttp.DefaultResolver()
                self._guard = GuardedResolver(resolver, self._rule)
                self._direct = self._open(self._guard)
            return self._direct
        if self._proxied is None:
            self._proxied = self._open(self._resolver)
        return self._proxied

    def _open(self, resolver: AbstractResolver | None) -> aiohttp.ClientSession:
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                resolver=resolver,
                ttl_dns_cache=60,
                limit=0,  # the number of hosts at once is the caller's to bound
                keepalive_timeout=self._keepalive,
            ),
            headers=self._headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=self._timeout,
            auto_decompress=False,
            max_line_size=_MAX_HEADER,
            max_field_size=_MAX_HEADER,
        )
        # aiohttp would send a request again at once when a kept connection breaks: a request
        # that no pacing sees. We send it again ourselves, at its time.
        session._retry_connection = False  # noqa: SLF001
        return session


async def _read(response: aiohttp.ClientResponse, max_size: int) -> Reply:
    headers = _headers_of(response.raw_headers)
    status = response.status
    has_content = status in _WITH_CONTENT and max_size > 0
    length = response.content_length
    if not has_content:
        if length is not None and length <= _MAX_DRAIN:
            await _drain(response)
        return Reply(status, headers)
    chunks: list[bytes] = []
    size, reason = 0, ""
    try:
        while chunk := await response.content.readany():
            chunks.append(chunk)
            size += len(chunk)
            if size > max_size:
                reason = "too_large"
                break
    except TRANSPORT_ERRORS as error:
        return Reply(status, headers, reason=reason_of(error), n_bytes=size)
    content = b"".join(chunks) if len(chunks) != 1 else chunks[0]
    if encoding := headers.get("content-encoding"):
        content, decode_reason = decode(content, encoding, max_size)
        reason = reason or decode_reason
    return Reply(status, headers, content[:max_size], reason, size)


async def _drain(response: aiohttp.ClientResponse) -> None:
    """Read what is left of a short answer, so that its connection can be used again."""
    try:
        await response.read()
    except TRANSPORT_ERRORS:
        response.close()  # the answer's head is all that was wanted


def _headers_of(raw_headers: tuple[tuple[bytes, bytes], ...]) -> dict[str, str]:
    """Return headers as text that can be stored and, for validators, sent back byte for byte.

    Values are UTF-8, which is what goes out again. A value that is not is read as Latin-1; a
    validator of this kind could not be sent back as it came, so it is left out.
    """
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw_headers:
        name = raw_name.decode("latin-1").lower()
        try:
            value = raw_value.decode()
        except UnicodeDecodeError:
            if name in ("etag", "last-modified"):
                continue
            value = raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers
