from __future__ import annotations

import asyncio
import gzip

import pytest

from recrawl.core.columns import NO_TIME
from recrawl.core.visit import Outcome
from recrawl.fetch.proxy import Proxies
from recrawl.testing.rig import FetchRig
from recrawl.testing.site import Answer, LoopbackSite, StaticResolver

NOV_6 = "Sun, 06 Nov 1994 08:49:37 GMT"


async def test_one_connection_serves_many_pages(rig: FetchRig, site: LoopbackSite) -> None:
    """Pages, errors and short redirects leave their connection usable."""
    site.route("/", Answer("x"))
    site.route("/moved", Answer("go", 302, {"Location": "http://b.example/"}))

    for path in ("/", "/none", "/moved", "/"):
        await rig.fetch(path)

    assert (len(site.requests), site.n_connections) == (4, 1)


async def test_headers_of_any_bytes_are_read(rig: FetchRig, site: LoopbackSite) -> None:
    """UTF-8 and Latin-1 become text; a validator that could not go back as it came is dropped."""
    site.route(
        "/",
        Answer(
            "x",
            headers={
                "X-Latin": b"caf\xe9",
                "X-Utf": "café".encode(),
                "ETag": b'"caf\xe9"',
                "Last-Modified": b"\xff",
            },
        ),
    )

    fetched = await rig.fetch("/")

    assert (fetched.headers["x-latin"], fetched.headers["x-utf"]) == ("café", "café")
    assert not {"etag", "last-modified"} & set(fetched.headers)
    assert fetched.modified_at == NO_TIME


async def test_repeated_headers_are_joined(rig: FetchRig, site: LoopbackSite) -> None:
    """Two headers of one name become one, in their order, whatever their case."""
    site.route(
        "/", Answer(raw=b"HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 1\r\n\r\nx")
    )

    assert (await rig.fetch("/")).headers["x-a"] == "1, 2"


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_of_just_the_limit_is_taken(
    rig: FetchRig, site: LoopbackSite, chunked: bool
) -> None:
    """The limit is the largest body that is read; one byte more is too large."""
    rig.settings["max_size"] = 1000
    site.route("/1000", Answer(b"x" * 1000, chunked=chunked))
    site.route("/1001", Answer(b"x" * 1001, chunked=chunked))

    fits, too_large = await rig.fetch("/1000"), await rig.fetch("/1001")

    assert (fits.outcome, len(fits.body)) == (Outcome.SUCCESS, 1000)
    assert (too_large.outcome, too_large.reason) == (Outcome.PARSE_FAILED, "too_large")
    assert too_large.body == b""


async def test_a_long_body_is_not_read_to_its_end(rig: FetchRig, site: LoopbackSite) -> None:
    """Reading stops soon after the limit, whatever Content-Length promises."""
    rig.settings["max_size"] = 1000
    site.route("/", Answer(b"x" * 3_000_000))

    fetched = await rig.fetch("/")

    assert fetched.reason == "too_large"
    assert 1000 < fetched.n_bytes < 1_000_000


async def test_a_packed_body_is_unpacked(rig: FetchRig, site: LoopbackSite) -> None:
    """The body is what was packed; the bytes counted are those of the wire."""
    packed = gzip.compress(b"hello" * 1000)
    site.route("/", Answer(packed, headers={"Content-Encoding": "gzip"}))

    fetched = await rig.fetch("/")

    assert (fetched.body, fetched.n_bytes) == (b"hello" * 1000, len(packed))


@pytest.mark.parametrize(
    ("answer", "outcome", "reason"),
    [
        (Answer("0123456789", cut=4), Outcome.RETRY, "truncated"),
        (Answer("0123456789", chunked=True, cut=4), Outcome.RETRY, "truncated"),
        (
            Answer(gzip.compress(b"x" * 999)[:-5], headers={"Content-Encoding": "gzip"}),
            Outcome.RETRY,
            "truncated",
        ),
        (Answer("plain", headers={"Content-Encoding": "gzip"}), Outcome.RETRY, "bad_encoding"),
        (
            Answer("x", headers={"Content-Encoding": "rot13"}),
            Outcome.PARSE_FAILED,
            "unknown_encoding",
        ),
        (
            Answer(
                raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n0\r\n\r\n"
            ),
            Outcome.RETRY,
            "bad_http",
        ),
        (Answer(raw=b"nonsense\r\n\r\n"), Outcome.RETRY, "bad_http"),
        (Answer(raw=b"HTTP/1.1 2x0 OK\r\n\r\n"), Outcome.RETRY, "bad_http"),
        (Answer(raw=b"HTTP/1.1 200 OK\r\n: x\r\n\r\n"), Outcome.RETRY, "bad_http"),
        (
            Answer(raw=b"HTTP/1.1 200 OK\r\nX: " + b"y" * 40_000 + b"\r\n\r\n"),
            Outcome.RETRY,
            "bad_http",
        ),
        (Answer(raw=b""), Outcome.RETRY, "connection"),
        (Answer(raw=b"HTTP/1.1 200 OK\r\n"), Outcome.RETRY, "connection"),
    ],
    ids=[
        "short body",
        "no last chunk",
        "cut gzip",
        "no gzip",
        "unknown coding",
        "no chunk size",
        "no status line",
        "no status",
        "header without name",
        "header flood",
        "nothing",
        "half a head",
    ],
)
async def test_a_broken_answer_is_a_failure_that_may_pass(
    rig: FetchRig, site: LoopbackSite, answer: Answer, outcome: Outcome, reason: str
) -> None:
    """Cut, mispacked and malformed answers have a reason and no body."""
    site.route("/", answer)

    fetched = await rig.fetch("/")

    assert (fetched.outcome, fetched.reason, fetched.body) == (outcome, reason, b"")


