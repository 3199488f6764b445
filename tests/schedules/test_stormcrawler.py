"""The schedules of StormCrawler over columns, guarded and exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recrawl.core.columns import NEVER, NO_TIME
from recrawl.core.states import PageStates, PageStatus
from recrawl.core.timing import Timing
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.errors import InputError
from recrawl.schedules.stormcrawler import StormCrawlerAdaptive, StormCrawlerDefault
from recrawl.testing.factories import DAY, NOW
from recrawl.testing.schedule import ScheduleContract, differing_columns, random_pages

BOTH = (StormCrawlerDefault, StormCrawlerAdaptive)
HOUR = 3600.0
KINDS = pytest.mark.parametrize("kind", BOTH)
MODES = pytest.mark.parametrize("exact", [False, True])


class TestStormCrawlerDefault(ScheduleContract):
    def make_schedule(self) -> StormCrawlerDefault:
        return StormCrawlerDefault()


class TestStormCrawlerAdaptive(ScheduleContract):
    def make_schedule(self) -> StormCrawlerAdaptive:
        return StormCrawlerAdaptive()


class TestStormCrawlerAdaptiveThatNeverComesBack(ScheduleContract):
    def make_schedule(self) -> StormCrawlerAdaptive:
        return StormCrawlerAdaptive(default_interval=60, error_interval=np.inf)


def after(
    schedule: Any,
    outcome: Outcome,
    observation: Observation = Observation.UNKNOWN,
    *,
    modified_at: int = NO_TIME,
    **columns: Any,
) -> Timing:
    states = PageStates.of(1, **{"status": PageStatus.FETCHED, **columns})
    visits = Visits.of(
        1, fetched_at=NOW, outcome=outcome, observation=observation, modified_at=modified_at
    )
    return schedule.after(states, visits)


def wait_of(timing: Timing) -> float:
    """Return the wait. [s]."""
    return (int(timing.next_fetch_at[0]) - NOW) / 1000


@KINDS
@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Outcome.SUCCESS, 86_400),
        (Outcome.REDIR_PERM, 86_400),
        (Outcome.RETRY, 7200),
        (Outcome.EMPTY, 7200),
        (Outcome.GONE, 31 * 86_400),
        (Outcome.PARSE_FAILED, 31 * 86_400),
        (Outcome.DENIED, 31 * 86_400),
    ],
)
@MODES
def test_each_status_has_its_wait(kind: Any, outcome: Outcome, expected: int, exact: bool) -> None:
    """Content and redirects wait for the default, failures for their own intervals."""
    assert wait_of(after(kind(exact=exact), outcome)) == expected


@KINDS
@MODES
def test_a_page_that_failed_too_often_is_an_error(kind: Any, exact: bool) -> None:
    """The last of too many failures counts as one that does not pass."""
    timing = after(kind(exact=exact), Outcome.RETRY, status=PageStatus.GONE)

    assert wait_of(timing) == 31 * 86_400


@KINDS
def test_a_retry_comes_no_later_than_the_page(kind: Any) -> None:
    """A page with a short interval is tried again after that."""
    timing = after(kind(), Outcome.RETRY, interval=600)

    assert wait_of(timing) == 600
    assert timing.interval.tolist() == [600]


@KINDS
@pytest.mark.parametrize("outcome", [Outcome.RETRY, Outcome.GONE])
@MODES
def test_never_is_a_setting_of_failures(kind: Any, outcome: Outcome, exact: bool) -> None:
    """An infinite wait after a failure means that the page is not fetched again."""
    schedule = kind(retry_interval=np.inf, error_interval=np.inf, exact=exact)

    assert after(schedule, outcome, interval=600).next_fetch_at.tolist() == [NEVER]


@KINDS
def test_an_interval_set_by_hand_is_stronger_than_never(kind: Any) -> None:
    """A page with a fixed interval comes back after any failure."""
    schedule = kind(retry_interval=np.inf, error_interval=np.inf)

    for outcome in (Outcome.RETRY, Outcome.GONE):
        assert wait_of(after(schedule, outcome, fixed_interval=600)) == 600


@KINDS
@MODES
@pytest.mark.parametrize("outcome", [Outcome.SUCCESS, Outcome.REDIR_TEMP])
def test_never_by_default(kind: Any, exact: bool, outcome: Outcome) -> None:
    """With a default of never a page is fetched once, and no infinite interval is kept."""
    schedule = kind(default_interval=np.inf, exact=exact)

    new = schedule.first(PageStates.of(1), NOW)
    timing = after(schedule, outcome)

    assert new.next_fetch_at.tolist() == [NOW]
    assert np.isnan(new.interval).all()
    assert timing.next_fetch_at.tolist() == [NEVER]
    assert np.isnan(timing.interval).all()


def test_a_retry_of_a_page_without_interval_has_its_own_wait() -> None:
    """Never is not shorter than the wait after a failure."""
    timing = after(StormCrawlerAdaptive(default_interval=np.inf), Outcome.RETRY)

    assert wait_of(timing) == 7200
    assert np.isnan(timing.interval).all()


def test_exact_mode_reads_minus_one_minute_as_never() -> None:
    """The original's sentinel has its meaning, and minus two minutes are the past."""
    never = after(StormCrawlerDefault(default_interval=-60, exact=True), Outcome.SUCCESS)
    past = after(StormCrawlerDefault(default_interval=-120, exact=True), Outcome.SUCCESS)

    assert never.next_fetch_at.tolist() == [NEVER]
    assert wait_of(past) == -120


