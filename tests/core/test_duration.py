from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.duration import (
    MAX_DURATION,
    format_duration,
    parse_duration,
    spell_duration,
)
from recrawl.errors import DurationError, InputError

CENTURY = 100 * 365.25 * 86_400


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("90s", 90), ("12h", 43_200), ("30d", 2_592_000), ("2w", 1_209_600), ("500ms", 0.5),
        ("1h30m", 5400), ("1h 30 m", 5400), ("2.5d", 216_000), ("1w2d3h4m5s6ms", 788_645.006),
        ("0.1h", 360), ("P1D", 86_400), ("P2W", 1_209_600), ("PT12H", 43_200), ("PT1.5S", 1.5),
        ("P1DT12H30M10S", 131_410), ("3600", 3600), (" 90s ", 90), (3600, 3600), (0.25, 0.25),
        (0, 0), ("0s", 0), ("120d", 10_368_000), ("365250d", MAX_DURATION),
    ],
)  # fmt: skip
def test_durations_are_read(value, seconds):
    """Short, ISO 8601 and plain forms give the same number of seconds."""
    assert parse_duration(value) == seconds
    assert isinstance(parse_duration(value), float)


@pytest.mark.parametrize(
    "value",
    ["", " ", "s", "P", "PT", "P1", "PT1", "1 1", "1x", "1M", "1y", "P1M", "P1Y", "30m1h", "1h1h",
     "1,5h", "1e3s", "-1s", "+1s", "1 day", "1D", "p1d", "PT1D", "٣s", "1h 5", "9" * 16 + "s",
     float("nan"), True, False],
)  # fmt: skip
def test_what_is_no_duration_is_refused(value):
    """The error shows the value and what is allowed."""
    with pytest.raises(DurationError, match="not a duration") as caught:
        parse_duration(value)

    assert repr(value) in str(caught.value)
    assert "90s, 12h, 30d" in str(caught.value)
    assert caught.value.value is value


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (-1, "negative"),
        (-0.001, "negative"),
        (-math.inf, "negative"),
        (math.inf, "thousand years"),
        pytest.param(10**400, "thousand years", id="digits"),
        pytest.param(-(10**5000), "negative", id="more-digits"),
        ("365250d1ms", "thousand years"),
        ("999999999999999w", "thousand years"),
    ],
)
def test_durations_out_of_range_are_refused(value, reason):
    """Nothing negative and nothing longer than a thousand years is taken."""
    with pytest.raises(InputError, match=reason):
        parse_duration(value)


def test_long_values_are_cut_in_the_message():
    """A message does not repeat a whole file."""
    with pytest.raises(DurationError) as caught:
        parse_duration("x" * 100_000)

    assert len(str(caught.value)) < 400


@given(st.integers(1, int(CENTURY)))
def test_whole_seconds_survive_up_to_a_century(seconds):
    """From 1 s to 100 years nothing wraps, in any unit (case sch-024: 120 days in ms)."""
    days, rest = divmod(seconds, 86_400)

    assert parse_duration(f"{seconds}s") == seconds
    assert parse_duration(f"{seconds * 1000}ms") == seconds
    assert parse_duration(f"{days}d{rest}s") == seconds
    assert parse_duration(f"P{days}DT{rest}S") == seconds
    assert int(parse_duration(seconds) * 1000) == seconds * 1000


@given(st.floats(0, MAX_DURATION) | st.integers(0, MAX_DURATION).map(float))
def test_spelling_is_exact(seconds):
    """What is spelt is read back to the last bit."""
    assert parse_duration(spell_duration(seconds)) == seconds


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"), (1, "1s"), (60, "1m"), (90, "90s"), (5400, "90m"), (86_400, "1d"),
        (129_600, "36h"), (604_800, "7d"), (0.5, "500ms"), (1.5, "1500ms"), (1e-7, "0.0000001s"),
    ],
)  # fmt: skip
def test_spelling_takes_the_largest_whole_unit(seconds, text):
    """The text has one number and one unit."""
    assert spell_duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"), (90, "90 s"), (60, "1 min"), (120, "2 min"), (3600, "1 h"), (5400, "90 min"),
        (86_400, "1 d"), (90_000, "25 h"), (216_000, "2.5 d"), (90 * 86_400, "90 d"),
        (12_345 * 86_400, "12345 d"), (1.5, "1.5 s"), (0.25, "250 ms"), (0.00123, "1.23 ms"),
        (119.94, "120 s"), (99.949, "99.9 s"), (0.9996, "1 s"), (-90, "-90 s"),
        (math.nan, "unknown"), (math.inf, "never"), (-math.inf, "-never"),
    ],
)  # fmt: skip
def test_people_read_three_digits(seconds, text):
    """The unit is the largest that leaves at least two of it, or exactly one."""
    assert format_duration(seconds) == text


@given(st.floats(1, CENTURY))
def test_formatted_durations_are_close(seconds):
    """Three digits are within half a percent."""
    number, unit = format_duration(seconds).split(" ")
    length = {"s": 1, "min": 60, "h": 3600, "d": 86_400}[unit]

    assert float(number) * length == pytest.approx(seconds, rel=0.005)
