"""NutchAdaptive lengthens and shortens intervals by fixed rates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.columns import NO_TIME
from recrawl.core.states import PageStates
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.errors import InputError
from recrawl.schedules.nutch import NutchAdaptive
from recrawl.schedules.nutch_hosts import HostIntervals
from recrawl.testing.factories import DAY, NOW
from recrawl.testing.schedule import ScheduleContract, differing_columns, random_pages

UNCHANGED, CHANGED = Observation.UNCHANGED, Observation.CHANGED


class TestNutchAdaptive(ScheduleContract):
    def make_schedule(self) -> NutchAdaptive:
        return NutchAdaptive()


class TestNutchAdaptiveWithHosts(ScheduleContract):
    def make_schedule(self) -> NutchAdaptive:
        hosts = HostIntervals(
            np.array([2, 3]), np.array([100, 200], np.float32), np.array([1e4, 1e5], np.float32)
        )
        return NutchAdaptive(hosts=hosts)


def wait_after(
    schedule: NutchAdaptive, interval: float, observation: Observation, modified_at: int = NO_TIME
) -> tuple[float, float]:
    """Return the interval and the wait after a visit of one page. [s]."""
    visits = Visits.of(
        1,
        fetched_at=NOW,
        outcome=Outcome.SUCCESS,
        observation=observation,
        modified_at=modified_at,
    )
    timing = schedule.after(PageStates.of(1, interval=interval), visits)
    return timing.interval[0], (timing.next_fetch_at[0] - NOW) / 1000


@pytest.mark.parametrize(
    ("observation", "interval"),
    [(Observation.UNKNOWN, 1000), (CHANGED, 800), (UNCHANGED, 1400)],
)
def test_the_interval_follows_the_observation(observation: Observation, interval: float) -> None:
    """Change shortens, no change lengthens, and not knowing leaves the interval."""
    assert wait_after(NutchAdaptive(), 1000, observation) == (interval, interval)


def test_numbers_are_float32_as_in_the_original() -> None:
    """3,333,333 s grow by 0.4 to 4,666,666.0 s, not to 4,666,666.2."""
    assert wait_after(NutchAdaptive(exact=True), 3_333_333, UNCHANGED, NOW) == (4_666_666,) * 2


def test_exact_mode_stores_whole_seconds_and_waits_for_the_fraction() -> None:
    """Half of 5 s is stored as 3 s while the next fetch is 2.5 s away."""
    schedule = NutchAdaptive(exact=True, dec_rate=0.5, min_interval=1)

    assert wait_after(schedule, 5, CHANGED) == (3, 2.5)


def test_guarded_mode_keeps_the_fraction_so_that_short_intervals_grow() -> None:
    """An interval of 1 s grows by a fifth; rounded to seconds it would stay for ever."""
    interval = 1.0
    for _ in range(4):
        interval, _ = wait_after(NutchAdaptive(inc_rate=0.2, min_interval=0.5), interval, UNCHANGED)

    assert interval == pytest.approx(1.2**4)
    assert wait_after(NutchAdaptive(exact=True, inc_rate=0.2, min_interval=0), 1, UNCHANGED)[0] == 1


def test_the_next_fetch_moves_towards_the_change() -> None:
    """The wait is shortened by a share of the time since the last change."""
    interval, wait = wait_after(NutchAdaptive(), 30 * 86400, UNCHANGED, NOW - 30 * DAY)

    assert interval == 42 * 86400
    assert wait == pytest.approx((42 - 0.3 * 30) * 86400)


def test_a_page_unchanged_for_long_takes_that_time_as_its_interval() -> None:
    """Time since the change replaces an interval that is shorter."""
    assert wait_after(NutchAdaptive(), 3600, Observation.UNKNOWN, NOW - 10 * DAY) == (
        10 * 86400,
        pytest.approx(7 * 86400),
    )


def test_a_shift_beyond_the_greatest_interval_is_scaled_to_it() -> None:
    """180 days by 0.3 is more than 10 days, so 3 of 10 days are taken; the original takes none."""
    settings = {"min_interval": 60, "max_interval": 10 * 86400}
    since = NOW - 180 * DAY

    guarded = wait_after(NutchAdaptive(**settings), 86400, UNCHANGED, since)
    exact = wait_after(NutchAdaptive(**settings, exact=True), 86400, UNCHANGED, since)

    assert guarded == (10 * 86400, pytest.approx(7 * 86400, abs=1))
    assert exact == (10 * 86400, 10 * 86400)


def test_without_synchronisation_the_time_of_change_plays_no_part() -> None:
    """The wait is the interval."""
    schedule = NutchAdaptive(sync_delta=False)

    assert wait_after(schedule, 1000, UNCHANGED, NOW - DAY) == (1400, 1400)


def test_the_least_interval_wins_over_the_greatest_in_exact_mode() -> None:
    """With bounds the wrong way round, short intervals become the least, long the greatest."""
    schedule = NutchAdaptive(exact=True, min_interval=100, max_interval=10)

    assert wait_after(schedule, 50, Observation.UNKNOWN)[0] == 100
    assert wait_after(schedule, 1000, Observation.UNKNOWN)[0] == 10


def test_an_interval_set_by_hand_is_taken_as_it_is() -> None:
    """Neither rates nor bounds touch it, and exact mode takes even a negative one."""
    states = PageStates.of(1, interval=100, fixed_interval=-1.5)
    visits = Visits.of(1, fetched_at=NOW, outcome=Outcome.SUCCESS, modified_at=-7)

    exact = NutchAdaptive(exact=True).after(states, visits)
    guarded = NutchAdaptive().after(states, visits)

    assert (exact.interval[0], exact.next_fetch_at[0]) == (-1, NOW - 1500)
    assert exact.modified_at[0] == -7
    assert (guarded.interval[0], guarded.modified_at[0]) == (100, NOW)


def test_a_host_of_the_table_has_its_own_bounds() -> None:
    """Pages of a listed host stay within its interval, others within the schedule's."""
    hosts = HostIntervals.of({"b.example": (500, 600)}, key=lambda _: 2)
    states = PageStates.of(3, host_key=[1, 2, 3], interval=[100, 100, 9000])
    visits = Visits.of(3, fetched_at=NOW, outcome=Outcome.SUCCESS)

    timing = NutchAdaptive(hosts=hosts).after(states, visits)

    assert timing.interval.tolist() == [100, 500, 9000]


