"""States of pages that public crawlers mixed up."""

from __future__ import annotations

from typing import Any

import pytest

from recrawl.core.change import ChangeCode
from recrawl.core.states import PageState, PageStates, PageStatus
from recrawl.core.update import UpdateRule, advance
from recrawl.core.visit import Outcome, Visits
from recrawl.schedules.nutch import NutchAdaptive
from recrawl.testing.factories import DAY, NOW

OUTCOMES = {200: Outcome.SUCCESS, 302: Outcome.REDIR_TEMP, 404: Outcome.GONE}


def run(
    visits: list[dict[str, Any]], *, exact: bool = False, **columns: Any
) -> list[tuple[PageState, ChangeCode]]:
    """Visit a page once a day; return its state and the event after each visit."""
    states = PageStates.of(1, interval=86_400, **columns)
    told = []
    for day, visit in enumerate(visits):
        step = advance(
            states,
            Visits.of(1, fetched_at=NOW + day * DAY, **visit),
            schedule=NutchAdaptive(exact=exact),
            rule=UpdateRule(exact=exact),
        )
        states = step.states
        told.append((states.row(0), ChangeCode(step.change[0])))
    return told


def answer(status_code: int, body: str = "", target: int = 0) -> dict[str, Any]:
    """Return the columns of a visit that was answered like this."""
    outcome = OUTCOMES[status_code]
    if outcome is not Outcome.SUCCESS:
        return {"outcome": outcome, "redirect_key": target}
    return {"outcome": outcome, "signature": body.encode().ljust(16), "signature_scheme": 1}


def test_sch_010(case):
    """A page that times out again and again is gone at the limit, and stays so."""
    given = case("sch-010")
    n_failures = len(given["input"]["results"])

    told = run([{"outcome": Outcome.RETRY}] * n_failures)

    states = [state for state, _ in told]
    assert [state.status for state in states[:3]] == [
        PageStatus.UNFETCHED,
        PageStatus.UNFETCHED,
        PageStatus.GONE,
    ]
    assert {state.status for state in states[2:]} == {PageStatus.GONE}
    assert min(state.retries for state in states) >= 0
    assert all(state.next_fetch_at > state.fetched_at for state in states)
    assert states[-1].next_fetch_at - states[-1].fetched_at > 30 * DAY


def test_sch_010_in_exact_mode(case):
    """The original counts in a signed byte, so the 128th failure reads -128."""
    n_failures = len(case("sch-010")["input"]["results"])

    told = run([{"outcome": Outcome.RETRY}] * n_failures, exact=True)

    assert [state.retries for state, _ in told[126:128]] == [127, -128]
    assert told[127][0].status == PageStatus.UNFETCHED


def test_st_005(case):
    """Each 404 is told once, until the page came back between."""
    runs = case("st-005")["input"]["runs"]

    told = run([answer(status_code, "A") for status_code in runs])

    assert [event for _, event in told] == [
        ChangeCode.GONE,
        ChangeCode.NONE,
        ChangeCode.NONE,
        ChangeCode.RETURNED,
        ChangeCode.GONE,
    ]


def test_st_006(case):
    """A page that returns with its old content is told, and is not "not modified"."""
    runs = case("st-006")["input"]["runs"]
    visits = [answer(visit["status"], visit.get("body", "")) for visit in runs]

    told = run(visits)

    assert [event for _, event in told] == [
        ChangeCode.NEW,
        ChangeCode.GONE,
        ChangeCode.RETURNED,
    ]
    assert told[2][0].status == PageStatus.FETCHED
    assert run(visits, exact=True)[2][0].status == PageStatus.NOTMODIFIED


def test_st_016(case):
    """A success clears what failures left behind."""
    assert case("st-016")["input"]["response"]["status"] == 200

    [(state, _)] = run([answer(200, "A")], retries=2, status=PageStatus.UNFETCHED)

    assert (state.retries, state.status) == (0, PageStatus.FETCHED)


@pytest.mark.parametrize("exact", [False, True])
def test_rd_003(case, exact):
    """A redirect takes no part in the comparison, and the page returns after it."""
    given = case("rd-003")
    signatures = [visit.get("signature", "") for visit in given["input"]["runs"]]
    codes = [visit["status"] for visit in given["input"]["runs"]]

    told = run(
        [answer(code, body, target=9) for code, body in zip(codes, signatures, strict=True)],
        exact=exact,
    )

    assert told[1][0].status == PageStatus.REDIR_TEMP
    assert told[2][0].status == PageStatus.FETCHED
    assert [event for _, event in told] == [
        ChangeCode.NEW,
        ChangeCode.MOVED,
        ChangeCode.RETURNED,
    ]
