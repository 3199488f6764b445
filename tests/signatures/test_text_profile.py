"""MD5 of the profile of frequent words."""

from __future__ import annotations

import hashlib
import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recrawl.core.document import Document
from recrawl.errors import InputError
from recrawl.signatures.md5 import MD5
from recrawl.signatures.text_profile import TextProfile

EMPTY = hashlib.md5(b"").hexdigest()
WORDS = st.lists(st.text("abcdeéß漢1", min_size=1, max_size=6), max_size=30)


def sign(text, **settings):
    return TextProfile(**settings).sign(Document("http://a.example/", b"content", text)).hex()


def md5(profile):
    return hashlib.md5(profile.encode()).hexdigest()


def test_profile_of_a_text():
    """Words that repeat make the profile, the most frequent first (case sig-001)."""
    text = "Hello World The Quick Brown Fox Jumped Over the Lazy Fox"

    assert sign(text) == md5("fox 2\nthe 2") == "893f359d5e8dbbecdac1ede521134f56"


def test_words_that_occur_once_vanish_beside_one_that_repeats():
    """The blind spot of the original is kept (case sig-002)."""
    expected = "a4f608d5ffd51ccab4ed6de0d8d0f35c"

    assert sign("price price today only 990 euro") == expected
    assert sign("price price today only 890 euro") == expected


@pytest.mark.parametrize("text", ["a b cd ef 12", "zz yy xx 99", "   "])
def test_texts_of_short_words_share_the_empty_profile(text):
    """A text without a long word is digested as nothing, as in the original (case sig-003)."""
    assert sign(text) == EMPTY


@pytest.mark.parametrize("text", [None, ""])
def test_without_text_the_content_is_digested(text, text_document):
    """A page without text falls back to its bytes, then to its URL."""
    assert TextProfile().sign(text_document(text)) == MD5().sign(text_document(text))
    bare = Document("http://a.example/", b"", text)
    assert TextProfile().sign(bare) == MD5().sign(bare)


@pytest.mark.parametrize(
    ("min_token_len", "profile"),
    [(3, "abcd 1"), (2, "abc 1\nabcd 1"), (1, "ab 1\nabc 1\nabcd 1"),
     (0, "a 1\nab 1\nabc 1\nabcd 1"), (-1, " 1\na 1\nab 1\nabc 1\nabcd 1")],
)  # fmt: skip
def test_words_longer_than_the_least_length_count(min_token_len, profile):
    """The length is a bound that is not included; below 0 even an empty end counts."""
    assert sign("a ab abc abcd.", min_token_len=min_token_len) == md5(profile)


def test_end_inside_a_word_leaves_nothing_over():
    """Below 0 there is no empty word if the text ends with a word."""
    assert sign("abc", min_token_len=-1) == md5("abc 1")


@pytest.mark.parametrize(
    ("quant_rate", "n_words", "shown"),
    [
        (0.01, 250, 249),  # 2.5 as float32 product: up to 3
        (0.35, 90, 64),  # 31.5: up to 32
        (0.0, 5, 4),
        (-1.0, 5, 4),
        (math.nan, 5, 4),
        (1.0, 5, 5),
    ],
)
def test_counts_are_rounded_down_to_the_quantum(quant_rate, n_words, shown):
    """The quantum is a float32 product rounded half up, and at least 2 where a word repeats."""
    assert sign("word " * n_words, quant_rate=quant_rate) == md5(f"word {shown}")


@pytest.mark.parametrize("quant_rate", [3.0, math.inf, 3e38])
def test_a_rate_above_one_empties_the_profile(quant_rate):
    """No count reaches the quantum, so nothing is left."""
    assert sign("word word word", quant_rate=quant_rate) == EMPTY


def test_a_rate_of_minus_infinity_is_as_any_negative_one():
    """Java's rounding saturates at the least int, which is below 2."""
    assert sign("word word", quant_rate=-math.inf) == md5("word 2")


def test_words_of_equal_count_keep_the_order_of_the_text_without_sorting():
    """With sec_sort_lex off, the word that comes first in the text comes first."""
    assert sign("pear apple fig", sec_sort_lex=False) == md5("pear 1\napple 1\nfig 1")
    assert sign("pear apple fig", sec_sort_lex=True) == md5("apple 1\nfig 1\npear 1")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"min_token_len": 2.5}, "min_token_len is 2.5"),
        ({"min_token_len": True}, "min_token_len is True"),
        ({"quant_rate": "0.1"}, "quant_rate is '0.1'"),
        ({"quant_rate": False}, "quant_rate is False"),
        ({"sec_sort_lex": 1}, "sec_sort_lex is 1"),
    ],
)
def test_settings_of_another_type_are_refused(settings, message):
    """The error names the setting and its value."""
    with pytest.raises(InputError, match=message):
        TextProfile(**settings)


def test_name_and_scheme():
    """The scheme tells every setting, so other settings are never compared."""
    assert TextProfile().name == "text-profile"
    assert TextProfile().scheme == (
        "text-profile/1 min_token_len=2 quant_rate=0.01 sec_sort_lex=true"
    )
    schemes = {
        TextProfile().scheme,
        TextProfile(min_token_len=3).scheme,
        TextProfile(quant_rate=0.02).scheme,
        TextProfile(sec_sort_lex=False).scheme,
    }
    assert len(schemes) == 4
    assert TextProfile(quant_rate=1).scheme == TextProfile(quant_rate=1.0).scheme


@given(WORDS.flatmap(lambda words: st.tuples(st.just(words), st.permutations(words))))
def test_order_of_words_plays_no_part(pair):
    """Any order of the same words has the same signature."""
    words, permuted = pair
    assume(words)

    assert sign(" ".join(words)) == sign(" ".join(permuted))


@given(WORDS, st.lists(st.sampled_from(["a", "to", "1", "–", "é", "😀", "\n"])))
def test_short_words_and_marks_play_no_part(words, short):
    """What is too short for a word can come and go."""
    text = " ".join(words)
    assume(text)

    assert sign(" ".join([*short, text, *short])) == sign(text)


@given(WORDS)
def test_case_plays_no_part(words):
    """Upper and lower case are the same word; capital sharp s aside, which no text here has."""
    text = " ".join(words).replace("ß", "")
    assume(text)

    assert sign(text.upper()) == sign(text)


@given(st.integers(2, 400), st.integers(0, 1))
def test_one_more_of_a_frequent_word_may_pass(n_words, more):
    """An even count and the next odd one are the same to the smallest quantum."""
    n_even = n_words // 2 * 2
    assume(n_even <= 150)

    assert sign("word " * (n_even + more)) == sign("word " * n_even)


def test_the_documented_profile_stands_on_one_line() -> None:
    """With blanks between the pairs the signature is another, and so is its scheme."""
    text = "Hello World The Quick Brown Fox Jumped Over the Lazy Fox"
    document = Document("https://example.org/", b"", text)
    documented = TextProfile(variant="documented")

    assert TextProfile().sign(document).hex() == "893f359d5e8dbbecdac1ede521134f56"
    assert documented.sign(document).hex() == "6d42659e23042eee0a00fd7b864649a7"
    assert documented.scheme == TextProfile().scheme + " variant=documented"


def test_a_variant_that_there_is_not_is_refused() -> None:
    """The message says which there are."""
    with pytest.raises(InputError, match="variant is 'old', allowed is code or documented"):
        TextProfile(variant="old")
