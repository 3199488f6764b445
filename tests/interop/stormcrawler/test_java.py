"""How Java reads settings and metadata."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InputError
from recrawl.interop.stormcrawler.java import (
    first_value,
    hash_order,
    is_blank,
    parse_int,
    read_bool,
    read_float,
    read_int,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("007", 7), ("+7", 7), ("-60", -60), ("٣٤", 34), ("１２", 12), ("0" * 5000 + "1", 1)],
)
def test_digits_of_any_script_are_read(text: str, expected: int) -> None:
    """A sign and decimal digits make a number, zeros in front do not count."""
    assert parse_int(text, what="x") == expected


@given(st.integers(-(2**31), 2**31 - 1))
def test_every_int_is_read_back(number: int) -> None:
    """What was written as a decimal number of 32 bits is that number."""
    assert parse_int(str(number), what="x") == number


@pytest.mark.parametrize(
    "text",
    [
        "", "+", "-", "--1", "+-1", " 5", "5 ", "1.5", "1e3", "0x10", "1_000", "abc", "𝟏", "²",
        "2147483648", "-2147483649", "9" * 5000,
    ],
)  # fmt: skip
def test_what_java_does_not_read_is_refused(text: str) -> None:
    """The message is that of the original, and says what the number is."""
    with pytest.raises(InputError, match=r"^NumberFormatException: For input string: .*; delay is"):
        parse_int(text, what="delay")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, 5),
        (90, 90),
        (90.9, 90),
        (-1.9, -1),
        (1e30, 2**31 - 1),
        (4_294_967_297, 1),
        (2_147_483_648, -2_147_483_648),
        (-4_294_967_297, -1),
    ],
)
def test_numbers_of_settings_become_ints(value: object, expected: int) -> None:
    """Fractions are cut, decimal numbers saturate, whole numbers wrap."""
    assert read_int({"k": value}, "k", 5) == expected


def test_rates_and_switches_are_read() -> None:
    """Whole numbers are rates too, and what is missing is the default."""
    assert read_float({"k": 1}, "k", 0.5) == 1
    assert read_float({}, "k", 0.5) == 0.5
    assert read_bool({"k": True}, "k", default=False) is True
    assert read_bool({}, "k", default=True) is True


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (lambda config: read_int(config, "k", 5), "1440"),
        (lambda config: read_int(config, "k", 5), True),
        (lambda config: read_float(config, "k", 5), "0.5"),
        (lambda config: read_float(config, "k", 5), False),
        (lambda config: read_bool(config, "k", default=False), "true"),
    ],
)
def test_settings_of_another_type_are_refused(read: Any, value: object) -> None:
    """The original casts, so texts are no numbers."""
    with pytest.raises(InputError, match=r"^ClassCastException: k = .* is not"):
        read({"k": value})


def test_first_values() -> None:
    """No key, no value and null are all absent; an empty text is a value."""
    metadata: dict[str, list[str | None]] = {"a": ["x", "y"], "b": [], "c": [None, "x"], "d": [""]}

    assert [first_value(metadata, key) for key in "abcde"] == ["x", None, None, "", None]


def test_a_hash_table_gives_short_keys_by_code() -> None:
    """A key of one letter has its code as hash: ``a`` and ``q`` share a bin."""
    assert hash_order(["b", "q", "a"]) == ["q", "a", "b"]
    assert hash_order(["b", "a", "q"]) == ["a", "q", "b"]


def test_a_hash_table_grows_at_three_quarters() -> None:
    """Twelve keys fit in sixteen bins; the thirteenth doubles them, and the order changes."""
    letters = [chr(code) for code in range(ord("a"), ord("m"))]
    twelve, thirteen = ["q", *letters[:11]], ["q", *letters]

    assert hash_order(twelve)[:2] == ["q", "a"]
    assert hash_order(thirteen)[0] == "a"


def test_hashes_go_by_utf_16() -> None:
    """Characters beyond the basic plane count as two units, lone surrogates as one."""
    assert sorted(hash_order(["𝟏", "\ud800", "é"])) == sorted(["𝟏", "\ud800", "é"])


@pytest.mark.parametrize("text", ["", " \t\n", "\u3000\u2028", "\x1c"])
def test_blank_texts(text: str) -> None:
    """White space of Java is blank."""
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", "\xa0", "\u2007", "\u202f", "\x85", "\u200b", " \ufeff"])
def test_texts_that_are_not_blank(text: str) -> None:
    """Blanks that do not break a line are none in Java."""
    assert not is_blank(text)
