"""A signature scheme has a number."""

from __future__ import annotations

from recrawl.core.columns import NO_SCHEME
from recrawl.core.document import Document, mime_key, scheme_id


def test_schemes_have_numbers_of_their_own() -> None:
    """The number is in every store, so it may never change; and none has that of "none"."""
    assert scheme_id("md5:1") == 6807542448028055670
    assert scheme_id("md5:1") != scheme_id("md5:2")
    assert NO_SCHEME not in {scheme_id(str(i)) for i in range(1000)}


def test_a_document_needs_only_url_and_content() -> None:
    """What was not extracted is absent."""
    document = Document("https://example.org/", b"x")

    assert document.text is None
    assert document.links == ()


def test_a_mime_type_has_a_key_of_its_own() -> None:
    """The key is fixed for good, never 0, and half characters have one too."""
    assert mime_key("text/html") == 3479136437040368041
    assert (
        len({mime_key("text/html"), mime_key("text/plain"), mime_key(""), mime_key("\ud83d"), 0})
        == 5
    )
