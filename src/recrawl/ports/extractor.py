"""The seam to what a document says: bytes in, text out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

__all__ = ["Extracted", "Extractor"]


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a document says.

    Parameters
    ----------
    text : str
        Text as a reader sees it, blocks separated by line ends.
    title : str or None
        Title, white space folded.
    links : tuple of str
        Absolute targets of the outgoing links in document order, without duplicates.
    charset : str
        Charset it was decoded with.
    charset_source : str
        ``bom``, ``header``, ``meta``, ``utf-8`` or ``detected``.
    error : str
        "" or why there is no text: ``time_limit``, ``crashed``, ``unsupported_type``.
    mime : str
        Type of the document without parameters, in lower case; "" if unknown.
    mime_source : str
        ``header`` or ``sniffed``; "" if unknown.
    """

    text: str
    title: str | None = None
    links: tuple[str, ...] = ()
    charset: str = ""
    charset_source: str = ""
    error: str = ""
    mime: str = ""
    mime_source: str = ""


class Extractor(Protocol):
    """Turns documents into text, away from the event loop."""

    async def extract(self, body: bytes, *, content_type: str | None, url: str | None) -> Extracted:
        """Return what the document says.

        - ``url`` is that of the page, to which links are relative; None if nobody reads the
          links, which then are left out: finding them is a fifth of the work.
        - Never raises for a document, however broken: ``error`` says what went wrong.
        - Ends within the time limit; a document that takes longer has error ``time_limit``.
        """
        ...

    async def close(self) -> None:
        """End the workers; a second call does nothing."""
        ...
