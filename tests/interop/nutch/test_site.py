"""A nutch-site.xml is read as Hadoop reads it."""

from __future__ import annotations

import pytest

from recrawl.errors import InputError
from recrawl.interop.nutch.site import expand, read_bool, read_float, read_int, read_site

LAUGHS = b"""<!DOCTYPE c [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>
<configuration><property><name>n</name><value>&b;</value></property></configuration>"""


def site(*properties: str) -> bytes:
    """Return a file with these properties, each the inside of its element."""
    inside = "".join(f"<property>{one}</property>" for one in properties)
    return f"<?xml version='1.0'?><configuration>{inside}</configuration>".encode()


def test_properties_are_trimmed_and_the_last_one_counts() -> None:
    """Blanks around names and values, CDATA and comments play no part."""
    values, n_includes = read_site(
        site(
            "<name> a </name><value> 1 </value>",
            "<name>b</name><value><![CDATA[<x>]]><!-- y --> &amp; z</value><description>d"
            "</description>",
            "<name>a</name><value>\n2\n</value>",
            "<name>none</name>",
            "<value>of nobody</value>",
            "<name>empty</name><value/>",
            "<name>deep<b>er</b></name><value>1<i>2</i></value>",
        )
    )

    assert values == {"a": "2", "b": "<x> & z", "empty": "", "deep": "1"}
    assert n_includes == 0


def test_a_final_property_stays() -> None:
    """What an earlier property made final, a later one does not change."""
    values, _ = read_site(
        site(
            "<name>a</name><value>1</value><final>true</final>",
            "<name>a</name><value>2</value>",
            "<name>b</name><value>1</value><final>false</final>",
            "<name>b</name><value>2</value>",
        )
    )

    assert values == {"a": "1", "b": "2"}


def test_includes_are_counted_and_not_read() -> None:
    """No other file is opened."""
    content = b"<configuration xmlns:xi='x'><xi:include href='/etc/passwd'/></configuration>"

    assert read_site(content) == ({}, 1)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (LAUGHS, "it has a DOCTYPE; a settings file needs none"),
        (b"<!DOCTYPE c SYSTEM 'file:///etc/passwd'><configuration/>", "it has a DOCTYPE"),
        (b"<configuration><property></configuration>", "not XML: mismatched tag"),
        (b"", "not XML: no element found"),
        (b"<html/>", "its root is <html>; a nutch-site.xml has <configuration>"),
        (b"<?xml version='1.0' encoding='no-such'?><configuration/>", "not XML"),
        (b"<configuration>&x;</configuration>", "not XML: undefined entity"),
    ],
)
def test_what_is_no_such_file_is_refused(content: bytes, told: str) -> None:
    """No entity is expanded, and the message says what is wrong."""
    with pytest.raises(InputError, match=told):
        read_site(content)


def test_variables_stand_for_other_properties() -> None:
    """Those of the file are put in, others stay, and a circle ends."""
    values = {"a": "1${b}", "b": "2${env.HOME}${c}", "c": "3", "x": "${y}", "y": "${x}"}
    doubling = {f"v{i}": f"${{v{i + 1}}}" * 100 for i in range(10)} | {"v10": "x" * 100}

    assert expand(values, "a") == "12${env.HOME}3"
    assert expand(values, "none") is None
    for many, name in ((values, "x"), (doubling, "v0")):
        with pytest.raises(InputError, match=f"{name}: too many variables within variables"):
            expand(many, name)


@pytest.mark.parametrize(
    ("text", "number"), [("7", 7), (" -7 ", -7), ("+7", 7), ("0x1F", 31), ("-0X10", -16)]
)
def test_whole_numbers_are_decimal_or_hexadecimal(text: str, number: int) -> None:
    """As getInt of Hadoop, blanks around dropped."""
    assert read_int(text) == number


@pytest.mark.parametrize("text", ["2592000.5", "", "1_000", "0x", "2147483648", "9" * 5000, "٣"])
def test_other_numbers_are_refused(text: str) -> None:
    """Where getInt ends in a NumberFormatException, so does ours, in words."""
    with pytest.raises(InputError, match="not a whole number of 32 bits"):
        read_int(text)


def test_numbers_and_truths_are_javas() -> None:
    """0.4f is 0.4 and not the nearest float32; what is neither true nor false is the default."""
    assert (read_float("0.4f"), read_float("1e4"), read_float("31536000.0")) == (0.4, 1e4, 31536000)
    assert [read_bool(t, True) for t in (" TRUE ", "false", "yes")] == [True, False, True]