def test_a_batch_longer_than_a_block_is_worked_on_whole() -> None:
    """The last, shorter block of a batch is scheduled as the first."""
    states, visits = random_pages(40_000)
    tail = np.arange(39_990, 40_000)

    whole = NutchAdaptive().after(states, visits)
    part = NutchAdaptive().after(states.take(tail), visits.take(tail))

    assert whole.next_fetch_at[tail].tolist() == part.next_fetch_at.tolist()


@pytest.mark.parametrize("exact", [False, True])
def test_the_documented_interval_is_at_most_the_time_since_the_change(exact: bool) -> None:
    """The description replaces an interval longer than that time, the code one that is shorter."""
    documented = NutchAdaptive(variant="documented", exact=exact)
    code = NutchAdaptive(exact=exact)
    day = 86_400

    def intervals(days: int, since: int) -> tuple[float, float]:
        return tuple(
            wait_after(s, days * day, Observation.UNKNOWN, NOW - since * DAY)[0] / day
            for s in (documented, code)
        )

    assert intervals(30, since=10) == (10, 30)
    assert intervals(5, since=10) == (5, 10)
    assert intervals(10, since=10) == (10, 10)
    assert intervals(30, since=0) == (30, 30)


def test_the_documented_shift_is_scaled_in_exact_mode_too() -> None:
    """9 of 30 days by 7 days are 2.1 days, as the comment says; the code divides to 0."""
    settings = {"max_interval": 7 * 86400, "min_interval": 86_400, "exact": True}
    documented = NutchAdaptive(**settings, variant="documented")
    since = NOW - 30 * DAY

    assert wait_after(documented, 5 * 86400, UNCHANGED, since) == (
        7 * 86400,
        pytest.approx(4.9 * 86400, abs=1),
    )
    assert wait_after(NutchAdaptive(**settings), 5 * 86400, UNCHANGED, since) == (7 * 86400,) * 2


