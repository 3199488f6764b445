"""Several layers in one signature."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.core.document import Document
from recrawl.core.layers import Layer, moved_layers
from recrawl.errors import InputError
from recrawl.signatures.layered import Layered
from recrawl.signatures.links import Links
from recrawl.signatures.md5 import MD5
from recrawl.signatures.text_md5 import TextMD5
from recrawl.signatures.text_profile import TextProfile

ALL = Layered((Links(), TextProfile(), MD5(), TextMD5()))
BEFORE = Document("https://a.example/", b"<p>one one", "alpha alpha beta", ("https://b.example/",))


@pytest.mark.parametrize(
    ("after", "moved"),
    [
        (BEFORE, Layer(0)),
        (Document(BEFORE.url, b"<P>one one", BEFORE.text, BEFORE.links), Layer.BYTES),
        (Document(BEFORE.url, b"x", "alpha alpha gamma", BEFORE.links), Layer.BYTES | Layer.TEXT),
        (Document(BEFORE.url, BEFORE.content, BEFORE.text, ()), Layer.LINKS),
        (Document(BEFORE.url, b"x", "gamma gamma", ()), Layer(15)),
    ],
    ids=["nothing", "markup", "a rare word", "a link", "everything"],
)
def test_a_change_says_which_layers_moved(after, moved):
    """Each layer has a lane that only its own part moves."""
    one, other = (np.array([ALL.sign(d)], dtype="V16") for d in (BEFORE, after))

    assert moved_layers(one, other, ALL.layers).tolist() == [moved]


def test_layers_that_are_not_asked_for_have_empty_lanes():
    """A page is compared in the layers of the scheme only."""
    signature = Layered((TextMD5(), Links())).sign(BEFORE)

    assert (signature[:4], signature[8:12]) == (bytes(4), bytes(4))
    assert signature[4:8] == ALL.sign(BEFORE)[4:8]


def test_the_order_of_the_parts_plays_no_part():
    """A list in another order is the same scheme and signs the same."""
    one, other = Layered((TextMD5(), Links())), Layered((Links(), TextMD5()))

    assert (one.scheme, one.name) == (other.scheme, other.name)
    assert one.scheme == "layered/1 [text-md5/1, links/1]"
    assert one.name == "text-md5+links"
    assert one.sign(BEFORE) == other.sign(BEFORE)


@pytest.mark.parametrize(
    ("parts", "words"),
    [((), "at least two"), ((MD5(),), "at least two"), ((MD5(), MD5()), "same layer")],
)
def test_lists_that_say_nothing_are_refused(parts, words):
    """A list needs two layers."""
    with pytest.raises(InputError, match=words):
        Layered(parts)
