"""A visit makes a whole step of a page's state."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.change import ChangeCode
from recrawl.core.columns import NEVER, NO_SCHEME, NO_TIME
from recrawl.core.interval import Bounds
from recrawl.core.states import Announced, PageStates, PageStatus
from recrawl.core.timing import Timing
from recrawl.core.update import UpdateRule, advance, force_refetch, settle
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.errors import InputError
from recrawl.schedules.fixed import Fixed
from recrawl.schedules.nutch import NutchAdaptive
from recrawl.testing.factories import DAY, NOW
from recrawl.testing.schedule import differing_columns, random_pages
from recrawl.testing.step import CONTENT_A, CONTENT_B, SCHEME, fetched_page, visit_now

GUARDED, EXACT = UpdateRule(), UpdateRule(exact=True)
REDIRECTS = [Outcome.REDIR_TEMP, Outcome.REDIR_PERM]
FAILURES = [Outcome.RETRY, Outcome.GONE, Outcome.PARSE_FAILED, Outcome.DENIED, Outcome.EMPTY]


@pytest.mark.parametrize("rule", [GUARDED, EXACT], ids=["guarded", "exact"])
@pytest.mark.parametrize("outcome", [Outcome.NOTMODIFIED, *FAILURES])
def test_only_content_touches_the_baseline(rule: UpdateRule, outcome: Outcome) -> None:
    """A failure or a 304 leaves signature, scheme, modified and changed time alone."""
    before = fetched_page().row(0)

    after = advance(
        fetched_page(), visit_now(outcome, CONTENT_B), schedule=Fixed(exact=rule.exact), rule=rule
    ).states.row(0)

    for column in ("signature", "signature_scheme", "modified_at", "changed_at", "n_changes"):
        assert getattr(after, column) == getattr(before, column)


@pytest.mark.parametrize("rule", [GUARDED, EXACT], ids=["guarded", "exact"])
@pytest.mark.parametrize("outcome", Outcome)
def test_what_is_learned_is_left_to_a_learner(rule: UpdateRule, outcome: Outcome) -> None:
    """No outcome touches the group and what visits taught; nor does a forced refetch."""
    learned = {"group_key": 5, "rate_shape": 0.5, "rate_exposure": 7.0, "bulk_shape": 2.0}
    states = fetched_page(**learned, bulk_exposure=np.nan, interval=2 * rule.interval_max)

    step = advance(
        states, visit_now(outcome, CONTENT_B), schedule=Fixed(exact=rule.exact), rule=rule
    )
    forced = force_refetch(step.states, np.array([True]), 60.0)

    for after in (step.states.row(0), forced.row(0)):
        assert {name: getattr(after, name) for name in learned} == learned
        assert np.isnan(after.bulk_exposure)


@pytest.mark.parametrize("outcome", REDIRECTS)
def test_a_redirect_keeps_the_baseline_in_guarded_mode(outcome: Outcome) -> None:
    """The content of before is compared with when the page comes back."""
    step = advance(fetched_page(), visit_now(outcome, redirect_key=5), schedule=Fixed())
    row = step.states.row(0)

    assert (row.signature, row.signature_scheme) == (CONTENT_A, SCHEME)
    assert row.modified_at == NOW - 9 * DAY
    assert row.redirect_key == 5


def settled(
    visits: Visits, observation: Observation, rule: UpdateRule = GUARDED, interval: float = 50
) -> Any:
    """Return the row that settling gives, where the schedule dates the content 77."""
    seen = replace(visits, observation=np.array([observation], np.int8))
    timing = Timing(np.array([float(interval)]), np.array([NOW + 1]), np.array([77]))
    return settle(fetched_page(), seen, timing, rule).row(0)


def test_the_schedules_answer_is_kept() -> None:
    """Interval and next fetch are those of the timing."""
    row = settled(visit_now(Outcome.SUCCESS), Observation.UNKNOWN)

    assert (row.interval, row.next_fetch_at, row.modified_at) == (50, NOW + 1, 77)


@pytest.mark.parametrize(
    ("outcome", "observation", "guarded", "exact"),
    [
        (Outcome.SUCCESS, Observation.CHANGED, 77, 77),
        (Outcome.SUCCESS, Observation.UNCHANGED, NOW - 9 * DAY, NOW - 9 * DAY),
        (Outcome.NOTMODIFIED, Observation.UNCHANGED, NOW - 9 * DAY, NOW - 9 * DAY),
        (Outcome.REDIR_TEMP, Observation.UNKNOWN, NOW - 9 * DAY, 77),
        (Outcome.GONE, Observation.UNKNOWN, NOW - 9 * DAY, NOW - 9 * DAY),
    ],
)
def test_the_modified_time_moves_with_content_only(
    outcome: Outcome, observation: Observation, guarded: int, exact: int
) -> None:
    """Content that is not known to be unchanged is dated; the rest keeps its date."""
    assert settled(visit_now(outcome), observation).modified_at == guarded
    assert settled(visit_now(outcome), observation, EXACT).modified_at == exact


def test_exact_mode_refetches_a_page_of_too_long_an_interval() -> None:
    """Nutch forgets status, signature and modified time; guarded mode has no such thing."""
    rule = UpdateRule(exact=True, interval_max=100)

    forced = settled(visit_now(Outcome.SUCCESS), Observation.UNKNOWN, rule, interval=101)
    kept = settled(visit_now(Outcome.SUCCESS), Observation.UNKNOWN, rule, interval=100)
    failed = settled(visit_now(Outcome.GONE), Observation.UNKNOWN, rule, interval=101)
    guarded = settled(visit_now(Outcome.SUCCESS), Observation.UNKNOWN, GUARDED, interval=1e9)

    assert (forced.status, forced.signature_scheme) == (PageStatus.UNFETCHED, NO_SCHEME)
    assert (forced.modified_at, forced.interval) == (NO_TIME, 90)
    assert forced.next_fetch_at == NOW + 1
    assert kept.signature_scheme == failed.signature_scheme == guarded.signature_scheme == SCHEME


def test_force_refetch_cuts_long_intervals_of_chosen_pages_only() -> None:
    """A short interval stays, and so does a page that is not chosen."""
    states = PageStates.of(3, interval=[500, 50, 500], retries=2, status=PageStatus.GONE)

    forced = force_refetch(states, np.array([True, True, False]), 100)

    assert forced.interval.tolist() == [90, 50, 500]
    assert forced.retries.tolist() == [0, 0, 2]
    assert forced.status.tolist() == [1, 1, PageStatus.GONE]


def test_advance_is_the_whole_step() -> None:
    """One call observes, merges, schedules, bounds, settles and announces."""
    bounds = Bounds(min_interval=60, max_interval=1000, jitter=0)

    step = advance(
        fetched_page(),
        visit_now(Outcome.SUCCESS, CONTENT_B),
        schedule=Fixed(),
        rule=GUARDED,
        bounds=bounds,
    )
    row = step.states.row(0)

    assert step.visits.observation.tolist() == [Observation.CHANGED]
    assert step.change.tolist() == [ChangeCode.CHANGED]
    assert (row.interval, row.next_fetch_at, row.modified_at) == (1000, NOW + 1_000_000, NOW)
    assert (row.announced, row.signature) == (Announced.PRESENT, CONTENT_B)


def test_advance_stores_what_was_announced() -> None:
    """The column moves with the event, so that it is not told again."""
    first = advance(fetched_page(), visit_now(Outcome.GONE), schedule=Fixed())
    second = advance(first.states, visit_now(Outcome.GONE), schedule=Fixed())

    assert first.states.announced.tolist() == [Announced.GONE]
    assert (first.change.tolist(), second.change.tolist()) == ([ChangeCode.GONE], [0])


def test_exact_mode_is_not_bounded() -> None:
    """The next fetch is the schedule's own."""
    step = advance(
        fetched_page(interval=5),
        visit_now(Outcome.SUCCESS, CONTENT_A),
        schedule=Fixed(exact=True),
        rule=EXACT,
    )

    assert step.states.next_fetch_at.tolist() == [NOW + 5000]
    with pytest.raises(InputError, match="exact mode has no bounds"):
        advance(
            fetched_page(),
            visit_now(Outcome.GONE),
            schedule=Fixed(exact=True),
            rule=EXACT,
            bounds=Bounds(),
        )


