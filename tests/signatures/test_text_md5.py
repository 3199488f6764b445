"""MD5 of the text."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.document import Document
from recrawl.signatures.md5 import MD5
from recrawl.signatures.text_md5 import TextMD5

ANY_TEXT = st.text(st.characters(exclude_categories=()), min_size=1)


@pytest.mark.parametrize(
    ("text", "encoded"),
    [
        ("abc", "616263"),
        ("\0", "00"),
        ("é€", "c3a9e282ac"),
        ("😀", "eda0bdedb880"),  # U+D83D U+DE00, three bytes each
        ("\ud83d", "eda0bd"),
        ("a😀\udc00é", "61eda0bdedb880edb080c3a9"),
    ],
    ids=["ascii", "nul", "bmp", "astral", "lone surrogate", "mixed"],
)
def test_each_utf_16_unit_is_encoded_by_itself(text, encoded, text_document):
    """The text is digested in Hadoop's encoding, not in UTF-8."""
    expected = hashlib.md5(bytes.fromhex(encoded)).digest()

    assert TextMD5().sign(text_document(text)) == expected


@pytest.mark.parametrize("text", [None, ""])
def test_without_text_the_content_is_digested(text, text_document):
    """A page without text falls back to its bytes, then to its URL."""
    assert TextMD5().sign(text_document(text)) == MD5().sign(text_document(text))
    bare = Document("http://a.example/", b"", text)
    assert TextMD5().sign(bare) == MD5().sign(bare)


def test_markup_plays_no_part():
    """Another rendering of the same text is the same (case sig-016)."""
    one = Document("http://a.example/", b"<a b c>x</a>", "x")
    other = Document("http://a.example/", b"<a c b>x</a>", "x")

    assert TextMD5().sign(one) == TextMD5().sign(other)


def test_name_and_scheme():
    """Name and scheme are what stores and settings hold."""
    assert TextMD5().name == "text-md5"
    assert TextMD5().scheme == "text-md5/1"


@given(ANY_TEXT, ANY_TEXT)
def test_equal_text_and_only_that_is_equal(one, other):
    """Two texts have one signature exactly if their UTF-16 units are equal."""
    first, second = (Document("http://a.example/", b"", text) for text in (one, other))
    units = [text.encode("utf-16-le", "surrogatepass") for text in (one, other)]

    assert (TextMD5().sign(first) == TextMD5().sign(second)) == (units[0] == units[1])
