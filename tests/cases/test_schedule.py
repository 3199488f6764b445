"""Schedules with which public crawlers fetched too often, too seldom or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recrawl.config import ScheduleSettings
from recrawl.core.columns import NO_TIME
from recrawl.core.interval import Bounds
from recrawl.core.states import PageStates, PageStatus
from recrawl.core.update import Step, UpdateRule, advance
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.errors import ConfigError
from recrawl.schedules.fetchlist import Selection, choose
from recrawl.schedules.nutch import NutchAdaptive
from recrawl.testing.factories import DAY, NOW

A, B = b"A" * 16, b"B" * 16
SCHEME = 1
NINETY_DAYS = 90 * 86_400


def fetched(**columns: Any) -> PageStates:
    """Return a page with content A."""
    return PageStates.of(
        1,
        **{
            "status": PageStatus.FETCHED,
            "announced": 1,
            "fetched_at": NOW - DAY,
            "signature": A,
            "signature_scheme": SCHEME,
            **columns,
        },
    )


def visited(outcome: Outcome, signature: bytes = A, **columns: Any) -> Visits:
    """Return a visit, which brought content if it succeeded."""
    scheme = SCHEME if outcome == Outcome.SUCCESS else 0
    return Visits.of(
        1,
        **{
            "fetched_at": NOW,
            "outcome": outcome,
            "signature": signature,
            "signature_scheme": scheme,
            **columns,
        },
    )


def step_of(
    states: PageStates,
    visits: Visits,
    settings: dict[str, Any],
    *,
    exact: bool = False,
    bounds: tuple[float, float] = (60, 31_536_000),
    **rule: Any,
) -> Step:
    """Visit a page under nutch-adaptive, guarded without jitter or exact."""
    return advance(
        states,
        visits,
        schedule=NutchAdaptive(**settings, exact=exact),
        rule=UpdateRule(exact=exact, **rule),
        bounds=None if exact else Bounds(*bounds, jitter=0),
    )


def wait_of(step: Step) -> float:
    return float(step.states.next_fetch_at[0] - step.visits.fetched_at[0]) / 1000


@pytest.mark.parametrize("exact", [False, True])
def test_sch_001(case, exact):
    """The rates are those Nutch ships in its settings, not the fallbacks in its code."""
    given = case("sch-001")
    schedule = NutchAdaptive(sync_delta=given["input"]["sync_delta"], exact=exact)
    codes = {
        "unknown": Observation.UNKNOWN,
        "modified": Observation.CHANGED,
        "notmodified": Observation.UNCHANGED,
    }
    names = given["input"]["runs"]

    timing = schedule.after(
        PageStates.of(3, interval=given["input"]["interval_s"]),
        Visits.of(
            3,
            fetched_at=NOW,
            outcome=Outcome.SUCCESS,
            observation=[codes[name] for name in names],
        ),
    )

    assert (schedule.inc_rate, schedule.dec_rate) == (
        given["input"]["inc_rate"],
        given["input"]["dec_rate"],
    )
    expected = given["expected"]["interval_s"]
    assert timing.interval.tolist() == [expected[name] for name in names]


def synchronised(given: dict[str, Any], *, exact: bool) -> float:
    """Return the wait after a visit that saw no change, of a page that changed long ago."""
    inputs = given["input"]
    modified_at = NOW - 1000 * inputs["now_minus_modified_s"]
    least = inputs.get("min_s", 60)
    step = step_of(
        fetched(interval=inputs.get("interval_s", 172_800), modified_at=modified_at),
        visited(Outcome.SUCCESS, modified_at=modified_at),
        {
            "sync_delta_rate": inputs["sync_delta_rate"],
            "min_interval": least,
            "max_interval": inputs["max_s"],
        },
        exact=exact,
        bounds=(least, inputs["max_s"]),
    )
    assert step.visits.observation.tolist() == [Observation.UNCHANGED]
    return wait_of(step)


def test_sch_002(case):
    """The next fetch of a page that was quiet for long is ahead, whatever the shift."""
    given = case("sch-002")
    allowed = given["expected"]["next_fetch_after_s"]

    assert allowed["min_exclusive"] < synchronised(given, exact=False) <= allowed["max"]
    assert synchronised(given, exact=True) == given["expected"]["nutch_1_22_value_s"]


def test_sch_003(case):
    """The next fetch itself is clamped, not only the interval."""
    given = case("sch-003")
    allowed = given["expected"]["next_fetch_after_s"]

    assert allowed["min"] <= synchronised(given, exact=False) <= allowed["max"]
    assert synchronised(given, exact=True) == given["expected"]["nutch_1_22_value_s"]


def test_sch_004(case):
    """Guarded mode scales a shift that is too large; the original drops it by accident."""
    given = case("sch-004")
    expected = given["expected"]

    shift = given["input"]["max_s"] - synchronised(given, exact=False)

    assert shift == pytest.approx(expected["offset_s_promised_by_comment"], abs=0.01)
    assert synchronised(given, exact=True) == expected["compat_next_fetch_after_s"]


def test_sch_005(case):
    """A modified time in the future is unknown, and does not put the next fetch off."""
    given = case("sch-005")
    inputs, expected = given["input"], given["expected"]
    assert inputs["modified_time"] == "now + 3650 days"
    states = fetched(interval=inputs["interval_s"])
    visits = visited(Outcome.SUCCESS, modified_at=NOW + 3650 * DAY)
    settings = {"sync_delta_rate": inputs["sync_delta_rate"], "inc_rate": inputs["inc_rate"]}

    guarded = step_of(states, visits, settings)
    exact = step_of(states, visits, settings, exact=True)

    assert wait_of(guarded) == expected["next_fetch_after_s"]
    assert wait_of(exact) == expected["nutch_1_22_value_s"]


@pytest.mark.parametrize("exact", [False, True])
def test_sch_006(case, exact):
    """An interval of 0 is the default, which then adapts."""
    given = case("sch-006")

    step = step_of(
        fetched(interval=given["input"]["interval_s"]),
        visited(Outcome.SUCCESS, B),
        {
            "default_interval": given["input"]["default_s"],
            "dec_rate": given["input"]["dec_rate"],
            "sync_delta": given["input"]["sync_delta"],
        },
        exact=exact,
        interval_max=NINETY_DAYS,
    )

    assert step.states.interval.tolist() == [given["expected"]["interval_s"]]


def quiet(given: dict[str, Any], *, exact: bool) -> list[Step]:
    """Fetch a page that never changes again and again."""
    inputs = given["input"]
    states = PageStates.of(1, interval=inputs["start_interval_s"])
    settings = {
        "inc_rate": inputs["inc_rate"],
        "sync_delta": inputs["sync_delta"],
        "max_interval": inputs["adaptive_max_s"],
        "interval_max": inputs["global_max_s"],
    }
    steps = []
    # The first visit has nothing to compare with, so it leaves the interval.
    for _ in range(inputs["fetches"] + 1):
        steps.append(
            step_of(
                states,
                visited(Outcome.SUCCESS),
                settings,
                exact=exact,
                bounds=(60, inputs["global_max_s"]),
                interval_max=inputs["global_max_s"],
            )
        )
        states = steps[-1].states
    return steps


def test_sch_007(case):
    """A quiet page keeps its signature and status, at the greatest interval."""
    given = case("sch-007")

    first, *later = quiet(given, exact=False)

    assert first.states.status.tolist() == [PageStatus.FETCHED]
    assert [s.states.interval[0] for s in later] == given["expected"]["intervals_s"]
    assert {int(s.states.status[0]) for s in later} == {PageStatus.NOTMODIFIED}
    assert {s.states.signature[0].tobytes() for s in later} == {A}


def test_sch_007_in_exact_mode(case):
    """The original forgets the page at its fourth unchanged fetch."""
    fourth = quiet(case("sch-007"), exact=True)[4].states.row(0)

    assert fourth.interval == 6_998_400
    assert fourth.status == PageStatus.UNFETCHED
    assert (fourth.signature_scheme, fourth.modified_at) == (0, NO_TIME)


@pytest.mark.parametrize("exact", [False, True])
def test_sch_008(case, exact):
    """A page that is gone stays gone, with an interval that grows up to a bound."""
    given = case("sch-008")
    inputs = given["input"]
    states = fetched(interval=inputs["start_interval_s"])
    intervals = []

    for _ in inputs["status_sequence"]:
        step = step_of(
            states,
            visited(Outcome.GONE),
            {"interval_max": inputs["global_max_s"]},
            exact=exact,
            bounds=(60, inputs["global_max_s"]),
        )
        states = step.states
        intervals.append(states.interval[0])
        assert states.status.tolist() == [PageStatus.GONE]
        assert wait_of(step) > 0

    assert intervals == given["expected"]["intervals_s"]


def test_sch_009(case):
    """A default above the greatest interval is no setting; where it is, it is clamped."""
    given = case("sch-009")
    most = given["input"]["global_max_s"]

    step = step_of(
        fetched(interval=np.nan),
        visited(Outcome.GONE),
        {"default_interval": given["input"]["default_s"], "interval_max": most},
        bounds=(60, most),
    )

    assert step.states.status.tolist() == [PageStatus.GONE]
    assert step.states.interval[0] <= given["expected"]["interval_s_max"]
    assert wait_of(step) <= most
    with pytest.raises(ConfigError, match="max_interval"):
        ScheduleSettings(interval=given["input"]["default_s"], max_interval=most)


def test_sch_014(case):
    """A page whose content is the same keeps its modified time."""
    case("sch-014")
    modified_at, fetched_at = NOW - 31 * DAY, NOW

    step = step_of(
        fetched(interval=86_400, modified_at=modified_at),
        visited(Outcome.SUCCESS, fetched_at=fetched_at, modified_at=fetched_at),
        {},
    )

    assert step.states.modified_at.tolist() == [modified_at]
    assert step.states.status.tolist() == [PageStatus.NOTMODIFIED]


def test_sch_019(case):
    """A 304 is "unchanged", whatever signatures are stored."""
    given = case("sch-019")
    stored = bytes.fromhex(given["input"]["stored"]["signature"]).ljust(16, b"\0")

    step = step_of(fetched(interval=1000, signature=stored), visited(Outcome.NOTMODIFIED), {})

    assert step.visits.observation.tolist() == [Observation.UNCHANGED]
    assert step.change.tolist() == [0]
    assert step.states.interval[0] > 1000
    assert step.states.signature[0].tobytes() == stored


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_sch_017_for_nutch_adaptive(case, rate):
    """A short interval grows however small the rate."""
    given = case("sch-017")
    interval = 1.0

    for _ in range(given["input"]["unchanged_runs"]):
        step = step_of(
            fetched(interval=interval),
            visited(Outcome.SUCCESS),
            {"inc_rate": rate, "min_interval": 0.5},
            bounds=(0.5, 1e9),
        )
        assert step.states.interval[0] > interval or interval == NutchAdaptive().max_interval
        interval = float(step.states.interval[0])


def test_sch_037(case):
    """One site with thousands of due pages does not fill a list that has a cap for each host."""
    given = case("sch-037")["input"]
    n_big, n_small = (due["urls"] for due in given["due"])
    n = n_big + n_small
    states = PageStates.of(
        n, page_key=np.arange(1, n + 1), host_key=np.repeat([1, 2], [n_big, n_small]),
        next_fetch_at=NOW,
    )  # fmt: skip

    found = choose(states, NOW, Selection(top_n=given["batch"], max_count=90))

    hosts = states.host_key[found.rows].tolist()
    assert (hosts.count(1), hosts.count(2)) == (90, 5)


def test_sch_038(case):
    """A host has exactly its maximum, not one more."""
    given = case("sch-038")
    n = given["input"]["due_same_host"]
    states = PageStates.of(n, page_key=np.arange(1, n + 1), host_key=1, next_fetch_at=NOW)

    selection = Selection(max_count=given["input"]["generate_max_count_per_host"])

    assert len(choose(states, NOW, selection).rows) == given["expected"]["selected"]
