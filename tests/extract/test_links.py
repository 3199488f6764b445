"""Outgoing links."""

from __future__ import annotations

import pytest

from recrawl.extract.links import outgoing_links

URL = "https://a.example/dir/page"


def test_links_are_absolute_in_order_and_distinct():
    """Each target comes once, at its first place; what names no page is left out."""
    references = ["b", "/c#part", "https://B.example", "mailto:x@a.example", "b", "./b", "http://["]

    assert outgoing_links(references, url=URL) == (
        "https://a.example/dir/b",
        "https://a.example/c",
        "https://b.example/",
    )


@pytest.mark.parametrize(
    ("base", "target"),
    [
        (None, "https://a.example/dir/x"),
        ("/other/", "https://a.example/other/x"),
        ("https://c.example/d/", "https://c.example/d/x"),
        ("javascript:0", "https://a.example/dir/x"),
    ],
)
def test_the_base_of_the_page_counts(base, target):
    """References are relative to <base>, which is relative to the page; a bad one is ignored."""
    assert outgoing_links(["x"], url=URL, base=base) == (target,)