def test_exact_mode_cuts_settings_to_minutes() -> None:
    """The original has no seconds."""
    schedule = StormCrawlerDefault(default_interval=119, exact=True)

    assert schedule.first(PageStates.of(1, interval=7), NOW).interval.tolist() == [60]
    assert after(schedule, Outcome.SUCCESS, interval=7).interval.tolist() == [60]


@pytest.mark.parametrize(
    ("before", "observation", "expected"),
    [
        (1440, Observation.UNCHANGED, 2160),
        (2160, Observation.CHANGED, 1110),
        (20_160, Observation.UNCHANGED, 20_160),
        (5000, Observation.UNKNOWN, 1440),
    ],
)
def test_exact_steps(before: int, observation: Observation, expected: int) -> None:
    """Worked examples of the original, in minutes."""
    schedule = StormCrawlerAdaptive(exact=True)

    timing = after(schedule, Outcome.SUCCESS, observation, interval=before * 60)

    assert timing.interval.tolist() == [expected * 60]
    assert wait_of(timing) == expected * 60


def test_exact_mode_forgets_the_interval_after_a_failure() -> None:
    """The next content counts as the first, and a 304 grows from the default."""
    schedule = StormCrawlerAdaptive(exact=True)

    failed = after(schedule, Outcome.RETRY, interval=5000 * 60)
    content = after(schedule, Outcome.SUCCESS, Observation.UNCHANGED, interval=failed.interval)
    same = after(schedule, Outcome.NOTMODIFIED, Observation.UNCHANGED, interval=failed.interval)

    assert np.isnan(failed.interval).all()
    assert content.interval.tolist() == [1440 * 60]
    assert same.interval.tolist() == [2160 * 60]


def test_exact_mode_keeps_the_interval_where_the_default_is_never() -> None:
    """Content without comparison is not fetched again, and the old interval stays."""
    schedule = StormCrawlerAdaptive(default_interval=-60, exact=True)

    timing = after(schedule, Outcome.SUCCESS, interval=300)

    assert timing.next_fetch_at.tolist() == [NEVER]
    assert timing.interval.tolist() == [300]


def test_guarded_mode_keeps_the_interval_through_failures() -> None:
    """One failure, redirect or new signature scheme does not undo what was learned."""
    for outcome in (Outcome.RETRY, Outcome.GONE, Outcome.REDIR_TEMP, Outcome.SUCCESS):
        timing = after(StormCrawlerAdaptive(), outcome, interval=50_000)
        assert timing.interval.tolist() == [50_000]


@pytest.mark.parametrize(
    ("before", "observation", "expected"),
    [
        (100_001, Observation.UNCHANGED, 150_001.5),
        (100_001, Observation.CHANGED, 51_800.5),
        (600, Observation.CHANGED, 3600),
        (600, Observation.UNCHANGED, 3600),
        (1_200_000, Observation.UNCHANGED, 1_209_600),
        (9_000_000, Observation.CHANGED, 1_209_600),
        (np.nan, Observation.UNCHANGED, 129_600),
    ],
)
def test_guarded_steps(before: float, observation: Observation, expected: float) -> None:
    """The interval keeps its fraction and stays within the limits."""
    timing = after(StormCrawlerAdaptive(), Outcome.SUCCESS, observation, interval=before)

    assert timing.interval.tolist() == [expected]
    assert wait_of(timing) == expected


