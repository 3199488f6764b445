"""Signatures by name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recrawl.core.columns import NO_SCHEME
from recrawl.core.document import Document, scheme_id
from recrawl.core.layers import Layer
from recrawl.errors import NotFound
from recrawl.signatures.registry import SIGNATURES, signature_class


@pytest.mark.parametrize("name", sorted(SIGNATURES))
def test_each_signature_is_found_by_its_name(name):
    """A signature made from its name carries it, and signs in 16 bytes."""
    signature = signature_class(name)()

    assert signature.name == name
    assert signature.scheme.startswith(f"{name}/")
    assert len(signature.sign(Document("http://a.example/", b"x", "text"))) == 16


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "text_profile",
            "'text_profile'; did you mean 'text-profile'? Known: links, md5, text-md5",
        ),
        ("MD5", "did you mean 'md5'?"),
        ("sha-256", "no signature is called 'sha-256'. Known: links, md5, text-md5, text-profile."),
    ],
)
def test_an_unknown_name_is_refused(name, message):
    """The error gives the nearest name where there is one, and all names."""
    with pytest.raises(NotFound) as refused:
        signature_class(name)

    assert message in str(refused.value)
    assert refused.value.value == name


@pytest.mark.parametrize("name", sorted(SIGNATURES))
def test_links_play_a_part_where_a_signature_says_so(name):
    """A signature that says that it does not read links gives the same without them."""
    signature = signature_class(name)()
    there = Document("https://a.example/", b"<a href=b>go", "go", ("https://a.example/b",))

    is_same = signature.sign(there) == signature.sign(replace(there, links=()))

    assert is_same is (Layer.LINKS not in signature.layers)


def test_no_two_schemes_are_one():
    """Every signature has a scheme number of its own, and none that means no signature."""
    numbers = [scheme_id(signature().scheme) for signature in SIGNATURES.values()]

    assert len({*numbers, NO_SCHEME}) == len(SIGNATURES) + 1
