"""Splits text into lower-case words exactly as Java does, in C loops only."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from recrawl.signatures._java_letters import LETTERS_AND_DIGITS, LOWER_CASE

__all__ = ["UNIT_TABLE", "count_words"]

_SEPARATOR = ord(" ")


def _unit_table() -> NDArray[np.uint16]:
    """Return what each UTF-16 unit becomes: its lower case, or a space between words."""
    is_word = np.zeros(0x10000, dtype=bool)
    for item in LETTERS_AND_DIGITS.split():
        first, _, last = item.partition("-")
        is_word[int(first, 16) : int(last or first, 16) + 1] = True
    lower = np.arange(0x10000)
    for item in LOWER_CASE.split():
        match = re.fullmatch(r"(\w+)-(\w+)/(\d):(-?\d+)", item)
        assert match is not None
        run = slice(int(match[1], 16), int(match[2], 16) + 1, int(match[3]))
        lower[run] += int(match[4])
    table = np.where(is_word, lower, _SEPARATOR).astype("<u2")
    table.flags.writeable = False
    return table


UNIT_TABLE = _unit_table()

# Lower case never leaves Latin-1 for a Latin-1 letter, so one byte maps to one byte.
_LATIN_TABLE = UNIT_TABLE[:256].astype(np.uint8).tobytes()


def count_words(text: str) -> tuple[Counter[str], bool]:
    """Return how often each word occurs, and whether the text ends outside a word.

    A word is a longest run of units that Java counts as letters or digits, each in lower case.
    Surrogates are no letters: a character beyond U+FFFF ends a word.
    """
    try:
        latin = text.encode("latin-1").translate(_LATIN_TABLE)
    except UnicodeEncodeError:
        units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), dtype="<u2")
        mapped = UNIT_TABLE[units]
        if mapped.max() > 0xFF:
            words = mapped.tobytes().decode("utf-16-le")
            return Counter(words.split()), words.endswith(" ")
        # Typographic marks alone took the text out of Latin-1; bytes are quicker to count.
        latin = mapped.astype(np.uint8).tobytes()
    counts = Counter(latin.split())
    return Counter({word.decode("latin-1"): n for word, n in counts.items()}), latin.endswith(b" ")