def test_a_modified_time_in_the_future_is_not_stored() -> None:
    """A server's clock that is wrong dates nothing."""
    states = fetched_page(signature_scheme=NO_SCHEME, modified_at=NO_TIME)

    step = advance(
        states,
        visit_now(Outcome.SUCCESS, CONTENT_A, modified_at=NOW + 3650 * DAY),
        schedule=NutchAdaptive(),
    )

    assert step.states.modified_at.tolist() == [NOW]


def test_visits_of_other_pages_are_refused() -> None:
    """Rows must belong together, one visit a page."""
    with pytest.raises(InputError, match=r"the visits \(1\) are not of the pages \(1\)"):
        advance(fetched_page(page_key=2), visit_now(Outcome.GONE), schedule=Fixed())

    with pytest.raises(InputError, match=r"the visits \(1\) are not of the pages \(2\)"):
        advance(PageStates.of(2), visit_now(Outcome.GONE), schedule=Fixed())


@pytest.mark.parametrize("outcome", [0, 10, -1])
def test_an_unknown_outcome_is_refused(outcome: int) -> None:
    """A code that no outcome has is a bug of the caller, not a page's fate."""
    visits = Visits.of(1, page_key=1, fetched_at=NOW, outcome=outcome)

    with pytest.raises(InputError, match=f"not an outcome: {outcome}; use .*, 1 to 9"):
        advance(fetched_page(), visits, schedule=Fixed())


