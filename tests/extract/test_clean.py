"""Texts without what no reader sees."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recrawl.extract.clean import clean_line, clean_text

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=100)


def test_line_ends_are_one():
    """All ways to end a line become LF."""
    assert clean_text("a\r\nb\rc\nd\u2028e\x0bf\x0cg\x85h") == "a\nb\nc\nd\ne\nf\ng\nh"


def test_control_characters_go():
    """NUL, escapes, C1 controls, surrogates and non-characters are no text; tabs stay."""
    assert clean_text("\x1b[31ma\0b\x9b\x7f\ud800c\uffff\td") == "[31mabc\td"


def test_a_line_is_folded_and_cut():
    """White space of any kind becomes one blank; the cut leaves no blank at the end."""
    assert clean_line(" a\n\tb\xa0\u3000c\x00 ", 100) == "a b c"
    assert clean_line("abc def", 4) == "abc"
    assert clean_line("\0 \0", 10) == ""


@given(ANY_TEXT)
def test_cleaning_is_idempotent_and_storable(text):
    """What is clean stays as it is, and UTF-8 can hold it."""
    cleaned = clean_text(text)

    assert clean_text(cleaned) == cleaned
    assert "\0" not in cleaned
    cleaned.encode()
    assert clean_line(clean_line(text, 50), 50) == clean_line(text, 50)
    assert "\n" not in clean_line(text, 50)
