"""A site on loopback that answers as told and notes down who asked for what.

It speaks just enough HTTP/1.1 to misbehave in every way a test needs: cut bodies, bytes that are
no HTTP, servers that never answer or send one byte at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from recrawl.clocks import SystemClock
from recrawl.errors import UsageError
from recrawl.ports.clock import Clock
from recrawl.testing.answers import Answer, Asked, Route, conditional
from recrawl.testing.resolver import StaticResolver

__all__ = ["Answer", "Asked", "LoopbackSite", "Route", "StaticResolver", "conditional"]


class LoopbackSite:
    """Several hosts on loopback, all on one port; an asynchronous context manager.

    Parameters
    ----------
    addresses : sequence of str
        Addresses to listen on, all in 127.0.0.0/8; the first is the default host. Names work
        as well: routes go by the Host header, and ``resolver`` leads every name here.
    port : int
        Port; 0 takes a free one.
    clock : Clock, optional
        Gives ``Asked.at`` and the Date header; the system's by default.
    keep_log : bool
        Note requests down in ``requests``.

    Examples
    --------
    ::

        async with LoopbackSite() as site:
            site.route("/", Answer("hello"))
            site.url("/")  # http://127.0.0.1:40123/
    """

    def __init__(
        self,
        addresses: Sequence[str] = ("127.0.0.1",),
        *,
        port: int = 0,
        clock: Clock | None = None,
        keep_log: bool = True,
    ) -> None:
        self.addresses = tuple(addresses)
        self.port = port
        self.clock: Clock = clock or SystemClock()
        self.keep_log = keep_log
        #: Every request so far, in order of arrival.
        self.requests: list[Asked] = []
        #: Connections accepted so far.
        self.n_connections = 0
        #: What paths without a route get.
        self.fallback = Answer("not here", 404)
        self._routes: dict[tuple[str, str], Route] = {}
        self._turns: dict[tuple[str, str], int] = {}
        self._servers: list[asyncio.Server] = []
        self._connections: set[_Connection] = set()

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        for listener in self._bind():
            server = await loop.create_server(lambda: _Connection(self), sock=listener)
            self._servers.append(server)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop listening and cut all connections."""
        for server in self._servers:
            server.close()
        for connection in tuple(self._connections):
            connection.abort()
        for server in self._servers:
            await server.wait_closed()
        self._servers.clear()

    def url(self, path: str = "/", host: str | None = None) -> str:
        """Return the URL of a path; of the first address if no host is given."""
        return f"http://{host or self.addresses[0]}:{self.port}{path}"

    def resolver(self) -> StaticResolver:
        """Return a resolver that leads every name to this site."""
        return StaticResolver(fallback=self.addresses[0])

    def route(self, path: str, route: Route, *, host: str | None = None) -> None:
        """Answer ``path`` of a host from now on.

        Parameters
        ----------
        path : str
            Path and query.
        route : Answer, sequence of Answer, or callable
            One answer for all; answers one after another, of which the last stays; or a
            function of the request.
        host : str, optional
            Name or address; the first address by default.
        """
        where = (host or self.addresses[0], path)
        self._routes[where] = route
        self._turns.pop(where, None)

    def asked(self, path: str | None = None, host: str | None = None) -> list[Asked]:
        """Return the requests noted down, those for a path or a host only if one is given."""
        return [
            request
            for request in self.requests
            if (path is None or request.path == path) and (host is None or request.host == host)
        ]

    def answer(self, asked: Asked) -> Answer:
        """Note a request down and return what it gets."""
        if self.keep_log:
            self.requests.append(asked)
        where = (asked.host, asked.path)
        route = self._routes.get(where, self.fallback)
        if isinstance(route, Answer):
            return route
        if callable(route):
            return route(asked)
        turn = self._turns.get(where, 0)
        self._turns[where] = turn + 1
        return route[min(turn, len(route) - 1)]

    def _bind(self) -> list[socket.socket]:
        """Return a listening socket for each address, all on one port."""
        for _ in range(20):  # a port free on one address may be taken on another
            sockets: list[socket.socket] = []
            port = self.port
            try:
                for address in self.addresses:
                    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
                    sockets.append(listener)
                    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    listener.bind((address, port))
                    port = listener.getsockname()[1]
            except OSError as error:
                for opened in sockets:
                    opened.close()
                problem = error
                continue
            self.port = port
            return sockets
        raise UsageError(
            f"cannot listen on {', '.join(self.addresses)} port {self.port}: {problem}; "
            "some systems have no loopback address but 127.0.0.1"
        ) from problem


class _Connection(asyncio.Protocol):
    """One connection: requests in, answers out, one after another."""

    def __init__(self, site: LoopbackSite) -> None:
        self._site = site
        self._transport: asyncio.Transport | None = None
        self._buffer = b""
        self._task: asyncio.Task[None] | None = None
        self._is_last = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._site._connections.add(self)
        self._site.n_connections += 1

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's name
        self._site._connections.discard(self)
        if self._task is not None:
            self._task.cancel()

    def eof_received(self) -> bool:
        """Keep the connection for an answer under way."""
        self._is_last = True
        return self._task is not None

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._task is None:
            self._work()

    def _work(self) -> None:
        """Answer what has arrived; hand over to a task where an answer takes time."""
        while b"\r\n\r\n" in self._buffer and self._task is None:
            head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
            answer = self._site.answer(self._read(head))
            if answer.hang or answer.delay or answer.drip is not None:
                self._task = asyncio.get_running_loop().create_task(self._slowly(answer))
            else:
                self._at_once(answer)

    def _read(self, head: bytes) -> Asked:
        first, *lines = head.decode(errors="surrogateescape").split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        host = headers.get("host", "").lower()
        if not host.endswith("]"):
            host = host.rpartition(":")[0] or host
        return Asked(host, path, method, headers, self._site.clock.now())

    def _at_once(self, answer: Answer) -> None:
        assert self._transport is not None
        if answer.raw is not None:
            self._transport.write(answer.raw)
            self._transport.close()
            return
        content = answer.content[: answer.cut]
        if answer.chunked:
            content = b"%x\r\n%s\r\n" % (len(content), content) if content else b""
            content += b"" if answer.cut is not None else b"0\r\n\r\n"
        self._transport.write(answer.head(self._site.clock.now()) + content)
        if answer.cut is not None:
            self._transport.close()

    async def _slowly(self, answer: Answer) -> None:
        assert self._transport is not None
        with contextlib.suppress(asyncio.CancelledError):
            if answer.hang:
                await asyncio.get_running_loop().create_future()
            await asyncio.sleep(answer.delay)
            if answer.drip is None:
                self._at_once(answer)
            else:
                self._transport.write(answer.head(self._site.clock.now()))
                for byte in answer.content[: answer.cut]:
                    self._transport.write(bytes((byte,)))
                    await asyncio.sleep(answer.drip)
            if answer.cut is not None or self._is_last:
                self._transport.close()
            self._task = None
            self._work()
