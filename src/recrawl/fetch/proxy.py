"""Which proxy a URL goes through.

With a proxy, names are resolved by the proxy, out of our sight: only literal addresses in URLs
can be refused here, and the proxy has to keep its own rules for the rest.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Self
from urllib.parse import urlsplit

from recrawl.errors import ConfigError

__all__ = ["Proxies"]


@dataclass(frozen=True, slots=True)
class Proxies:
    """Proxies by scheme, and what goes past them.

    Parameters
    ----------
    http, https : str or None
        URL of the proxy for pages of this scheme, as ``http://proxy.example:3128``.
    no_proxy : tuple of str
        Hosts asked directly: names (with all names under them), ``host:port``, addresses,
        networks, or ``*``.
    """

    http: str | None = None
    https: str | None = None
    no_proxy: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("http", "https"):
            url = getattr(self, name)
            if url is None:
                continue
            parts = urlsplit(url)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ConfigError(
                    f"not a proxy for {name}: its URL must look like http://proxy.example:3128",
                    value=name,  # not the URL: it may carry a password
                )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """Return the proxies that HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY name.

        Lower case goes before upper case, as with other programs. In a CGI process HTTP_PROXY
        may come from a request's ``Proxy`` header, so only the lower-case name is trusted there.
        """

        def value(name: str) -> str | None:
            found = environment.get(name)
            if found is None and not (name == "http_proxy" and "REQUEST_METHOD" in environment):
                found = environment.get(name.upper())
            if found and "://" not in found and name != "no_proxy":
                found = f"http://{found}"
            return found or None

        every = value("all_proxy")
        return cls(
            http=value("http_proxy") or every,
            https=value("https_proxy") or every,
            no_proxy=tuple(
                part for one in (value("no_proxy") or "").split(",") if (part := one.strip())
            ),
        )

    def proxy_for(self, url: str) -> str | None:
        """Return the URL of the proxy for a canonical URL; None to go directly."""
        proxy = self.https if url.startswith("https:") else self.http
        if proxy is None or not self.no_proxy:
            return proxy
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = parts.port or (443 if parts.scheme == "https" else 80)
        return None if any(_covers(entry, host, port) for entry in self.no_proxy) else proxy


def _covers(entry: str, host: str, port: int) -> bool:
    """Say whether one entry of NO_PROXY means this host."""
    if entry == "*":
        return True
    with contextlib.suppress(ValueError):  # a name on one side or the other
        return ip_address(host) in ip_network(entry.strip("[]"), strict=False)
    name, colon, digits = entry.lower().rpartition(":")
    if colon and digits.isdigit():
        if int(digits) != port:
            return False
    else:
        name = entry.lower()
    name = name.strip("[]").lstrip("*").lstrip(".")
    return bool(name) and (host == name or host.endswith(f".{name}"))
