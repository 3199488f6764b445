"""The signature in StormCrawler's metadata."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from recrawl.interop.stormcrawler.signature import SignatureFilter

URL = "http://example.com/"


def md5(data: bytes) -> list[str | None]:
    return [hashlib.md5(data, usedforsecurity=False).hexdigest()]


@pytest.mark.parametrize(
    ("params", "content", "text", "signed"),
    [
        ({}, b"x", "t", b"x"),
        ({}, None, "t", URL.encode()),
        ({}, b"", "t", b""),
        ({"useText": True}, b"x", " t ", b" t "),
        ({"useText": " true "}, b"x", "\xa0", b"\xc2\xa0"),
        ({"useText": 1}, b"x", " \n", URL.encode()),
        ({"useText": True}, b"x", None, URL.encode()),
        ({"useText": True}, b"x", "a\ud800", b"a?"),
        ({"useText": "TRUE"}, b"x", "t", b"x"),
        ({"useText": 0}, b"x", "t", b"x"),
        ({"useText": None}, b"x", "t", b"x"),
    ],
)
def test_what_is_signed(
    params: dict[str, Any], content: bytes | None, text: str | None, signed: bytes
) -> None:
    """Content or text, and the URL where there is none; content of length 0 is content."""
    done = SignatureFilter.of(params).apply(URL, content, text, {})

    assert done == {"signature": md5(signed)}


def test_the_signature_of_before_is_copied() -> None:
    """Its first value replaces what was there; null and nothing are not copied."""
    signer = SignatureFilter.of({"keyNameCopy": "old"})
    new = md5(b"x")

    copied = signer.apply(URL, b"x", None, {"signature": ["a", "b"], "old": ["c", "d"]})
    first = signer.apply(URL, b"x", None, {"old": ["c"]})

    assert copied == {"signature": new, "old": ["a"]}
    assert first == {"signature": new, "old": ["c"]}


@pytest.mark.parametrize("name", [None, 5, True])
def test_a_name_that_is_no_text_is_the_default(name: object) -> None:
    """Names of any text are taken, also an empty one."""
    assert SignatureFilter.of({"keyName": name}).key == "signature"
    assert SignatureFilter.of({"keyName": ""}).key == ""


@pytest.mark.parametrize("name", [None, 7, False, "", " "])
def test_a_copy_needs_a_name_that_is_not_blank(name: object) -> None:
    """Otherwise nothing is copied."""
    assert SignatureFilter.of({"keyNameCopy": name}).copy_key is None
