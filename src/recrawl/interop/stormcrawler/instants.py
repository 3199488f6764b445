"""Instants as Java's ``Instant`` reads and writes them, in nanoseconds since 1970."""

from __future__ import annotations

import re

from recrawl.interop.stormcrawler.java import refusal

__all__ = ["parse_instant", "spell_instant"]

_SECOND = 1_000_000_000
_DAY = 86_400
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_MOST_YEAR = 1_000_000_000
_MOST_OFFSET = 18 * 3600
_INSTANT = re.compile(
    r"(?P<year>-?[0-9]{4}|[+-][0-9]{5,10})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})[Tt]"
    r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]{0,9}))?"
    r"(?:[Zz]|(?P<sign>[+-])(?P<off_hour>[0-9]{2}):(?P<off_minute>[0-9]{2})"
    r"(?::(?P<off_second>[0-9]{2}))?)"
)


def parse_instant(text: str) -> int:
    """Return the instant that Java's ``Instant.parse`` reads. [ns].

    Parameters
    ----------
    text : str
        Such as ``2024-05-01T10:00:00Z``, with up to nine digits of fraction and any offset.

    Raises
    ------
    InputError
        If Java 17 would not read it (DateTimeParseException).

    Notes
    -----
    24:00:00 is the next day, and 23:59:60 is 23:59:59, as there.
    """
    match = _INSTANT.fullmatch(text)
    if match is None:
        raise _unreadable(text)
    year, month, day = (int(match[name]) for name in ("year", "month", "day"))
    hour, minute, second = (int(match[name]) for name in ("hour", "minute", "second"))
    nanos = int((match["fraction"] or "").ljust(9, "0"))
    extra = 0
    if (hour, minute, second, nanos) == (24, 0, 0, 0):
        hour, extra = 0, 1
    elif (hour, minute, second) == (23, 59, 60):
        second = 59
    if not (1 <= month <= 12 and 1 <= day <= _days(year, month) and abs(year) <= _MOST_YEAR):
        raise _unreadable(text)
    if hour > 23 or minute > 59 or second > 59:
        raise _unreadable(text)
    seconds = (_day_number(year, month, day) + extra) * _DAY + hour * 3600 + minute * 60 + second
    return (seconds - _offset(match, text)) * _SECOND + nanos


def spell_instant(at: int) -> str:
    """Return an instant [ns] as Java's ``Instant.toString`` writes it.

    Examples
    --------
    >>> spell_instant(1_714_557_600_500_000_000)
    '2024-05-01T10:00:00.500Z'
    """
    seconds, nanos = divmod(at, _SECOND)
    days, second = divmod(seconds, _DAY)
    year, month, day = _date(days)
    spelt = f"{abs(year):04d}"
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    fraction = ""
    if nanos:
        fraction = f".{nanos:09d}"
        while fraction.endswith("000"):
            fraction = fraction.removesuffix("000")
    clock = f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
    return f"{sign}{spelt}-{month:02d}-{day:02d}T{clock}{fraction}Z"


def _unreadable(text: str) -> Exception:
    return refusal(
        "DateTimeParseException",
        f"Text {text!r} could not be parsed; write 2024-05-01T10:00:00Z",
        text,
    )


def _offset(match: re.Match[str], text: str) -> int:
    """Return the offset from UTC. [s]."""
    if match["sign"] is None:
        return 0
    hour, minute, second = (
        int(match[name] or 0) for name in ("off_hour", "off_minute", "off_second")
    )
    offset = hour * 3600 + minute * 60 + second
    if minute > 59 or second > 59 or offset > _MOST_OFFSET:
        raise _unreadable(text)
    return -offset if match["sign"] == "-" else offset


def _days(year: int, month: int) -> int:
    """Return how many days a month has."""
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return _MONTH_DAYS[month - 1] + (month == 2 and is_leap)


def _day_number(year: int, month: int, day: int) -> int:
    """Return the days since 1970-01-01; years start in March here, so leap days come last."""
    shifted = year - (month <= 2)
    day_of_year = (153 * ((month - 3) % 12) + 2) // 5 + day - 1
    return 365 * shifted + shifted // 4 - shifted // 100 + shifted // 400 + day_of_year - 719_468


def _date(number: int) -> tuple[int, int, int]:
    """Return year, month and day of a day since 1970-01-01."""
    era, day_of_era = divmod(number + 719_468, 146_097)
    year_of_era = (
        day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096
    ) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted_month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted_month + 2) // 5 + 1
    month = (shifted_month + 2) % 12 + 1
    return era * 400 + year_of_era + (month <= 2), month, day
