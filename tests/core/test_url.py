from __future__ import annotations

import string
from urllib.parse import urljoin

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recrawl.core.columns import NO_KEY
from recrawl.core.url import (
    MAX_URL,
    canonical_url,
    host_key,
    host_of,
    normalise_escapes,
    origin_of,
    page_key,
    redact,
    resolve,
)
from recrawl.errors import UrlError

HOSTILE = st.text(st.sampled_from(list("htps:/\\?#@[]%.:;&= \t\n\x00aZ0159éß。．\u200d\ud800")))
ANY_TEXT = st.text(st.characters(), max_size=60)
NEARLY_URLS = st.builds(
    "{}{}{}".format, st.sampled_from(["http://", "HTTPS:\\\\", "https:"]), HOSTILE | ANY_TEXT,
    st.sampled_from(["", "/", "?", "/a/../b%2", ":80/", ".example/x"]),
)  # fmt: skip


def accepted(text: str) -> str | None:
    """Return the canonical URL, or None; anything but UrlError escapes."""
    try:
        return canonical_url(text)
    except UrlError:
        return None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://a.example", "http://a.example/"),
        ("http://a.example/?", "http://a.example/"),
        ("http://a.example/#", "http://a.example/"),
        ("http://a.example/?b=2&a=1&a=", "http://a.example/?b=2&a=1&a="),
        ("http://a.example/?a?b/c", "http://a.example/?a?b/c"),
        ("http://a.example/?x=/../y", "http://a.example/?x=/../y"),
        ("\x00 http://a.example/\r\n", "http://a.example/"),
        ("ht\ntp://a.exa\tmple/b\r\nc", "http://a.example/bc"),
        ("http:a.example/b", "http://a.example/b"),
        ("http:////a.example/b", "http://a.example/b"),
        ("http:\\\\a.example\\b\\c?d\\e", "http://a.example/b/c?d%5Ce"),
        ("http://a.example:0443/", "http://a.example:443/"),
        ("https://a.example:80/", "https://a.example:80/"),
        ("http://@a.example/", "http://a.example/"),
        ("http://:@a.example/", "http://a.example/"),
        ("http://a.example/@user", "http://a.example/@user"),
        ("http://a.example/a//b///c", "http://a.example/a//b///c"),
        ("http://a.example/./a/.//b/..", "http://a.example/a//"),
        ("http://a.example/a/%2e%2E/b/%2e", "http://a.example/b/"),
        ("http://a.example/../../a", "http://a.example/a"),
        ("http://a.example/.well-known/..x", "http://a.example/.well-known/..x"),
        ("http://a.example/%7E~%41%5f", "http://a.example/~~A_"),
        ("http://a.example/%2525%25%", "http://a.example/%2525%25%25"),
        ("http://a.example/ä?ö", "http://a.example/%C3%A4?%C3%B6"),
        ('http://a.example/"<>^`{|}[]', "http://a.example/%22%3C%3E%5E%60%7B%7C%7D%5B%5D"),
        ("http://a.example/x?a[]='1'+2", "http://a.example/x?a%5B%5D='1'+2"),
        ("http://a.example/\x01\x7f\x85", "http://a.example/%01%7F%C2%85"),
        ("http://a.example/😀", "http://a.example/%F0%9F%98%80"),
        ("http://[2001:DB8:0:0:0:0:0:1]:80/", "http://[2001:db8::1]/"),
        ("http://[::1]:8080/", "http://[::1]:8080/"),
    ],
)
def test_spelling_is_normalised(text, expected):
    """Each way to write a URL gives the one spelling, which stays as it is."""
    assert canonical_url(text) == expected
    assert canonical_url(expected) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no scheme"),
        ("a.example/x", "no scheme"),
        ("//a.example/x", "no scheme"),
        ("1http://a.example/", "no scheme"),
        ("ftp://a.example/", "http and https are"),
        ("javascript:alert(1)", "http and https are"),
        ("http://", "host is missing"),
        ("http:///?x", "host is missing"),
        ("http://:80/", "host is missing"),
        ("http://a.example:x/", "port is not a number"),
        ("http://a.example:0/", "port is not a number"),
        ("http://a.example:65536/", "port is not a number"),
        ("http://a.example:000000080000/", "port is not a number"),
        ("http://a.example:٨/", "port is not a number"),
        ("http://a.example:1:2/", "port is not a number"),
        ("http://[::1]x/", "port is not a number"),
        ("http://[::1/", "not closed"),
        ("http://a b/", "host names cannot have"),
        ("http://a.example/\ud800", "not Unicode text"),
        ("http://a.example/?\udfff", "not Unicode text"),
        ("http://a.example/" + "a" * MAX_URL, "longer than 8000"),
        ("http://a.example/" + "ä" * 2000, "longer than 8000"),
        ("http://a.example/#" + "a" * 4 * MAX_URL, "longer than 8000"),
        ("http://" + "a" * 64 + "/", "longer than 63"),
    ],
)
def test_what_is_no_page_is_refused(text, reason):
    """The error says what is wrong and shows the URL."""
    with pytest.raises(UrlError, match=reason) as caught:
        canonical_url(text)

    assert str(caught.value).startswith("not a URL of a page: ")


