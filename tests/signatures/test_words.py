"""Words as Java splits them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.signatures._words import UNIT_TABLE, count_words

TABLE = Path(__file__).parent.parent / "golden/data/nutch/chartable.json"


def test_table_is_the_recorded_one():
    """All 65,536 units become what Java 17 makes of them."""
    recorded = json.loads(TABLE.read_text(encoding="utf-8"))
    expected = np.full(0x10000, ord(" "), dtype=np.uint16)
    for first, last in recorded["letter_or_digit"]:
        expected[first : last + 1] = np.arange(first, last + 1)
    for unit, lower in recorded["to_lower"].items():
        if expected[int(unit)] != ord(" "):
            expected[int(unit)] = lower

    np.testing.assert_array_equal(UNIT_TABLE, expected)


def test_table_cannot_be_changed():
    """The table is shared, so writing into it is refused."""
    with pytest.raises(ValueError, match="read-only"):
        UNIT_TABLE[0] = 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't stop", ["don", "t", "stop"]),
        ("foo_bar-baz", ["foo", "bar", "baz"]),
        ("ÀÉ été", ["àé", "été"]),
        ("it’s K", ["it", "s", "k"]),
        ("ΣΑΣ", ["σασ"]),
        ("İ", ["i"]),
        ("ab😀cd", ["ab", "cd"]),
        ("a\ud800b", ["a", "b"]),
        ("e\u0301t", ["e", "t"]),
        ("漢字かな 123", ["漢字かな", "123"]),
    ],
    ids=["apostrophe", "punctuation", "latin-1", "typographic", "sigma", "dotted i", "astral",
         "lone surrogate", "combining mark", "cjk"],
)  # fmt: skip
def test_words(text, words):
    """Letters and decimal digits make words, in lower case by unit."""
    assert count_words(text)[0] == Counter(words)


@pytest.mark.parametrize("text", ["end.", "fin’", "かな。"])
def test_end_outside_a_word_is_told(text):
    """The second value says whether the last unit belongs to no word."""
    assert count_words(text)[1]
    assert not count_words(text[:-1])[1]


@given(st.text(st.characters(exclude_categories=())))
def test_the_three_ways_agree(text):
    """Bytes and units are counted alike: a character of another script changes nothing else."""
    alone, with_other = count_words(text)[0], count_words(text + " 漢")[0]

    assert with_other - Counter(["漢"]) == alone
