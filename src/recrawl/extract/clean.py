"""Takes out of texts what no reader sees: control characters and lone surrogates."""

from __future__ import annotations

import re

__all__ = ["clean_line", "clean_text"]

# A terminal may obey control characters; a database may refuse NUL and surrogates.
_UNSEEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]+")
_LINE_ENDS = re.compile("\r\n?|[\f\v\x85\u2028\u2029]")


def clean_text(text: str) -> str:
    """Return the text with every line end as LF, without unseen characters and outer blanks."""
    if not text.isascii() or "\r" in text or "\f" in text or "\v" in text:
        text = _LINE_ENDS.sub("\n", text)
    return _UNSEEN.sub("", text).strip()


def clean_line(text: str, limit: int) -> str:
    """Return the text on one line, white space folded, at most ``limit`` characters."""
    # A character of white space at least lies between two words, so the cut is safe.
    return " ".join(_UNSEEN.sub("", " ".join(text.split())).split())[:limit].rstrip()
