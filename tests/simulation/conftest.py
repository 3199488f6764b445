"""Visit histories: made up, and of simulated crawls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from recrawl.core.columns import NO_TIME
from recrawl.core.states import PageStates
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.simulation.history import VisitHistory
from recrawl.simulation.log import Log
from recrawl.simulation.run import START_AT
from recrawl.simulation.worlds import World

_CONTENT = (Outcome.SUCCESS, Outcome.NOTMODIFIED)


def _history(*pages: list[tuple[float, Any]], **columns: Any) -> VisitHistory:
    """Return the history of pages with visits at seconds: what each saw, or that and a date."""
    keys = np.arange(1, len(pages) + 1)
    rows = []
    for key, visits in zip(keys, pages, strict=True):
        for at, seen in visits:
            observation, date = seen if isinstance(seen, tuple) else (seen, None)
            modified_at = NO_TIME if date is None else START_AT + round(date * 1000)
            rows.append((key, START_AT + round(at * 1000), observation, modified_at))
    key, at, seen, modified_at = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    states = PageStates.of(len(pages), page_key=keys, **columns)
    visits = Visits.of(
        len(rows), page_key=key, fetched_at=at, outcome=Outcome.SUCCESS, observation=seen,
        modified_at=modified_at,
    )  # fmt: skip
    return VisitHistory.of(states, visits)


def _of_log(world: World, log: Log) -> VisitHistory:
    """Return what a simulated crawl would have kept of its visits."""
    states = PageStates.of(
        len(world), page_key=np.arange(1, len(world) + 1), importance=world.importance,
        host_key=world.host.astype(np.int64) + 1, group_key=world.group.astype(np.int64) + 1,
    )  # fmt: skip
    visits = Visits.of(
        len(log), page_key=log.page.astype(np.int64) + 1, fetched_at=START_AT + log.at,
        outcome=log.outcome, observation=log.observation,
    )  # fmt: skip
    return VisitHistory.of(states, visits)


@st.composite
def _stores(draw: st.DrawFn) -> tuple[PageStates, Visits]:
    """Draw pages and visits as a store might have them: failures, doubles, false dates."""
    n = draw(st.integers(1, 4))
    keys = draw(st.permutations(range(10, 10 + n)))
    visit = st.tuples(
        st.sampled_from([*keys, 99]),
        st.integers(0, 40),
        st.sampled_from([*_CONTENT, *_CONTENT, Outcome.RETRY, Outcome.GONE, Outcome.REDIR_TEMP]),
        st.sampled_from(list(Observation)),
        st.one_of(st.just(NO_TIME), st.integers(START_AT - 5, START_AT + 45)),
    )
    rows = draw(st.lists(visit, max_size=30))
    key, at, outcome, seen, modified_at = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    surprise = draw(st.lists(st.sampled_from([0.0, 9.0]), min_size=n, max_size=n))
    states = PageStates.of(n, page_key=keys, surprise=surprise)
    visits = Visits.of(
        len(rows), page_key=key, fetched_at=START_AT + at, outcome=outcome, observation=seen,
        modified_at=modified_at,
    )  # fmt: skip
    return states, visits


@pytest.fixture(scope="session")
def history_of() -> Callable[..., VisitHistory]:
    """Give a function that makes a history out of (seconds, observation), page by page."""
    return _history


@pytest.fixture(scope="session")
def history_of_log() -> Callable[[World, Log], VisitHistory]:
    """Give a function that makes the history of a simulated crawl."""
    return _of_log


@pytest.fixture(scope="session")
def stores() -> st.SearchStrategy[tuple[PageStates, Visits]]:
    """Give the strategy of pages and visits as a store may have them."""
    return _stores()
