from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.url import host_key
from recrawl.core.visit import Outcome
from recrawl.fetch import robots as robots_module
from recrawl.fetch.proxy import Proxies
from recrawl.fetch.robots import MAX_ROBOTS, Rules
from recrawl.ports.fetcher import NOT_READY, PageRequest
from recrawl.ports.store import HostRow, RobotsRow
from recrawl.stores.memory import MemoryStore
from recrawl.testing.factories import page_row
from recrawl.testing.rig import FetchRig
from recrawl.testing.site import Answer, LoopbackSite

DAY = 86_400_000


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture(autouse=True)
def obeying(rig: FetchRig, store: MemoryStore) -> None:
    """Let the fetcher obey robots.txt and keep it in a store."""
    rig.settings |= {"robots_txt": True, "store": store}


def robots(site: LoopbackSite, body: str, status: int = 200, **more) -> None:
    site.route("/robots.txt", Answer(body, status, **more))
    for path in ("/", "/x", "/y"):
        site.route(path, Answer("page"))


def paths(site: LoopbackSite) -> list[str]:
    return [asked.path for asked in site.requests]


def rules_of(body: bytes, status: int | None = 200) -> Rules:
    return Rules.of(RobotsRow("http://a.example", 0, DAY, status, body), "recrawl")


async def test_what_is_forbidden_is_not_asked(rig: FetchRig, site: LoopbackSite) -> None:
    """A disallowed page is denied, others are fetched, robots.txt is asked once."""
    robots(site, "User-agent: *\nDisallow: /x")

    denied, fetched = await rig.fetch("/x"), await rig.fetch("/y")

    assert (denied.outcome, denied.reason) == (Outcome.DENIED, "robots")
    assert fetched.outcome is Outcome.SUCCESS
    assert paths(site) == ["/robots.txt", "/y"]


