"""MD5 of the content."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.document import Document
from recrawl.signatures.md5 import MD5, content_digest


def test_content_is_digested():
    """The signature is the MD5 of the bytes, whatever text and links say."""
    document = Document("http://a.example/", b"abc", "other text", ("http://b.example/",))

    assert MD5().sign(document).hex() == "900150983cd24fb0d6963f7d28e17f72"


@pytest.mark.parametrize(
    ("url", "digest"),
    [
        ("http://a.example/", "b30d4f59eb97517b29db7bf4c7be397d"),
        ("http://b.example/", "2d8341083df6e51e1fcc42cf6407edb7"),
    ],
)
def test_without_content_the_url_is_digested(url, digest):
    """Empty pages differ from one another (case sig-005)."""
    assert MD5().sign(Document(url, b"")).hex() == digest


def test_lone_surrogate_in_the_url_is_digested_as_a_question_mark():
    """A URL that UTF-8 cannot hold still has a signature."""
    assert content_digest(Document("http://a/\ud83d", b"")) == hashlib.md5(b"http://a/?").digest()


def test_name_and_scheme():
    """Name and scheme are what stores and settings hold."""
    assert MD5().name == "md5"
    assert MD5().scheme == "md5/1"


@given(st.binary(), st.binary())
def test_equal_content_and_only_that_is_equal(one, other):
    """Two pages with content count as the same exactly if their bytes are equal."""
    first, second = (Document("http://a.example/", content or b"0") for content in (one, other))

    assert (MD5().sign(first) == MD5().sign(second)) == ((one or b"0") == (other or b"0"))
    assert len(MD5().sign(first)) == 16
