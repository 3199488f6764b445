"""The change feed is told transitions, each once."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.core.change import ChangeCode, announce
from recrawl.core.states import Announced, PageStates, PageStatus
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.ports.store import ChangeKind

NOTHING, PRESENT, GONE, MOVED = Announced
SUCCESS, RETRY = Outcome.SUCCESS, Outcome.RETRY


def tell(
    announced: Announced,
    outcome: Outcome,
    *,
    observation: Observation = Observation.UNKNOWN,
    status: PageStatus = PageStatus.FETCHED,
    redirects: tuple[int, int] = (0, 0),
) -> tuple[ChangeCode, Announced]:
    """Return the event of one visit and what is announced after it."""
    before = PageStates.of(1, announced=announced, redirect_key=redirects[0])
    after = PageStates.of(1, announced=announced, redirect_key=redirects[1], status=status)
    visits = Visits.of(1, fetched_at=0, outcome=outcome, observation=observation)
    codes, told = announce(before, after, visits)
    assert codes.dtype == told.dtype == np.int8
    return ChangeCode(codes[0]), Announced(told[0])


def test_codes_have_the_names_of_the_kinds() -> None:
    """Each event of the kernel has its word in the feed."""
    assert {code.name for code in ChangeCode} == {kind.name for kind in ChangeKind} | {"NONE"}


def test_the_first_success_is_new() -> None:
    """A page is told when its content is first seen."""
    assert tell(NOTHING, SUCCESS) == (ChangeCode.NEW, PRESENT)


def test_the_first_success_is_new_also_if_it_differs_from_an_imported_signature() -> None:
    """A page that the feed never told cannot have changed for its readers."""
    assert tell(NOTHING, SUCCESS, observation=Observation.CHANGED) == (ChangeCode.NEW, PRESENT)


def test_new_content_is_a_change() -> None:
    """A success with another signature is told."""
    assert tell(PRESENT, SUCCESS, observation=Observation.CHANGED) == (ChangeCode.CHANGED, PRESENT)


@pytest.mark.parametrize("observation", [Observation.UNCHANGED, Observation.UNKNOWN])
def test_the_same_content_or_another_scheme_is_silent(observation: Observation) -> None:
    """Only what is known to differ is told."""
    assert tell(PRESENT, SUCCESS, observation=observation) == (ChangeCode.NONE, PRESENT)


@pytest.mark.parametrize("outcome", [Outcome.REDIR_TEMP, Outcome.REDIR_PERM])
@pytest.mark.parametrize("announced", [NOTHING, PRESENT, GONE])
def test_a_redirect_moves_the_page(outcome: Outcome, announced: Announced) -> None:
    """The first redirect is told, whatever the page was before."""
    assert tell(announced, outcome, redirects=(0, 5)) == (ChangeCode.MOVED, MOVED)


def test_a_redirect_is_told_again_only_for_another_target() -> None:
    """The target is part of what was told."""
    assert tell(MOVED, Outcome.REDIR_TEMP, redirects=(5, 5)) == (ChangeCode.NONE, MOVED)
    assert tell(MOVED, Outcome.REDIR_TEMP, redirects=(5, 6)) == (ChangeCode.MOVED, MOVED)


@pytest.mark.parametrize("announced", [NOTHING, PRESENT, MOVED])
@pytest.mark.parametrize("outcome", [Outcome.GONE, RETRY])
def test_a_page_that_is_gone_is_told_once(announced: Announced, outcome: Outcome) -> None:
    """Gone by the server's word or by too many failures; the second time is silent."""
    status = PageStatus.GONE

    assert tell(announced, outcome, status=status) == (ChangeCode.GONE, GONE)
    assert tell(GONE, outcome, status=status) == (ChangeCode.NONE, GONE)


@pytest.mark.parametrize("announced", [GONE, MOVED])
@pytest.mark.parametrize("outcome", [SUCCESS, Outcome.NOTMODIFIED])
@pytest.mark.parametrize("observation", Observation)
def test_a_page_that_comes_back_is_returned(
    announced: Announced, outcome: Outcome, observation: Observation
) -> None:
    """With old content or new: one event, and never a change beside it."""
    told = tell(announced, outcome, observation=observation)

    assert told == (ChangeCode.RETURNED, PRESENT)


@pytest.mark.parametrize("announced", Announced)
@pytest.mark.parametrize("outcome", [RETRY, Outcome.DENIED, Outcome.EMPTY, Outcome.PARSE_FAILED])
def test_what_says_nothing_of_the_content_is_silent(announced: Announced, outcome: Outcome) -> None:
    """Passing failures, denials, empty and unreadable content leave the feed alone."""
    assert tell(announced, outcome) == (ChangeCode.NONE, announced)


def test_a_denied_page_that_is_gone_is_silent() -> None:
    """The status of before is no news."""
    assert tell(PRESENT, Outcome.DENIED, status=PageStatus.GONE) == (ChangeCode.NONE, PRESENT)


def test_a_304_of_a_page_that_was_never_told_is_silent() -> None:
    """There is no content to hand on."""
    told = tell(NOTHING, Outcome.NOTMODIFIED, observation=Observation.UNCHANGED)

    assert told == (ChangeCode.NONE, NOTHING)


def test_no_visits_give_no_events() -> None:
    """An empty batch is answered by an empty one."""
    codes, told = announce(
        PageStates.of(0), PageStates.of(0), Visits.of(0, fetched_at=[], outcome=[])
    )

    assert codes.shape == told.shape == (0,)
