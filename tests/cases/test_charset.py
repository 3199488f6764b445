"""Charsets that public crawlers got wrong."""

from __future__ import annotations

from recrawl.core.document import Document
from recrawl.extract.charset import decode
from recrawl.extract.document import extract_document
from recrawl.signatures.text_md5 import TextMD5

URL = "http://a.example/"


def test_sig_007(case):
    """A label that flips over the same bytes changes neither the text nor its signature."""
    given = case("sig-007")["input"]
    body = bytes.fromhex(given["body_bytes_hex"])

    signatures = set()
    for run in given["runs"]:
        found = extract_document(body, content_type=run["Content-Type"], url=URL)
        signatures.add(TextMD5().sign(Document(URL, body, found.text)))

    assert len(signatures) == 1


def test_sig_009(case):
    """A misspelt declaration of the charset is found."""
    head = case("sig-009")["input"]["body_head"]

    decoded = decode((head + "汉字").encode("gbk"), "text/html")

    assert (decoded.charset, decoded.source) == ("gb18030", "meta")
    assert decoded.text == head + "汉字"
