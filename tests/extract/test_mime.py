"""The type of a document."""

from __future__ import annotations

import pytest

from recrawl.extract.mime import Kind, Mime, mime_of


@pytest.mark.parametrize(
    ("content_type", "name", "kind"),
    [
        ("text/html", "text/html", Kind.HTML),
        (" Text/HTML;charset=utf-8", "text/html", Kind.HTML),
        ("application/xhtml+xml", "application/xhtml+xml", Kind.HTML),
        ("text/plain", "text/plain", Kind.TEXT),
        ("text/csv", "text/csv", Kind.TEXT),
        ("application/json", "application/json", Kind.TEXT),
        ("application/ld+json", "application/ld+json", Kind.TEXT),
        ("application/rss+xml", "application/rss+xml", Kind.TEXT),
        ("application/pdf", "application/pdf", Kind.UNSUPPORTED),
        ("image/png", "image/png", Kind.UNSUPPORTED),
        ("application/octet-stream", "application/octet-stream", Kind.UNSUPPORTED),
        ("text/html, text/plain", "text/html", Kind.HTML),
    ],
)
def test_the_header_decides(content_type, name, kind):
    """A header that names a type is believed, whatever the body looks like."""
    assert mime_of(b"%PDF-1.7 <html>", content_type) == Mime(name, "header", kind)


@pytest.mark.parametrize(
    "content_type", [None, "", "  ", "html", "*/*", "unknown/unknown", ";charset=x"]
)
def test_without_a_type_the_body_is_looked_at(content_type):
    """No header, or one that names no type, means sniffing (case st-013)."""
    expected = Mime("text/html", "sniffed", Kind.HTML)

    assert mime_of(b"<!doctype html><p>x</p>", content_type) == expected


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (b"", "text/plain"),
        (b"plain words", "text/plain"),
        (b" \r\n\t<HTML lang=en>", "text/html"),
        (b"\xef\xbb\xbf<!-- x --><p>", "text/html"),
        (b"<p>x", "text/html"),
        (b"<pre>x", "text/plain"),
        (b"<!DOCTYPE htmlish", "text/plain"),
        (b"<?xml version='1.0'?><rss>", "text/xml"),
        (b"<?xml version='1.0'?>\n<html xmlns='http://www.w3.org/1999/xhtml'>", "text/html"),
        (b"%PDF-1.7\n\x00\x01", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "application/octet-stream"),
        (b"{\"a\": 1}", "text/plain"),
        ("<html>é".encode("utf-16"), "text/html"),
        ("<html> and more".encode("utf-16-le"), "text/html"),
        ("words of text".encode("utf-16-be"), "text/plain"),
        (b"\x1b[0m", "text/plain"),
    ],
)  # fmt: skip
def test_first_bytes_show_the_type(body, name):
    """Markup, XML, PDF, text and anything else are told apart."""
    assert mime_of(body, None).name == name
