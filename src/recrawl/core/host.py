"""Canonical host names: one spelling a host, so that one host has one key and one pace."""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from recrawl.errors import UrlError

__all__ = ["canonical_host", "normalise_host"]

_PLAIN = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_MAX_HOST = 253
_MAX_LABEL = 63
# Longest spelling looked at: each of 253 bytes percent-encoded, with room for separators.
_MAX_SPELLING = 1000

# UTS-46 maps these to nothing (its status "ignored"): soft hyphen, joiners without shape, fillers,
# zero-width blanks, variation selectors.
_IGNORED = frozenset("\xad\u034f\u115f\u1160\u17b4\u17b5\u200b\u2060\u2064\u3164\ufeff\uffa0") | {
    chr(code)
    for codes in ((0x180B, 0x1810), (0xFE00, 0xFE10), (0xE0100, 0xE01F0))
    for code in range(*codes)
}
# Non-transitional UTS-46, as browsers do: sharp s, final sigma and the joiners stay themselves.
_KEPT = frozenset("ßς\u200c\u200d")
_SPECIAL = {"ẞ": "ß", "。": ".", "．": ".", "｡": "."}
_REFUSED_CATEGORIES = frozenset(["Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"])


def canonical_host(text: str) -> str:
    """Return the one spelling of a host name, without port.

    Parameters
    ----------
    text : str
        A host name or address as people write it: Unicode or ASCII, any case, percent-encoded,
        with or without a trailing dot; IPv4 in any form a browser reads; IPv6 in brackets.

    Returns
    -------
    str
        ASCII: dot-separated labels, a dotted quad, or an IPv6 address in brackets.

    Raises
    ------
    UrlError
        If no host can have this name.

    Notes
    -----
    International names follow the mapping of UTS-46, non-transitional (the sharp s of
    ``straße`` becomes ``xn--strae-oqa``, not ``ss``), as browsers do. The mapping is built from
    NFKC and case folding, which Unicode keeps stable, so that a key does not depend on the
    Python version. Left out are the checks that guard a display against look-alikes (Bidi,
    joiners in context): the name server decides whether such a name is there.
    """
    try:
        return normalise_host(text.strip("\0\t\n\r "))
    except UrlError as error:
        message = f"not a host: {text[:200]!r}: {error.message}"
        raise UrlError(f"{message}; write a name such as www.example.org", value=text) from None


@lru_cache(maxsize=8192)  # a pure function; links of a page share few hosts
def normalise_host(text: str) -> str:
    """Return the canonical host; the message of an UrlError is the reason alone, no value."""
    if len(text) > _MAX_SPELLING:
        raise UrlError(f"the host is longer than {_MAX_HOST} characters")
    if text.startswith("["):
        return _ipv6(text)
    host = text.lower() if text.isascii() else text
    if not _PLAIN.fullmatch(host):
        host = _mapped(_percent_decoded(host)).rstrip(".")
        if not host:
            raise UrlError("the host is missing")
        host = ".".join([_ascii_label(label) for label in host.split(".")])
    if _NUMBER.fullmatch(host[host.rfind(".") + 1 :]):
        return _ipv4(host)
    if len(host) > _MAX_HOST:
        raise UrlError(f"the host is longer than {_MAX_HOST} characters")
    if max(map(len, host.split("."))) > _MAX_LABEL:
        raise UrlError(f"a part of the host is longer than {_MAX_LABEL} characters")
    return host


def _percent_decoded(host: str) -> str:
    if "%" not in host:
        return host
    try:
        return unquote_to_bytes(host.encode("utf-8", "surrogatepass")).decode("utf-8")
    except UnicodeDecodeError:
        raise UrlError("the percent-encoded host is not UTF-8") from None


def _mapped(host: str) -> str:
    """Fold case, width and compatibility forms (UTS-46 section 4, steps 1 and 2)."""
    if host.isascii():
        return host.lower()
    mapped = []
    for character in host:
        if character.isascii() or character in _KEPT:
            mapped.append(character.lower())
        elif character in _SPECIAL:
            mapped.append(_SPECIAL[character])
        elif character not in _IGNORED:
            folded = unicodedata.normalize("NFKC", character).casefold()
            folded = unicodedata.normalize("NFKC", folded)
            if "." in folded or folded in ("。", "\ufffd"):
                raise UrlError("the host has a character that host names cannot have")
            mapped.append(folded)
    return unicodedata.normalize("NFC", "".join(mapped))


def _ascii_label(label: str) -> str:
    if not label:
        raise UrlError("the host has an empty part between two dots")
    if label.isascii():
        if not _PLAIN.fullmatch(label):
            raise UrlError(
                "the host has a character that host names cannot have"
                " (letters, digits, - and _ are allowed)"
            )
        return label
    if label.startswith("xn--"):
        raise UrlError("a part of the host starts with xn-- and is not ASCII")
    categories = [unicodedata.category(c) for c in label if c not in _KEPT]
    if not _REFUSED_CATEGORIES.isdisjoint(categories):
        raise UrlError("the host has a control, blank or unassigned character")
    if not all(c in "-_" or c.isalnum() for c in label if c.isascii()):
        raise UrlError("the host has a character that host names cannot have")
    if unicodedata.category(label[0]).startswith("M"):
        raise UrlError("a part of the host starts with a combining mark")
    return "xn--" + label.encode("punycode").decode("ascii").lower()


def _ipv4(host: str) -> str:
    """Read an address of one to four numbers, each decimal, octal (0) or hexadecimal (0x).

    References
    ----------
    WHATWG URL, section 3.5, "IPv4 parser".
    """
    parts = host.split(".")
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        raise UrlError("the host ends in a number and is no IPv4 address")
    try:
        numbers = [_ipv4_number(part) for part in parts]
    except ValueError:
        raise UrlError("the host has a number that is not octal") from None
    *leading, last = numbers
    if any(number > 255 for number in leading) or last >= 256 ** (4 - len(leading)):
        raise UrlError("the host has a number that is too large for an IPv4 address")
    value = last + sum(number << 8 * (3 - i) for i, number in enumerate(leading))
    return ".".join(str(byte) for byte in value.to_bytes(4, "big"))


def _ipv4_number(part: str) -> int:
    if part.startswith("0x"):
        return int(part[2:] or "0", 16)
    return int(part, 8 if part.startswith("0") else 10)


def _ipv6(text: str) -> str:
    """Read an address in brackets and write it as RFC 5952 does, without the dotted tail.

    ``str(ipaddress.IPv6Address)`` is not used: its form of mapped addresses depends on the
    Python version, and keys made of it would too.
    """
    if not text.endswith("]"):
        raise UrlError("the bracket of an IPv6 address is not closed")
    inner = text[1:-1]
    if "%" in inner:
        raise UrlError("an IPv6 address with a zone means another thing on each machine")
    try:
        address = ipaddress.IPv6Address(inner)
    except ValueError:
        raise UrlError("the brackets do not hold an IPv6 address") from None
    groups = [f"{int.from_bytes(address.packed[i : i + 2], 'big'):x}" for i in range(0, 16, 2)]
    start, length = _longest_zeros(groups)
    if length < 2:
        return f"[{':'.join(groups)}]"
    return f"[{':'.join(groups[:start])}::{':'.join(groups[start + length :])}]"


def _longest_zeros(groups: list[str]) -> tuple[int, int]:
    """Return start and length of the first longest run of zero groups."""
    best = (0, 0)
    start = 0
    for i, group in enumerate([*groups, "end"]):
        if group != "0":
            if i - start > best[1]:
                best = (start, i - start)
            start = i + 1
    return best
