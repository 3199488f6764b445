"""MD5 of the profile of frequent words: small edits of a text do not count."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from recrawl.core.document import Document
from recrawl.core.layers import Layer
from recrawl.core.variant import CODE, require_variant
from recrawl.errors import InputError
from recrawl.signatures._words import count_words
from recrawl.signatures.md5 import content_digest

__all__ = ["TextProfile"]

_INT_MAX = 2**31 - 1


def _round(value: np.float32) -> int:
    """Return the nearest int32, ties upwards, NaN as 0: Java's ``Math.round(float)``."""
    if np.isnan(value):
        return 0
    if not abs(value) < _INT_MAX:
        return _INT_MAX if value > 0 else -_INT_MAX - 1
    return math.floor(float(value) + 0.5)


@dataclass(frozen=True, slots=True)
class TextProfile:
    """MD5 of the words that occur often, with their counts made coarse.

    Parameters
    ----------
    min_token_len : int
        A word counts if it is longer. [UTF-16 units]
    quant_rate : float
        Counts are rounded down to multiples of this part of the largest count, at least of 2
        (of 1 where no word repeats); words below one multiple drop out.  Used as float32.
    sec_sort_lex : bool
        Order of words of equal count: by code unit; if False, by first occurrence.
    variant : str
        ``code``: pairs of word and count are separated by line ends.  ``documented``: by blanks,
        as Nutch's description says.

    Notes
    -----
    Equal bit for bit to Nutch's ``TextProfileSignature`` (1.23) on Java 17.  Nutch leaves the
    order with ``sec_sort_lex=False`` to a hash table; ours is fixed, but another.

    Blind spots of the original, kept: once any word repeats, words that occur once have no
    weight; a text with no word long enough has the digest of nothing, as all such texts.  Text
    of blanks is a text; without text the content is digested, then the URL.
    """

    min_token_len: int = 2
    quant_rate: float = 0.01
    sec_sort_lex: bool = True
    variant: str = CODE

    def __post_init__(self) -> None:
        require_variant("signature text-profile", self.variant)
        if isinstance(self.min_token_len, bool) or not isinstance(self.min_token_len, int):
            raise InputError(
                f"min_token_len is {self.min_token_len!r}; give a whole number such as 2",
                value=self.min_token_len,
            )
        if isinstance(self.quant_rate, bool) or not isinstance(self.quant_rate, int | float):
            raise InputError(
                f"quant_rate is {self.quant_rate!r}; give a number such as 0.01",
                value=self.quant_rate,
            )
        if not isinstance(self.sec_sort_lex, bool):
            raise InputError(
                f"sec_sort_lex is {self.sec_sort_lex!r}; give true or false",
                value=self.sec_sort_lex,
            )

    @property
    def name(self) -> str:
        """Name in settings and reports."""
        return "text-profile"

    @property
    def scheme(self) -> str:
        """Name, version and settings in one line."""
        # Signatures from before there were variants are of this scheme: it is not to change.
        variant = "" if self.variant == CODE else f" variant={self.variant}"
        return (
            f"text-profile/1 min_token_len={self.min_token_len} "
            f"quant_rate={float(self.quant_rate)!r} sec_sort_lex={str(self.sec_sort_lex).lower()}"
            f"{variant}"
        )

    @property
    def layers(self) -> Layer:
        """What the signature looks at."""
        return Layer.PROFILE

    def sign(self, document: Document) -> bytes:
        """Return the signature, 16 bytes."""
        if not document.text:
            return content_digest(document)
        profile = self._profile(self._tokens(document.text))
        return hashlib.md5(profile.encode(), usedforsecurity=False).digest()

    def _tokens(self, text: str) -> dict[str, int]:
        """Return the words that are long enough, in the order of their first occurrence."""
        counts, ends_outside = count_words(text)
        if self.min_token_len > 0:
            return {word: n for word, n in counts.items() if len(word) > self.min_token_len}
        # The original looks at what is left at the end of the text even if that is nothing.
        empty = {"": 1} if self.min_token_len < 0 and ends_outside else {}
        return counts | Counter(empty)

    def _profile(self, tokens: dict[str, int]) -> str:
        """Return the frequent words and their counts, one a line, most frequent first.

        In the variant ``documented`` all stand on one line.
        """
        largest = max(tokens.values(), default=0)
        quantum = self._quantum(largest)
        kept = [(word, n - n % quantum) for word, n in tokens.items() if n >= quantum]
        if self.sec_sort_lex:
            kept.sort()
        kept.sort(key=lambda entry: -entry[1])
        separator = "\n" if self.variant == CODE else " "
        return separator.join(f"{word} {n}" for word, n in kept)

    def _quantum(self, largest: int) -> int:
        """Return the step to which counts are rounded down."""
        with np.errstate(all="ignore"):
            quantum = _round(np.float32(largest) * np.float32(self.quant_rate))
        return quantum if quantum >= 2 else 2 if largest > 1 else 1
