"""From bytes to text."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.extract._labels import CODECS, charset_of_label
from recrawl.extract.charset import Decoded, decode

FRENCH = "Où est passée la clé ? À côté du café, près du forêt."
RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю."
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。"


def html(charset):
    return f"text/html; charset={charset}"


@pytest.mark.parametrize(
    ("mark", "codec", "charset"),
    [
        (codecs.BOM_UTF8, "utf-8", "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16le"),
        (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16be"),
    ],
)
def test_a_byte_order_mark_wins(mark, codec, charset):
    """The mark decides over every label, and is no part of the text."""
    assert decode(mark + FRENCH.encode(codec), html("koi8-r")) == Decoded(FRENCH, charset, "bom")


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("label", [None, "utf-8", "utf-16"])
def test_utf_16_without_a_mark_is_seen(codec, label):
    """NUL bytes show UTF-16, which would also pass as UTF-8."""
    body = ("<p>" + FRENCH).encode(codec)

    decoded = decode(body, label and html(label))

    assert decoded == Decoded("<p>" + FRENCH, codec.replace("16-", "16"), "detected")


def test_a_few_nul_bytes_are_not_utf_16():
    """A stray NUL says nothing."""
    assert decode(b"abc\0def\0" + b"x" * 60).charset == "utf-8"


@pytest.mark.parametrize(
    ("text", "codec", "charset"),
    [
        (FRENCH, "cp1252", "windows-1252"),
        (FRENCH, "utf-8", "utf-8"),
        (RUSSIAN, "koi8-r", "koi8-r"),
        (RUSSIAN, "cp1251", "windows-1251"),
        (JAPANESE, "cp932", "shift_jis"),
        (JAPANESE, "euc_jp", "euc-jp"),
    ],
)
@pytest.mark.parametrize("source", ["header", "meta"])
def test_a_label_that_the_bytes_bear_out_is_believed(text, codec, charset, source):
    """Header and markup may name the charset."""
    meta = f'<meta charset="{charset}">' if source == "meta" else ""
    body = (meta + text).encode(codec)

    decoded = decode(body, html(charset) if source == "header" else "text/html")

    assert decoded == Decoded(meta + text, charset, source)


def test_the_header_comes_before_the_markup():
    """Where both fit, the header decides, as in a browser."""
    body = b'<meta charset="koi8-r">' + RUSSIAN.encode("cp1251")

    assert decode(body, html("windows-1251")).source == "header"
    assert decode(body, html("windows-1251")).text.endswith(RUSSIAN)


@pytest.mark.parametrize(
    "content_type", ["text/html; charset=utf-8", "text/html; charset=iso-8859-1", "text/html", None]
)
def test_another_label_over_the_same_utf_8_gives_the_same_text(content_type):
    """A label that flips is no change (case sig-007)."""
    assert decode(bytes.fromhex("c3a9"), content_type).text == "é"


@pytest.mark.parametrize("label", ["utf-16", "utf-16be", "windows-1252"])
def test_utf_8_is_not_read_as_what_it_cannot_be(label):
    """UTF-16 and single-byte labels over UTF-8 are not believed."""
    assert decode(("<p>" + FRENCH).encode(), html(label)) == Decoded(
        "<p>" + FRENCH, "utf-8", "utf-8"
    )


def test_utf_16_label_over_ascii_is_not_believed():
    """ASCII would become nonsense without any error."""
    assert decode(b"<p>plain", html("utf-16")).text == "<p>plain"


def test_utf_16_label_over_utf_16_beyond_latin_is_believed():
    """Japanese in UTF-16 has no NUL bytes; its label stands."""
    assert decode(JAPANESE.encode("utf-16-le"), html("utf-16le")).text == JAPANESE


def test_a_meta_of_utf_16_means_utf_8():
    """Markup that can be read byte by byte is not in UTF-16."""
    body = b'<meta charset="utf-16">' + FRENCH.encode()

    assert decode(body, "text/html").charset == "utf-8"


@pytest.mark.parametrize("label", ["utf-8", "shift_jis", "euc-jp"])
def test_a_lying_label_gives_way(label):
    """Text that mostly fails under its label is read by the next source."""
    body = b'<meta charset="windows-1252">' + FRENCH.encode("cp1252")

    assert decode(body, html(label)) == Decoded(
        f'<meta charset="windows-1252">{FRENCH}', "windows-1252", "meta"
    )


def test_a_damaged_page_keeps_its_label():
    """One broken place among many good ones is a broken place, not another charset."""
    decoded = decode(RUSSIAN.encode()[:-1] + b"\xff. ", html("utf-8"))

    assert (decoded.charset, decoded.source) == ("utf-8", "header")
    assert decoded.text.startswith(RUSSIAN[:-1])


def test_a_cut_page_without_label_is_still_utf_8():
    """A character cut in two at the end does not turn the page into another charset."""
    decoded = decode(FRENCH.encode()[: FRENCH.encode().rindex("ê".encode()) + 1])

    assert (decoded.charset, decoded.source) == ("utf-8", "utf-8")


@pytest.mark.parametrize(
    ("text", "codec", "charset"),
    [
        (FRENCH, "cp1252", "windows-1252"),
        (RUSSIAN, "koi8-r", "koi8-r"),
        (JAPANESE, "euc_jp", "euc-jp"),
    ],
)
def test_without_a_label_the_charset_is_detected(text, codec, charset):
    """A page that says nothing is read by the statistics of its bytes."""
    assert decode((text * 5).encode(codec)) == Decoded(text * 5, charset, "detected")


def test_a_label_is_kept_where_detection_does_no_better():
    """Bytes that fit nothing are read by the label they have."""
    decoded = decode(b"\x81\xff\x81\xff", html("euc-kr"))

    assert "�" in decoded.text or decoded.source == "detected"


@pytest.mark.parametrize(
    "meta",
    [
        '<meta httpequiv="ContentType" content="text/html; charset=gbk">',
        '<meta http-equiv=content-type content="text/html;charset=gb2312">',
        "<META CHARSET='GBK'>",
        '<?xml version="1.0" encoding="gbk"?>',
    ],
)
def test_declarations_are_read_leniently(meta):
    """Misspelt and old forms count, and GBK is read as its superset (case sig-009)."""
    body = (meta + "汉字编码的例子").encode("gbk")

    assert decode(body, "text/html").charset == "gb18030"
    assert decode(body, "text/html").source == "meta"


def test_a_label_that_python_does_not_know_is_read_in_markup():
    """x-mac-cyrillic is a charset of the web."""
    body = b'<meta charset="x-mac-cyrillic">' + RUSSIAN.encode("mac-cyrillic")

    assert decode(body, "text/html").text.endswith(RUSSIAN)


def test_a_declaration_in_plain_text_is_text():
    """Only markup declares its charset."""
    body = b'<meta charset="koi8-r">' + FRENCH.encode()

    assert decode(body, "text/plain", is_markup=False).source == "utf-8"


@pytest.mark.parametrize(
    ("label", "charset"),
    [
        ("UTF8", "utf-8"), (" utf-8\n", "utf-8"), ('"utf-8"', "utf-8"),
        ("unicode-1-1-utf-8", "utf-8"),
        ("latin1", "windows-1252"), ("iso-8859-1", "windows-1252"), ("us-ascii", "windows-1252"),
        ("ISO_8859-1:1987", "windows-1252"), ("x-cp1251", "windows-1251"),
        ("x-user-defined", "windows-1252"), ("iso-8859-9", "windows-1254"), ("gb2312", "gb18030"),
        ("GB_2312-80", "gb18030"), ("ks_c_5601-1987", "euc-kr"), ("sjis", "shift_jis"),
        ("windows-31j", "shift_jis"), ("big5", "big5"), ("utf-16", "utf-16le"),
        ("iso-8859-8-i", "iso-8859-8"), ("tis-620", "windows-874"), ("mac", "macintosh"),
    ],
)  # fmt: skip
def test_labels_mean_what_they_mean_on_the_web(label, charset):
    """Labels are aliases as the WHATWG encoding standard has them."""
    assert charset_of_label(label) == charset
    assert charset in CODECS


@pytest.mark.parametrize(
    "label", ["", "nonsense", "utf-7", "zip", "rot13", "base64", "unicode_escape", "idna", "a\0b",
              "é", "utf-32", "undefined", "../../etc"],
)  # fmt: skip
def test_labels_that_name_no_charset_of_the_web_are_ignored(label):
    """A label never reaches a codec that is no charset."""
    assert charset_of_label(label) is None
    assert decode(b"abc", html(label)) == Decoded("abc", "utf-8", "utf-8")


@given(
    st.binary(max_size=300),
    st.one_of(st.none(), st.text(max_size=30), st.sampled_from(sorted(CODECS)).map(html)),
    st.booleans(),
)
def test_any_bytes_have_a_text(body, content_type, is_markup):
    """Decoding never raises, names its charset and source, and is repeatable."""
    decoded = decode(body, content_type, is_markup=is_markup)

    assert decoded.source in {"bom", "header", "meta", "utf-8", "detected"}
    assert decoded.charset in CODECS or decoded.source == "bom"
    assert decoded == decode(body, content_type, is_markup=is_markup)


@given(st.text(max_size=200))
def test_utf_8_comes_back_whatever_single_byte_label_it_has(text):
    """Every UTF-8 text that is no ASCII survives a header of ISO-8859-1."""
    body = ("é" + text.replace("\0", "")).encode()

    assert decode(body, html("iso-8859-1"), is_markup=False).text.encode() == body
