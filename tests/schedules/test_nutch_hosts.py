"""Nutch's file of intervals by host."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.errors import UrlError
from recrawl.schedules.nutch_hosts import HostFile, HostIntervals, parse_hosts, uri_host


def parse(text: str) -> HostFile:
    return parse_hosts(text, min_interval=60, max_interval=86_400)


def test_a_line_names_host_least_and_greatest_interval() -> None:
    """Blanks separate, comments and empty lines are skipped, hosts are lower-cased."""
    parsed = parse("# hosts\n\nA.example\t100   200\r\nb.example 0x1p12 1e4\r \n")

    assert parsed.intervals == {"a.example": (100, 200), "b.example": (4096, 10_000)}
    assert parsed.problems == ()


def test_default_and_zero_stand_for_the_default() -> None:
    """Each end can be left to the schedule's own."""
    parsed = parse("a.example Default 100\nb.example 100 0")

    assert parsed.intervals == {"a.example": (60, 100), "b.example": (100, 86_400)}


def test_the_last_usable_line_of_a_host_wins() -> None:
    """A later line replaces an earlier one, and a bad line leaves it."""
    parsed = parse("a.example 100 200\na.example 300 400\na.example 500")

    assert parsed.intervals == {"a.example": (300, 400)}
    assert len(parsed.problems) == 1


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("a.example 100", "2 parts; write host, least and greatest interval"),
        ("  # a.example 100 200", "4 parts"),
        ("a.example 1_000 2000", "not a number: '1_000'"),
        ("a.example 0 default", "both intervals are the default"),
        ("a.example -5 100", "an interval is negative"),
        ("a.example 200 100", "the least interval is above the greatest"),
        ("a.example 59 100", "the least interval is below 60 s"),
        ("a.example 100 86401", "the greatest interval is above 86400 s"),
    ],
)
def test_a_line_that_cannot_be_used_is_reported(line: str, problem: str) -> None:
    """The report has the number of the line and what is wrong with it."""
    parsed = parse("# first\n" + line)

    assert parsed.intervals == {}
    assert len(parsed.problems) == 1
    assert parsed.problems[0].startswith(f"line 2: {problem}")


def test_a_no_break_space_is_part_of_the_host() -> None:
    """Only the blanks of ASCII separate, so the host begins with the odd one."""
    assert parse("\u00a0a.example 100 200").intervals == {"\u00a0a.example": (100, 200)}


def test_nan_passes_every_test() -> None:
    """NaN is stored, as in the original, and bounds nothing."""
    [(least, greatest)] = parse("a.example NaN NaN").intervals.values()

    assert np.isnan(least)
    assert np.isnan(greatest)


def test_a_host_that_is_not_in_the_table_has_the_default() -> None:
    """Keys below, between and above those of the table are not mistaken for theirs."""
    keys = {"a.example": 10, "b.example": 20}
    table = HostIntervals.of({"b.example": (3, 4), "a.example": (1, 2)}, key=keys.__getitem__)

    low, high = table.lookup(np.array([5, 10, 15, 20, 25]), np.float32(7), np.float32(8))

    assert low.tolist() == [7, 1, 7, 3, 7]
    assert high.tolist() == [8, 2, 8, 4, 8]


def test_an_empty_table_gives_the_default() -> None:
    """A file without a usable line bounds nothing."""
    low, high = HostIntervals.of({}).lookup(np.array([1]), np.float32(7), np.float32(8))

    assert (low.tolist(), high.tolist()) == ([7], [8])


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://user:pw@WWW.Example.com:8080/a?b=[c]#d", "WWW.Example.com"),
        ("http://[::1]/", "[::1]"),
        ("http://127.0.0.1/x", "127.0.0.1"),
        ("http://www.example.com./", "www.example.com."),
        ("//www.example.com/\u00e9", "www.example.com"),
        ("http://under_score.example.com/", None),
        ("mailto:x@www.example.com", None),
        ("http:///nohost", None),
        ("", None),
    ],
)
def test_uri_host_is_the_host_as_java_sees_it(url: str, host: str | None) -> None:
    """Capitals stay, and hosts that Java does not understand are none."""
    assert uri_host(url) == host


@pytest.mark.parametrize("url", ["http://a.example/a b", "http://a.example/%zz", "http://a|b/"])
def test_uri_host_refuses_what_java_refuses(url: str) -> None:
    """A text that is no URI in Java's eyes is an error, not a URL without host."""
    with pytest.raises(UrlError, match="not a URI as Java reads it"):
        uri_host(url)
