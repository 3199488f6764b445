"""Visit histories: what counts as a visit, who is left out, whole steps, any order of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.columns import NO_TIME
from recrawl.core.states import PageStates
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.simulation.history import VisitHistory
from recrawl.simulation.run import START_AT

NEW, CHANGED, SAME = Observation.UNKNOWN, Observation.CHANGED, Observation.UNCHANGED


def same(first: VisitHistory, second: VisitHistory) -> bool:
    return all(
        np.array_equal(getattr(first, f.name), getattr(second, f.name))
        for f in fields(VisitHistory)
    )


def seconds(history: VisitHistory) -> list[float]:
    return ((history.at - START_AT) / 1000).tolist()


def test_failures_are_no_visits():
    """What could not be read neither shows nor excludes a change: the gap goes on."""
    outcomes = [Outcome.SUCCESS, Outcome.RETRY, Outcome.REDIR_PERM, Outcome.GONE,
                Outcome.NOTMODIFIED, Outcome.PARSE_FAILED]  # fmt: skip
    visits = Visits.of(
        6, page_key=1, fetched_at=START_AT + 1000 * np.arange(6), outcome=outcomes,
        observation=[NEW, NEW, NEW, NEW, SAME, NEW],
    )  # fmt: skip

    history = VisitHistory.of(PageStates.of(1, page_key=1), visits)

    assert seconds(history) == [0, 4]
    assert history.observation.tolist() == [NEW, SAME]
    assert history.watched.tolist() == [4]


def test_pages_of_which_nothing_tells_are_left_out(history_of: Callable[..., VisitHistory]):
    """One visit, or visits that could not compare, say nothing of changes."""
    history = history_of(
        [(0, NEW), (5, SAME)], [(0, NEW)], [], [(0, NEW), (5, NEW)], [(1, CHANGED), (2, CHANGED)]
    )

    assert history.page_key.tolist() == [1, 5]
    assert history.observation.tolist() == [NEW, SAME, NEW, CHANGED]
    assert history.n_changes == 1


def test_of_no_pages_there_is_an_empty_history():
    """A store without pages has no history, and neither has one without visits."""
    none = VisitHistory.of(PageStates.of(0), Visits.of(0, fetched_at=[], outcome=[]))

    assert (len(none), len(none.at), none.later().tolist()) == (0, 0, [])


def test_dates_that_cannot_be_are_unknown(history_of: Callable[..., VisitHistory]):
    """A change is dated after the visit before, and nothing is dated after its visit."""
    history = history_of(
        [(0, (NEW, -9)), (5, (CHANGED, 6)), (9, (CHANGED, 5)), (12, (SAME, 1)), (15, (CHANGED, 13))]
    )

    known = np.flatnonzero(history.modified_at != NO_TIME)
    assert known.tolist() == [0, 3, 4]


@given(st.data())
def test_the_order_of_rows_does_not_matter(stores, data: st.DataObject):
    """Pages and visits permuted give the same history."""
    states, visits = data.draw(stores)
    # Of two visits of a page at one instant the first counts.
    _, once = np.unique(np.stack([visits.page_key, visits.fetched_at]), axis=1, return_index=True)
    visits = visits.take(once)
    pages = np.array(data.draw(st.permutations(range(len(states)))), dtype=int)
    rows = np.array(data.draw(st.permutations(range(len(visits)))), dtype=int)

    permuted = VisitHistory.of(states.take(pages), visits.take(rows))

    assert same(permuted, VisitHistory.of(states, visits))


@given(st.data(), st.integers(1, 50))
def test_whole_steps(stores, data: st.DataObject, step: int):
    """Pages are watched from a step's end on, and later visits stay as they were."""
    history = VisitHistory.of(*data.draw(stores))
    if not len(history):
        return

    aligned = history.aligned(step)

    place = np.searchsorted(history.page_key, aligned.page_key)
    passed = aligned.first_at - history.zero_at
    assert (passed % step == 0).all()
    assert (passed - (history.first_at[place] - history.zero_at) < step).all()
    assert (aligned.last_at == history.last_at[place]).all()
    assert (np.diff(aligned.start) >= 2).all()
    for key in aligned.page_key.tolist():
        own = aligned.at[aligned.page_key[aligned.page] == key]
        was = history.at[history.page_key[history.page] == key]
        assert own[1:].tolist() == was[was > own[0]].tolist()


def test_visits_within_the_first_step_become_one(history_of: Callable[..., VisitHistory]):
    """The page is watched from the end of the step on, and what came before it is not known."""
    history = history_of(
        [(0, NEW), (40, SAME)],
        [(1, NEW), (3, CHANGED), (10, CHANGED), (11, SAME)],
        [(2, NEW), (9, CHANGED)],
    )

    aligned = history.aligned(10_000)

    assert aligned.page_key.tolist() == [1, 2]
    assert seconds(aligned) == [0, 40, 10, 11]
    assert aligned.observation.tolist() == [NEW, SAME, NEW, SAME]
