"""The seam to the network: one request in, one outcome out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from recrawl.core.columns import NO_TIME
from recrawl.core.visit import Outcome
from recrawl.ports.store import HostRow

__all__ = ["NOT_READY", "Fetched", "Fetcher", "Hop", "PageRequest"]

#: Reason of a RETRY that is no visit: robots.txt, asked for first, imposes a longer wait than the
#: fetcher was told to sit out. Nothing was sent for the page; it stays due, and its host's row
#: says when to come back.
NOT_READY = "not_ready"


@dataclass(frozen=True, slots=True)
class PageRequest:
    """What is to be fetched.

    Parameters
    ----------
    url : str
        Canonical URL.
    etag, last_modified : str or None
        Validators as the server sent them, byte for byte; None for an unconditional request.
    no_cache : bool
        Ask caches on the way to ask the server: after a 304 that nobody asked for
        (``unexpected_304``).
    """

    url: str
    etag: str | None = None
    last_modified: str | None = None
    no_cache: bool = False


@dataclass(frozen=True, slots=True)
class Hop:
    """One redirect: the answer of ``url`` was ``status_code`` and pointed to ``target``."""

    url: str
    status_code: int
    target: str


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came of a request.

    Parameters
    ----------
    outcome : Outcome
        SUCCESS, NOTMODIFIED, REDIR_TEMP, REDIR_PERM, RETRY, GONE, PARSE_FAILED, DENIED or EMPTY.
    fetched_at : int
        When the page's own request left (not robots.txt's). [ms]
    status_code : int or None
        HTTP status of the last answer; None if there was none.
    headers : mapping of str to str
        Headers of the last answer, names in lower case; repeated ones joined by ", ".
    body : bytes
        Decoded content (after Content-Encoding); empty unless the outcome is SUCCESS.
    hops : tuple of Hop
        Redirects in order; for a redirect outcome the last hop's target is the page's target.
    reason : str
        A word for people and statistics where the outcome is no success: ``timeout``, ``dns``,
        ``http_503``, ``robots``, ``private_address``, ``too_large``, ``truncated`` ...; else "".
    modified_at : int
        Last-Modified parsed; NO_TIME if absent, unreadable or later than the answer's Date. [ms]
    elapsed : float
        From the first byte sent to the last received. [s]
    n_bytes : int
        Bytes received on the wire for the body.
    """

    outcome: Outcome
    fetched_at: int
    status_code: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    hops: tuple[Hop, ...] = ()
    reason: str = ""
    modified_at: int = NO_TIME
    elapsed: float = 0.0
    n_bytes: int = 0


class Fetcher(Protocol):
    """Fetches pages politely, one host's pages one after another."""

    async def fetch(self, request: PageRequest, host: HostRow) -> tuple[Fetched, HostRow]:
        """Fetch one page.

        - Waits until ``host.ready_at`` and for the host's turn; no request leaves earlier.
        - Asks robots.txt first, from the cache or the network, and paces that request as well.
        - May answer RETRY with reason ``NOT_READY`` then, in place of a long wait.
        - Every failure to fetch is an outcome, never an exception.
        - Returns the host's row as it is afterwards: when it may be asked again, its errors.
        - Calls for one host come one after another; calls for different hosts run side by side.
        """
        ...

    async def close(self) -> None:
        """Close all connections; a second call does nothing."""
        ...