def test_longest_url_is_accepted():
    """The limit itself is allowed, and one character more is not."""
    longest = "http://a.example/" + "a" * (MAX_URL - 17)

    assert canonical_url(longest) == longest
    assert accepted(longest + "a") is None


@pytest.mark.parametrize(
    "text",
    [
        "http://user:secret@a.example/",
        "http://secret@a.example/",
        "http://:secret@a.example/",
        "http://user:se/cret@a.example/",
        "http://user:se?cret@a.example/",
        "http://user:se#cret@a.example/",
        "http://user:sec@ret@a.example/",
        "secret:secret@a.example",
        "ftp://user:secret@a.example/",
        "http://user:secret@[bad",
        " \\http://secret@a.example:99999/",
    ],
)
def test_credentials_are_refused_and_never_shown(text):
    """A URL with a user name or password is refused, and the error does not repeat them."""
    with pytest.raises(UrlError) as caught:
        canonical_url(text)

    shown = f"{caught.value} {caught.value.value}"
    assert not any(part in shown for part in ("secret", "sec", "cret", "user:"))


@given(NEARLY_URLS | ANY_TEXT)
@example("http://a.example/%%36%36")
@example("http://ⅷ.example/")
def test_canonical_url_is_idempotent(text):
    """A canonical URL is its own canonical URL, in ASCII and within the limit."""
    url = accepted(text)

    if url is not None:
        assert canonical_url(url) == url
        assert url.isascii()
        assert url.isprintable()
        assert len(url) <= MAX_URL
        assert not set(url) & set(' "#<>\\^`{|}')


@given(NEARLY_URLS)
def test_parts_of_a_canonical_url_agree(text):
    """The origin is the URL's beginning, and holds the host."""
    url = accepted(text)

    if url is not None:
        origin, host = origin_of(url), host_of(url)
        scheme, _, authority = origin.partition("://")
        assert url.startswith(origin + "/")
        assert scheme in ("http", "https")
        assert authority == host or authority.startswith(host + ":")
        assert canonical_url(f"{scheme}://{host}/") == f"{scheme}://{host}/"


@given(st.binary(max_size=20))
def test_what_is_encoded_is_never_encoded_again(octets):
    """A fully encoded path keeps its bytes: no % of an encoding becomes %25."""
    path = "".join(f"%{octet:02x}" for octet in octets)

    url = canonical_url(f"http://a.example/x{path}?{path}")

    assert url.count("%25") == 2 * octets.count(b"%")


@given(st.text(string.ascii_letters + string.digits + "-._~!$&'()*+,;=:@/?", max_size=40))
def test_plain_characters_stay(text):
    """Characters that RFC 3986 allows are left alone."""
    assert normalise_escapes(text) == text


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("https://www.example.org/", 7100912419556834781),
        ("http://a.example/x?y=1", -8037369953837797479),
    ],
)
def test_page_keys_are_pinned(text, key):
    """Keys are stored: they are the same in every version on every machine."""
    assert page_key(text) == key


def test_host_keys_are_pinned():
    """Host keys are stored as well, and differ from the page key of the same text."""
    assert host_key("www.example.org") == -1817632993631232460
    assert host_key("www.example.org") != page_key("www.example.org")


@given(st.text(max_size=30).filter(lambda text: text.isascii()))
def test_keys_fit_a_signed_64_bit_column(text):
    """A key is a signed 64-bit number and never the one that means none."""
    for key in (page_key(text), host_key(text)):
        assert -(2**63) <= key < 2**63
        assert key != NO_KEY


@pytest.mark.parametrize(
    ("url", "host", "origin"),
    [
        ("http://a.example/", "a.example", "http://a.example"),
        ("https://a.example:8443/x:y", "a.example", "https://a.example:8443"),
        ("http://[2001:db8::1]/", "[2001:db8::1]", "http://[2001:db8::1]"),
        ("http://[2001:db8::1]:81/", "[2001:db8::1]", "http://[2001:db8::1]:81"),
    ],
)
def test_host_and_origin(url, host, origin):
    """The host has no port; the origin has it where it is not the default."""
    assert host_of(url) == host
    assert origin_of(url) == origin


@pytest.mark.parametrize("url", ["http://a.example", "a.example/", "ftp://a.example/", ""])
def test_host_of_what_is_not_canonical_is_refused(url):
    """Asking for the host of a text that never went through canonical_url is an error."""
    with pytest.raises(UrlError, match="canonical_url first"):
        host_of(url)


RFC_BASE = "http://a/b/c/d;p?q"


