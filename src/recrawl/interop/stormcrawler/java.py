"""How Java reads the settings and metadata of StormCrawler, its refusals included.

A refusal is an ``InputError`` whose message starts with the name of the original's exception.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from recrawl.core.numeric import to_int
from recrawl.errors import InputError

__all__ = [
    "Config",
    "Metadata",
    "first_value",
    "hash_order",
    "is_blank",
    "parse_int",
    "read_bool",
    "read_float",
    "read_int",
    "refusal",
]

#: Settings as a topology has them: whole numbers, numbers, booleans, texts, lists.
Config: TypeAlias = Mapping[str, Any]
#: Metadata of a page: any number of values a key, also none, and null among them.
Metadata: TypeAlias = Mapping[str, Sequence[str | None]]

_INTS = 1 << 32
_LEAST_INT, _MOST_INT = -(2**31), 2**31 - 1
_LONGEST_INT = 11
#: What Java's ``Character.isWhitespace`` does not count as blank, though Python does.
_NO_BREAK = frozenset("\x85\u00a0\u2007\u202f")


def refusal(exception: str, detail: str, value: object = None) -> InputError:
    """Return the error that stands for an exception of the original."""
    return InputError(f"{exception}: {detail}", value=value)


def first_value(metadata: Metadata, key: str) -> str | None:
    """Return the first value of a key; None where there is none, or null."""
    values = metadata.get(key)
    return values[0] if values else None


def parse_int(text: str, *, what: str) -> int:
    """Return the integer that Java's ``Integer.parseInt`` reads.

    Parameters
    ----------
    text : str
        An optional sign and decimal digits of any script, within the range of int32.
    what : str
        What it is, for the message.

    Raises
    ------
    InputError
        If Java would not read it (NumberFormatException).
    """
    is_negative = text.startswith("-")
    digits = [_digit(character) for character in (text[1:] if text[:1] in "+-" else text)]
    if digits and all(digits):
        # Longer numbers do not fit, and Python refuses to read the longest.
        spelt = "".join(digits).lstrip("0")[:_LONGEST_INT] or "0"
        number = -int(spelt) if is_negative else int(spelt)
        if _LEAST_INT <= number <= _MOST_INT:
            return number
    raise refusal(
        "NumberFormatException",
        f'For input string: "{text}"; {what} is a whole number of 32 bits, without blanks',
        text,
    )


def _digit(character: str) -> str:
    """Return the ASCII digit; "" for none.  Java looks at UTF-16 units, so beyond is none."""
    value = unicodedata.decimal(character, -1) if character <= "\uffff" else -1
    return "" if value < 0 else str(value)


def read_int(config: Config, key: str, default: int) -> int:
    """Return a setting as Java's ``Number.intValue`` makes it of any number.

    Fractions are cut, decimal numbers saturate, whole numbers wrap.

    Raises
    ------
    InputError
        If it is no number (ClassCastException).
    """
    value: object = config.get(key)
    if value is None:
        return default
    if isinstance(value, float):
        return int(to_int(np.array([value]))[0])
    if isinstance(value, bool) or not isinstance(value, int):
        raise _no("a number", key, value)
    return (value - _LEAST_INT) % _INTS + _LEAST_INT


def read_float(config: Config, key: str, default: float) -> float:
    """Return a setting that the original reads as float32.

    Raises
    ------
    InputError
        If it is no number (ClassCastException).
    """
    value: object = config.get(key)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _no("a number", key, value)
    return float(value)


def read_bool(config: Config, key: str, *, default: bool) -> bool:
    """Return a setting that is true or false.

    Raises
    ------
    InputError
        If it is neither (ClassCastException).
    """
    value = config.get(key)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise _no("true or false", key, value)
    return value


def _no(kind: str, key: str, value: object) -> InputError:
    return refusal("ClassCastException", f"{key} = {value!r} is not {kind}", value)


def hash_order(keys: Iterable[str]) -> list[str]:
    """Return the keys in the order in which a Java ``HashMap`` gives them.

    Parameters
    ----------
    keys : iterable of str
        Distinct keys, in the order in which they were put in.

    Notes
    -----
    Bins of eight and more, which the original keeps as trees, are not modelled.
    """
    kept = list(keys)
    size = 16
    while len(kept) > size * 3 // 4:
        size *= 2
    return sorted(kept, key=lambda key: _spread(key) & (size - 1))


def _spread(text: str) -> int:
    """Return the hash code of a text as ``HashMap`` uses it."""
    code = 0
    units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), dtype="<u2")
    for unit in units.tolist():
        code = (31 * code + unit) % _INTS
    return code ^ (code >> 16)


def is_blank(text: str) -> bool:
    """Return whether Java's ``Character.isWhitespace`` holds for every character."""
    return all(character.isspace() and character not in _NO_BREAK for character in text)
