"""What documents of all types say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.extract.document import extract_document
from recrawl.ports.extractor import Extracted

URL = "https://a.example/page"


def test_a_page_of_html():
    """Text, title, links, charset and type come with their sources."""
    body = b"<title>T</title><p>caf\xe9 <a href=b>go</a>"

    found = extract_document(body, content_type="text/html; charset=latin1", url=URL)

    assert found == Extracted(
        "café go",
        title="T",
        links=("https://a.example/b",),
        charset="windows-1252",
        charset_source="header",
        mime="text/html",
        mime_source="header",
    )


def test_links_are_left_out_where_nobody_reads_them():
    """Without the URL of the page its links mean nothing, and are not looked for."""
    found = extract_document(b"<p><a href=b>go</a>", content_type="text/html", url=None)

    assert (found.text, found.links) == ("go", ())


def test_a_page_without_type_is_looked_at():
    """A missing Content-Type is no failure (case st-013)."""
    found = extract_document(b"<!doctype html><p>x</p>", content_type=None, url=URL)

    assert (found.text, found.mime, found.mime_source) == ("x", "text/html", "sniffed")


@pytest.mark.parametrize(
    ("content_type", "body", "text"),
    [
        ("text/plain", b"a  <b>\r\nc\0\x1b", "a  <b>\nc"),
        ("application/json", b'{"a": "\xc3\xa9"}', '{"a": "é"}'),
        ("application/rss+xml", b"<?xml version='1.0'?><rss/>", "<?xml version='1.0'?><rss/>"),
        ("text/css", b"a { }", "a { }"),
    ],
)
def test_other_text_is_its_own_text(content_type, body, text):
    """Plain text, JSON, XML and the like are taken as they are, with clean line ends."""
    found = extract_document(body, content_type=content_type, url=URL)

    assert (found.text, found.title, found.links, found.error) == (text, None, (), "")


def test_xml_declares_its_charset():
    """An XML declaration counts in XML, and nothing like it in plain text."""
    body = "<?xml version='1.0' encoding='windows-1251'?><a>Съешь</a>".encode("cp1251")

    found = extract_document(body, content_type="text/xml", url=URL)

    assert found.charset == "windows-1251"
    assert "Съешь" in found.text


@pytest.mark.parametrize("content_type", ["application/pdf", "image/png", None])
def test_types_without_text_are_an_error(content_type):
    """What holds no text says so, and names its type."""
    found = extract_document(b"%PDF-1.7\x00\x01", content_type=content_type, url=URL)

    assert found.text == ""
    assert found.error == "unsupported_type"
    assert found.mime == content_type or found.mime == "application/pdf"


@given(
    st.one_of(st.binary(max_size=200), st.binary(max_size=200).map(b"<html>".__add__)),
    st.sampled_from([None, "text/html", "text/plain", "text/xml", "image/png", "\0", ";;"]),
)
def test_any_bytes_are_read(body, content_type):
    """No document raises, and all that is said of it can be stored."""
    found = extract_document(body, content_type=content_type, url=URL)

    assert found.error in {"", "unsupported_type"}
    "".join([found.text, found.title or "", *found.links]).encode()
    assert "\0" not in found.text
