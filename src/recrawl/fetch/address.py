"""Which addresses may be connected to: the public ones, and those that the user allows.

The check is made on what is connected to. For a name that is the resolver's answer, which
``GuardedResolver`` filters before the connection is opened, so a second answer of a hostile name
server changes nothing; a literal address skips the resolver and is checked in the URL.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import TypeAlias

from aiohttp.abc import AbstractResolver, ResolveResult

from recrawl.errors import ConfigError

__all__ = ["AddressRefused", "AddressRule", "GuardedResolver", "is_loopback"]

_Address: TypeAlias = IPv4Address | IPv6Address
_Network: TypeAlias = IPv4Network | IPv6Network

# IANA special-purpose registries (RFC 6890 and its updates): nothing public is served there.
_REFUSED_4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
    )
)  # fmt: skip
# Of IPv6, only global unicast is handed out; these parts of it are special.
_GLOBAL_6 = IPv6Network("2000::/3")
_REFUSED_6 = tuple(IPv6Network(text) for text in ("2001::/23", "2001:db8::/32", "3fff::/20"))
_NAT64 = IPv6Network("64:ff9b::/96")


class AddressRefused(OSError):
    """All addresses of a name are refused.

    Parameters
    ----------
    host : str
        The name.
    addresses : sequence of str
        What it resolves to.
    """

    def __init__(self, host: str, addresses: list[str]) -> None:
        super().__init__(
            f"{host} resolves to {', '.join(addresses)}, which may not be connected to; "
            "allow the network to fetch from it"
        )
        self.host = host
        self.addresses = addresses


class AddressRule:
    """Says which addresses may be connected to.

    Parameters
    ----------
    allow_networks : iterable of str
        Networks allowed although they are not public, as ``127.0.0.0/8`` or ``fd00:1::/64``.

    Raises
    ------
    ConfigError
        If one of them is no network.
    """

    def __init__(self, allow_networks: Iterable[str] = ()) -> None:
        networks: list[_Network] = []
        for text in allow_networks:
            try:
                networks.append(ip_network(text))
            except ValueError as error:
                raise ConfigError(
                    f"not a network to allow: {text!r} ({error}); "
                    "write an address and a prefix length, as 127.0.0.0/8",
                    value=text,
                ) from error
        self._allowed = tuple(networks)

    def allows(self, address: _Address) -> bool:
        """Say whether an address may be connected to.

        IPv6 forms that stand for an IPv4 address (mapped, NAT64, 6to4) are as good as that one.
        """
        if any(address in network for network in self._allowed):
            return True
        if isinstance(address, IPv4Address):
            return not any(address in network for network in _REFUSED_4)
        embedded = _embedded(address)
        if embedded is not None:
            return self.allows(embedded)
        return address in _GLOBAL_6 and not any(address in network for network in _REFUSED_6)

    def refuses_host(self, host: str) -> bool:
        """Say whether the host of a URL is a literal address that may not be connected to.

        What looks like an address and is none is refused as well.
        """
        if not _looks_numeric(host):
            return False
        address = literal_address(host)
        return address is None or not self.allows(address)


def _embedded(address: IPv6Address) -> IPv4Address | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.sixtofour


def _looks_numeric(host: str) -> bool:
    """Say whether a host ends in a number, so that the system may take it for an address."""
    last = host.rstrip(".").rpartition(".")[2]
    return ":" in host or last.isdigit() or last[:2].lower() == "0x"


def literal_address(host: str) -> _Address | None:
    """Return the address that a literal host means, in any spelling a system takes; else None."""
    text = host.strip("[]").rstrip(".")
    try:
        return ip_address(text)
    except ValueError:
        try:
            return IPv4Address(socket.inet_aton(text))  # 127.1, 0x7f.1, 2130706433, 017700000001
        except (OSError, ValueError):
            return None


def is_loopback(host: str) -> bool:
    """Say whether the host of a URL is this machine by its name."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    if not _looks_numeric(host):
        return False
    address = literal_address(host)
    if isinstance(address, IPv6Address):
        address = _embedded(address) or address
    return address is not None and address.is_loopback


class GuardedResolver(AbstractResolver):
    """Resolves names through another resolver and drops what may not be connected to.

    Parameters
    ----------
    inner : AbstractResolver
        Asks the network.
    rule : AddressRule
        What is dropped.
    """

    def __init__(self, inner: AbstractResolver, rule: AddressRule) -> None:
        self._inner = inner
        self._rule = rule

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a name that may be connected to.

        Raises
        ------
        AddressRefused
            If none is left.
        OSError
            If the name does not exist or cannot be resolved now.
        """
        found = await self._inner.resolve(host, port, family)
        allowed = [one for one in found if self._rule.allows(ip_address(one["host"]))]
        if not allowed:
            raise AddressRefused(host, [one["host"] for one in found])
        return allowed

    async def close(self) -> None:
        """Close the inner resolver."""
        await self._inner.close()
