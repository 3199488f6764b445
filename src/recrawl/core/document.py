"""A fetched document as signatures see it, and the identity of a signature scheme."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol

from recrawl.core.columns import NO_SCHEME
from recrawl.core.keys import stored_key
from recrawl.core.layers import Layer

__all__ = ["Document", "Signature", "mime_key", "scheme_id"]


@dataclass(frozen=True, slots=True)
class Document:
    """What a signature may look at.

    Parameters
    ----------
    url : str
        URL of the page.
    content : bytes
        Body, after Content-Encoding.
    text : str or None
        Extracted text; None if nothing was extracted.
    links : tuple of str
        Absolute targets of outgoing links; empty for a signature that does not read them.
    """

    url: str
    content: bytes
    text: str | None = None
    links: tuple[str, ...] = ()


class Signature(Protocol):
    """Maps a document to 16 bytes that are equal where the content counts as the same."""

    @property
    def name(self) -> str:
        """Name in settings and reports."""
        ...

    @property
    def scheme(self) -> str:
        """Name, version and settings in one line; two schemes are never compared."""
        ...

    @property
    def layers(self) -> Layer:
        """What it looks at; ``Document.links`` is filled only for those that look at LINKS."""
        ...

    def sign(self, document: Document) -> bytes:
        """Return the signature, ``SIGNATURE_BYTES`` long."""
        ...


def mime_key(mime: str) -> int:
    """Return the 64-bit key of a MIME type in lower case, such as ``text/html``; never NO_KEY."""
    return stored_key(mime.encode("utf-8", "surrogatepass"), b"mime")


def scheme_id(scheme: str) -> int:
    """Return the number that ``signature_scheme`` holds for a scheme; never ``NO_SCHEME``."""
    digest = hashlib.blake2b(scheme.encode(), digest_size=8, person=b"scheme").digest()
    return int.from_bytes(digest, "little", signed=True) or NO_SCHEME + 1
