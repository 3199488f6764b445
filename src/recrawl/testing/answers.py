"""Scripted answers of a site on loopback."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from typing import TypeAlias

__all__ = ["Answer", "Asked", "Route", "conditional"]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it arrived.

    Parameters
    ----------
    host : str
        The Host header without its port, in lower case.
    path : str
        Request target: path and query, or the whole URL if it was sent to a proxy.
    method : str
        ``GET`` and so on.
    headers : mapping of str to str
        Names in lower case; values decoded as UTF-8, other bytes as surrogates.
    at : int
        When it arrived, by the site's clock. [ms]
    """

    host: str
    path: str
    method: str
    headers: Mapping[str, str]
    at: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered.

    Parameters
    ----------
    body : bytes or str
        Sent as it is, whatever Content-Encoding the headers claim.
    status : int
        HTTP status.
    headers : mapping of str to str or bytes or None
        Added to Date, Content-Length and, with a body, Content-Type; None leaves one out.
    delay : float
        Wait before the first byte. [s]
    drip : float or None
        Send the body one byte at a time with this wait between two. [s]
    cut : int or None
        Send so many bytes of the body, then close, though Content-Length says more.
    chunked : bool
        Use chunked transfer coding; with ``cut`` the last chunk is missing.
    hang : bool
        Never answer.
    raw : bytes or None
        Sent in place of everything else, then the connection is closed.
    """

    body: bytes | str = b""
    status: int = 200
    headers: Mapping[str, str | bytes | None] = field(default_factory=dict)
    delay: float = 0.0
    drip: float | None = None
    cut: int | None = None
    chunked: bool = False
    hang: bool = False
    raw: bytes | None = None

    @property
    def content(self) -> bytes:
        """The body as bytes."""
        return self.body.encode() if isinstance(self.body, str) else self.body

    def head(self, now: int) -> bytes:
        """Return status line and headers, up to and with the empty line."""
        headers: dict[str, str | bytes | None] = {"Date": formatdate(now // 1000, usegmt=True)}
        if self.body:
            headers["Content-Type"] = "text/html; charset=utf-8"
        if self.chunked:
            headers["Transfer-Encoding"] = "chunked"
        elif self.status >= 200 and self.status not in (204, 304):
            headers["Content-Length"] = str(len(self.content))
        given = {name.title() for name in self.headers}
        headers = {name: value for name, value in headers.items() if name not in given}
        lines = [b"HTTP/1.1 %d %s" % (self.status, _phrase(self.status))]
        for name, value in (*headers.items(), *self.headers.items()):
            if value is not None:
                raw = value.encode() if isinstance(value, str) else value
                lines.append(name.encode() + b": " + raw)
        return b"\r\n".join(lines) + b"\r\n\r\n"


Route: TypeAlias = Answer | Sequence[Answer] | Callable[[Asked], Answer]


def _phrase(status: int) -> bytes:
    try:
        return HTTPStatus(status).phrase.encode()
    except ValueError:
        return b"Unknown"


def conditional(
    body: bytes | str,
    *,
    etag: str | None = None,
    last_modified: str | None = None,
    headers: Mapping[str, str | bytes | None] | None = None,
) -> Callable[[Asked], Answer]:
    """Return a route that answers 304 to a request carrying these validators.

    If-None-Match is compared weakly and goes before If-Modified-Since, which must be equal to
    the letter, as strict servers have it.
    """
    validators: dict[str, str | bytes | None] = dict(headers or {})
    if etag is not None:
        validators["ETag"] = etag
    if last_modified is not None:
        validators["Last-Modified"] = last_modified
    full, unchanged = Answer(body, headers=validators), Answer(status=304, headers=validators)

    def answer(asked: Asked) -> Answer:
        tags = asked.headers.get("if-none-match")
        if tags is not None:
            known = etag is not None and etag.removeprefix("W/") in [
                tag.strip().removeprefix("W/") for tag in tags.split(",")
            ]
        else:
            since = asked.headers.get("if-modified-since")
            known = since is not None and since == last_modified
        return unchanged if known else full

    return answer
