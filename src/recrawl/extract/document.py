"""What a document says, whatever its type: the work of one call, in this process."""

from __future__ import annotations

from typing import assert_never

from recrawl.extract.charset import decode
from recrawl.extract.clean import clean_text
from recrawl.extract.html import read_html
from recrawl.extract.links import outgoing_links
from recrawl.extract.mime import Kind, mime_of
from recrawl.ports.extractor import Extracted

__all__ = ["extract_document"]


def extract_document(body: bytes, *, content_type: str | None, url: str | None) -> Extracted:
    """Return what a document says.

    Parameters
    ----------
    body : bytes
        The body, after Content-Encoding.
    content_type : str or None
        Content-Type header as it was sent; without one the body is looked at.
    url : str or None
        URL of the page, to which links are relative; None to leave links out.

    Notes
    -----
    Takes as long as the document needs, and hostile ones need minutes: see ``ExtractPool``.
    """
    mime = mime_of(body, content_type)
    match mime.kind:
        case Kind.UNSUPPORTED:
            return Extracted("", error="unsupported_type", mime=mime.name, mime_source=mime.source)
        case Kind.HTML:
            decoded = decode(body, content_type)
            page = read_html(decoded.text)
            text, title = page.text, page.title
            links = () if url is None else outgoing_links(page.references, url=url, base=page.base)
        case Kind.TEXT:
            decoded = decode(body, content_type, is_markup=mime.name.endswith("xml"))
            text, title, links = clean_text(decoded.text), None, ()
        case _:
            assert_never(mime.kind)
    return Extracted(
        text,
        title=title,
        links=links,
        charset=decoded.charset,
        charset_source=decoded.source,
        mime=mime.name,
        mime_source=mime.source,
    )
