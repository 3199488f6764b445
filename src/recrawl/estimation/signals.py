"""What signals of changes are worth: how many are true, and how many changes are told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recrawl.core.states import Keys, Mask, Seconds, Times

__all__ = ["HostSignals", "expected_given_change"]

Floats: TypeAlias = NDArray[np.floating[Any]]

_DAY = 86_400_000.0
#: What is thought of signals before any was followed: share that is true, and share of changes
#: that is told, each with the weight of so many hosts beside those that are known.
_PRECISION, _RECALL, _N_GUESSED = 0.3, 0.3, 2.0
#: Signals, or changes, as those of all hosts are that each host is given beside its own.
_PSEUDO = 1.0
#: A host counts in full for the others once it has many more signals than this.
_SOME = 10.0
#: Of a host's counts this part is kept at each visit, so that better or worse signals are noticed.
_MEMORY = 0.998
#: No signal is certain, and no host is known to tell everything.
_MOST_PRECISE, _MOST_TOLD = 0.98, 0.8
#: The part of a new gap between two signals in the mean, and the first mean. [1], [ms]
_NEW_GAP, _FIRST_GAP = 0.2, 3 * _DAY
#: Odds that signals have ended, as they grow with the silence in mean gaps.
_ENDED, _LONGEST_SILENCE = 0.02, 50.0


@dataclass(slots=True)
class HostSignals:
    """What was learned of the signals of h hosts; arrays of shape (h,).

    The arrays are its own and written into.

    Parameters
    ----------
    host_key : ndarray of int64
        Hosts of which a signal came, in order.
    true : ndarray of float64
        Signals that told of a change, as far as fetches could show.
    false : ndarray of float64
        Signals that did not.
    hidden : ndarray of float64
        Changes of which no signal told.
    heard_at : ndarray of float64
        When a signal last came. [ms]
    gap : ndarray of float64
        Mean time between instants at which signals came. [ms]

    Notes
    -----
    A fetch finds only whether a page changed.  With n signals, each true with probability p, and
    x untold changes to be expected, of which there is none with probability S, a page that
    changed had ``n p / (1 - (1 - p)^n S)`` true signals in the mean and ``x / (1 - (1 - p)^n S)``
    untold changes; one that did not had neither [Dempster1977]_.  Each visit is counted once,
    with what is known at the time.

    Where many signals are true and some changes are not told, silence is news of another kind:
    after many times the usual gap the signals have ended, and nothing is told by now.
    """

    host_key: Keys
    true: Seconds
    false: Seconds
    hidden: Seconds
    heard_at: Seconds
    gap: Seconds

    @classmethod
    def nothing(cls) -> HostSignals:
        """Return what is known before the first signal."""
        return cls(np.empty(0, dtype=np.int64), *(np.empty(0) for _ in range(5)))

    @classmethod
    def concatenate(cls, parts: Sequence[HostSignals]) -> HostSignals:
        """Return the hosts of all parts, which are in order of their keys."""
        key = np.concatenate([part.host_key for part in parts])
        order = np.argsort(key)
        names = ("true", "false", "hidden", "heard_at", "gap")
        columns = (np.concatenate([getattr(part, name) for part in parts]) for name in names)
        return cls(key[order], *(column[order] for column in columns))

    def __len__(self) -> int:
        return len(self.host_key)

    def rows(self, host_key: Keys) -> NDArray[np.int64]:
        """Return the row of each host, h for those of which no signal came."""
        place = np.searchsorted(self.host_key, host_key)
        is_there = np.append(self.host_key, 0)[place] == host_key
        return np.where(is_there & (place < len(self)), place, len(self))

    def hear(self, host_key: Keys, now: int) -> None:
        """Take note that signals of pages of these hosts came at ``now`` [ms]."""
        hosts = np.unique(host_key)
        self._add(hosts[self.rows(hosts) == len(self)], now)
        row = self.rows(hosts)
        row = row[self.heard_at[row] < now]
        self.gap[row] += _NEW_GAP * (now - self.heard_at[row] - self.gap[row])
        self.heard_at[row] = now

    def precision(self, host_key: Keys) -> Seconds:
        """Return the probability that a signal of a page of each host is true."""
        overall = _pooled(self.true, self.true + self.false, _PRECISION)
        share = (self.true + _PSEUDO * overall) / (self.true + self.false + _PSEUDO)
        most: Seconds = np.minimum(np.append(share, overall), _MOST_PRECISE)[self.rows(host_key)]
        return most

    def recall(self, host_key: Keys, now: int | Times) -> Seconds:
        """Return the share of changes that signals tell by ``now`` [ms]; 0 for silent hosts."""
        overall = _pooled(self.true, self.true + self.hidden, _RECALL)
        share = (self.true + _PSEUDO * overall) / (self.true + self.hidden + _PSEUDO)
        row = self.rows(host_key)
        heard_at, gap = np.append(self.heard_at, 0.0)[row], np.append(self.gap, 1.0)[row]
        silence = np.clip((now - heard_at) / gap, 0, _LONGEST_SILENCE)
        most = np.append(np.minimum(share, _MOST_TOLD), 0.0)[row]
        told: Seconds = most / (1 + _ENDED * np.expm1(silence))
        return told

    def observe(
        self,
        host_key: Keys,
        n_signals: NDArray[np.integer[Any]],
        *,
        is_changed: Mask,
        untold: Floats,
    ) -> None:
        """Learn what one visit a page teaches; hosts that never sent a signal are passed over.

        Parameters
        ----------
        host_key : ndarray of int64, shape (n,)
            Hosts of the pages.
        n_signals : ndarray of int, shape (n,)
            Signals since the visit before.
        is_changed : ndarray of bool, shape (n,)
            Whether the visit saw a change; leave out those that cannot tell.
        untold : ndarray, shape (n,)
            Changes to be expected of which no signal told.
        """
        row = self.rows(host_key)
        at = np.flatnonzero(row < len(self))
        row, n, changed = row[at], n_signals[at].astype(np.float64), is_changed[at]
        true, hidden = expected_given_change(n, self.precision(host_key[at]), untold[at])
        kept = _MEMORY ** np.bincount(row, minlength=len(self))
        for counts in (self.true, self.false, self.hidden):
            counts *= kept
        self._count(self.true, row, true * changed)
        self._count(self.false, row, n - true * changed)
        self._count(self.hidden, row, hidden * changed)

    @staticmethod
    def _count(counts: Seconds, row: NDArray[np.int64], added: Seconds) -> None:
        counts += np.bincount(row, weights=added, minlength=len(counts))

    def _add(self, host_key: Keys, now: int) -> None:
        """Take up hosts of which no signal came before."""
        order = np.argsort(np.concatenate([self.host_key, host_key]), kind="stable")
        first = (0.0, 0.0, 0.0, float(now), _FIRST_GAP)
        names = ("true", "false", "hidden", "heard_at", "gap")
        self.host_key = np.concatenate([self.host_key, host_key])[order]
        for name, value in zip(names, first, strict=True):
            column = np.concatenate([getattr(self, name), np.full(len(host_key), value)])
            setattr(self, name, column[order])


def expected_given_change(
    n_signals: Floats, precision: Floats, untold: Floats
) -> tuple[Seconds, Seconds]:
    """Return how many signals were true, and how many changes untold, where a page changed.

    Parameters
    ----------
    n_signals : ndarray, shape (n,)
        Signals since the visit before.
    precision : ndarray, shape (n,)
        Probability that a signal is true, below 1.
    untold : ndarray, shape (n,)
        Changes to be expected of which no signal told, 0 or more.

    Returns
    -------
    true, hidden : ndarray of float64, shape (n,)
        Expected numbers; 0 and 1 for a page that was not expected to change at all.
    """
    probability = -np.expm1(n_signals * np.log1p(-precision) - untold)
    is_sure = probability > 0
    none, one = np.zeros(len(probability)), np.ones(len(probability))
    true = np.divide(n_signals * precision, probability, out=none, where=is_sure)
    hidden = np.divide(untold, probability, out=one, where=is_sure)
    return true, hidden


def _pooled(part: Seconds, whole: Seconds, guess: float) -> float:
    """Return the mean share over hosts, those of which little is known with little weight."""
    weight = whole / (whole + _SOME)
    share = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    return float(((weight * share).sum() + _N_GUESSED * guess) / (weight.sum() + _N_GUESSED))