@pytest.mark.parametrize(
    ("reference", "expected"),
    # RFC 3986, sections 5.4.1 and 5.4.2, canonical: no fragment, no empty query.
    [
        ("g:h", None), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"), ("//g", "http://g/"),
        ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"),
        ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../g", "http://a/b/g"),
        ("../..", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."),
        ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("g/./h", "http://a/b/c/g/h"),
        ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g#s/../x", "http://a/b/c/g"), ("http:g", "http://a/b/c/g"),
    ],
)  # fmt: skip
def test_references_resolve_as_in_the_rfc(reference, expected):
    """The examples of RFC 3986 hold."""
    assert resolve(RFC_BASE, reference) == expected


@pytest.mark.parametrize(
    ("base", "reference", "expected"),
    [
        ("http://a.example/b?c=/d", "e", "http://a.example/e"),
        ("https://a.example/", "//b.example/x", "https://b.example/x"),
        ("https://a.example/", "\\\\b.example\\x", "https://b.example/x"),
        ("https://a.example/b/c", "\\x", "https://a.example/x"),
        ("https://a.example/b/c", " \n x y\t ", "https://a.example/b/x%20y"),
        ("https://a.example/b/c", "https:d", "https://a.example/b/d"),
        ("https://a.example/b/c", "HTTPS:/d", "https://a.example/d"),
        ("https://a.example/b/c", "https:", "https://a.example/b/c"),
        ("https://a.example/b/c", "http:d.example", "http://d.example/"),
        ("https://a.example:8443/b", "/c", "https://a.example:8443/c"),
        ("https://a.example/", "mailto:x@a.example", None),
        ("https://a.example/", "javascript:void(0)", None),
        ("https://a.example/", "data:text/html,x", None),
        ("https://a.example/", "http://[bad", None),
        ("https://a.example/", "http://user:pw@b.example/", None),
        ("https://a.example/", "x" * 4 * MAX_URL + "x", None),
        ("HTTP://A.example", "b", "http://a.example/b"),
        ("no base", "b", None),
        ("no base", "https://b.example", "https://b.example/"),
    ],
)
def test_links_as_pages_write_them(base, reference, expected):
    """Backslashes, blanks, missing slashes and other schemes are read as browsers do."""
    assert resolve(base, reference) == expected


@given(HOSTILE | ANY_TEXT, HOSTILE | ANY_TEXT | NEARLY_URLS)
def test_resolve_never_raises(base, reference):
    """Whatever a page says, the answer is a canonical URL or None."""
    for tried in (base, "https://a.example/b/c?d"):
        url = resolve(tried, reference)
        assert url is None or canonical_url(url) == url


@given(
    st.lists(st.sampled_from(["a", "b", "..", ".", "c.d"]), max_size=6), st.sampled_from(["", "/"])
)
def test_resolve_agrees_with_urljoin(segments, start):
    """Paths without empty segments resolve as the standard library resolves them."""
    reference = start + "/".join(segments)

    expected = canonical_url(urljoin("http://a.example/x/y/z", reference))

    assert resolve("http://a.example/x/y/z", reference) == expected


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://a.example/x", "https://a.example/x"),
        ("https://user:pw@a.example/x", "https://…@a.example/x"),
        (" HTTP:\\\\user:p/w@a.example", " HTTP:\\\\…@a.example"),
        ("user:pw@a.example", "…@a.example"),
        ("postgresql://user:pw@db/pages", "…@db/pages"),
    ],
)
def test_redact(text, shown):
    """What is shown holds no credentials."""
    assert redact(text) == shown


def test_redact_cuts_long_texts():
    """What is shown is at most 200 characters."""
    assert redact("x" * 201) == "x" * 199 + "…"
    assert redact("x" * 200) == "x" * 200


PLAIN_TEXT = st.text(string.ascii_letters + string.digits + "-._~!$&'()*+,;=:@/", max_size=20)


@given(
    st.sampled_from(["http", "https"]),
    st.one_of(st.just(""), st.integers(1, 99_999).map(lambda port: f":{port}")),
    PLAIN_TEXT,
    st.one_of(st.just(""), PLAIN_TEXT.map(lambda query: f"?{query}")),
)
def test_short_cut_of_canonical_url_changes_nothing(scheme, port, path, query):
    """URLs that need no repair come out as they do the long way."""
    text = f"{scheme}://a.example{port}/{path}{query}"

    # A leading blank keeps the text from taking the short cut, and means nothing else.
    assert accepted(text) == accepted(f" {text}")


@given(PLAIN_TEXT, st.one_of(st.just(""), PLAIN_TEXT.map(lambda query: f"?{query}")))
def test_short_cut_of_resolve_changes_nothing(path, query):
    """A path of the same origin comes out as it does the long way."""
    reference = f"/{path}{query}"
    base = "https://a.example:8443/here/?q"

    assert resolve(base, reference) == resolve(base, f" {reference}")


def test_a_link_longer_than_any_url_is_none():
    """Also a link that needs no repair has to fit."""
    assert resolve("https://a.example/", "/" + "a" * MAX_URL) is None
