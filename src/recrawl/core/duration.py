"""Durations as people write them, and back."""

from __future__ import annotations

import math
import re
from decimal import Decimal

from recrawl.errors import DurationError

__all__ = ["MAX_DURATION", "format_duration", "parse_duration", "spell_duration"]

#: Longest duration that is read: a thousand years. Anything longer is a slip of the pen. [s]
MAX_DURATION = 365_250 * 86_400

_UNITS = {
    "w": Decimal(604_800),
    "d": Decimal(86_400),
    "h": Decimal(3600),
    "m": Decimal(60),
    "s": Decimal(1),
    "ms": Decimal("0.001"),
}
_NUMBER = r"([0-9]{1,15}(?:\.[0-9]{1,330})?)"
_SHORT = re.compile(r"\s*".join(rf"(?:{_NUMBER}\s*{unit})?" for unit in _UNITS))
_SECONDS = re.compile(_NUMBER)
_ISO = re.compile(
    rf"P(?:{_NUMBER}W)?(?:{_NUMBER}D)?(?:T(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?"
)
_ALLOWED = (
    "write a number of seconds, or numbers with w, d, h, m, s or ms from large to small"
    " such as 90s, 12h, 30d or 1h30m, or ISO 8601 such as P1D or PT12H"
)
_PEOPLE = (("d", 86_400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0))


def parse_duration(value: str | float) -> float:
    """Return the length of a duration.

    Parameters
    ----------
    value : str or float
        ``"90s"``, ``"12h"``, ``"1h30m"``, ``"2w"``, ``"500ms"``, ``"P1DT12H"``; a plain number,
        also as text, is seconds. Units go from large to small, each at most once, each with
        decimals if wanted. Years and months have no fixed length and are not read.

    Returns
    -------
    float
        From 0 to ``MAX_DURATION``. [s]

    Raises
    ------
    DurationError
        If it is not a duration; the message says what is allowed.

    Examples
    --------
    >>> parse_duration("1h30m")
    5400.0
    """
    seconds = _seconds_of(value)
    if seconds is None:
        raise DurationError(f"not a duration: {_shown(value)}; {_ALLOWED}", value=value)
    if not 0 <= seconds <= MAX_DURATION:
        reason = "negative" if seconds < 0 else "longer than a thousand years (365250d)"
        raise DurationError(f"a duration cannot be {reason}: {_shown(value)}", value=value)
    return float(seconds)


def _seconds_of(value: str | float) -> Decimal | float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        # Not math.isnan: it cannot take an int of any size. NaN alone is in no order.
        return value if value <= 0 or value > 0 else None
    text = value.strip()
    if _SECONDS.fullmatch(text):
        return Decimal(text)
    for pattern, units in ((_SHORT, tuple(_UNITS)), (_ISO, ("w", "d", "h", "m", "s"))):
        match = pattern.fullmatch(text)
        if match and any(match.groups()):
            parts = zip(match.groups(), units, strict=True)
            return sum((Decimal(part) * _UNITS[unit] for part, unit in parts if part), Decimal())
    return None


def _shown(value: str | float) -> str:
    if isinstance(value, int) and abs(value) > MAX_DURATION:
        return "a whole number of too many digits"
    shown = repr(value)
    return shown if len(shown) <= 100 else f"{shown[:99]}…"


def format_duration(seconds: float) -> str:
    """Return a duration for people, to three digits.

    Parameters
    ----------
    seconds : float
        The duration; NaN is ``unknown``, infinity ``never``. [s]

    Examples
    --------
    >>> [format_duration(s) for s in (90, 216_000, 0.25, 86_400)]
    ['90 s', '2.5 d', '250 ms', '1 d']
    """
    if math.isnan(seconds):
        return "unknown"
    if math.isinf(seconds):
        return "never" if seconds > 0 else "-never"
    sign, size = ("-" if seconds < 0 else ""), abs(seconds)
    for unit, length in _PEOPLE:
        # A day and a half reads better as 36 h, but a day as 1 d.
        if size >= 2 * length or size == length:
            return f"{sign}{_three_digits(size / length)} {unit}"
    if size >= 0.9995:
        return f"{sign}{_three_digits(size)} s"
    return f"{sign}{_three_digits(size * 1000)} ms" if size else "0 s"


def _three_digits(number: float) -> str:
    return f"{number:.0f}" if number >= 99.95 else f"{number:.3g}"


def spell_duration(seconds: float) -> str:
    """Return the text for a settings file, which ``parse_duration`` reads back exactly.

    Parameters
    ----------
    seconds : float
        From 0 to ``MAX_DURATION``. [s]

    Examples
    --------
    >>> [spell_duration(s) for s in (90, 5400, 86_400, 10_368_000, 0.5)]
    ['90s', '90m', '1d', '120d', '500ms']
    """
    exact = Decimal(repr(float(seconds)))
    for unit in ("d", "h", "m", "s", "ms"):
        number = exact / _UNITS[unit]
        if exact and number == number.to_integral_value() and number * _UNITS[unit] == exact:
            return f"{number:.0f}{unit}"
    return f"{exact:f}s" if exact else "0s"