@pytest.mark.parametrize("cut", [2, None])
async def test_an_error_page_may_break_off(
    rig: FetchRig, site: LoopbackSite, cut: int | None
) -> None:
    """Of an error only the head is wanted; a long or broken body changes nothing."""
    site.route("/", Answer("x" * (10 if cut else 100_000), 404, cut=cut))

    fetched = await rig.fetch("/")

    assert (fetched.outcome, fetched.reason) == (Outcome.GONE, "http_404")


async def test_names_are_resolved_by_the_system(rig: FetchRig, site: LoopbackSite) -> None:
    """Without a resolver of one's own, localhost is found the usual way and guarded."""
    rig.settings |= {"resolver": None, "allow_networks": []}

    fetched = await rig.fetch(url=f"http://localhost:{site.port}/")

    assert (fetched.outcome, fetched.reason) == (Outcome.DENIED, "private_address")


async def test_a_large_header_of_a_real_site_is_taken(rig: FetchRig, site: LoopbackSite) -> None:
    """Policies of some tens of kilobytes are no reason to fail."""
    site.route("/", Answer("x", headers={"Content-Security-Policy": "a" * 30_000}))

    assert (await rig.fetch("/")).outcome is Outcome.SUCCESS


@pytest.mark.parametrize("answer", [Answer(hang=True), Answer("x" * 1000, drip=0.02)])
async def test_a_server_without_end_is_timed_out(
    rig: FetchRig, site: LoopbackSite, answer: Answer
) -> None:
    """Neither silence nor one byte at a time keeps us beyond the limit."""
    rig.settings["timeout"] = 0.1
    site.route("/", answer)

    fetched = await rig.fetch("/")

    assert (fetched.outcome, fetched.reason) == (Outcome.RETRY, "timeout")


async def test_a_closed_port_is_a_connection_failure(rig: FetchRig) -> None:
    """Nobody listens: the host failed."""
    fetched = await rig.fetch(url="http://127.0.0.1:1/")

    assert (fetched.outcome, fetched.reason, fetched.status_code) == (
        Outcome.RETRY,
        "connection",
        None,
    )
    assert rig.row("127.0.0.1").n_errors == 1


async def test_tls_with_a_plain_server_fails_as_tls(rig: FetchRig) -> None:
    """A handshake that comes to nothing has its own reason."""

    async def speak_plainly(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(speak_plainly, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        fetched = await rig.fetch(url=f"https://127.0.0.1:{port}/")

    assert (fetched.outcome, fetched.reason) == (Outcome.RETRY, "tls")


async def test_a_name_that_does_not_exist_is_a_dns_failure(rig: FetchRig) -> None:
    """The resolver's refusal is an outcome."""
    rig.settings["resolver"] = StaticResolver()

    fetched = await rig.fetch(url="http://nowhere.example/")

    assert (fetched.outcome, fetched.reason) == (Outcome.RETRY, "dns")


async def test_a_proxy_is_asked_with_the_whole_url(rig: FetchRig, site: LoopbackSite) -> None:
    """The proxy may live at a private address; names are its business."""
    rig.settings |= {
        "allow_networks": [],
        "proxies": Proxies(http=site.url("")),
    }
    site.route("http://a.example/x", Answer("by proxy"), host="a.example")

    fetched = await rig.fetch(url="http://a.example/x")

    assert (fetched.body, rig.settings["resolver"].asked) == (b"by proxy", [])


async def test_a_proxy_does_not_lead_to_literal_private_addresses(
    rig: FetchRig, site: LoopbackSite
) -> None:
    """What is visible in the URL is refused before the proxy is asked."""
    from_proxy = Proxies(http=site.url(""))
    rig.settings |= {"allow_networks": [], "proxies": from_proxy}

    fetched = await rig.fetch(url="http://10.0.0.1/")

    assert (fetched.outcome, fetched.reason) == (Outcome.DENIED, "private_address")
    assert site.requests == []


async def test_a_proxy_that_is_down_is_not_the_hosts_fault(rig: FetchRig) -> None:
    """The host waits, but does not count as failing."""
    rig.settings["proxies"] = Proxies(http="http://127.0.0.1:1")

    fetched = await rig.fetch(url="http://a.example/")

    assert (fetched.outcome, fetched.reason) == (Outcome.RETRY, "proxy")
    assert rig.row("a.example").n_errors == 0
    assert rig.row("a.example").ready_at == rig.clock.now() + 60_000


async def test_closing_twice_does_nothing(rig: FetchRig, site: LoopbackSite) -> None:
    """A fetcher can be closed again, and before it was ever used."""
    await rig.fetcher.close()
    await rig.fetch("/")

    await rig.fetcher.close()
    await rig.fetcher.close()
