"""Bodies that public crawlers got wrong."""

from __future__ import annotations

from recrawl.extract.document import extract_document


def test_st_013(case):
    """A page without Content-Type is sniffed, and it is told so."""
    given = case("st-013")
    assert given["input"]["headers"] == {}

    found = extract_document(
        given["input"]["body"].encode(), content_type=None, url="http://a.example/"
    )

    assert found.mime == given["expected"]["mime"]
    assert found.mime_source == given["expected"]["mime_source"]
    assert (found.text, found.error) == ("x", "")
