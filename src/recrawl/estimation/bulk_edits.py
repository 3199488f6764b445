"""Edits that change many pages of a group together: when they may have come, by who changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.core.states import Keys, Mask, Rates, Seconds, Times
from recrawl.core.turns import turns

__all__ = ["EXTENTS", "FIRST_RATES", "N_SPANS", "BulkEdits", "EditTotals"]

#: Shares of a group's pages that the classes of edits change: a few, some, nearly all.
EXTENTS = np.array([0.1, 0.4, 0.9])

#: Spans of time that are told apart in a group; the older, the longer they are.
N_SPANS = 32
#: Shorter spans are not begun: what is seen within them counts for one.  [ms]
_SHORTEST_SPAN = 60_000
#: A probability never reaches 1, so that what speaks against it can still take it back.
_SUREST = 0.999
#: What is thought of a group before it was watched: edits of each class, [1/s], and for how long
#: that thought counts like time watched.  [s]
FIRST_RATES = np.full(len(EXTENTS), 0.01 / 86_400.0)
_FIRST_WATCH = 30 * 86_400.0


@dataclass(slots=True)
class BulkEdits:
    """What is known of the bulk edits of g groups.

    The arrays are its own and written into: visits come by the thousand, groups by the million.

    Parameters
    ----------
    group_key : ndarray of int64, shape (g,)
        The groups, in ascending order.
    n_pages : ndarray of int64, shape (g,)
        Pages of each; one page alone has no bulk edits.
    edge : ndarray of int64, shape (g, m + 1)
        Where the spans of time begin that are told apart, and the end of the last. [ms]
    probability : ndarray of float64, shape (g, m, k)
        Probability of an edit of each class in each span.
    rate : ndarray of float64, shape (g, k)
        Expected edits of each class. [1/s]
    counted : ndarray of float64, shape (g, k)
        Expected edits that the probabilities do not tell any more.
    watched_from : ndarray of int64, shape (g,)
        Since when the group is watched. [ms]
    overall : ndarray of float64, shape (k,)
        Edits of each class of any group, for those that were watched for a short time. [1/s]

    Notes
    -----
    An edit of class k changes each page of the group with probability ``EXTENTS[k]``, to the
    power of the page's participation.  Whether there was one in a span is a yes or no of its own,
    and a visit moves each of them by Bayes' rule as if the others stayed.  It is the page's
    exposure that others need: the sum of ``-log(1 - extent * probability)`` over the spans since
    its last visit, which is how many changes of the page by edits of its group are to be expected.

    A first finder raises the exposure of all that were not visited since; a second raises it more,
    and each that is found unchanged lowers it.  Pages that are not visited probe for those that
    are waiting without having to be named for it.
    """

    group_key: Keys
    n_pages: NDArray[np.int64]
    edge: NDArray[np.int64]
    probability: NDArray[np.float64]
    rate: Rates
    counted: Seconds
    watched_from: Times
    overall: Rates

    @classmethod
    def of(
        cls, group_key: Keys, n_pages: NDArray[np.int64], now: int, overall: Rates = FIRST_RATES
    ) -> BulkEdits:
        """Return what is thought of groups that are watched from ``now`` [ms] on."""
        g, k = len(group_key), len(EXTENTS)
        rate = np.where((n_pages > 1)[:, np.newaxis], overall, 0.0)
        return cls(
            group_key=np.array(group_key),
            n_pages=np.array(n_pages),
            edge=np.full((g, N_SPANS + 1), now, dtype=np.int64),
            probability=np.zeros((g, N_SPANS, k)),
            rate=rate,
            counted=np.zeros((g, k)),
            watched_from=np.full(g, now, dtype=np.int64),
            overall=overall,
        )

    def __len__(self) -> int:
        return len(self.group_key)

    def rows(self, group_key: Keys) -> NDArray[np.int64]:
        """Return the row of each group, which must be there."""
        return np.searchsorted(self.group_key, group_key)

    def with_groups(
        self, group_key: Keys, n_pages: NDArray[np.int64], now: int, *, keeps_sizes: bool = False
    ) -> BulkEdits:
        """Return what is known of these groups, in ascending order; new ones are watched from now.

        ``now`` is in ms.  With ``keeps_sizes`` the groups that are here keep their numbers of
        pages.
        """
        grown = BulkEdits.of(group_key, n_pages, now, self.overall)
        grown.edge = grown.edge[:, : self.edge.shape[1]]
        grown.probability = grown.probability[:, : self.probability.shape[1]]
        new = np.flatnonzero(np.isin(group_key, self.group_key))
        old = self.rows(group_key[new])
        for name in ("edge", "probability", "counted", "watched_from"):
            getattr(grown, name)[new] = getattr(self, name)[old]
        if keeps_sizes:
            grown.n_pages[new] = self.n_pages[old]
        were_group = (self.n_pages[old] > 1) & (grown.n_pages[new] > 1)
        grown.rate[new[were_group]] = self.rate[old[were_group]]
        return grown

    def select(self, group_key: Keys, now: int) -> BulkEdits:
        """Return what is known of these groups; others than those here are pages alone.

        Parameters
        ----------
        group_key : ndarray of int64
            The groups, in any order and more than once.
        now : int
            Since when the others are watched. [ms]
        """
        keys = np.unique(group_key)
        return self.with_groups(keys, np.ones(len(keys), dtype=np.int64), now, keeps_sizes=True)

    def without_spans(self) -> BulkEdits:
        """Return the groups without what is known of when they were edited: a tenth of the size.

        Rates and sizes stay, for a pass over all pages.
        """
        spans = self.probability[:, :0]
        return replace(self, edge=self.edge[:, -1:], probability=spans, counted=self._seen())

    @classmethod
    def concatenate(cls, parts: Sequence[BulkEdits]) -> BulkEdits:
        """Return the groups of all parts, which come in the order of their keys."""
        columns = [f.name for f in fields(cls) if f.name != "overall"]
        joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in columns}
        return cls(**joined, overall=parts[-1].overall)

    def hazard(self, row: NDArray[np.int64]) -> Rates:
        """Return the changes of a page by bulk edits to be expected in the future [1/s]."""
        hazard: Rates = self.rate[row] @ EXTENTS
        return hazard

    def exposure(self, row: NDArray[np.int64], since: Times, now: ArrayLike) -> Seconds:
        """Return the changes by bulk edits that a page of a group may have had.

        Parameters
        ----------
        row : ndarray of int64, shape (n,)
            Row of the page's group.
        since : ndarray of int64, shape (n,)
            The page's last visit. [ms]
        now : int or ndarray of int64, shape (n,)
            The present. [ms]

        Returns
        -------
        ndarray of float64, shape (n,)
            Expected number, for a page that takes part as most do.
        """
        edge = self.edge[row]
        within = -np.log1p(-self.probability[row] * EXTENTS).sum(axis=2)
        told = (within * _covered(edge, since)).sum(axis=1)
        after = np.maximum(np.asarray(now) - np.maximum(edge[:, -1], since), 0) / 1000
        # A clock that went back shows spans that are not over yet.
        exposure: Seconds = np.where(np.asarray(now) > since, told + after * self.hazard(row), 0.0)
        return exposure

    def observe(
        self,
        row: NDArray[np.int64],
        since: Times,
        now: Times,
        *,
        is_changed: Mask,
        others_quiet: Seconds,
        participation: Seconds,
    ) -> None:
        """Learn from visits, one after the other in each group.

        Parameters
        ----------
        row : ndarray of int64, shape (n,)
            Row of the page's group.
        since, now : ndarray of int64, shape (n,)
            The visit before, and this one. [ms]
        is_changed : ndarray of bool, shape (n,)
            Whether the visit saw a change; leave out those that cannot tell.
        others_quiet : ndarray of float64, shape (n,)
            Probability that the page did not change by itself.
        participation : ndarray of float64, shape (n,)
            How strongly the page takes part: its expected exposure is that of its group times this.
        """
        turn = turns(row)
        # A loop over the visits of the busiest group; each turn takes one visit of every group.
        for k in range(int(turn.max(initial=-1)) + 1):
            at = np.flatnonzero((turn == k) & (self.n_pages[row] > 1) & (now > since))
            if at.size:
                self._begin_span(row[at], now[at])
                self._weigh(
                    row[at],
                    since[at],
                    is_changed[at],
                    others_quiet[at],
                    participation[at],
                )

    def _begin_span(self, row: NDArray[np.int64], now: Times) -> None:
        """Let the last span of each group end at ``now``; two old ones become one for it."""
        edge, probability = self.edge[row], self.probability[row]
        wait = np.maximum(now - edge[:, -1], 0)
        fresh = -np.expm1(-self.rate[row] * (wait / 1000)[:, np.newaxis])
        is_new = wait >= _SHORTEST_SPAN
        # The pair that is shortest for its age becomes one, so that lengths grow with age.
        length = edge[:, 2:] - edge[:, :-2]
        # A clock that went back makes spans begin after now.
        age = np.maximum(now[:, np.newaxis] - edge[:, :-2], 0) + 1
        pair = np.where(is_new, np.argmin(length / age, axis=1), 0)
        at = np.arange(len(row))
        first, second = probability[at, pair], probability[at, pair + 1]
        lost = first * second
        self.counted[row] += np.where(is_new[:, np.newaxis], lost, 0.0)
        probability[at, pair + 1] = np.where(is_new[:, np.newaxis], first + second - lost, second)
        m = edge.shape[1] - 1
        source = np.arange(m - 1) + (np.arange(m - 1) >= pair[:, np.newaxis])
        shifted = np.take_along_axis(probability, source[:, :, np.newaxis], axis=1)
        begins = np.arange(m) + (np.arange(m) > pair[:, np.newaxis])
        moved = np.take_along_axis(edge, begins, axis=1)
        probability[:, :-1] = np.where(
            is_new[:, np.newaxis, np.newaxis], shifted, probability[:, :-1]
        )
        last = probability[:, -1]
        probability[:, -1] = np.where(is_new[:, np.newaxis], fresh, last + fresh - last * fresh)
        edge[:, :-1] = np.where(is_new[:, np.newaxis], moved, edge[:, :-1])
        edge[:, -1] = np.maximum(now, edge[:, -1])
        # After a long wait, or many spans that became one, rounding would make it 1.
        self.edge[row], self.probability[row] = edge, np.minimum(probability, _SUREST)

    def _weigh(
        self,
        row: NDArray[np.int64],
        since: Times,
        is_changed: Mask,
        others_quiet: Seconds,
        participation: Seconds,
    ) -> None:
        """Move the probabilities of the spans since the visit before, by Bayes' rule."""
        probability = self.probability[row]
        covered = _covered(self.edge[row], since)[:, :, np.newaxis]
        extent = -np.expm1(np.log1p(-EXTENTS) * participation[:, np.newaxis])[:, np.newaxis, :]
        inside = covered * probability
        # Chance to see no change if there was an edit in this span, and if anything may have been.
        quiet_there = 1 - extent * inside
        exposure = -np.log(quiet_there).sum(axis=(1, 2))
        quiet = np.minimum(others_quiet * np.exp(-exposure), 1 - 1e-9)[:, np.newaxis, np.newaxis]
        if_quiet = (1 - extent) / quiet_there
        factor = np.where(
            is_changed[:, np.newaxis, np.newaxis], (1 - if_quiet * quiet) / (1 - quiet), if_quiet
        )
        moved = (1 - covered) * probability + inside * np.maximum(factor, 0.0)
        self.probability[row] = np.minimum(moved, _SUREST)

    def totals(self, now: int) -> EditTotals:
        """Return what all groups together have seen by ``now`` [ms]."""
        is_group = self.n_pages > 1
        watched = np.maximum(now - self.watched_from[is_group], 0) / 1000
        return EditTotals(self._seen()[is_group].sum(axis=0), float(watched.sum()))

    def relearn(self, now: int, overall: Rates) -> None:
        """Learn anew how often each group is edited in bulk, by ``now`` [ms].

        The overall rates [1/s] say what to think of a group for the first time it is watched; its
        own count by the time it was.
        """
        watched = np.maximum(now - self.watched_from, 0)[:, np.newaxis] / 1000
        rate = (overall * _FIRST_WATCH + self._seen()) / (_FIRST_WATCH + watched)
        self.rate = np.where((self.n_pages > 1)[:, np.newaxis], rate, 0.0)
        self.overall = overall

    def _seen(self) -> Seconds:
        """Return how many edits of each class each group is thought to have had."""
        seen: Seconds = self.counted + self.probability.sum(axis=1)
        return seen


@dataclass(frozen=True, slots=True)
class EditTotals:
    """What groups together have seen; those of two sets of groups can be added.

    Parameters
    ----------
    seen : ndarray of float64, shape (k,)
        Edits of each class.
    watched : float
        For how long, all groups together. [s]
    """

    seen: Seconds
    watched: float

    @property
    def rates(self) -> Rates:
        """Edits of each class to expect of any group [1/s]."""
        rates: Rates = (self.seen + 0.5) / (self.watched + 0.5 / FIRST_RATES)
        return rates

    def __add__(self, other: EditTotals) -> EditTotals:
        return EditTotals(self.seen + other.seen, self.watched + other.watched)


def _covered(edge: NDArray[np.int64], since: Times) -> Seconds:
    """Return the share of each span that is later than ``since``, shape (n, m)."""
    length = np.maximum(np.diff(edge, axis=1), 1)
    return np.clip((edge[:, 1:] - since[:, np.newaxis]) / length, 0.0, 1.0)