def test_a_variant_that_there_is_not_is_refused() -> None:
    """Also in exact mode."""
    with pytest.raises(InputError, match="variant is 'text', allowed is code or documented"):
        NutchAdaptive(variant="text", exact=True)


@given(
    interval=st.floats(0, 1e8),
    since=st.integers(0, 3000 * DAY),
    observation=st.sampled_from(Observation),
)
def test_the_interval_stays_within_its_bounds(
    interval: float, since: int, observation: Observation
) -> None:
    """Whatever was before, the new interval lies between the least and the greatest."""
    schedule = NutchAdaptive(min_interval=300, max_interval=90_000)

    assert 300 <= wait_after(schedule, interval, observation, NOW - since)[0] <= 90_000


def test_no_page_waits_longer_than_interval_max():
    """A long interval is kept, so that the rates go on from it; exact mode waits for all of it."""
    year = 365 * 86_400.0
    limits = {"sync_delta": False, "max_interval": year, "interval_max": year / 4}

    guarded = wait_after(NutchAdaptive(**limits), year, Observation.UNCHANGED, NOW)
    exact = wait_after(NutchAdaptive(**limits, exact=True), year, Observation.UNCHANGED, NOW)

    assert guarded == (year, year / 4)
    assert exact == (year, year)


@given(seed=st.integers(0, 1000))
def test_modes_agree_where_the_settings_are_sound(seed: int) -> None:
    """On whole seconds and without synchronisation both modes give the same next fetch."""
    states, visits = random_pages(50, seed)
    states = states.with_columns(
        {
            "interval": np.ceil(np.nan_to_num(states.interval, nan=60)),
            "fixed_interval": np.full(50, np.nan),
        }
    )
    visits = visits.take(visits.outcome <= Outcome.REDIR_PERM)
    states = states.take(np.isin(states.page_key, visits.page_key))

    exact = NutchAdaptive(exact=True, sync_delta=False).after(states, visits)
    guarded = NutchAdaptive(sync_delta=False, interval_max=1e9).after(states, visits)

    assert differing_columns(exact, guarded) in ([], ["interval"])


@pytest.mark.parametrize(
    ("setting", "value", "allowed"),
    [
        ("default_interval", 0, "0.001 s to 100 years"),
        ("min_interval", -1, "0.001 s to 100 years"),
        ("min_interval", 1e9, "up to max_interval, 31536000"),
        ("max_interval", float("nan"), "0.001 s to 100 years"),
        ("interval_max", float("inf"), "0.001 s to 100 years"),
        ("retry_interval", 0, "0.001 s to 100 years"),
        ("inc_rate", 0, "above 0 and up to 1"),
        ("inc_rate", 1.5, "above 0 and up to 1"),
        ("inc_rate", float("nan"), "above 0 and up to 1"),
        ("dec_rate", 0, "above 0 and below 1"),
        ("dec_rate", 1, "above 0 and below 1"),
        ("sync_delta_rate", 1.5, "0 to 1"),
    ],
)
def test_a_setting_out_of_range_is_refused(setting: str, value: float, allowed: str) -> None:
    """The message names the setting, its value and what is allowed; exact mode takes it."""
    with pytest.raises(InputError, match=f"nutch-adaptive: {setting} is .*, allowed is {allowed}"):
        NutchAdaptive(**{setting: value})

    assert NutchAdaptive(**{setting: value}, exact=True).exact
