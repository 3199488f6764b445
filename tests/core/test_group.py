"""Pages that may be edited together share a group."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.columns import NO_KEY
from recrawl.core.group import group_key, group_of
from recrawl.core.url import canonical_url, host_key, page_key
from recrawl.errors import UrlError

SEGMENT = st.text("ab.%20-;", max_size=4)
URLS = st.builds(
    "{}://{}{}/{}{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(["a.example", "b.a.example", "[2001:db8::1]"]),
    st.sampled_from(["", ":8080"]),
    st.lists(SEGMENT, max_size=5).map("/".join),
    st.sampled_from(["", "?q=1", "?/c/d/e"]),
).map(canonical_url)


@pytest.mark.parametrize(
    ("url", "group"),
    [
        ("https://example.org/", "example.org/"),
        ("https://example.org/a", "example.org/"),
        ("https://example.org/docs/", "example.org/docs/"),
        ("https://example.org/docs/a", "example.org/docs/"),
        ("https://example.org/docs/api/x.html", "example.org/docs/api/"),
        ("https://example.org/docs/api/v2/x.html", "example.org/docs/api/"),
        ("https://example.org/docs/api/v2/", "example.org/docs/api/"),
        ("https://example.org/docs?path=/a/b/c", "example.org/"),
        ("https://example.org//a/b", "example.org//a/"),
        ("http://example.org:8080/docs/a", "example.org/docs/"),
        ("http://[2001:db8::1]:81/docs/a", "[2001:db8::1]/docs/"),
    ],
)
def test_a_group_is_a_host_and_two_directories(url: str, group: str) -> None:
    """Of the path count what stands before its last slash, and of that the first two parts."""
    assert group_of(url) == group


@given(URLS)
def test_a_group_is_the_group_of_its_own_url(url: str) -> None:
    """A group, written as a URL, is a canonical URL in that group."""
    group = group_of(url)
    at = f"https://{group}"

    assert canonical_url(at) == at
    assert group_of(at) == group
    assert group_key(at) == group_key(url)


@given(URLS, st.text("abc.", min_size=1, max_size=5).filter(lambda name: name.strip(".")))
def test_pages_of_a_directory_share_a_group(url: str, name: str) -> None:
    """Neither the last part of the path, nor query, scheme or port makes another group."""
    page = url.partition("?")[0]
    sibling = f"{page[: page.rindex('/') + 1]}{name}?{name}"

    assert group_key(sibling) == group_key(url)
    assert group_key(sibling.replace("http://", "https://").replace(":8080", "")) == group_key(url)


@given(URLS, URLS)
def test_keys_are_equal_where_groups_are(one: str, other: str) -> None:
    """A key stands for its group."""
    assert (group_key(one) == group_key(other)) == (group_of(one) == group_of(other))


@given(URLS)
def test_a_key_fits_a_signed_64_bit_column(url: str) -> None:
    """A key is a signed 64-bit number and never the one that means none."""
    assert -(2**63) <= group_key(url) < 2**63
    assert group_key(url) != NO_KEY


def test_group_keys_are_pinned() -> None:
    """Keys are stored: they are the same in every version, and apart from keys of other things."""
    assert group_key("https://www.example.org/docs/api/x.html") == 814189975929457986
    assert group_key("https://a.example/") not in {host_key("a.example/"), page_key("a.example/")}


@pytest.mark.parametrize("url", ["https://a.example", "a.example/b/c", "ftp://a.example/", ""])
def test_what_is_not_canonical_has_no_group(url: str) -> None:
    """A text that never went through canonical_url is an error."""
    with pytest.raises(UrlError, match="canonical_url first"):
        group_of(url)
