"""A visit is merged into a page's state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from recrawl.core.columns import NO_SCHEME, NO_TIME
from recrawl.core.merge import UpdateRule, merge
from recrawl.core.observation import observe
from recrawl.core.states import Announced, PageStates, PageStatus
from recrawl.core.visit import Outcome, Visits
from recrawl.errors import InputError
from recrawl.testing.factories import DAY, NOW
from recrawl.testing.step import CONTENT_A, CONTENT_B, SCHEME, fetched_page, visit_now

GUARDED, EXACT = UpdateRule(), UpdateRule(exact=True)
REDIRECTS = [Outcome.REDIR_TEMP, Outcome.REDIR_PERM]
FAILURES = [Outcome.RETRY, Outcome.GONE, Outcome.PARSE_FAILED, Outcome.DENIED, Outcome.EMPTY]


def merged(states: PageStates, visits: Visits, rule: UpdateRule = GUARDED) -> Any:
    """Return the row that observing and merging gives."""
    seen = replace(visits, observation=observe(states, visits))
    return merge(states, seen, rule).row(0)


@pytest.mark.parametrize("rule", [GUARDED, EXACT], ids=["guarded", "exact"])
@pytest.mark.parametrize(
    ("visits", "status"),
    [
        (visit_now(Outcome.SUCCESS, CONTENT_B), PageStatus.FETCHED),
        (visit_now(Outcome.SUCCESS, CONTENT_A), PageStatus.NOTMODIFIED),
        (visit_now(Outcome.NOTMODIFIED), PageStatus.NOTMODIFIED),
        (visit_now(Outcome.REDIR_TEMP), PageStatus.REDIR_TEMP),
        (visit_now(Outcome.REDIR_PERM), PageStatus.REDIR_PERM),
        (visit_now(Outcome.RETRY), PageStatus.UNFETCHED),
        (visit_now(Outcome.GONE), PageStatus.GONE),
        (visit_now(Outcome.PARSE_FAILED), PageStatus.PARSE_FAILED),
        (visit_now(Outcome.DENIED), PageStatus.FETCHED),
        (visit_now(Outcome.EMPTY), PageStatus.FETCHED),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_the_outcome_decides_the_status(
    rule: UpdateRule, visits: Visits, status: PageStatus
) -> None:
    """Each outcome leads to its status, in both modes."""
    assert merged(fetched_page(), visits, rule).status == status


@pytest.mark.parametrize("outcome", [Outcome.SUCCESS, Outcome.NOTMODIFIED, *REDIRECTS])
def test_a_usable_answer_ends_a_run_of_failures(outcome: Outcome) -> None:
    """The count of retries starts again."""
    assert merged(fetched_page(retries=2), visit_now(outcome)).retries == 0


@pytest.mark.parametrize("outcome", set(FAILURES) - {Outcome.RETRY})
def test_only_temporary_failures_are_counted(outcome: Outcome) -> None:
    """Gone, unreadable, denied and empty leave the count as it is."""
    assert merged(fetched_page(retries=2), visit_now(outcome)).retries == 2


def test_a_page_is_gone_at_the_last_retry() -> None:
    """With three retries the third failure in a row makes the page gone."""
    states = [merged(fetched_page(retries=n), visit_now(Outcome.RETRY)) for n in range(4)]

    assert [row.retries for row in states] == [1, 2, 3, 4]
    assert [row.status for row in states] == [
        PageStatus.UNFETCHED,
        PageStatus.UNFETCHED,
        PageStatus.GONE,
        PageStatus.GONE,
    ]


def test_retries_saturate_and_wrap_in_exact_mode() -> None:
    """Nutch's byte wraps to -128, which makes a dead page unfetched again; ours stops."""
    states = fetched_page(retries=127, status=PageStatus.GONE)

    guarded = merged(states, visit_now(Outcome.RETRY))
    exact = merged(states, visit_now(Outcome.RETRY), EXACT)

    assert (guarded.retries, guarded.status) == (127, PageStatus.GONE)
    assert (exact.retries, exact.status) == (-128, PageStatus.UNFETCHED)


def test_a_page_that_is_gone_stays_gone_when_its_host_fails() -> None:
    """A time-out says nothing of whether the page is there again."""
    states = fetched_page(status=PageStatus.GONE)

    assert merged(states, visit_now(Outcome.RETRY)).status == PageStatus.GONE
    assert merged(states, visit_now(Outcome.RETRY), EXACT).status == PageStatus.UNFETCHED


@pytest.mark.parametrize("outcome", REDIRECTS)
def test_a_redirect_replaces_the_signature_in_exact_mode(outcome: Outcome) -> None:
    """Nutch stores the redirect's signature, and none where it has none."""
    assert merged(fetched_page(), visit_now(outcome, CONTENT_B), EXACT).signature == CONTENT_B
    assert merged(fetched_page(), visit_now(outcome), EXACT).signature_scheme == NO_SCHEME


def test_a_success_without_signature_keeps_the_baseline_in_guarded_mode() -> None:
    """What was not signed cannot be compared with later."""
    assert merged(fetched_page(), visit_now(Outcome.SUCCESS)).signature_scheme == SCHEME
    assert merged(fetched_page(), visit_now(Outcome.SUCCESS), EXACT).signature_scheme == NO_SCHEME


