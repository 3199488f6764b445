"""What a real crawl saw of its pages: the visits that a backtest starts from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recrawl.core.columns import NO_TIME
from recrawl.core.states import Importances, Keys, Mask, PageStates, Seconds, Small, Times
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.estimation.false_change import is_noise
from recrawl.simulation.worlds.world import Offsets, offsets_of, ragged_rows

__all__ = ["VisitHistory"]


@dataclass(frozen=True, slots=True, eq=False)
class VisitHistory:
    """Visits of n pages that found their content, page after page, in time order within each.

    A page is watched from its first visit to its last: of the time before and after nothing is
    known.

    Parameters
    ----------
    page_key : ndarray of int64, shape (n,)
        The pages, in the order of their keys.
    start : ndarray of int64, shape (n + 1,)
        The visits of page ``i`` are the rows ``start[i]`` to ``start[i + 1]``; two or more.
    at : ndarray of int64, shape (m,)
        When. [ms]
    observation : ndarray of int8, shape (m,)
        ``Observation``: whether the page changed since the row before; UNKNOWN at the first of a
        page.  At least one row of each page tells.
    modified_at : ndarray of int64, shape (m,)
        When the page changed last, as the server said; NO_TIME where it did not, or where it
        cannot be: later than the visit, or for a change not later than the visit before. [ms]
    importance : ndarray of float32, shape (n,)
        Weight of each page.
    host_key, group_key : ndarray of int64, shape (n,)
        Host of each page, and the group that may be edited in bulk.
    is_noisy : ndarray of bool, shape (n,)
        Every fetch of the page differs, so that its changes say nothing.
    """

    page_key: Keys
    start: Offsets
    at: Times
    observation: Small
    modified_at: Times
    importance: Importances
    host_key: Keys
    group_key: Keys
    is_noisy: Mask

    def __len__(self) -> int:
        return len(self.page_key)

    @classmethod
    def of(cls, states: PageStates, visits: Visits) -> VisitHistory:
        """Return the history of the pages that were watched.

        Parameters
        ----------
        states : PageStates
            The pages, in any order.
        visits : Visits
            Their visits, in any order, ``observation`` filled in; those of other pages are
            ignored.  Failures, redirects and pages found gone neither show nor exclude a change,
            and are left out.

        Returns
        -------
        VisitHistory
            Without the pages of which no two visits tell whether they changed in between.

        Notes
        -----
        Columns read: group_key, host_key, importance, page_key, surprise.
        """
        states = states.take(np.argsort(states.page_key))
        place = np.searchsorted(states.page_key, visits.page_key)
        is_ours = np.append(states.page_key, 0)[place] == visits.page_key
        is_ours &= place < len(states)
        has_content = (visits.outcome == Outcome.SUCCESS) | (visits.outcome == Outcome.NOTMODIFIED)
        rows = np.flatnonzero(is_ours & has_content)
        rows = rows[np.lexsort((visits.fetched_at[rows], place[rows]))]
        page, at = place[rows], visits.fetched_at[rows]
        is_again = np.zeros(len(rows), dtype=bool)
        is_again[1:] = (np.diff(page) == 0) & (np.diff(at) == 0)
        rows, page, at = rows[~is_again], page[~is_again], at[~is_again]
        history = cls(
            page_key=states.page_key,
            start=offsets_of(np.bincount(page, minlength=len(states))),
            at=at,
            observation=visits.observation[rows],
            modified_at=visits.modified_at[rows],
            importance=states.importance,
            host_key=states.host_key,
            group_key=states.group_key,
            is_noisy=is_noise(states.surprise),
        )
        return _told(history)

    @property
    def page(self) -> NDArray[np.int64]:
        """The page of each visit as a row of the pages, shape (m,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    @property
    def first_at(self) -> Times:
        """When each page is watched from, shape (n,). [ms]."""
        return self.at[self.start[:-1]]

    @property
    def last_at(self) -> Times:
        """When each page is watched to, shape (n,). [ms]."""
        return self.at[self.start[1:] - 1]

    @property
    def zero_at(self) -> int:
        """When the first page is watched from. [ms]."""
        return int(self.first_at.min())

    @property
    def watched(self) -> Seconds:
        """How long each page is watched, shape (n,). [s]."""
        return (self.last_at - self.first_at) / 1000

    @property
    def n_changes(self) -> int:
        """How many visits saw a change, those of noisy pages aside."""
        is_changed = self.observation == Observation.CHANGED
        return int(np.count_nonzero(is_changed & ~self.is_noisy[self.page]))

    def later(self) -> NDArray[np.int64]:
        """Return the rows of all visits but the first of each page: each ends a gap."""
        return np.flatnonzero(np.diff(self.page) == 0) + 1

    def aligned(self, step: int) -> VisitHistory:
        """Return the history with pages watched from whole steps after ``zero_at`` on.

        Parameters
        ----------
        step : int
            Length of a step. [ms]

        Returns
        -------
        VisitHistory
            The last visit in the step in which a page is first visited is moved to its end, those
            before it are left out, and so are pages of which nothing is left that tells.
        """
        passed = self.first_at - self.zero_at
        born_at = (self.zero_at + -(-passed // step) * step)[self.page]
        is_early = self.at <= born_at
        is_last = np.ones(len(self.at), dtype=bool)
        is_last[:-1] = ~(is_early[1:] & (np.diff(self.page) == 0))
        is_kept = ~is_early | is_last
        moved = replace(
            self,
            start=offsets_of(np.bincount(self.page[is_kept], minlength=len(self))),
            at=np.where(is_early, born_at, self.at)[is_kept],
            observation=self.observation[is_kept],
            modified_at=self.modified_at[is_kept],
        )
        return _told(moved)


def _told(history: VisitHistory) -> VisitHistory:
    """Return the pages of which a visit tells, first visits and false dates made unknown."""
    page, later = history.page, history.later()
    observation = np.full(len(history.at), Observation.UNKNOWN, dtype=np.int8)
    observation[later] = history.observation[later]
    before = np.full(len(history.at), NO_TIME)
    is_changed = observation[later] == Observation.CHANGED
    before[later] = np.where(is_changed, history.at[later - 1], NO_TIME)
    is_credible = (history.modified_at <= history.at) & (history.modified_at > before)
    tells = np.bincount(page, observation != Observation.UNKNOWN, minlength=len(history)) > 0
    chosen = np.flatnonzero(tells)
    rows, start = ragged_rows(history.start, chosen)
    return VisitHistory(
        page_key=history.page_key[chosen],
        start=start,
        at=history.at[rows],
        observation=observation[rows],
        modified_at=np.where(is_credible, history.modified_at, NO_TIME)[rows],
        importance=history.importance[chosen],
        host_key=history.host_key[chosen],
        group_key=history.group_key[chosen],
        is_noisy=history.is_noisy[chosen],
    )
