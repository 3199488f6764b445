from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.host import canonical_host
from recrawl.errors import UrlError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("WWW.Example.COM", "www.example.com"),
        (" www.example.com\n", "www.example.com"),
        ("www.example.com.", "www.example.com"),
        ("www.example.com...", "www.example.com"),
        ("under_score.example", "under_score.example"),
        ("a-b--c.example", "a-b--c.example"),
        ("xn--90AX2C.example", "xn--90ax2c.example"),
        ("localhost", "localhost"),
        ("3com.example", "3com.example"),
        ("1.2.3.4.example", "1.2.3.4.example"),
        ("example%2Ecom", "example.com"),
        ("%D0%BD%d1%8d%d0%b1.example", "xn--90ax2c.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("bu\u0308cher.example", "xn--bcher-kva.example"),
        ("straße.example", "xn--strae-oqa.example"),
        ("STRAẞE.example", "xn--strae-oqa.example"),
        ("strasse.example", "strasse.example"),
        ("βόλος.example", "xn--nxasmm1c.example"),
        ("例え。テスト", "xn--r8jz45g.xn--zckzah"),
        ("ｗｗｗ．ｅｘａｍｐｌｅ｡com", "www.example.com"),
        ("soft\xadhyphen.example", "softhyphen.example"),
        ("☃.example", "xn--n3h.example"),
        ("ⅷ.example", "viii.example"),
        ("نامه\u200cای.example", "xn--mgba3gch31f060k.example"),
    ],
)
def test_names_have_one_spelling(text, expected):
    """Case, width, dots, encodings and alphabets lead to one ASCII name, which stays as it is."""
    assert canonical_host(text) == expected
    assert canonical_host(expected) == expected


@pytest.mark.parametrize(
    "text",
    ["127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0X7F.1", "0177.0.0.01",
     "017700000001", "0x7f.0x0.0x0.0x1", "127.0.0.1.", "１２７。０．0.1", "%31%32%37.1"],
)  # fmt: skip
def test_ipv4_in_disguise_is_found(text):
    """Decimal, octal, hexadecimal, short and full-width forms are the dotted quad."""
    assert canonical_host(text) == "127.0.0.1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", "0.0.0.0"),
        ("0x", "0.0.0.0"),
        ("256", "0.0.1.0"),
        ("4294967295", "255.255.255.255"),
        ("0xg", "0xg"),
    ],
)
def test_ipv4_limits(text, expected):
    """The least and the largest number are addresses; what is no number is a name."""
    assert canonical_host(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[::]", "[::]"),
        ("[::1]", "[::1]"),
        ("[1::]", "[1::]"),
        ("[2001:0DB8:0000:0000:0001:0000:0000:0001]", "[2001:db8::1:0:0:1]"),
        ("[2001:db8:0:1:1:1:1:1]", "[2001:db8:0:1:1:1:1:1]"),
        ("[1:0:0:2:0:0:0:3]", "[1:0:0:2::3]"),
        ("[::ffff:127.0.0.1]", "[::ffff:7f00:1]"),
    ],
)
def test_ipv6_has_one_spelling(text, expected):
    """Hexadecimal in lower case, the first longest run of zeros folded."""
    assert canonical_host(text) == expected
    assert canonical_host(expected) == expected


@given(st.integers(0, 2**128 - 1) | st.sampled_from([2**112, 1 << 64, 0xFFFF << 32]))
def test_ipv6_keeps_the_address(number):
    """The spelling is the same address, compressed as the standard library does."""
    address = ipaddress.IPv6Address(number)

    spelling = canonical_host(f"[{address.exploded}]")

    assert ipaddress.IPv6Address(spelling[1:-1]) == address
    if address.ipv4_mapped is None:
        assert spelling == f"[{address.compressed}]"


@given(st.integers(0, 2**32 - 1))
def test_ipv4_keeps_the_address(number):
    """Each way to write the number is the same address."""
    expected = str(ipaddress.IPv4Address(number))

    assert [canonical_host(f"{number:{form}}") for form in ("d", "#x")] == [expected] * 2
    assert canonical_host(f"0{number:o}") == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "missing"),
        ("...", "missing"),
        (".a.example", "empty part"),
        ("a..example", "empty part"),
        ("a.\xad.example", "empty part"),
        ("a b.example", "host names cannot have"),
        ("a,b.example", "host names cannot have"),
        ("a/b", "host names cannot have"),
        ("a.example:80", "host names cannot have"),
        ("*.example", "host names cannot have"),
        ("%00.example", "host names cannot have"),
        ("%2541.example", "host names cannot have"),
        ("a％41.example", "host names cannot have"),
        ("a／b.example", "host names cannot have"),
        ("ä／b.example", "host names cannot have"),
        ("⒈example", "host names cannot have"),
        ("︒.example", "host names cannot have"),
        ("\ufffd.example", "host names cannot have"),
        ("%ff.example", "not UTF-8"),
        ("%ä\ud800.example", "not UTF-8"),
        ("\ud800.example", "control, blank or unassigned"),
        ("ä\u2028.example", "control, blank or unassigned"),
        ("\u0378.example", "control, blank or unassigned"),
        ("\u0301a.example", "combining mark"),
        ("xn--ä.example", "xn-- and is not ASCII"),
        ("a" * 64 + ".example", "longer than 63"),
        ("ä" * 60 + ".example", "longer than 63"),
        (".".join(["a" * 63] * 4), "longer than 253"),
        ("a" * 1001, "longer than 253"),
        ("1.2.3.4.5", "ends in a number"),
        ("a.1", "ends in a number"),
        ("1.2.3.256", "too large"),
        ("256.1", "too large"),
        ("4294967296", "too large"),
        ("1.16777216", "too large"),
        ("08", "not octal"),
        ("0x.0x.09", "not octal"),
        ("[::1", "not closed"),
        ("[]", "do not hold"),
        ("[1:2]", "do not hold"),
        ("[1::2::3]", "do not hold"),
        ("[127.0.0.1]", "do not hold"),
        ("[fe80::1%eth0]", "zone"),
        ("[fe80::1%25eth0]", "zone"),
    ],
)
def test_what_is_no_host_is_refused(text, reason):
    """The error says what is wrong."""
    with pytest.raises(UrlError, match=reason) as caught:
        canonical_host(text)

    assert str(caught.value).startswith("not a host: ")


@given(
    st.text(max_size=30) | st.text(st.sampled_from("aÄß.。%2e-_09x[]:\u0301\u200d"), max_size=30)
)
def test_canonical_host_is_idempotent(text):
    """Any text is refused with UrlError, or its host is its own canonical spelling."""
    try:
        host = canonical_host(text)
    except UrlError:
        return

    assert canonical_host(host) == host
    assert host.isascii()
    assert host == host.lower()