@pytest.mark.parametrize(
    ("body", "allowed"),
    [
        ("User-agent: recrawl\nDisallow: /", False),
        ("User-agent: ReCrawl\nDisallow: /", False),
        ("User-agent: other\nDisallow: /", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: recrawl\nAllow: /", True),
        ("User-agent: *\nDisallow: /\nAllow: /x", True),
        ("User-agent: *\nDisallow: /*.pdf$", True),
        ("\ufeffUser-agent: *\nDisallow: /x", False),
        ("User-agent: *\r\nDisallow: /x\r\n", False),
        ("<html>Disallow: /</html>", True),
        ("", True),
    ],
)
def test_rules_are_those_for_us(body: str, allowed: bool) -> None:
    """Our own group goes before the star, the longest match decides, nonsense forbids nothing."""
    assert rules_of(body.encode()).allows("http://a.example/x") == allowed


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_an_error(body: bytes) -> None:
    """A robots.txt may hold anything."""
    assert rules_of(body).allows("http://a.example/x") in (True, False)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
async def test_a_client_error_means_no_rules(
    rig: FetchRig, site: LoopbackSite, status: int
) -> None:
    """4xx allows everything, whatever the body says."""
    robots(site, "User-agent: *\nDisallow: /", status)

    assert (await rig.fetch("/x")).outcome is Outcome.SUCCESS


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_server_error_means_wait(
    rig: FetchRig, site: LoopbackSite, store: MemoryStore, status: int
) -> None:
    """Nothing is asked while the rules are not known; after the wait they are asked for again."""
    site.route("/robots.txt", [Answer("Disallow: nothing", status), Answer("")])
    site.route("/x", Answer("page"))

    waiting = await rig.fetch("/x")
    ready_at = rig.row("127.0.0.1").ready_at
    fetched = await rig.fetch("/x")

    assert (waiting.outcome, waiting.reason) == (Outcome.RETRY, "robots_unavailable")
    assert ready_at == waiting.fetched_at + 60_000
    assert fetched.outcome is Outcome.SUCCESS
    assert [asked.at - waiting.fetched_at for asked in site.requests] == [0, 60_000, 60_000]


async def test_no_answer_means_wait(rig: FetchRig, site: LoopbackSite, store: MemoryStore) -> None:
    """An unreachable robots.txt is kept as unknown, for as long as the host backs off."""
    site.route("/robots.txt", Answer(raw=b""))

    fetched = await rig.fetch("/x")

    assert fetched.reason == "robots_unavailable"
    row = store.robots(f"http://127.0.0.1:{site.port}")
    assert row is not None
    assert (row.status_code, row.expires_at - row.fetched_at) == (None, 60_000)


async def test_a_cut_file_is_no_file(rig: FetchRig, site: LoopbackSite) -> None:
    """Rules that end in the middle could allow what they forbid."""
    robots(site, "User-agent: *\nDisallow: /x", cut=20)

    assert (await rig.fetch("/x")).reason == "robots_unavailable"


async def test_a_failure_of_ours_is_not_kept(
    rig: FetchRig, site: LoopbackSite, store: MemoryStore
) -> None:
    """A proxy that is down says nothing about the origin's rules."""
    rig.settings["proxies"] = Proxies(http="http://127.0.0.1:1")

    fetched = await rig.fetch(url="http://a.example/")

    assert (fetched.outcome, fetched.reason) == (Outcome.RETRY, "proxy")
    assert store.robots("http://a.example") is None


async def test_rules_are_kept_for_a_day(
    rig: FetchRig, site: LoopbackSite, store: MemoryStore
) -> None:
    """After that the file is asked for again, and the new rules count."""
    robots(site, "User-agent: *\nDisallow: /x")
    await rig.fetch("/x")
    robots(site, "")

    rig.clock.advance(86_399)
    before = await rig.fetch("/x")
    rig.clock.advance(2)
    after = await rig.fetch("/x")

    assert (before.reason, after.outcome) == ("robots", Outcome.SUCCESS)
    assert paths(site) == ["/robots.txt", "/robots.txt", "/x"]


async def test_another_fetcher_takes_rules_from_the_store(
    rig: FetchRig, site: LoopbackSite
) -> None:
    """After a restart nothing is asked for that is known; the delay after it holds as well."""
    robots(site, "User-agent: *\nCrawl-delay: 30\nDisallow: /x")
    start = rig.clock.now()
    await rig.fetch("/x")
    await rig.close()
    rig.rows.clear()

    denied, fetched = await rig.fetch("/x"), await rig.fetch("/y")

    assert denied.reason == "robots"
    assert fetched.fetched_at == start + 30_000
    assert paths(site) == ["/robots.txt", "/y"]


async def test_a_row_from_the_future_is_not_believed(
    rig: FetchRig, site: LoopbackSite, store: MemoryStore
) -> None:
    """A clock that was set back does not keep rules for ever."""
    robots(site, "")
    now = rig.clock.now()
    origin = f"http://127.0.0.1:{site.port}"
    store.save_robots(RobotsRow(origin, now + 1, now + DAY, 200, b"User-agent: *\nDisallow: /"))

    assert (await rig.fetch("/x")).outcome is Outcome.SUCCESS


async def test_a_crawl_delay_paces_the_host(rig: FetchRig, site: LoopbackSite) -> None:
    """It counts from robots.txt on, and is kept in the host's row."""
    rig.settings["min_delay"] = 1.0
    robots(site, "User-agent: *\nCrawl-delay: 600")

    for path in ("/x", "/y"):
        await rig.fetch(path)

    start = site.requests[0].at
    assert [asked.at - start for asked in site.requests] == [0, 600_000, 1_200_000]
    assert rig.row("127.0.0.1").crawl_delay == 600


async def test_a_long_wait_is_left_to_the_caller(
    rig: FetchRig, site: LoopbackSite, store: MemoryStore
) -> None:
    """A Crawl-delay beyond what a call may wait sends nothing; the store knows when to come."""
    rig.settings["max_wait"] = 5.0
    robots(site, "User-agent: *\nCrawl-delay: 600")
    store.add([page_row(site.url("/x"))])

    early = await rig.fetch("/x")
    (row,) = store.hosts([rig.row("127.0.0.1").host_key]).values()
    late = await rig.fetch("/x")

    assert (early.outcome, early.reason) == (Outcome.RETRY, NOT_READY)
    assert row == HostRow(row.host_key, "127.0.0.1", early.fetched_at + 600_000, 600.0)
    assert (late.outcome, late.fetched_at) == (Outcome.SUCCESS, row.ready_at)
    assert paths(site) == ["/robots.txt", "/x"]


async def test_a_hop_with_a_long_wait_is_not_asked(rig: FetchRig, site: LoopbackSite) -> None:
    """The chain ends at the hop reached; its target is a page of its own."""
    rig.settings["max_wait"] = 5.0
    robots(site, "User-agent: *\nCrawl-delay: 600")
    site.route("/x", Answer(status=301, headers={"Location": "/y"}))

    await rig.fetch("/x")
    fetched = await rig.fetch("/x")

    assert (fetched.outcome, fetched.reason) == (Outcome.REDIR_PERM, NOT_READY)
    assert fetched.hops[-1].target == site.url("/y")
    assert paths(site) == ["/robots.txt", "/x"]


@pytest.mark.parametrize("delay", ["ten", "-1", "nan", "inf", ""])
async def test_a_malformed_crawl_delay_is_no_delay(
    rig: FetchRig, site: LoopbackSite, delay: str
) -> None:
    """The other lines still count."""
    robots(site, f"User-agent: *\nCrawl-delay: {delay}\nDisallow: /x")

    denied, fetched = await rig.fetch("/x"), await rig.fetch("/y")

    assert (denied.reason, fetched.outcome) == ("robots", Outcome.SUCCESS)
    assert rig.row("127.0.0.1").crawl_delay is None


async def test_rules_belong_to_the_origin_asked(
    rig: FetchRig, site: LoopbackSite, store: MemoryStore
) -> None:
    """A redirect to another host's file gives rules to the one that redirects only."""
    target = site.url("/files/robots-a.txt", "b.example")
    site.route("/robots.txt", Answer(status=301, headers={"Location": target}), host="a.example")
    site.route("/files/robots-a.txt", Answer("User-agent: *\nDisallow: /"), host="b.example")
    site.route("/robots.txt", Answer("User-agent: *\nAllow: /"), host="b.example")
    site.route("/", Answer("page"), host="b.example")

    of_a, of_b = await rig.fetch("/", "a.example"), await rig.fetch("/", "b.example")

    assert (of_a.reason, of_b.outcome) == ("robots", Outcome.SUCCESS)


async def test_a_redirect_to_another_host_keeps_that_hosts_pace(
    rig: FetchRig, site: LoopbackSite, store: MemoryStore
) -> None:
    """The other host's row is heeded and moved on, in the store as well."""
    rig.settings["min_delay"] = 2.0
    target = site.url("/robots.txt", "b.example")
    site.route("/robots.txt", Answer(status=301, headers={"Location": target}), host="a.example")
    site.route("/", Answer("page"), host="a.example")
    start = rig.clock.now()
    store.add([page_row(site.url("/", "b.example"))])
    key = host_key("b.example")
    store.save_hosts([HostRow(key, "b.example", ready_at=start + 5000)])

    await rig.fetch("/", "a.example")

    assert [(asked.host, asked.at - start) for asked in site.requests] == [
        ("a.example", 0),
        ("b.example", 5000),
        ("a.example", 5000),
    ]
    assert store.hosts([key])[key].ready_at == start + 7000


@pytest.mark.parametrize(("n_hops", "outcome"), [(5, Outcome.DENIED), (6, Outcome.SUCCESS)])
async def test_five_redirects_are_followed(
    rig: FetchRig, site: LoopbackSite, n_hops: int, outcome: Outcome
) -> None:
    """After five hops the file counts as not there (RFC 9309, section 2.3.1.2)."""
    names = ["/robots.txt", *(f"/r{i}" for i in range(1, n_hops + 1))]
    for name, target in pairwise(names):
        site.route(name, Answer(status=302, headers={"Location": target}))
    site.route(names[-1], Answer("User-agent: *\nDisallow: /"))
    site.route("/x", Answer("page"))

    assert (await rig.fetch("/x")).outcome is outcome


@pytest.mark.parametrize("location", ["/robots.txt", "mailto:me@example.org", None])
async def test_a_redirect_that_leads_nowhere_means_no_rules(
    rig: FetchRig, site: LoopbackSite, location: str | None
) -> None:
    """A loop, another scheme or no Location at all."""
    site.route("/robots.txt", Answer(status=301, headers={"Location": location}))
    site.route("/x", Answer("page"))

    assert (await rig.fetch("/x")).outcome is Outcome.SUCCESS


async def test_the_first_500_kibibytes_count(
    rig: FetchRig, site: LoopbackSite, store: MemoryStore
) -> None:
    """What lies beyond is not read; what lies before is obeyed."""
    head = "User-agent: *\nDisallow: /x\n#"
    robots(site, head + "y" * MAX_ROBOTS + "\nDisallow: /y")

    denied, fetched = await rig.fetch("/x"), await rig.fetch("/y")

    assert (denied.reason, fetched.outcome) == ("robots", Outcome.SUCCESS)
    row = store.robots(f"http://127.0.0.1:{site.port}")
    assert row is not None
    assert len(row.body) == MAX_ROBOTS


async def test_each_origin_has_its_own_rules(rig: FetchRig, site: LoopbackSite) -> None:
    """Two ports of one host are two origins, with one pace."""
    rig.settings["min_delay"] = 1.0
    robots(site, "User-agent: *\nDisallow: /x")
    async with LoopbackSite(clock=rig.clock) as other:
        robots(other, "")

        denied = await rig.fetch("/x")
        fetched = await rig.fetch(url=other.url("/x"))

        assert (denied.reason, fetched.outcome) == ("robots", Outcome.SUCCESS)
        assert [asked.at - site.requests[0].at for asked in other.requests] == [1000, 2000]


async def test_calls_side_by_side_ask_once(rig: FetchRig, site: LoopbackSite) -> None:
    """With several requests a host at once, robots.txt is still one request."""
    rig.settings["requests_per_host"] = 2
    robots(site, "")
    row = rig.row("127.0.0.1")

    await asyncio.gather(
        *(rig.fetcher.fetch(PageRequest(site.url(path)), row) for path in ("/x", "/y"))
    )

    assert sorted(paths(site)) == ["/robots.txt", "/x", "/y"]


async def test_without_a_store_rules_are_kept_in_memory(rig: FetchRig, site: LoopbackSite) -> None:
    """Also those that a redirect to another host gave."""
    rig.settings["store"] = None
    target = site.url("/r", "b.example")
    site.route("/robots.txt", Answer(status=301, headers={"Location": target}))
    site.route("/r", Answer("User-agent: *\nDisallow: /x"), host="b.example")
    site.route("/y", Answer("page"))

    denied, fetched = await rig.fetch("/x"), await rig.fetch("/y")

    assert (denied.reason, fetched.outcome) == ("robots", Outcome.SUCCESS)
    assert paths(site) == ["/robots.txt", "/r", "/y"]


@pytest.mark.parametrize(("name", "limit"), [("_MANY_ORIGINS", 2), ("_MANY_BYTES", 26)])
async def test_memory_for_rules_is_bounded(
    rig: FetchRig, site: LoopbackSite, monkeypatch: pytest.MonkeyPatch, name: str, limit: int
) -> None:
    """By number and by size; what was forgotten is read from the store, not from the network."""
    monkeypatch.setattr(robots_module, name, limit)
    hosts = ["a.example", "b.example", "c.example"]
    for host in hosts:
        site.route("/robots.txt", Answer("User-agent: *"), host=host)
        site.route("/", Answer("page"), host=host)

    for host in hosts * 2:
        await rig.fetch("/", host)

    assert len(rig.fetcher._robots._known) == 2
    assert len(site.asked("/robots.txt")) == 3


async def test_a_file_elsewhere_that_fails_means_wait(
    rig: FetchRig, site: LoopbackSite, store: MemoryStore
) -> None:
    """The host itself answered, so only the file's wait counts, and it ends."""
    target = site.url("/r", "b.example")
    site.route("/robots.txt", Answer(status=301, headers={"Location": target}))
    site.route("/r", [Answer("x", 503), Answer("")], host="b.example")
    site.route("/x", Answer("page"))

    first = await rig.fetch("/x")
    second = await rig.fetch("/x")
    rig.clock.advance(60)
    third = await rig.fetch("/x")

    assert [one.reason for one in (first, second)] == ["robots_unavailable"] * 2
    assert third.outcome is Outcome.SUCCESS


async def test_robots_can_be_ignored(rig: FetchRig, site: LoopbackSite) -> None:
    """If the user says so, the file is not even asked for."""
    rig.settings["robots_txt"] = False
    robots(site, "User-agent: *\nDisallow: /")

    assert (await rig.fetch("/x")).outcome is Outcome.SUCCESS
    assert paths(site) == ["/x"]


async def test_our_token_can_be_another(rig: FetchRig, site: LoopbackSite) -> None:
    """A crawl with a name of its own obeys the rules for that name."""
    rig.settings["robots_token"] = "otherbot"
    robots(site, "User-agent: otherbot\nDisallow: /x\n\nUser-agent: recrawl\nDisallow: /y")

    denied, fetched = await rig.fetch("/x"), await rig.fetch("/y")

    assert (denied.reason, fetched.outcome) == ("robots", Outcome.SUCCESS)
