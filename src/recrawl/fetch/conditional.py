"""Conditional requests, and dates as servers write them.

A validator goes back as the server sent it, byte for byte: many compare Last-Modified as text.
"""

from __future__ import annotations

import re
from calendar import monthrange, timegm
from collections.abc import Mapping
from email.utils import formatdate
from functools import lru_cache

from recrawl.core.columns import NO_TIME

__all__ = [
    "conditional_headers",
    "http_date",
    "modified_at",
    "parse_date",
    "retry_after",
]

# A server's clock may be ahead of ours by so much before we call its date a future one. [ms]
_SLACK = 86_400_000
# No date is longer; bounds what the cache keeps.
_MAX_DATE = 64

_TIME = r"(?P<hour>\d{1,2}):(?P<minute>\d{2}):(?P<second>\d{2})"
_ZONE = r"(?: *(?P<zone>[a-z]{1,4}|[+-]\d{4}))?"
_ISO_ZONE = r"(?:\.\d+)?(?P<zone>z|[+-]\d\d:?\d\d)"
_WEEKDAY = r"(?:[a-z]+,? +)?"
_DATES = tuple(
    re.compile(pattern, re.ASCII | re.IGNORECASE)
    for pattern in (
        # Sun, 06 Nov 1994 08:49:37 GMT; also without weekday, with another zone
        rf"{_WEEKDAY}(?P<day>\d\d?) (?P<month>[a-z]{{3}}) (?P<year>\d{{4}}) {_TIME}{_ZONE}",
        # Sunday, 06-Nov-94 08:49:37 GMT
        rf"{_WEEKDAY}(?P<day>\d\d?)-(?P<month>[a-z]{{3}})-(?P<year>\d\d(?:\d\d)?) {_TIME}{_ZONE}",
        # Sun Nov  6 08:49:37 1994
        rf"[a-z]{{3}} (?P<month>[a-z]{{3}}) +(?P<day>\d\d?) {_TIME} (?P<year>\d{{4}})(?P<zone>)",
        # 1994-11-06T08:49:37.000Z, as other crawlers keep it
        rf"(?P<year>\d{{4}})-(?P<month>\d\d)-(?P<day>\d\d)[T ]{_TIME}{_ISO_ZONE}",
    )
)
# The three forms that RFC 9110, section 5.6.7, lets a client send.
_HTTP_DATE = re.compile(
    r"[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT"
    r"|[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT"
    r"|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}",
    re.ASCII,
)
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
# Hours east of GMT. Those of RFC 822, and others that have one meaning only.
_ZONES = {
    "": 0, "z": 0, "gmt": 0, "utc": 0, "ut": 0, "wet": 0, "west": 1, "cet": 1, "cest": 2,
    "eet": 2, "eest": 3, "msk": 3, "jst": 9, "est": -5, "edt": -4, "cst": -6, "cdt": -5,
    "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
}  # fmt: skip


def parse_date(text: str) -> int:
    """Return the instant that a date of a header means.

    Parameters
    ----------
    text : str
        One of the three forms of RFC 9110, section 5.6.7, also with a numeric or a well-known
        zone, or an ISO 8601 date with a zone. The weekday is not looked at.

    Returns
    -------
    int
        NO_TIME if it is no such date, lies before 1970 or names an unknown zone. [ms]

    Examples
    --------
    >>> parse_date("Sun, 06 Nov 1994 08:49:37 GMT")
    784111777000
    """
    return _parse(text) if len(text) <= _MAX_DATE else NO_TIME


@lru_cache(maxsize=4096)  # pages of a run share their Date, pages of a site their Last-Modified
def _parse(text: str) -> int:
    text = text.strip()
    for pattern in _DATES:
        if match := pattern.fullmatch(text):
            return _instant(match)
    return NO_TIME


def _instant(match: re.Match[str]) -> int:
    part = match.groupdict()
    month = int(part["month"]) if part["month"].isdigit() else _MONTHS.get(part["month"].lower(), 0)
    year, day = int(part["year"]), int(part["day"])
    if len(part["year"]) == 2:  # RFC 850: 70 to 99 cannot be meant as years to come
        year += 1900 if year >= 70 else 2000
    hour, minute, second = int(part["hour"]), int(part["minute"]), int(part["second"])
    offset = _offset(part["zone"] or "")
    if offset is None or year < 1970 or not 1 <= month <= 12:
        return NO_TIME
    if not (1 <= day <= monthrange(year, month)[1] and hour < 24 and minute < 60 and second <= 60):
        return NO_TIME
    at = timegm((year, month, day, hour, minute, second)) - offset
    return 1000 * at if at >= 0 else NO_TIME


def _offset(zone: str) -> int | None:
    """Return seconds east of GMT; None for an unknown zone."""
    if zone[:1] in ("+", "-"):
        digits = zone[1:].replace(":", "")
        seconds = 3600 * int(digits[:2]) + 60 * int(digits[2:])
        return seconds if zone[0] == "+" else -seconds
    hours = _ZONES.get(zone.lower())
    return None if hours is None else 3600 * hours


def http_date(at: int) -> str:
    """Return an instant [ms] as HTTP writes it: always GMT, never ``-0000``."""
    return formatdate(at // 1000, usegmt=True)


def conditional_headers(etag: str | None, last_modified: str | None, now: int) -> dict[str, str]:
    """Return the headers that ask for a page only if it changed.

    Parameters
    ----------
    etag, last_modified : str or None
        Validators as the server sent them.
    now : int
        The present: a date that lies ahead by more than a day would be answered 304 until then
        and is not sent. [ms]

    Notes
    -----
    A Last-Modified in one of HTTP's forms goes back as it is; another date that can be read (a
    foreign zone, ISO 8601) goes back in GMT; what is no date does not go back.
    """
    headers = {}
    if etag and _can_be_sent(etag):
        headers["If-None-Match"] = etag
    if last_modified:
        at = parse_date(last_modified)
        if at != NO_TIME and at <= now + _SLACK:
            is_http_date = _HTTP_DATE.fullmatch(last_modified) is not None
            headers["If-Modified-Since"] = last_modified if is_http_date else http_date(at)
    return headers


def _can_be_sent(value: str) -> bool:
    """Say whether a header can carry the value: no controls, no half of a surrogate pair."""
    return not any(ch < " " or ch == "\x7f" or "\ud800" <= ch <= "\udfff" for ch in value)


def modified_at(headers: Mapping[str, str], now: int) -> int:
    """Return when an answer's content was modified, by its own word.

    Parameters
    ----------
    headers : mapping of str to str
        Headers of the answer, names in lower case.
    now : int
        Stands in for the Date header where there is none. [ms]

    Returns
    -------
    int
        NO_TIME if Last-Modified is absent, unreadable or later than the answer itself. [ms]
    """
    at = parse_date(headers.get("last-modified", ""))
    date = parse_date(headers.get("date", ""))
    return at if at <= (now if date == NO_TIME else date) else NO_TIME


def retry_after(headers: Mapping[str, str], now: int) -> float | None:
    """Return for how long the server asks to be left alone.

    A date is measured against the answer's own Date header, where there is one: the server's
    clock may be wrong, but it is the same clock.

    Returns
    -------
    float or None
        None if the header is absent, unreadable, or asks for no time to come. [s]
    """
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:12]) or None
    at = parse_date(text)
    if at == NO_TIME:
        return None
    date = parse_date(headers.get("date", ""))
    wait = (at - (now if date == NO_TIME else date)) / 1000
    return wait if wait > 0 else None