def test_another_scheme_becomes_the_baseline_in_silence() -> None:
    """New signatures are stored, and no change is counted or dated."""
    row = merged(fetched_page(), visit_now(Outcome.SUCCESS, CONTENT_B, signature_scheme=SCHEME + 1))

    assert (row.signature, row.signature_scheme) == (CONTENT_B, SCHEME + 1)
    assert (row.n_changes, row.changed_at) == (0, NOW - 8 * DAY)


def test_a_change_is_counted_and_dated() -> None:
    """The visit that saw it gives the time."""
    row = merged(fetched_page(), visit_now(Outcome.SUCCESS, CONTENT_B))

    assert (row.n_changes, row.changed_at, row.n_visits, row.fetched_at) == (1, NOW, 4, NOW)


def test_the_first_content_is_dated_and_not_counted() -> None:
    """It is new, and it did not change."""
    states = fetched_page(signature_scheme=NO_SCHEME, changed_at=NO_TIME)

    row = merged(states, visit_now(Outcome.SUCCESS, CONTENT_A))

    assert (row.n_changes, row.changed_at) == (0, NOW)


def test_a_redirect_target_is_forgotten_when_the_page_answers_itself() -> None:
    """Failures keep it, so that the same redirect is not told twice."""
    states = fetched_page(redirect_key=5)

    assert merged(states, visit_now(Outcome.SUCCESS, CONTENT_A)).redirect_key == 0
    assert merged(states, visit_now(Outcome.NOTMODIFIED)).redirect_key == 0
    assert merged(states, visit_now(Outcome.RETRY)).redirect_key == 5


@pytest.mark.parametrize("announced", [Announced.GONE, Announced.MOVED])
@pytest.mark.parametrize(
    "visits", [visit_now(Outcome.SUCCESS, CONTENT_A), visit_now(Outcome.NOTMODIFIED)]
)
def test_a_page_that_comes_back_is_fetched(announced: Announced, visits: Visits) -> None:
    """Its readers dropped it, so "not modified" would not tell them to take it up again."""
    states = fetched_page(announced=announced, status=PageStatus.GONE)

    assert merged(states, visits).status == PageStatus.FETCHED
    assert merged(states, visits, EXACT).status == PageStatus.NOTMODIFIED


@pytest.mark.parametrize("retry_max", [0, 128])
def test_a_number_of_retries_that_cannot_be_reached_is_refused(retry_max: int) -> None:
    """Guarded mode counts to 127; exact mode takes what Nutch takes."""
    with pytest.raises(InputError, match=f"retry_max is not from 1 to 127: {retry_max}"):
        UpdateRule(retry_max=retry_max)

    assert UpdateRule(retry_max=retry_max, exact=True).retry_max == retry_max


@pytest.mark.parametrize(
    ("outcome", "answered", "kept"),
    [
        (Outcome.SUCCESS, 5, 5),
        (Outcome.SUCCESS, 0, 3),
        (Outcome.NOTMODIFIED, 0, 3),
        (Outcome.GONE, 5, 3),
        (Outcome.REDIR_PERM, 5, 3),
    ],
)
def test_the_mime_type_is_that_of_the_last_good_content(
    outcome: Outcome, answered: int, kept: int
) -> None:
    """Only content that says its MIME type replaces the one that is known."""
    assert (
        merged(fetched_page(mime_key=3), visit_now(outcome, CONTENT_A, mime_key=answered)).mime_key
        == kept
    )


@pytest.mark.parametrize("outcome", REDIRECTS)
def test_redirects_were_compared_before_nutch_1422(outcome: Outcome) -> None:
    """With its old rule a redirect is unchanged or changed by its signature, else unknown."""
    rule = UpdateRule(exact=True, compares_redirects=True)

    def status(signature: bytes, rule: UpdateRule) -> int:
        visits = visit_now(outcome, signature)
        seen = observe(fetched_page(), visits, compares_redirects=rule.compares_redirects)
        return merge(fetched_page(), replace(visits, observation=seen), rule).row(0).status

    redirected = PageStatus.REDIR_TEMP if outcome == REDIRECTS[0] else PageStatus.REDIR_PERM
    assert [status(s, rule) for s in (CONTENT_A, CONTENT_B)] == [PageStatus.NOTMODIFIED, redirected]
    assert [status(s, EXACT) for s in (CONTENT_A, CONTENT_B)] == [redirected, redirected]


def test_redirects_are_compared_in_exact_mode_only() -> None:
    """In guarded mode the signature kept is that of content."""
    with pytest.raises(InputError, match="compares_redirects is of exact mode"):
        UpdateRule(compares_redirects=True)


@pytest.mark.parametrize(
    ("visit", "n_left"),
    [
        (visit_now(Outcome.SUCCESS, CONTENT_B), 0),
        (visit_now(Outcome.NOTMODIFIED), 0),
        *((visit_now(outcome), 3) for outcome in FAILURES),
    ],
)
def test_signals_are_answered_by_a_visit_that_can_tell(visit: Visits, n_left: int) -> None:
    """A failure leaves them to be followed."""
    assert merged(fetched_page(n_signals=3), visit).n_signals == n_left
