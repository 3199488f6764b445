"""Instants as Java reads and writes them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InputError
from recrawl.interop.stormcrawler.instants import parse_instant, spell_instant

NOON = "2024-05-01T10:00:00Z"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2024-05-01t10:00:00z", NOON),
        ("2024-05-01T10:00:00.Z", NOON),
        ("2024-05-01T12:00:00+02:00", NOON),
        ("2024-05-01T09:29:58-00:30:02", NOON),
        ("2024-05-01T24:00:00Z", "2024-05-02T00:00:00Z"),
        ("2024-12-31T23:59:60Z", "2024-12-31T23:59:59Z"),
        ("2024-02-29T00:00:00.120Z", "2024-02-29T00:00:00.12Z"),
    ],
)
def test_spellings_of_one_instant(text: str, same: str) -> None:
    """Small letters, offsets, the end of a day and a leap second are read as Java does."""
    assert parse_instant(text) == parse_instant(same)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2024-05-01",
        "2024-05-01T10:00Z",
        "2024-05-01T10:00:00",
        "2024-05-01T10:00:00,5Z",
        "2024-05-01T10:00:00.1234567891Z",
        "20240501T100000Z",
        "+2024-05-01T10:00:00Z",
        "12024-05-01T10:00:00Z",
        "2024-02-30T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2024-13-01T00:00:00Z",
        "2024-00-01T00:00:00Z",
        "2024-05-00T00:00:00Z",
        "2024-05-01T25:00:00Z",
        "2024-05-01T24:00:01Z",
        "2024-05-01T10:60:00Z",
        "2024-05-01T10:00:60Z",
        "2024-05-01T10:00:00+18:01",
        "2024-05-01T10:00:00+02:60",
        "+1000000001-01-01T00:00:00Z",
    ],
)
def test_what_java_does_not_read_is_refused(text: str) -> None:
    """The message starts with the original's exception, and shows the form."""
    with pytest.raises(InputError, match=r"^DateTimeParseException: .* write 2024"):
        parse_instant(text)


@pytest.mark.parametrize(
    "text",
    [
        "1970-01-01T00:00:00Z",
        "1969-12-31T23:59:59.999999Z",
        "2024-05-01T10:00:00.500Z",
        "2024-05-01T10:00:00.123456789Z",
        "0000-02-29T00:00:00Z",
        "-0001-01-01T00:00:00Z",
        "+10000-01-01T00:00:00Z",
        "2000-02-29T12:34:56Z",
    ],
)
def test_java_s_spelling_is_written_back(text: str) -> None:
    """An instant is spelt with 0, 3, 6 or 9 digits of fraction, and years beyond 9999 signed."""
    assert spell_instant(parse_instant(text)) == text


@given(st.integers(-(10**22), 10**22))
def test_every_instant_is_read_back(at: int) -> None:
    """Writing and reading are each other's reverse."""
    assert parse_instant(spell_instant(at)) == at


@given(st.datetimes(timezones=st.just(UTC)))
def test_days_are_those_of_the_calendar(at: datetime) -> None:
    """Within its range the standard library agrees."""
    spelt = at.replace(microsecond=0).isoformat().replace("+00:00", "Z")

    assert parse_instant(spelt) == round(at.replace(microsecond=0).timestamp()) * 10**9
