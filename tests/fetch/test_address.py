from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import ConfigError
from recrawl.fetch.address import AddressRefused, AddressRule, GuardedResolver, is_loopback
from recrawl.testing.resolver import StaticResolver

REFUSED = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254",
    "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1",
    "192.168.1.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.250",
    "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "fe80::1", "fe80::1%eth0", "fec0::1", "fc00::1",
    "fd00:ec2::254", "ff02::1", "2001::1", "2001:db8::1", "2001:10::1", "3fff::1", "5f00::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
    "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1",
    "2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:c0a8:101::1",
]  # fmt: skip
ALLOWED = [
    "1.1.1.1", "93.184.215.14", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1",
    "192.167.255.255", "198.17.0.1", "223.255.255.255",
    "2606:4700::1111", "2a00:1450:4001::1", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1",
    "2002:101:101::1",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_an_address_that_is_not_public_is_refused(text: str) -> None:
    """Loopback, private, link-local, metadata, shared, multicast and their IPv6 forms."""
    assert not AddressRule().allows(ip_address(text))


@pytest.mark.parametrize("text", ALLOWED)
def test_a_public_address_is_allowed(text: str) -> None:
    """Public unicast may be connected to, right up to the edges of the special networks."""
    assert AddressRule().allows(ip_address(text))


@pytest.mark.parametrize("text", ["127.0.0.1", "::ffff:127.0.0.1", "64:ff9b::127.0.0.1", "::1"])
def test_an_allowed_network_is_allowed_in_every_form(text: str) -> None:
    """A network the user allows is allowed where IPv6 wraps it, too."""
    assert AddressRule(["127.0.0.0/8", "::1/128"]).allows(ip_address(text))


def test_allowing_one_network_allows_no_other() -> None:
    """The neighbours of an allowed network stay refused."""
    rule = AddressRule(["10.1.0.0/16"])

    assert rule.allows(ip_address("10.1.255.255"))
    assert not rule.allows(ip_address("10.2.0.0"))
    assert not rule.allows(ip_address("127.0.0.1"))


@given(st.integers(0, 2**32 - 1))
def test_mapped_forms_are_as_good_as_what_they_stand_for(number: int) -> None:
    """An IPv4 address and its mapped, NAT64 and 6to4 forms are allowed or refused together."""
    rule = AddressRule()
    address = IPv4Address(number)
    forms = [
        IPv6Address((0xFFFF << 32) | number),
        IPv6Address((0x64FF9B << 96) | number),
        IPv6Address((0x2002 << 112) | (number << 80)),
    ]

    assert [rule.allows(form) for form in forms] == [rule.allows(address)] * 3


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.1", "127.0.0.1.", "2130706433", "017700000001", "0x7f000001", "0x7f.1",
        "0X7F.0.0.1", "0177.0.0.1", "[::1]", "[::ffff:7f00:1]", "[fe80::1]", "169.254.169.254",
        "1.2.3.4.5", "999.1.1.1", "١٢٧.0.0.1", "[nonsense:]",
    ],
)  # fmt: skip
def test_a_literal_host_is_refused_in_every_spelling(host: str) -> None:
    """Short, octal, hexadecimal and decimal spellings of a private address do not get past."""
    assert AddressRule().refuses_host(host)


@pytest.mark.parametrize(
    "host",
    ["1.1.1.1", "[2606:4700::1111]", "a.example", "127.0.0.1.example", "x1", "0xcafe.example"],
)
def test_public_literals_and_names_are_not_refused(host: str) -> None:
    """A name is left to the resolver; a public literal is fine."""
    assert not AddressRule().refuses_host(host)


@pytest.mark.parametrize("text", ["", "127.0.0.1/8", "localhost", "10.0.0.0/33"])
def test_what_is_no_network_cannot_be_allowed(text: str) -> None:
    """The message names the value and shows how a network is written."""
    with pytest.raises(ConfigError, match=r"127\.0\.0\.0/8") as caught:
        AddressRule([text])

    assert caught.value.value == text


@pytest.mark.parametrize(
    "host", ["localhost", "a.localhost", "127.0.0.1", "127.8.8.8", "[::1]", "[::ffff:127.0.0.1]"]
)
def test_loopback_is_known_by_name(host: str) -> None:
    """localhost, what is under it, and the literals of loopback."""
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["a.example", "10.0.0.1", "[::2]", "localhost.example", "1.2.3.4.5"]
)
def test_other_hosts_are_not_loopback(host: str) -> None:
    """Private addresses and names that only look like it are not this machine."""
    assert not is_loopback(host)


async def test_a_resolver_drops_what_is_refused() -> None:
    """Of a public and a private answer, the public one is left."""
    resolver = GuardedResolver(
        StaticResolver({"a.example": ["10.0.0.1", "1.1.1.1"]}), AddressRule()
    )

    assert [one["host"] for one in await resolver.resolve("a.example", 80)] == ["1.1.1.1"]
    await resolver.close()


async def test_a_name_with_private_answers_only_is_refused() -> None:
    """The error names the host and what it resolves to."""
    resolver = GuardedResolver(StaticResolver({"a.example": ["10.0.0.1", "::1"]}), AddressRule())

    with pytest.raises(AddressRefused, match=r"a\.example resolves to 10\.0\.0\.1, ::1") as caught:
        await resolver.resolve("a.example", 80)

    assert caught.value.addresses == ["10.0.0.1", "::1"]
