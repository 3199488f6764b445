"""What kind of document a body is: by its header, or by its first bytes where there is none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from recrawl.extract.charset import utf_16_by_nuls

__all__ = ["Kind", "Mime", "mime_of"]


class Kind(Enum):
    """How a document is turned into text."""

    HTML = "html"
    TEXT = "text"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class Mime:
    """Type of a document, where it was taken from (``header`` or ``sniffed``), and its kind."""

    name: str
    source: str
    kind: Kind


_TYPE = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+*-]+", re.ASCII)
# What servers send that know no type.
_NO_TYPE = frozenset({"unknown/unknown", "application/unknown", "content/unknown"})

_HTML = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
_TEXT = frozenset(
    {
        "application/ecmascript",
        "application/javascript",
        "application/json",
        "application/jsonl",
        "application/ndjson",
        "application/sql",
        "application/toml",
        "application/x-javascript",
        "application/x-ndjson",
        "application/x-sh",
        "application/x-yaml",
        "application/xml",
        "application/yaml",
    }
)

# https://mimesniff.spec.whatwg.org/#identifying-a-resource-with-an-unknown-mime-type
_HTML_START = re.compile(
    rb"(?:<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p"
    rb"|meta|link|article|main|section|ul)[\s/>]|<!--)",
    re.IGNORECASE,
)
_SNIFF_BYTES = 1445
_BLANKS = b"\t\n\f\r "
_MARKS = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")
# Bytes that no text has.
_BINARY = bytes(byte for byte in range(0x20) if byte not in b"\t\n\f\r\x1b")


def _kind(name: str) -> Kind:
    """Return how a document of that type is turned into text."""
    if name in _HTML:
        return Kind.HTML
    if name.startswith("text/") or name in _TEXT or name.endswith(("+json", "+xml")):
        return Kind.TEXT
    return Kind.UNSUPPORTED


def mime_of(body: bytes, content_type: str | None) -> Mime:
    """Return the type of a document.

    Parameters
    ----------
    body : bytes
        The body; looked at only if the header names no type.
    content_type : str, optional
        Content-Type header as it was sent.
    """
    match = _TYPE.match((content_type or "").strip().lower())
    if match and match[0] not in _NO_TYPE and "*" not in match[0]:
        return Mime(match[0], "header", _kind(match[0]))
    name = _sniff(body)
    return Mime(name, "sniffed", _kind(name))


def _sniff(body: bytes) -> str:
    """Return the type that the first bytes show."""
    head = body[:_SNIFF_BYTES]
    is_marked = head.startswith(_MARKS)
    if utf_16_by_nuls(body) or head.startswith(_MARKS[1:]):
        head = head.replace(b"\0", b"")
        is_marked = True
    head = head.removeprefix(b"\xef\xbb\xbf").removeprefix(b"\xfe\xff").removeprefix(b"\xff\xfe")
    head = head.lstrip(_BLANKS)
    if _HTML_START.match(head):
        return "text/html"
    if head.startswith(b"<?xml"):
        return "text/html" if b"<html" in head.lower() else "text/xml"
    if head.startswith(b"%PDF-"):
        return "application/pdf"
    if not is_marked and len(head.translate(None, _BINARY)) != len(head):
        return "application/octet-stream"
    return "text/plain"
