"""Canonical URLs, page keys and host keys.

The canonical URL is the identity of a page: the same rule is used for what is written and for
what is looked up, and it is idempotent. It follows the URL standard of the WHATWG where
browsers and RFC 3986 differ, with these choices of ours:

- only ``http`` and ``https``; a URL with user name or password is refused;
- the fragment and an empty query are dropped, a query is kept in its order;
- percent-encoded unreserved characters are decoded, all other encodings stay with upper-case
  digits, so ``%2F`` never becomes ``/``; a ``%`` that encodes nothing becomes ``%25``;
- what RFC 3986 does not allow in a path or query (blank, quotes, brackets, ``|``, non-ASCII) is
  encoded as UTF-8;
- trailing dots of the host are removed; see ``core.host`` for the host.
"""

from __future__ import annotations

import re
from functools import lru_cache

from recrawl.core.host import normalise_host
from recrawl.core.keys import stored_key
from recrawl.errors import UrlError

__all__ = [
    "MAX_URL",
    "canonical_url",
    "host_key",
    "host_of",
    "normalise_escapes",
    "origin_of",
    "page_key",
    "redact",
    "resolve",
]

#: Longest canonical URL, in characters.
MAX_URL = 8000
# Longest text looked at at all: bounds the work for hostile input.
_MAX_TEXT = 4 * MAX_URL

# A URL that is canonical but for its host and dot segments. No "%", so nothing to decode.
_PLAIN = re.compile(
    r"(https?)://([A-Za-z0-9_.-]+)(?::([1-9][0-9]{0,4}))?(/[A-Za-z0-9._~!$&'()*+,;=:@/-]*)"
    r"(\?[A-Za-z0-9._~!$&'()*+,;=:@/?-]+)?"
)
# A link to a path of the same origin that needs no repair.
_PLAIN_PATH = re.compile(
    r"/(?!/)[A-Za-z0-9._~!$&'()*+,;=:@/-]*(?:\?[A-Za-z0-9._~!$&'()*+,;=:@/?-]+)?"
)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_TWO_SLASHES = re.compile(r"[/\\]{2}")
_AUTHORITY = re.compile(r"[/\\]*([^/\\?#]*)([^?#]*)\??([^#]*)", re.DOTALL)
_HOST_PORT = re.compile(r"(\[[^\]]*\]?|[^:]*)(?::([0-9]*))?")
# One at a time: a percent-encoding, a lone "%", a run of what must be encoded.
_TO_ENCODE = re.compile(r"%([0-9A-Fa-f]{2})|%|[^A-Za-z0-9._~!$&'()*+,;=:@/?%-]+")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ENDS = "".join(map(chr, range(0x21)))
_BREAKS = str.maketrans("", "", "\t\n\r")
_DEFAULT_PORTS = {"http": 80, "https": 443}


def canonical_url(text: str) -> str:
    """Return the one spelling of a URL.

    Parameters
    ----------
    text : str
        An absolute URL as people and pages write it.

    Returns
    -------
    str
        ASCII, at most ``MAX_URL`` characters; ``canonical_url`` of it is itself.

    Raises
    ------
    UrlError
        If the text cannot name a page. No other error is ever raised for a str.

    Examples
    --------
    >>> canonical_url("HTTP://Foo.Example:80/a/../%7eb c?x#top")
    'http://foo.example/~b%20c?x'
    """
    plain = _PLAIN.fullmatch(text)
    if plain and "/." not in text and len(text) <= MAX_URL and int(plain[3] or 1) <= 65535:
        scheme, host, port, path, query = plain.groups("")
        colon = "" if port in ("", str(_DEFAULT_PORTS[scheme])) else ":"
        try:
            return f"{scheme}://{normalise_host(host)}{colon}{port if colon else ''}{path}{query}"
        except UrlError as error:
            raise _refusal(text, error.message) from None
    try:
        return _canonical(text)
    except UrlError as error:
        raise _refusal(text, error.message) from None


def _canonical(text: str) -> str:
    """Return the canonical URL; the message of an UrlError is the reason alone."""
    if len(text) > _MAX_TEXT:
        raise UrlError(f"it is longer than {MAX_URL} characters")
    text = _trimmed(text)
    scheme_match = _SCHEME.match(text)
    if not scheme_match:
        raise UrlError("it has no scheme; write it in full, as https://www.example.org/")
    scheme = scheme_match[1].lower()
    if scheme not in _DEFAULT_PORTS:
        raise UrlError("its scheme is not supported; http and https are")
    parts = _AUTHORITY.match(text, scheme_match.end())
    assert parts is not None  # every part may be empty
    authority, path, query = parts.groups()
    host, port = _host_and_port(authority, scheme)
    path = _without_dot_segments(normalise_escapes(path.replace("\\", "/")))
    query = normalise_escapes(query)
    url = f"{scheme}://{host}{port}{path}{'?' if query else ''}{query}"
    if len(url) > MAX_URL:
        raise UrlError(f"it is longer than {MAX_URL} characters")
    return url


def _trimmed(text: str) -> str:
    """Remove blanks and controls at both ends, and tabs and line ends anywhere."""
    text = text.strip(_ENDS)
    return text if text.isprintable() else text.translate(_BREAKS)


