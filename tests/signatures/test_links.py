"""MD5 of the set of links."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.document import Document
from recrawl.signatures.links import Links
from recrawl.signatures.md5 import MD5

TARGETS = st.lists(st.sampled_from([f"https://a.example/{i}" for i in range(6)]))


def page(links, text="text", content=b"<p>") -> Document:
    return Document("https://a.example/", content, text, tuple(links))


@given(TARGETS, TARGETS)
def test_the_set_of_links_is_what_counts(one, other):
    """Two pages are the same exactly where they lead to the same pages."""
    is_same = Links().sign(page(one)) == Links().sign(page(other))

    assert is_same is (set(one) == set(other))


def test_text_and_markup_play_no_part():
    """Another text between the same links is the same page."""
    one, other = page(["https://b.example/"]), page(["https://b.example/"], "other", b"<i>")

    assert Links().sign(one) == Links().sign(other)


def test_a_document_without_text_is_its_content():
    """A kind that has no text has no links: its bytes are digested."""
    image = page([], None, b"GIF89a")

    assert Links().sign(image) == MD5().sign(image)


def test_scheme_is_pinned():
    """The scheme is stored beside each signature."""
    assert Links().scheme == "links/1"
