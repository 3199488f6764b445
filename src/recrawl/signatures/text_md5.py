"""MD5 of the extracted text: markup may change, words and white space may not."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from recrawl.core.document import Document
from recrawl.core.layers import Layer
from recrawl.signatures.md5 import content_digest

__all__ = ["TextMD5"]


def _encode_units(text: str) -> bytes:
    """Return each UTF-16 unit in UTF-8 by itself: six bytes for a character beyond U+FFFF."""
    units = text.encode("utf-16-le", "surrogatepass")
    if len(units) == 2 * len(text):
        return text.encode("utf-8", "surrogatepass")
    wide = np.frombuffer(units, dtype="<u2").astype("<u4").tobytes()
    return wide.decode("utf-32-le", "surrogatepass").encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class TextMD5:
    """MD5 of the text; where there is none, of the content, then of the URL.

    Notes
    -----
    Equal bit for bit to Nutch's ``TextMD5Signature`` (1.23).  The text is digested as Hadoop's
    ``UTF8`` class encodes it, which is not UTF-8: every UTF-16 unit stands by itself.
    """

    @property
    def name(self) -> str:
        """Name in settings and reports."""
        return "text-md5"

    @property
    def scheme(self) -> str:
        """Name, version and settings in one line."""
        return "text-md5/1"

    @property
    def layers(self) -> Layer:
        """What the signature looks at."""
        return Layer.TEXT

    def sign(self, document: Document) -> bytes:
        """Return the signature, 16 bytes."""
        if not document.text:
            return content_digest(document)
        return hashlib.md5(_encode_units(document.text), usedforsecurity=False).digest()
