from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import ConfigError
from recrawl.fetch.politeness import DAY, Politeness
from recrawl.ports.store import HostRow

ROW = HostRow(1, "a.example")
START = 1_700_000_000_000
rows = st.builds(
    HostRow,
    st.just(1),
    st.just("a.example"),
    st.integers(0, 2**45),
    st.none() | st.floats(0, 1e12),
    st.integers(0, 10_000),
)
polite = st.builds(Politeness, st.floats(0, 3600), st.floats(0, 3600), st.floats(0, DAY))


@pytest.mark.parametrize(
    ("crawl_delay", "delay"), [(None, 5), (0.1, 5), (5, 5), (600, 600), (1e12, DAY)]
)
def test_the_longer_delay_counts(crawl_delay: float | None, delay: float) -> None:
    """robots.txt slows us down, up to a day, and never speeds us up."""
    assert Politeness(min_delay=5).delay(crawl_delay) == delay


def test_a_departure_moves_the_host_on() -> None:
    """The next request leaves a delay after the start of this one."""
    row = Politeness(min_delay=2).depart(ROW, START)

    assert row.ready_at == START + 2000


def test_failures_double_the_wait_and_a_good_answer_ends_it() -> None:
    """Waits are 60, 120, 240, 480 s; after a good answer they start again."""
    politeness = Politeness(min_delay=0)
    row, waits = ROW, []

    for _ in range(4):
        row = politeness.retreat(row, START)
        waits.append((row.ready_at - START) / 1000)
    relented = politeness.relent(row)
    again = politeness.retreat(HostRow(1, "a.example", n_errors=relented.n_errors), START)

    assert waits == [60, 120, 240, 480]
    assert relented.n_errors == 0
    assert again.ready_at == START + 60_000


def test_a_host_that_rested_starts_its_back_off_anew() -> None:
    """Half an hour beyond its wait a host's failures are forgotten, and not before."""
    politeness = Politeness()
    row = HostRow(1, "a.example", ready_at=START, n_errors=3)

    assert politeness.depart(row, START + 1_800_000).n_errors == 3
    assert politeness.depart(row, START + 1_800_001).n_errors == 0


@pytest.mark.parametrize(
    ("retry_after", "wait"), [(None, 60), (0, 60), (5, 5), (7200, 7200), (1e9, DAY)]
)
def test_what_the_server_asks_for_goes_before_back_off(
    retry_after: float | None, wait: float
) -> None:
    """Retry-After counts up to a day; none, or none to come, leaves the back-off."""
    row = Politeness().retreat(ROW, START, retry_after=retry_after)

    assert row.ready_at == START + 1000 * wait
    assert row.n_errors == 1


def test_our_own_failure_does_not_count_against_the_host() -> None:
    """The host waits, but its failures stay as they were."""
    row = Politeness().retreat(ROW, START, is_hosts_fault=False)

    assert (row.n_errors, row.ready_at) == (0, START + 60_000)


@given(polite, rows, st.integers(0, 2**45), st.none() | st.floats(0, 1e12))
def test_no_step_makes_a_host_ready_earlier(
    politeness: Politeness, row: HostRow, start: int, retry_after: float | None
) -> None:
    """A failure never shortens the delay of the departure, and no wait exceeds its bounds."""
    departed = politeness.depart(row, start)
    failed = politeness.retreat(departed, start, retry_after=retry_after)

    assert departed.ready_at >= start + 1000 * politeness.min_delay - 1
    assert departed.ready_at <= failed.ready_at <= start + 1000 * DAY + 1
    assert politeness.relent(failed).ready_at == failed.ready_at


@given(polite, st.integers(1, 10_000))
def test_the_wait_grows_with_failures(politeness: Politeness, n_errors: int) -> None:
    """One failure more never means a shorter wait."""
    assert politeness.wait(n_errors) <= politeness.wait(n_errors + 1) <= politeness.max_backoff


@pytest.mark.parametrize("settings", [{"min_delay": -1}, {"backoff": float("nan")}])
def test_a_bad_setting_is_refused(settings: dict[str, float]) -> None:
    """A negative or undefined time names the setting and what is allowed."""
    with pytest.raises(ConfigError, match=rf"{next(iter(settings))} is .*allowed"):
        Politeness(**settings)
