"""NutchMime has rates by MIME type."""

from __future__ import annotations

import re

import numpy as np
import pytest

from recrawl.core.document import mime_key
from recrawl.core.states import PageStates
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.errors import InputError
from recrawl.schedules.nutch import NutchAdaptive
from recrawl.schedules.nutch_mime import NutchMime
from recrawl.schedules.nutch_mime_file import MimeRates, content_type_mime, parse_mimes
from recrawl.testing.factories import NOW
from recrawl.testing.schedule import ScheduleContract, differing_columns, random_pages

RATES = {"text/html": (0.5, 0.25), "application/pdf": (1.0, 0.125)}


class TestNutchMime(ScheduleContract):
    def make_schedule(self) -> NutchMime:
        numbers = {"text/html": 1, "application/pdf": 3}
        return NutchMime(mimes=MimeRates.of(RATES, key=lambda mime: numbers[mime]))


@pytest.mark.parametrize(
    ("mime", "changed", "unchanged"),
    [("text/html", 750, 1500), ("application/pdf", 875, 2000), ("image/png", 800, 1400)],
)
@pytest.mark.parametrize("exact", [False, True])
def test_the_rates_are_those_of_the_type(
    mime: str, changed: float, unchanged: float, exact: bool
) -> None:
    """A listed type has its own rates, any other and none those of the settings."""
    schedule = NutchMime(mimes=MimeRates.of(RATES), exact=exact)
    seen = [Observation.CHANGED, Observation.UNCHANGED, Observation.UNKNOWN]
    visits = Visits.of(3, fetched_at=NOW, outcome=Outcome.SUCCESS, observation=seen)
    states = PageStates.of(3, interval=1000, mime_key=mime_key(mime))

    assert schedule.after(states, visits).interval.tolist() == [changed, unchanged, 1000]


@pytest.mark.parametrize("mimes", [None, MimeRates.of({})])
def test_without_a_table_it_is_the_adaptive_schedule(mimes: MimeRates | None) -> None:
    """No rates by type, no difference."""
    states, visits = random_pages(200)

    ours = NutchMime(mimes=mimes).after(states, visits)

    assert differing_columns(ours, NutchAdaptive().after(states, visits)) == []


@pytest.mark.parametrize(("inc", "dec", "setting"), [(1.5, 0.5, "inc"), (0.5, 1.0, "dec")])
def test_rates_of_a_type_out_of_range_are_refused(inc: float, dec: float, setting: str) -> None:
    """The message names the rate; exact mode takes it, and another setting is checked too."""
    mimes = MimeRates.of({"text/html": (inc, dec)})

    with pytest.raises(InputError, match=rf"nutch-mime: mimes\.{setting}_rate is 1.*above 0"):
        NutchMime(mimes=mimes)
    with pytest.raises(InputError, match="nutch-mime: inc_rate is 2"):
        NutchMime(inc_rate=2)

    assert NutchMime(mimes=mimes, exact=True).exact


def test_a_file_is_read_line_by_line() -> None:
    """Comments and blank lines are passed over, types lowered, later lines win."""
    text = "# a comment\n\nText/HTML\t0.1\t0.2\r\na/pdf\t 0.3 \t0.4f\ntext/html\t0.5\t0.25"

    found = parse_mimes(text)

    assert found.rates == {
        "text/html": (0.5, 0.25),
        "a/pdf": (float(np.float32(0.3)), float(np.float32(0.4))),
    }
    assert found.problems == ()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("text/html 0.2 0.2", r"line 1: 1 parts; write MIME type, .*'text/html 0.2 0.2'"),
        ("text/html\t0.2\t\t", "line 1: 2 parts"),
        ("text/html\t0.2\t0.2\t0.2", "line 1: 4 parts"),
        ("text/html\t0,2\t0.2", "line 1: not a number: '0,2'"),
        ("text/html\t1.5\t0.2", "line 1: the rate of increase is 1.5, allowed is above 0 and up"),
        ("text/html\t0.5\t1", "line 1: the rate of decrease is 1, allowed is above 0 to below 1"),
        ("text/html\tNaN\t0.2", "the rate of increase is nan"),
    ],
)
def test_a_line_that_cannot_be_used_is_told(line: str, told: str) -> None:
    """The sentence has the line's number, what is wrong, and the line."""
    found = parse_mimes(line)

    assert found.rates == {}
    (problem,) = found.problems
    assert re.search(told, problem)


def test_exact_mode_takes_what_the_original_takes() -> None:
    """Rates are not looked at, but what is no number ends the reading."""
    assert parse_mimes("a/b\t7\t-1", exact=True).rates == {"a/b": (7, -1)}
    assert len(parse_mimes("a/b\t7", exact=True).problems) == 1
    with pytest.raises(InputError, match=r"line 2: not a number: 'x'"):
        parse_mimes("a/b\t7\t-1\na/b\tx\t1", exact=True)


@pytest.mark.parametrize(
    ("content_type", "mime"),
    [
        ("text/html", "text/html"),
        ("text/html; charset=utf-8", "text/html"),
        ("text/html;", "text/html;"),
        (";", ";"),
        (";text/html", ""),
        ("a;b;;", "a"),
        ("", ""),
        (" TEXT/HTML ;x", " TEXT/HTML "),
    ],
)
def test_a_content_type_is_split_as_in_java(content_type: str, mime: str) -> None:
    """Empty parts at the end are dropped, and where one part is left, nothing is cut."""
    assert content_type_mime(content_type) == mime