@KINDS
@MODES
@pytest.mark.parametrize(
    ("outcome", "observation", "modified_at", "expected"),
    [
        (Outcome.SUCCESS, Observation.UNKNOWN, NO_TIME, NOW),
        (Outcome.SUCCESS, Observation.UNKNOWN, NOW - 5, NOW - 5),
        (Outcome.SUCCESS, Observation.CHANGED, NOW - 5, NOW),
        (Outcome.GONE, Observation.UNKNOWN, NOW - 5, NOW - DAY),
    ],
)
def test_content_that_is_new_or_undated_is_dated_by_the_fetch(
    kind: Any,
    exact: bool,
    outcome: Outcome,
    observation: Observation,
    modified_at: int,
    expected: int,
) -> None:
    """The modified time is the server's, unless the content just changed; failures leave it."""
    schedule = kind(exact=exact)
    columns = {"modified_at": NOW - DAY, "interval": HOUR}
    states = PageStates.of(1, status=PageStatus.FETCHED, **columns)
    visits = Visits.of(
        1, fetched_at=NOW, outcome=outcome, observation=observation, modified_at=modified_at
    )

    assert schedule.after(states, visits).modified_at.tolist() == [expected]


@KINDS
def test_exact_rows_do_not_depend_on_their_place(kind: Any) -> None:
    """A batch that is longer than a block gives what its parts give."""
    n = 40_000
    states, visits = random_pages(n)
    schedule = kind(exact=True)
    whole = schedule.after(states, visits)

    order = np.random.default_rng(2).permutation(n)
    part = schedule.after(states.take(order), visits.take(order))

    taken = Timing(whole.interval[order], whole.next_fetch_at[order], whole.modified_at[order])
    assert differing_columns(part, taken) == []


@pytest.mark.parametrize(
    ("kind", "setting", "value"),
    [
        (StormCrawlerDefault, "default_interval", 0.0),
        (StormCrawlerDefault, "retry_interval", -60.0),
        (StormCrawlerDefault, "error_interval", np.nan),
        (StormCrawlerAdaptive, "error_interval", 1e12),
        (StormCrawlerAdaptive, "min_interval", 0.0),
        (StormCrawlerAdaptive, "max_interval", np.inf),
        (StormCrawlerAdaptive, "min_interval", 2e6),
        (StormCrawlerAdaptive, "inc_rate", 0.0),
        (StormCrawlerAdaptive, "inc_rate", 1.5),
        (StormCrawlerAdaptive, "dec_rate", 1.1),
    ],
)
def test_settings_out_of_range_are_refused(kind: Any, setting: str, value: float) -> None:
    """The message names schedule, setting and value; exact mode takes what the original takes."""
    with pytest.raises(InputError, match=f"{kind.name}: {setting} is .*, allowed is"):
        kind(**{setting: value})

    assert getattr(kind(**{setting: value}, exact=True), setting) is value


ONE = {"inc_rate": 0.1}
NEVER_BY_DEFAULT = {"default_interval": np.inf}


@pytest.mark.parametrize(
    ("settings", "before", "outcome", "observation", "exact", "guarded"),
    [
        (ONE, 9, Outcome.SUCCESS, Observation.UNCHANGED, 9, 60),
        ({**ONE, "min_interval": 60}, 9, Outcome.SUCCESS, Observation.UNCHANGED, 9, 9.9),
        ({}, 10_935, Outcome.SUCCESS, Observation.UNCHANGED, 16_402, 16_402.5),
        (NEVER_BY_DEFAULT, -1, Outcome.NOTMODIFIED, Observation.UNCHANGED, -1, np.inf),
        (NEVER_BY_DEFAULT, -1, Outcome.SUCCESS, Observation.CHANGED, 29, np.inf),
        ({}, 100_000, Outcome.SUCCESS, Observation.CHANGED, 50_030, 20_160),
        ({}, 30_000, Outcome.SUCCESS, Observation.UNCHANGED, 20_160, 20_160),
        ({}, 10, Outcome.SUCCESS, Observation.CHANGED, 35, 60),
        ({}, 5000, Outcome.RETRY, Observation.UNKNOWN, 120, 120),
        ({}, 5000, Outcome.SUCCESS, Observation.UNCHANGED, 7500, 7500),
        ({}, 5000, Outcome.REDIR_TEMP, Observation.UNKNOWN, 1440, 5000),
        ({}, 5000, Outcome.SUCCESS, Observation.UNKNOWN, 1440, 5000),
        ({}, 10, Outcome.RETRY, Observation.UNKNOWN, 120, 10),
        ({}, 2160, Outcome.SUCCESS, Observation.CHANGED, 1110, 1110),
    ],
)
def test_differences_of_exact_and_guarded_mode(
    settings: dict[str, float],
    before: float,
    outcome: Outcome,
    observation: Observation,
    exact: float,
    guarded: float,
) -> None:
    """The examples of the decision on parity: the wait in minutes, infinite for never."""
    waits = []
    for is_exact in (True, False):
        schedule = StormCrawlerAdaptive(**settings, exact=is_exact)
        timing = after(schedule, outcome, observation, interval=before * 60)
        is_never = timing.next_fetch_at[0] == NEVER
        waits.append(np.inf if is_never else wait_of(timing) / 60)

    assert waits == [exact, guarded]
