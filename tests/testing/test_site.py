from __future__ import annotations

import asyncio
import socket

import aiohttp
import pytest

from recrawl.errors import UsageError
from recrawl.testing.clock import ManualClock
from recrawl.testing.site import Answer, LoopbackSite, StaticResolver, conditional


async def ask(site: LoopbackSite, path: str = "/", head: str = "") -> bytes:
    """Send one request and return all bytes up to the end of the connection."""
    reader, writer = await asyncio.open_connection(site.addresses[0], site.port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {site.addresses[0]}:1\r\n{head}\r\n".encode())
    writer.write_eof()
    answer = await reader.read()
    writer.close()
    return answer


async def test_hosts_are_told_apart_on_one_port() -> None:
    """Two addresses have their own routes, and names go by the Host header."""
    async with LoopbackSite(["127.0.0.1", "127.0.0.2"]) as site:
        site.route("/", Answer("one"))
        site.route("/", Answer("two"), host="127.0.0.2")
        site.route("/", Answer("three"), host="c.example")
        connector = aiohttp.TCPConnector(resolver=site.resolver())

        async with aiohttp.ClientSession(connector=connector) as session:
            bodies = [
                await (await session.get(site.url(host=host))).text()
                for host in (None, "127.0.0.2", "c.example")
            ]

        assert bodies == ["one", "two", "three"]


async def test_requests_are_noted_down_with_their_time() -> None:
    """Every request is kept with host, path, headers and the clock's time."""
    clock = ManualClock(5000)
    async with LoopbackSite(clock=clock) as site:
        await ask(site, "/a?b=1", "X-Y: z\r\n")

        (asked,) = site.asked("/a?b=1")
        assert (asked.host, asked.method, asked.at) == ("127.0.0.1", "GET", 5000)
        assert asked.headers["x-y"] == "z"
        assert site.asked(host="other") == []


async def test_answers_come_one_after_another_and_the_last_stays() -> None:
    """A list of answers is worked off; a path without a route is a 404."""
    async with LoopbackSite() as site:
        site.route("/", [Answer("first"), Answer("second", 503)])

        starts = [(await ask(site)).split(b"\r\n")[0] for _ in range(3)]

        assert starts[0] == b"HTTP/1.1 200 OK"
        assert starts[1:] == [b"HTTP/1.1 503 Service Unavailable"] * 2
        assert (await ask(site, "/none")).startswith(b"HTTP/1.1 404")


async def test_an_answer_can_be_broken() -> None:
    """Raw bytes, a cut body and a missing last chunk are sent as scripted."""
    async with LoopbackSite() as site:
        site.route("/raw", Answer(raw=b"nonsense"))
        site.route("/cut", Answer("0123456789", cut=4))
        site.route("/chunk", Answer("0123", chunked=True, cut=4))
        site.route("/drip", Answer("0123", drip=0.0, cut=2))

        raw, cut, chunk, drip = [
            await ask(site, path) for path in ("/raw", "/cut", "/chunk", "/drip")
        ]

        assert raw == b"nonsense"
        assert b"Content-Length: 10\r\n" in cut
        assert cut.endswith(b"\r\n\r\n0123")
        assert chunk.endswith(b"\r\n\r\n4\r\n0123\r\n")
        assert drip.endswith(b"\r\n\r\n01")


async def test_a_header_can_be_replaced_or_left_out() -> None:
    """A given header takes the place of the automatic one; None removes it."""
    async with LoopbackSite() as site:
        site.route("/", Answer("x", headers={"Date": None, "content-type": b"a/\xff"}))

        answer = await ask(site)

        assert b"Date:" not in answer
        assert b"content-type: a/\xff\r\n" in answer
        assert b"Content-Type" not in answer


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("", b"200"),
        ('If-None-Match: "v1"\r\n', b"304"),
        ('If-None-Match: "v0", W/"v1"\r\n', b"304"),
        ('If-None-Match: "v0"\r\nIf-Modified-Since: then\r\n', b"200"),
        ("If-Modified-Since: then\r\n", b"304"),
        ("If-Modified-Since: later\r\n", b"200"),
    ],
)
async def test_a_conditional_route_knows_its_validators(head: str, status: bytes) -> None:
    """304 is answered to its own ETag, else to its own Last-Modified, to the letter."""
    async with LoopbackSite() as site:
        site.route("/", conditional("x", etag='"v1"', last_modified="then"))

        assert (await ask(site, "/", head)).split(b" ")[1] == status


async def test_a_port_in_use_is_named() -> None:
    """A site that cannot listen says where it tried."""
    async with LoopbackSite() as site:
        with pytest.raises(UsageError, match=rf"127\.0\.0\.1 port {site.port}"):
            await LoopbackSite(port=site.port).__aenter__()


async def test_a_static_resolver_knows_its_names_only() -> None:
    """A name outside the table does not exist."""
    resolver = StaticResolver({"a.example": ["192.0.2.1", "2001:db8::1"]})

    answers = await resolver.resolve("a.example", 80)

    assert [(answer["host"], answer["family"]) for answer in answers] == [
        ("192.0.2.1", socket.AF_INET),
        ("2001:db8::1", socket.AF_INET6),
    ]
    with pytest.raises(OSError, match="not known"):
        await resolver.resolve("b.example")
