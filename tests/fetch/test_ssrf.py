"""Nothing that only this machine can reach is fetched."""

from __future__ import annotations

import pytest

from recrawl.core.visit import Outcome
from recrawl.ports.fetcher import Hop
from recrawl.testing.rig import FetchRig
from recrawl.testing.site import Answer, LoopbackSite, StaticResolver


async def test_a_name_with_a_private_address_is_denied(rig: FetchRig, site: LoopbackSite) -> None:
    """The resolver's answer is checked: no connection is opened."""
    rig.settings["allow_networks"] = []
    site.route("/", Answer("secret"), host="inside.example")

    fetched = await rig.fetch("/", "inside.example")

    assert (fetched.outcome, fetched.reason) == (Outcome.DENIED, "private_address")
    assert (fetched.status_code, site.n_connections) == (None, 0)
    assert rig.row("inside.example").n_errors == 0


async def test_robots_of_a_private_address_are_not_asked_either(
    rig: FetchRig, site: LoopbackSite
) -> None:
    """The request for robots.txt is under the same rule and gives the same outcome."""
    rig.settings |= {"allow_networks": [], "robots_txt": True}

    fetched = await rig.fetch("/", "inside.example")

    assert (fetched.outcome, fetched.reason) == (Outcome.DENIED, "private_address")
    assert site.n_connections == 0


async def test_a_public_answer_beside_a_private_one_is_used(
    rig: FetchRig, site: LoopbackSite
) -> None:
    """Only the addresses that may be connected to are left."""
    resolver = StaticResolver({"a.example": ["10.0.0.1", "127.0.0.1"]})
    rig.settings["resolver"] = resolver
    site.route("/", Answer("x"), host="a.example")

    assert (await rig.fetch("/", "a.example")).outcome is Outcome.SUCCESS


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "[::1]", "[::ffff:7f00:1]", "10.0.0.1", "169.254.169.254"]
)
async def test_a_literal_private_address_is_denied(
    rig: FetchRig, site: LoopbackSite, host: str
) -> None:
    """A literal address skips the resolver, but not the rule."""
    rig.settings["allow_networks"] = []

    fetched = await rig.fetch("/", host)

    assert (fetched.outcome, fetched.reason) == (Outcome.DENIED, "private_address")
    assert (site.n_connections, rig.settings["resolver"].asked) == (0, [])


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://[::ffff:a9fe:a9fe]/",
    ],
)
async def test_a_redirect_to_a_private_address_is_recorded_not_followed(
    rig: FetchRig, site: LoopbackSite, location: str
) -> None:
    """The page is a redirect; what it points to is not asked."""
    site.route("/", Answer("go", 302, {"Location": location}), host="a.example")

    fetched = await rig.fetch("/", "a.example")

    assert (fetched.outcome, fetched.reason) == (Outcome.REDIR_TEMP, "private_address")
    assert len(fetched.hops) == 1
    assert len(site.requests) == 1


async def test_a_redirect_to_a_name_with_a_private_address_is_not_followed(
    rig: FetchRig, site: LoopbackSite
) -> None:
    """Another host is never asked on behalf of a page; as a page of its own it is denied."""
    rig.settings |= {
        "allow_networks": ["127.0.0.1/32"],
        "resolver": StaticResolver({"a.example": ["127.0.0.1"], "inside.example": ["127.0.0.2"]}),
    }
    target = site.url("/", "inside.example")
    site.route("/", Answer("go", 302, {"Location": target}), host="a.example")

    redirect = await rig.fetch("/", "a.example")
    fetched = await rig.fetch(url=target)

    assert redirect.hops == (Hop(site.url("/", "a.example"), 302, target),)
    assert (fetched.outcome, fetched.reason) == (Outcome.DENIED, "private_address")
    assert [asked.host for asked in site.requests] == ["a.example"]


async def test_a_name_that_changes_its_address_is_checked_each_time(
    rig: FetchRig, site: LoopbackSite
) -> None:
    """A second answer of the name server cannot lead inside."""
    table = {"a.example": ["127.0.0.1"]}
    resolver = StaticResolver(table)
    rig.settings |= {"allow_networks": ["127.0.0.1/32"], "resolver": resolver, "keepalive": 0.0}
    site.route("/a", Answer("x", headers={"Connection": "close"}), host="a.example")

    first = await rig.fetch("/a", "a.example")
    resolver._addresses["a.example"] = ["127.0.0.2"]
    await rig.close()  # and with it what was resolved before
    second = await rig.fetch("/a", "a.example")

    assert first.outcome is Outcome.SUCCESS
    assert (second.outcome, second.reason) == (Outcome.DENIED, "private_address")


async def test_robots_that_redirect_inside_leave_no_rules(
    rig: FetchRig, site: LoopbackSite
) -> None:
    """A robots.txt that leads to a private address is one that leads nowhere."""
    rig.settings |= {
        "robots_txt": True,
        "allow_networks": ["127.0.0.1/32"],
        "resolver": StaticResolver({"a.example": ["127.0.0.1"], "inside.example": ["127.0.0.2"]}),
    }
    inside = Answer(status=302, headers={"Location": site.url("/robots.txt", "inside.example")})
    literal = Answer(status=302, headers={"Location": "http://10.0.0.1/robots.txt"})
    site.route("/robots.txt", inside, host="a.example")
    site.route("/robots.txt", literal)
    site.route("/", Answer("x"), host="a.example")
    site.route("/", Answer("x"))

    by_name, by_number = await rig.fetch("/", "a.example"), await rig.fetch("/")

    assert by_name.outcome is by_number.outcome is Outcome.SUCCESS
    assert site.asked(host="inside.example") == []