def _host_and_port(authority: str, scheme: str) -> tuple[str, str]:
    """Return the canonical host, and the port with its colon unless it is the default."""
    user, at, rest = authority.rpartition("@")
    if at and user not in ("", ":"):
        raise UrlError("it carries a user name or password; write it without them")
    match = _HOST_PORT.fullmatch(rest)
    if not match:
        raise UrlError("its port is not a number from 1 to 65535")
    host = normalise_host(match[1])
    digits = (match[2] or "").lstrip("0")
    if not digits and not match[2]:
        return host, ""
    if not digits or len(digits) > 5 or int(digits) > 65535:
        raise UrlError("its port is not a number from 1 to 65535")
    return host, "" if int(digits) == _DEFAULT_PORTS[scheme] else f":{digits}"


def normalise_escapes(text: str) -> str:
    """Return part of a path or query with every character encoded in its one way.

    Raises
    ------
    UrlError
        If the text holds half a surrogate pair, which no encoding can write.
    """
    try:
        return _TO_ENCODE.sub(_encoded, text)
    except UnicodeEncodeError:
        raise UrlError("it has characters that are not Unicode text (wrong encoding?)") from None


def _encoded(match: re.Match[str]) -> str:
    code = match[1]
    if code is not None:
        value = int(code, 16)
        return chr(value) if value in _UNRESERVED else f"%{value:02X}"
    return "".join([f"%{byte:02X}" for byte in match[0].encode("utf-8")])


def _without_dot_segments(path: str) -> str:
    """Remove ``.`` and ``..`` segments (RFC 3986, section 5.2.4); empty segments stay."""
    if "/." not in path:
        return path or "/"
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            if kept:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def redact(text: str) -> str:
    """Return a URL as it may be shown: no user name or password, at most 200 characters.

    Everything between the scheme and the last ``@`` goes, also where the ``@`` belongs to the
    path: a password may hold any character.
    """
    head, at, tail = text.rpartition("@")
    if at:
        scheme = re.match(r"\s*https?:[/\\]*", head, re.IGNORECASE)
        text = f"{scheme[0] if scheme else ''}…@{tail}"
    return text if len(text) <= 200 else f"{text[:199]}…"


def _refusal(text: str, reason: str) -> UrlError:
    shown = redact(text)
    return UrlError(f"not a URL of a page: {shown!r}: {reason}", value=shown)


def page_key(url: str) -> int:
    """Return the 64-bit key of a canonical URL; never NO_KEY."""
    return stored_key(url.encode(), b"page")


def host_key(host: str) -> int:
    """Return the 64-bit key of a canonical host name; never NO_KEY."""
    return stored_key(host.encode(), b"host")


def host_of(url: str) -> str:
    """Return the canonical host name of a canonical URL, without port; IPv6 in brackets."""
    authority = origin_of(url).partition("://")[2]
    if authority.endswith("]"):
        return authority
    return authority.partition(":")[0] if authority[0] != "[" else authority.rpartition(":")[0]


def origin_of(url: str) -> str:
    """Return ``scheme://host`` with the port where it is not the default.

    Raises
    ------
    UrlError
        If ``url`` is not canonical to that point.
    """
    end = url.find("/", 8)
    if end < 0 or not url.startswith(("http://", "https://")):
        raise _refusal(url, "it is not canonical; pass it through canonical_url first")
    return url[:end]


def resolve(base: str, reference: str) -> str | None:
    """Return the canonical URL that ``reference`` means on ``base``; None if no page.

    Parameters
    ----------
    base : str
        URL of the page, or what its ``<base>`` says.
    reference : str
        The link as it is written.

    Notes
    -----
    WHATWG URL, section 4.4. Never raises: a link is data. An empty reference and one that is
    only a fragment mean the page itself.
    """
    if len(reference) > _MAX_TEXT:
        return None
    try:
        if _PLAIN_PATH.fullmatch(reference) and "/." not in reference:
            url = _base_origin(base) + reference
            return url if len(url) <= MAX_URL else None
        reference = _trimmed(reference)
        scheme_match = _SCHEME.match(reference)
        if scheme_match is None:
            return canonical_url(_joined(_base(base), reference))
        rest = reference[scheme_match.end() :]
        scheme = scheme_match[1].lower()
        if _TWO_SLASHES.match(rest) or not _is_page_scheme_of(scheme, base):
            return canonical_url(reference)
        return canonical_url(_joined(_base(base), rest))
    except UrlError:
        return None


@lru_cache(maxsize=64)  # the links of a page share their base
def _base(base: str) -> str:
    return canonical_url(base)


@lru_cache(maxsize=64)
def _base_origin(base: str) -> str:
    return origin_of(canonical_url(base))


def _is_page_scheme_of(scheme: str, base: str) -> bool:
    """Say whether ``http:page.html`` is a relative reference on this base."""
    return scheme in _DEFAULT_PORTS and base.lstrip(_ENDS).lower().startswith(f"{scheme}:")


def _joined(base: str, reference: str) -> str:
    if reference[:1] in ("", "#"):
        return base
    if reference[0] in "/\\":
        if _TWO_SLASHES.match(reference):
            return f"{base[: base.index(':')]}:{reference}"
        return origin_of(base) + reference
    page = base.partition("?")[0]
    if reference[0] == "?":
        return page + reference
    return page[: page.rindex("/") + 1] + reference
