from __future__ import annotations

import pytest

from recrawl.core.visit import Outcome
from recrawl.ports.fetcher import Hop
from recrawl.testing.rig import FetchRig
from recrawl.testing.site import Answer, LoopbackSite


def to(target: str, status: int = 301, body: str = "moved") -> Answer:
    return Answer(body, status, {"Location": target})


def paths(site: LoopbackSite) -> list[str]:
    return [asked.path for asked in site.requests]


@pytest.mark.parametrize(
    ("statuses", "outcome"),
    [
        ([301], Outcome.REDIR_PERM),
        ([308], Outcome.REDIR_PERM),
        ([302], Outcome.REDIR_TEMP),
        ([303], Outcome.REDIR_TEMP),
        ([307], Outcome.REDIR_TEMP),
        ([301, 308], Outcome.REDIR_PERM),
        ([301, 302], Outcome.REDIR_TEMP),
        ([302, 301], Outcome.REDIR_TEMP),
    ],
)
async def test_one_temporary_hop_makes_a_chain_temporary(
    rig: FetchRig, site: LoopbackSite, statuses: list[int], outcome: Outcome
) -> None:
    """A chain is permanent only if each of its hops is."""
    for i, status in enumerate(statuses):
        site.route(f"/{i}", to(f"/{i + 1}", status))
    site.route(f"/{len(statuses)}", Answer("end"))

    fetched = await rig.fetch("/0")

    assert (fetched.outcome, fetched.reason, fetched.body) == (outcome, "", b"")
    assert [hop.status_code for hop in fetched.hops] == statuses
    assert fetched.hops[-1].target == site.url(f"/{len(statuses)}")
    assert fetched.status_code == 200


async def test_hops_within_the_host_are_paced_and_unconditional(
    rig: FetchRig, site: LoopbackSite
) -> None:
    """Each hop leaves at its time; validators belong to the first request only."""
    rig.settings["min_delay"] = 3.0
    site.route("/a", to("b"))
    site.route("/b", to("/c"))
    site.route("/c", Answer("end"))
    start = rig.clock.now()

    fetched = await rig.fetch("/a", etag='"v"')

    assert [(asked.path, asked.at - start) for asked in site.requests] == [
        ("/a", 0),
        ("/b", 3000),
        ("/c", 6000),
    ]
    assert ["if-none-match" in asked.headers for asked in site.requests] == [True, False, False]
    assert fetched.fetched_at == start
    assert rig.row("127.0.0.1").ready_at == start + 9000


async def test_another_host_is_not_asked(rig: FetchRig, site: LoopbackSite) -> None:
    """A hop to another host is recorded; its target is a page of its own."""
    site.route("/a", to("/b"), host="a.example")
    site.route("/b", to(site.url("/x", "b.example")), host="a.example")

    fetched = await rig.fetch("/a", "a.example")

    assert (fetched.outcome, fetched.reason, fetched.status_code) == (
        Outcome.REDIR_PERM,
        "",
        301,
    )
    assert fetched.hops == (
        Hop(site.url("/a", "a.example"), 301, site.url("/b", "a.example")),
        Hop(site.url("/b", "a.example"), 301, site.url("/x", "b.example")),
    )
    assert [asked.host for asked in site.requests] == ["a.example"] * 2


async def test_a_target_is_recorded_in_its_canonical_spelling(
    rig: FetchRig, site: LoopbackSite
) -> None:
    """Case, default port, dots and fragment of a Location are normalised."""
    site.route("/", to("HTTP://B.Example:80/x/../y#top"))

    assert (await rig.fetch("/")).hops[0].target == "http://b.example/y"


@pytest.mark.parametrize("location", ["/", "#top", "", "?"])
async def test_a_redirect_to_the_page_itself_is_a_loop(
    rig: FetchRig, site: LoopbackSite, location: str
) -> None:
    """Also where only the fragment or the spelling differs."""
    site.route("/", to(location))

    fetched = await rig.fetch("/")

    assert (fetched.outcome, fetched.reason) == (Outcome.RETRY, "redirect_loop")
    assert paths(site) == ["/"]


async def test_a_loop_of_several_pages_is_left(rig: FetchRig, site: LoopbackSite) -> None:
    """A chain that comes back to any of its pages ends there."""
    site.route("/a", to("/b"))
    site.route("/b", to("/c"))
    site.route("/c", to("/b"))

    fetched = await rig.fetch("/a")

    assert (fetched.outcome, fetched.reason, len(fetched.hops)) == (
        Outcome.RETRY,
        "redirect_loop",
        3,
    )
    assert paths(site) == ["/a", "/b", "/c"]


