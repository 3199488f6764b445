"""Turns bytes into text: byte order mark, header, markup, UTF-8, then a guess.

The order is fixed, so that equal bytes with an equal label always give equal text:

1. a byte order mark;
2. UTF-16 without one, seen by its NUL bytes;
3. the charset of the Content-Type header, then the one that the markup declares;
4. UTF-8;
5. a detector.

Two kinds of label are not believed: one whose decoding mostly fails; and one of UTF-16 or a
single-byte charset over bytes that are valid UTF-8 beyond ASCII, which text in such a charset
practically never is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from resiliparse.parse.encoding import detect_encoding
from w3lib.encoding import html_body_declared_encoding, read_bom

from recrawl.extract._labels import CODECS, SINGLE_BYTE, charset_of_label

__all__ = ["Decoded", "decode"]

_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_META = re.compile(rb"<meta\s[^<>]*charset\s*=\s*[\"']?\s*([\w:.-]+)", re.IGNORECASE)

# Bytes in which UTF-16 shows, and in which markup may declare its charset.
_HEAD = 1024
_META_HEAD = 4096

# Of 100 bytes of UTF-16 text in a script near ASCII, so many at least are NUL, all on one side.
_NULS = 40

# A decoding counts as right with up to one unreadable place for so many good characters beyond
# ASCII: a cut or damaged page keeps its label, a lying label does not.
_GOOD_FOR_ONE_BAD = 4


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text with the charset it was read in.

    Parameters
    ----------
    text : str
        The text, without byte order mark; U+FFFD where bytes could not be read.
    charset : str
        Name in the WHATWG encoding standard, in lower case.
    source : str
        ``bom``, ``header``, ``meta``, ``utf-8`` or ``detected``.
    """

    text: str
    charset: str
    source: str


def decode(body: bytes, content_type: str | None = None, *, is_markup: bool = True) -> Decoded:
    """Return the text of a body; never raises.

    Parameters
    ----------
    body : bytes
        The body, after Content-Encoding.
    content_type : str, optional
        Content-Type header as it was sent.
    is_markup : bool
        Whether a ``meta`` element or an XML declaration in the body counts.
    """
    codec, mark = read_bom(body)
    if codec is not None and mark is not None:
        charset = charset_of_label(codec) or codec
        return Decoded(body[len(mark) :].decode(codec, "replace"), charset, "bom")
    if by_nuls := utf_16_by_nuls(body):
        return Decoded(body.decode(CODECS[by_nuls], "replace"), by_nuls, "detected")
    doubtful = None
    for charset, source in _labels(body, content_type, is_markup=is_markup):
        text, is_good = _read(body, charset)
        if is_good and _is_lie(body, charset):
            break
        if is_good:
            return Decoded(text, charset, source)
        doubtful = doubtful or Decoded(text, charset, source)
    text, is_good = _read(body, "utf-8")
    if is_good:
        return Decoded(text, "utf-8", "utf-8")
    return _detect(body, doubtful)


def utf_16_by_nuls(body: bytes) -> str | None:
    """Return the kind of UTF-16 that the NUL bytes show, or None."""
    head = body[:_HEAD]
    if b"\0" not in head:
        return None
    even, odd = head[0::2].count(0), head[1::2].count(0)
    enough = _NULS * len(head) // 100
    if odd >= enough and even * 20 <= odd:
        return "utf-16le"
    if even >= enough and odd * 20 <= even:
        return "utf-16be"
    return None


def _labels(body: bytes, content_type: str | None, *, is_markup: bool) -> Iterator[tuple[str, str]]:
    """Yield the charsets that header and markup name, each with its source."""
    if match := _HEADER.search(content_type or ""):
        charset = charset_of_label(match[1])
        if charset:
            yield charset, "header"
    if not is_markup:
        return
    label = html_body_declared_encoding(body)
    if label is None and (found := _META.search(body, 0, _META_HEAD)):
        # Labels that Python has no codec for are lost on the way above.
        label = found[1].decode("ascii", "replace")
    charset = charset_of_label(label or "")
    if charset:
        # A declaration that can be read byte by byte is not in UTF-16.
        yield "utf-8" if charset.startswith("utf-16") else charset, "meta"


def _read(body: bytes, charset: str) -> tuple[str, bool]:
    """Return the text in that charset, and whether it is likely to be right."""
    try:
        return body.decode(CODECS[charset]), True
    except UnicodeDecodeError:
        text = body.decode(CODECS[charset], "replace")
    n_bad = text.count("�")
    n_good = len(text) - len(text.encode("ascii", "ignore")) - n_bad
    return text, n_bad * _GOOD_FOR_ONE_BAD <= n_good


def _is_lie(body: bytes, charset: str) -> bool:
    """Return whether the bytes are UTF-8, not what the label says."""
    if charset not in SINGLE_BYTE and not charset.startswith("utf-16"):
        return False
    if body.isascii():
        return charset not in SINGLE_BYTE and bool(body)
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _detect(body: bytes, doubtful: Decoded | None) -> Decoded:
    """Return the text in the charset that a detector finds, or by the label that was doubtful."""
    charset = charset_of_label(detect_encoding(body) or "") or "windows-1252"
    text, is_good = _read(body, charset)
    if is_good or doubtful is None:
        return Decoded(text, charset, "detected")
    return doubtful
