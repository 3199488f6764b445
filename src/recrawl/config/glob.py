"""Patterns over canonical URLs."""

from __future__ import annotations

import re

from recrawl.core.host import normalise_host
from recrawl.core.url import canonical_url, host_of, normalise_escapes
from recrawl.errors import InputError

__all__ = ["Glob"]

_START = re.compile(r"\*|https?:/{2}|http[^/]*\*", re.IGNORECASE)
_LITERAL_ORIGIN = re.compile(r"https?:/{2}[^/?#*]+(?:[/?]|$)", re.IGNORECASE)
_AUTHORITY = re.compile(r"[^/?]*:/{2}[^/?]*")


class Glob:
    """A pattern in which ``*`` stands for any run of characters, also of none and of ``/``.

    Every other character stands for itself, and the pattern covers the whole URL. It is put
    into the canonical spelling first: host in lower case and without its default port,
    percent-encodings as in ``core.url``; so it is compared with what the store holds.

    Parameters
    ----------
    pattern : str
        ``https://www.example.org/news/*``, ``*.pdf``, ``http*://*.example.org/*?print=*``.

    Raises
    ------
    InputError
        If no canonical URL can match.
    """

    def __init__(self, pattern: str) -> None:
        if not _START.match(pattern):
            raise InputError(
                "a URL pattern starts with http://, https:// or *,"
                " such as https://www.example.org/news/*",
                value=pattern,
            )
        #: The only host it can match; None if several.
        self.host: str | None = None
        self.pattern = self._canonical(pattern)
        self._first, *rest = self.pattern.split("*")
        self._last = rest.pop() if rest else None
        self._middle = [piece for piece in rest if piece]

    def _canonical(self, pattern: str) -> str:
        if "#" in pattern:
            raise InputError("a URL pattern has no #; pages have no fragment", value=pattern)
        if _LITERAL_ORIGIN.match(pattern):
            # "*" is an ordinary character of paths, so the pattern is a URL itself.
            canonical = canonical_url(pattern)
            self.host = host_of(canonical)
            return canonical
        authority = _AUTHORITY.match(pattern)
        end = authority.end() if authority else 0
        labels = pattern[:end].lower().split(".")
        labels = [label if label.isascii() else normalise_host(label) for label in labels]
        return ".".join(labels) + normalise_escapes(pattern[end:])

    def matches(self, url: str) -> bool:
        """Say whether the pattern covers a canonical URL; linear in its length."""
        if self._last is None:
            return url == self._first
        if not url.startswith(self._first):
            return False
        position = len(self._first)
        for piece in self._middle:
            # The leftmost place is enough: what follows any other place follows this one.
            position = url.find(piece, position)
            if position < 0:
                return False
            position += len(piece)
        return len(url) - len(self._last) >= position and url.endswith(self._last)