@pytest.mark.parametrize(
    ("n_hops", "outcome", "reason"),
    [(3, Outcome.REDIR_PERM, ""), (4, Outcome.RETRY, "too_many_redirects")],
)
async def test_the_largest_number_of_hops_is_exact(
    rig: FetchRig, site: LoopbackSite, n_hops: int, outcome: Outcome, reason: str
) -> None:
    """Just so many redirects are followed; one more fails the source, and asks nobody."""
    rig.settings["max_redirects"] = 3
    for i in range(n_hops):
        site.route(f"/{i}", to(f"/{i + 1}"))
    site.route(f"/{n_hops}", Answer("end"))

    fetched = await rig.fetch("/0")

    assert (fetched.outcome, fetched.reason) == (outcome, reason)
    assert len(fetched.hops) == n_hops
    assert paths(site) == ["/0", "/1", "/2", "/3"]


@pytest.mark.parametrize("location", ["mailto:me@example.org", "ftp://a.example/", "http://", "//"])
async def test_a_target_that_is_no_page_is_recorded(
    rig: FetchRig, site: LoopbackSite, location: str
) -> None:
    """A scheme that is not HTTP, or no URL at all, is kept as it came and not followed."""
    site.route("/", to(location, 302))

    fetched = await rig.fetch("/")

    assert (fetched.outcome, fetched.reason) == (Outcome.RETRY, "bad_redirect")
    assert fetched.hops == (Hop(site.url("/"), 302, location),)


async def test_a_bad_hop_ends_a_chain_at_the_last_good_target(
    rig: FetchRig, site: LoopbackSite
) -> None:
    """The last target that is a page stands."""
    site.route("/a", to("/b"))
    site.route("/b", to("javascript:alert(1)", 302))

    fetched = await rig.fetch("/a")

    assert (fetched.outcome, fetched.reason) == (Outcome.REDIR_PERM, "bad_redirect")
    assert [hop.target for hop in fetched.hops] == [site.url("/b")]


@pytest.mark.parametrize(("status", "n_errors"), [(404, 0), (503, 1)])
async def test_a_chain_that_ends_in_an_error_is_a_redirect_still(
    rig: FetchRig, site: LoopbackSite, status: int, n_errors: int
) -> None:
    """The target's error is the target's; the host's is counted."""
    site.route("/a", to("/b"))
    site.route("/b", Answer("x", status))

    fetched = await rig.fetch("/a")

    assert (fetched.outcome, fetched.status_code) == (Outcome.REDIR_PERM, status)
    assert rig.row("127.0.0.1").n_errors == n_errors


async def test_a_hop_without_an_answer_leaves_the_redirect(
    rig: FetchRig, site: LoopbackSite
) -> None:
    """If the target cannot be asked, where it would lead is not known; the hop is."""
    rig.settings["keepalive"] = 0.0
    site.route("/a", to("/b"))
    site.route("/b", Answer(raw=b"nonsense\r\n\r\n"))

    fetched = await rig.fetch("/a")

    assert (fetched.outcome, fetched.reason, fetched.status_code) == (
        Outcome.REDIR_PERM,
        "bad_http",
        301,
    )
    assert fetched.hops[-1].target == site.url("/b")


async def test_a_hop_that_robots_forbid_is_not_asked(rig: FetchRig, site: LoopbackSite) -> None:
    """robots.txt counts for each hop."""
    rig.settings["robots_txt"] = True
    site.route("/robots.txt", Answer("User-agent: *\nDisallow: /b"))
    site.route("/a", to("/b"))

    fetched = await rig.fetch("/a")

    assert (fetched.outcome, fetched.reason) == (Outcome.REDIR_PERM, "robots")
    assert paths(site) == ["/robots.txt", "/a"]


async def test_the_body_of_a_target_is_not_read(rig: FetchRig, site: LoopbackSite) -> None:
    """The target becomes a page of its own: its headers are enough here."""
    rig.settings["timeout"] = 5.0
    site.route("/a", to("/b"))
    site.route("/b", Answer("x" * 100_000, drip=60.0))

    fetched = await rig.fetch("/a")

    assert (fetched.outcome, fetched.status_code, fetched.n_bytes) == (Outcome.REDIR_PERM, 200, 0)