@given(seed=st.integers(0, 10_000))
def test_every_page_is_due_within_the_bounds_or_as_set_by_hand(seed: int) -> None:
    """After any visit of any page its next fetch lies ahead, at most the maximum away."""
    states, visits = random_pages(40, seed)
    bounds = Bounds(min_interval=100, max_interval=1_000_000)

    after = advance(states, visits, schedule=NutchAdaptive(), bounds=bounds).states

    wait = (after.next_fetch_at - visits.fetched_at) / 1000
    is_free = np.isnan(states.fixed_interval)
    assert ((wait[is_free] >= 100) & (wait[is_free] <= 1_000_000)).all()
    assert (wait > 0).all()
    assert (after.next_fetch_at != NEVER).all()


@pytest.mark.parametrize("exact", [False, True], ids=["guarded", "exact"])
def test_permuted_rows_give_permuted_rows(exact: bool) -> None:
    """No page's step depends on its place in the batch."""
    states, visits = random_pages(300)
    order = np.random.default_rng(1).permutation(300)
    settings: Any = {"schedule": NutchAdaptive(exact=exact), "rule": UpdateRule(exact=exact)}

    whole = advance(states, visits, **settings)
    permuted = advance(states.take(order), visits.take(order), **settings)

    assert differing_columns(permuted.states, whole.states.take(order)) == []
    assert differing_columns(permuted.visits, whole.visits.take(order)) == []
    assert permuted.change.tolist() == whole.change[order].tolist()


@pytest.mark.parametrize("size", [1, 13])
def test_any_split_gives_the_same_rows(size: int) -> None:
    """A page is a batch of one."""
    states, visits = random_pages(60)
    whole = advance(states, visits, schedule=NutchAdaptive()).states

    for start in range(0, 60, size):
        rows = np.arange(60)[start : start + size]
        part = advance(states.take(rows), visits.take(rows), schedule=NutchAdaptive()).states
        assert differing_columns(part, whole.take(rows)) == []


def test_no_rows_give_no_rows() -> None:
    """An empty batch is answered by an empty one."""
    states, visits = random_pages(0)

    step = advance(states, visits, schedule=Fixed())

    assert len(step.states) == len(step.visits) == len(step.change) == 0


def test_arguments_are_left_alone_and_types_kept() -> None:
    """The step writes into no array it was given and returns the columns' types."""
    states, visits = random_pages(100)
    for rows in (states, visits):
        for column in fields(rows):
            getattr(rows, column.name).flags.writeable = False

    step = advance(states, visits, schedule=NutchAdaptive())

    for column in fields(states):
        before, after = getattr(states, column.name), getattr(step.states, column.name)
        assert before.dtype == after.dtype
