"""MD5 of the set of outgoing links: a page changed if it leads elsewhere."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from recrawl.core.document import Document
from recrawl.core.layers import Layer
from recrawl.signatures.md5 import content_digest

__all__ = ["Links"]


@dataclass(frozen=True, slots=True)
class Links:
    """MD5 of the canonical targets of all links, sorted, each once, one a line.

    Order and repetition play no part, nor does a link's text.  A document of a kind that has no
    text has no links either, and its content is digested.

    References
    ----------
    [Aronsson2004]: an update is a new outgoing link.  Here a link that went counts as well, as
    nothing but the last set is remembered.
    """

    @property
    def name(self) -> str:
        """Name in settings and reports."""
        return "links"

    @property
    def scheme(self) -> str:
        """Name, version and settings in one line."""
        return "links/1"

    @property
    def layers(self) -> Layer:
        """What the signature looks at."""
        return Layer.LINKS

    def sign(self, document: Document) -> bytes:
        """Return the signature, 16 bytes."""
        if document.text is None:
            return content_digest(document)
        targets = "\n".join(sorted(set(document.links)))
        return hashlib.md5(targets.encode(), usedforsecurity=False).digest()
