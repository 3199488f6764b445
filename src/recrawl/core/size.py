"""Sizes in bytes as people write them, and back."""

from __future__ import annotations

import re
from decimal import Decimal

from recrawl.errors import InputError

__all__ = ["parse_size", "spell_size"]

_UNITS = {
    "B": 1,
    "kB": 1000,
    "MB": 1000**2,
    "GB": 1000**3,
    "KiB": 1024,
    "MiB": 1024**2,
    "GiB": 1024**3,
}
_BY_LOWER = {unit.lower(): size for unit, size in _UNITS.items()}
_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([A-Za-z]*)")


def parse_size(value: str | int) -> int:
    """Return a size in bytes.

    Parameters
    ----------
    value : str or int
        ``"5MB"`` (1000 each), ``"500KiB"`` (1024 each), ``"1.5 GB"``, upper or lower case; a
        plain number, also as text, is bytes.

    Raises
    ------
    InputError
        If it is not a size of whole bytes.

    Examples
    --------
    >>> parse_size("500KiB")
    512000
    """
    size: Decimal | int | None = None
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        size = value
    elif isinstance(value, str):
        match = _SIZE.fullmatch(value.strip())
        unit = _BY_LOWER.get((match[2] or "B").lower()) if match else None
        if match and unit:
            size = Decimal(match[1]) * unit
    if size is None or size != int(size):
        # Python refuses to write out the largest numbers.
        is_long = isinstance(value, int) and value.bit_length() > 64
        shown = "a whole number of too many digits" if is_long else repr(value)[:100]
        raise InputError(
            f"not a size: {shown}; write whole bytes, as a number or with one of"
            f" {', '.join(_UNITS)}, such as 5MB or 500KiB",
            value=value,
        )
    return int(size)


def spell_size(size: int) -> str:
    """Return the shortest text that ``parse_size`` reads back.

    Examples
    --------
    >>> [spell_size(n) for n in (5_000_000, 512_000, 1536, 7)]
    ['5MB', '512kB', '1536B', '7B']
    """
    texts = [f"{size // each}{unit}" for unit, each in _UNITS.items() if size % each == 0]
    return min(texts, key=len) if size else "0B"
