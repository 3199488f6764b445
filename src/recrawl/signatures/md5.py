"""MD5 of the content, byte for byte: any change counts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from recrawl.core.document import Document
from recrawl.core.layers import Layer

__all__ = ["MD5", "content_digest"]


def content_digest(document: Document) -> bytes:
    """Return the MD5 of the content, or of the URL where there is no content.

    Without the URL all empty pages would count as one.  A lone surrogate in the URL is
    digested as "?", as in the original.
    """
    content = document.content or document.url.encode("utf-8", "replace")
    return hashlib.md5(content, usedforsecurity=False).digest()


@dataclass(frozen=True, slots=True)
class MD5:
    """MD5 of the content, or of the URL where there is none.

    Notes
    -----
    Equal bit for bit to Nutch's ``MD5Signature`` (1.23).
    """

    @property
    def name(self) -> str:
        """Name in settings and reports."""
        return "md5"

    @property
    def scheme(self) -> str:
        """Name, version and settings in one line."""
        return "md5/1"

    @property
    def layers(self) -> Layer:
        """What the signature looks at."""
        return Layer.BYTES

    def sign(self, document: Document) -> bytes:
        """Return the signature, 16 bytes."""
        return content_digest(document)
