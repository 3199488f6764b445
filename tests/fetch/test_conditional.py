from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.columns import NO_TIME
from recrawl.fetch.conditional import (
    conditional_headers,
    http_date,
    modified_at,
    parse_date,
    retry_after,
)

NOV_6 = 784_111_777_000
NOW = 1_700_000_000_000


@pytest.mark.parametrize(
    "text",
    [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "sun, 6 nov 1994 8:49:37 gmt",
        "06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06-Nov-1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 09:49:37 CET",
        "Sun, 06 Nov 1994 10:49:37 +0200",
        "Sun, 06 Nov 1994 03:19:37 -0530",
        "Mon, 06 Nov 1994 08:49:37 GMT",
        " Sun, 06 Nov 1994 08:49:37 GMT ",
        "1994-11-06T08:49:37.000Z",
        "1994-11-06T10:49:37+02:00",
    ],
)
def test_dates_are_read_as_servers_write_them(text: str) -> None:
    """The three forms of HTTP, other zones, a wrong weekday and ISO 8601 mean one instant."""
    assert parse_date(text) == NOV_6


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "-1",
        "now",
        "Sat, 30 4 2022 18:32:47 GMT",
        "Sun, 06 Foo 1994 08:49:37 GMT",
        "Sun, 31 Feb 2021 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 XYZ",
        "Sun, 06 Nov 1994 08:49:37 GMT" + " " * 64,
        "Wed, 31 Dec 1969 23:59:59 GMT",
        "Thu, 01 Jan 1970 00:00:00 +0100",
        "Sun, 06 Nov 0000 08:49:37 GMT",
        "1994-11-06T08:49:37",
        "1994-13-06T08:49:37Z",
        "Sun, ٠٦ Nov 1994 08:49:37 GMT",
    ],
)
def test_what_is_no_date_is_unknown(text: str) -> None:
    """Numeric months, days that are none, unknown zones and times before 1970 give NO_TIME."""
    assert parse_date(text) == NO_TIME


@pytest.mark.parametrize(("year", "full"), [("70", 1970), ("99", 1999), ("00", 2000), ("69", 2069)])
def test_two_digits_of_a_year_mean_the_likely_century(year: str, full: int) -> None:
    """70 to 99 lie in the last century, the others in this one."""
    assert parse_date(f"Tue, 02-Jan-{year} 00:00:00 GMT") == parse_date(
        f"Tue, 02 Jan {full} 00:00:00 GMT"
    )


@given(st.text(max_size=80))
def test_any_text_is_read_without_an_error(text: str) -> None:
    """Whatever a server sends, the answer is an instant or NO_TIME."""
    at = parse_date(text)

    assert at == NO_TIME or at >= 0


@given(st.integers(0, 253_402_300_799))
def test_a_written_date_reads_back(second: int) -> None:
    """Every second of the years 1970 to 9999 survives the way out and in, and ends in GMT."""
    text = http_date(1000 * second)

    assert text.endswith(" GMT")
    assert parse_date(text) == 1000 * second


@pytest.mark.parametrize(
    "text",
    [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "Mon, 06 Nov 1994 08:49:37 GMT",
    ],
)
def test_an_http_date_goes_back_byte_for_byte(text: str) -> None:
    """Servers that compare Last-Modified as text get their own text, wrong weekday and all."""
    assert conditional_headers(None, text, NOW) == {"If-Modified-Since": text}


@pytest.mark.parametrize(
    "text", ["1994-11-06T08:49:37.000Z", "Sun, 06 Nov 1994 11:49:37 MSK", "6 Nov 1994 08:49:37"]
)
def test_another_date_goes_back_in_gmt(text: str) -> None:
    """A date that HTTP does not know is sent as the same instant in HTTP's form."""
    assert conditional_headers(None, text, NOW) == {
        "If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"
    }


def test_both_validators_are_sent_if_there_are_both() -> None:
    """ETag and Last-Modified go back side by side."""
    headers = conditional_headers('W/"a"', "Sun, 06 Nov 1994 08:49:37 GMT", NOW)

    assert headers == {
        "If-None-Match": 'W/"a"',
        "If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT",
    }


@pytest.mark.parametrize(
    ("etag", "last_modified"),
    [
        (None, None),
        ("", ""),
        ('"a\r\nX: y"', None),
        ('"\udcff"', None),
        ('"\x7f"', None),
        (None, "yesterday"),
        (None, "Sat, 16 Nov 2041 18:11:00 GMT"),
    ],
)
def test_what_cannot_be_a_validator_is_not_sent(
    etag: str | None, last_modified: str | None
) -> None:
    """Nothing empty, no controls, no broken text, no non-date and no date to come."""
    assert conditional_headers(etag, last_modified, NOW) == {}


@pytest.mark.parametrize(
    ("headers", "at"),
    [
        ({}, NO_TIME),
        ({"last-modified": "Sun, 06 Nov 1994 08:49:37 GMT"}, NOV_6),
        (
            {
                "last-modified": "Sun, 06 Nov 1994 08:49:37 GMT",
                "date": "Sun, 06 Nov 1994 08:49:37 GMT",
            },
            NOV_6,
        ),
        (
            {
                "last-modified": "Sun, 06 Nov 1994 08:49:38 GMT",
                "date": "Sun, 06 Nov 1994 08:49:37 GMT",
            },
            NO_TIME,
        ),
        ({"last-modified": "Sat, 16 Nov 2041 18:11:00 GMT"}, NO_TIME),
        ({"last-modified": "Sun, 06 Nov 1994 08:49:37 GMT", "date": "soon"}, NOV_6),
    ],
)
def test_a_modified_time_is_not_later_than_its_answer(headers: dict[str, str], at: int) -> None:
    """Last-Modified counts up to the answer's Date, or up to now where there is none."""
    assert modified_at(headers, NOW) == at


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"retry-after": "120"}, 120),
        ({"retry-after": " 7 "}, 7),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "1.5"}, None),
        ({"retry-after": "²"}, None),
        ({"retry-after": "9" * 400}, 999_999_999_999),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:30 GMT"}, 10),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:00 GMT"}, None),
        (
            {
                "retry-after": "Sun, 06 Nov 1994 08:50:37 GMT",
                "date": "Sun, 06 Nov 1994 08:49:37 GMT",
            },
            60,
        ),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], wait: float | None) -> None:
    """Seconds, or a date measured against the server's own clock; nothing else counts."""
    assert retry_after(headers, NOW) == wait
