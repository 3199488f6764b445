"""Names from a table instead of from the network."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence

from aiohttp.abc import AbstractResolver, ResolveResult

__all__ = ["StaticResolver"]


class StaticResolver(AbstractResolver):
    """Resolves names from a table; a test's DNS.

    Parameters
    ----------
    addresses : mapping of str to sequence of str
        Addresses by name.
    fallback : str or None
        Address of all other names; None: they do not exist.
    """

    def __init__(
        self, addresses: Mapping[str, Sequence[str]] | None = None, fallback: str | None = None
    ) -> None:
        self._addresses = dict(addresses or {})
        self._fallback = fallback
        #: Names asked for, in order.
        self.asked: list[str] = []

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_INET,  # noqa: ARG002 - the caller sorts
    ) -> list[ResolveResult]:
        self.asked.append(host)
        known = self._addresses.get(host, [self._fallback] if self._fallback else [])
        if not known:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=0,
            )
            for address in known
        ]

    async def close(self) -> None:
        """Do nothing: there is nothing to let go of."""
