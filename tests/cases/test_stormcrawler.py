"""Schedules of StormCrawler that stand still, look back or forget what they know."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recrawl.core.columns import NEVER, NO_SCHEME
from recrawl.core.interval import Bounds
from recrawl.core.states import PageStates, PageStatus
from recrawl.core.update import UpdateRule, advance
from recrawl.core.visit import Outcome, Visits
from recrawl.interop.stormcrawler.signature import SignatureFilter
from recrawl.schedules.stormcrawler import StormCrawlerAdaptive
from recrawl.testing.factories import NOW

A, B = b"A" * 16, b"B" * 16


def intervals(
    schedule: StormCrawlerAdaptive, start: float, contents: list[bytes | None]
) -> list[float]:
    """Visit a page of content A; return the interval after each visit, None being a 304. [min]."""
    exact = schedule.exact
    states = PageStates.of(
        1, status=PageStatus.FETCHED, interval=start * 60, signature=A, signature_scheme=1
    )
    found = []
    for i, content in enumerate(contents):
        visits = Visits.of(
            1,
            fetched_at=NOW + i,
            outcome=Outcome.NOTMODIFIED if content is None else Outcome.SUCCESS,
            signature=content or A,
            signature_scheme=NO_SCHEME if content is None else 1,
        )
        bounds = None if exact else Bounds(1, 1e9, jitter=0)
        step = advance(states, visits, schedule=schedule, rule=UpdateRule(exact=exact),
                       bounds=bounds)  # fmt: skip
        states = step.states
        found.append(float(states.interval[0]) / 60)
    return found


def schedule_of(given: dict[str, Any], *, exact: bool) -> StormCrawlerAdaptive:
    """Return the schedule with the settings of a case, which are in minutes."""
    return StormCrawlerAdaptive(
        min_interval=given.get("min", 1) * 60,
        max_interval=given.get("max", 20_160) * 60,
        inc_rate=given.get("incr", 0.5),
        dec_rate=given.get("decr", 0.5),
        exact=exact,
    )


def test_sch_015(case):
    """A page that never changes goes up to the greatest interval, in the original's steps."""
    given = case("sch-015")
    start, n = given["input"]["start_min"], given["input"]["unchanged_runs"]
    expected = given["expected"]["minutes"]

    exact = intervals(schedule_of(given["input"], exact=True), start, [A] * n)
    guarded = intervals(schedule_of(given["input"], exact=False), start, [A] * n)

    assert exact == expected
    assert guarded == [*expected[:5], 16_402.5, *expected[6:]]


def test_sch_016(case):
    """A page that always changes comes down to the least interval, in the original's steps."""
    given = case("sch-016")
    start, n = given["input"]["start_min"], given["input"]["changed_runs"]
    contents: list[bytes | None] = [B, A] * n

    exact = intervals(schedule_of(given["input"], exact=True), start, contents[:n])
    guarded = intervals(schedule_of(given["input"], exact=False), start, contents[:n])

    assert exact == given["expected"]["minutes"]
    assert guarded[:5] == [750, 405, 232.5, 146.25, 103.125]
    assert guarded[-1] == pytest.approx(60, abs=0.5)


def test_sch_017(case):
    """A short interval grows; the original cuts the growth off each time."""
    given = case("sch-017")
    inputs = given["input"]
    contents: list[bytes | None] = [A] * inputs["unchanged_runs"]

    exact = intervals(schedule_of(inputs, exact=True), inputs["interval_min"], contents)
    guarded = intervals(schedule_of(inputs, exact=False), inputs["interval_min"], contents)

    assert set(exact) == {given["expected"]["upstream_value"]}
    assert np.all(np.diff([inputs["interval_min"], *guarded]) > 0)


def test_sch_018(case):
    """Never stays never; in the original it goes through the arithmetic into the past."""
    given = case("sch-018")
    minutes = float(given["input"]["persisted_fetchInterval"])
    states = PageStates.of(1, interval=minutes * 60)
    visits = Visits.of(1, fetched_at=NOW, outcome=Outcome.NOTMODIFIED, observation=2)

    guarded = StormCrawlerAdaptive(default_interval=np.inf).after(states, visits)
    exact = StormCrawlerAdaptive(
        default_interval=given["input"]["default_min"] * 60, exact=True
    ).after(states, visits)

    assert given["expected"]["next_fetch"] is None
    assert guarded.next_fetch_at.tolist() == [NEVER]
    assert np.isnan(guarded.interval).all()
    assert exact.next_fetch_at.tolist() == [NOW - 60_000]


@pytest.mark.parametrize("exact", [False, True])
def test_sch_019_for_stormcrawler_adaptive(case, exact):
    """A 304 lengthens the interval, whatever signatures are stored."""
    case("sch-019")

    assert intervals(schedule_of({}, exact=exact), 1440, [None]) == [2160]


@pytest.mark.parametrize("exact", [False, True])
def test_sch_020(case, exact):
    """The signature is a column of every page, so adaptation cannot fall silent."""
    given = case("sch-020")
    contents: list[bytes | None] = [A, A, B]

    assert given["expected"]["adaptive_active"] is True
    assert len(contents) == given["input"]["runs"]
    assert intervals(schedule_of({"min": 60}, exact=exact), 1440, contents) == [2160, 3240, 1650]


def test_sig_005_for_stormcrawler(case):
    """The original signs empty content as it is: all empty pages share one signature."""
    given = case("sig-005")

    found = {
        url: SignatureFilter().apply(url, body.encode(), None, {})["signature"]
        for url, body in given["input"]["bodies"].items()
    }

    assert list(found.values()) == [[given["expected"]["not"]]] * 2
