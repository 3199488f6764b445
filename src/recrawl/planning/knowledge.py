"""What a collection knows of its pages: rates of their own, of their hosts, and bulk edits."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from recrawl.core.columns import NO_TIME
from recrawl.core.states import PageStates, Rates, Seconds, Times
from recrawl.core.visit import Observation, Visits
from recrawl.estimation.bulk_edits import BulkEdits
from recrawl.estimation.false_change import PROBE_WAIT, fold_surprise, is_noise, is_suspect
from recrawl.estimation.gamma_poisson import ChangeRate
from recrawl.estimation.prior import HostPrior, RateTotals, fit
from recrawl.estimation.signals import HostSignals, expected_given_change
from recrawl.planning.calibration import Calibration
from recrawl.planning.hints import Hints, observe_told
from recrawl.schedules.signal_value import Outlook

__all__ = ["FIRST_PRIOR", "Knowledge", "fit_prior", "rate_totals"]

_DAY = 86_400.0
#: What is thought of a page before any was visited: a change in 40 days.
_GUESS = ChangeRate(np.array([1.0]), np.array([40 * _DAY]))
#: The prior of hosts of which nothing is known.
FIRST_PRIOR = HostPrior(np.empty(0, dtype=np.int64), ChangeRate(np.empty(0), np.empty(0)), _GUESS)
#: Least and greatest shape of a prior.  Bulk edits are modelled by themselves; what is left varies
#: widely from page to page, and a prior that is too sure starves hosts of busy pages.
_SHAPES = (0.2, 1.0)
#: What is known of a page never falls below this. [1], [s]
_LEAST = (0.05, 1728.0)
#: A page takes part in the edits of its group as most do, which weighs as much as one change.
_TAKES_PART = ChangeRate(np.array([1.0]), np.array([1.0]))


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known; the pages' columns hold what visits added to it.

    Parameters
    ----------
    prior : HostPrior
        What to think of a new page of each host.
    bulk : BulkEdits
        The groups.
    signals : HostSignals
        What signals are worth, by host.

    Notes
    -----
    Columns read: bulk_exposure, bulk_shape, checked_at, group_key, host_key, n_signals,
    rate_exposure, rate_shape, surprise.  The four learned ones hold the difference to the prior, so
    that the prior can move without a pass over all pages.

    A page whose every fetch differs is taken for a new page of its host, and teaches nothing.
    """

    prior: HostPrior
    bulk: BulkEdits
    signals: HostSignals = field(default_factory=HostSignals.nothing)

    @classmethod
    def nothing(cls) -> Knowledge:
        """Return what is known of a collection without pages."""
        none = np.empty(0, dtype=np.int64)
        return cls(FIRST_PRIOR, BulkEdits.of(none, none, 0))

    def own(self, states: PageStates) -> ChangeRate:
        """Return what is known of the changes that pages make by themselves."""
        prior = self.prior.of(states.host_key)
        told = ~is_noise(states.surprise)
        return ChangeRate(
            np.maximum(prior.shape + states.rate_shape * told, _LEAST[0]),
            np.maximum(prior.exposure + states.rate_exposure * told, _LEAST[1]),
        )

    def change_rate(self, states: PageStates) -> Rates:
        """Return the change rate to be expected of each page, bulk edits included [1/s]."""
        row = self.bulk.rows(states.group_key)
        rate: Rates = self.own(states).mean + _participation(states).mean * self.bulk.hazard(row)
        return rate

    def probe_wait(self, states: PageStates) -> Seconds:
        """Return the wait of pages that may be noise; infinite for others. [s]."""
        return np.where(is_suspect(states.surprise), PROBE_WAIT, np.inf)

    def outlook(self, states: PageStates, now: int | Times) -> Outlook:
        """Return what to expect of each page from ``now`` [ms] on."""
        return Outlook(
            self.change_rate(states),
            self.signals.recall(states.host_key, now),
            self.signals.precision(states.host_key),
        )

    def belief(self, states: PageStates, now: int) -> tuple[Seconds, Outlook]:
        """Return what to expect of each page: changes since its last visit, and from now on.

        Returns
        -------
        changes : ndarray of float64, shape (n,)
            Expected number; 0 for a page that was never visited.
        outlook : Outlook
            As ``outlook``.
        """
        outlook = self.outlook(states, now)
        row = self.bulk.rows(states.group_key)
        own, takes_part = self.own(states).mean, _participation(states).mean
        since = np.where(states.checked_at == NO_TIME, now, states.checked_at)
        elapsed = np.maximum(now - since, 0) / 1000
        changes = own * elapsed + takes_part * self.bulk.exposure(row, since, now)
        told = states.n_signals * -np.log1p(-outlook.precision)
        expected: Seconds = (1 - outlook.told) * changes + told
        return expected, outlook

    def learn(self, before: PageStates, merged: PageStates, visits: Visits) -> PageStates:
        """Return the merged states with what one visit a page teaches of the pages themselves.

        Row-wise and pure; ``absorb`` is for what the same visits teach of their groups.
        """
        prior, own, part = self.prior.of(before.host_key), self.own(before), _participation(before)
        elapsed, exposure = _elapsed(before, visits), self._exposure(before, visits)
        hints = self._hints(before, visits)
        age = (visits.fetched_at - visits.modified_at) / 1000
        # A page fetched at a signal has just changed, however slow it is.
        age = np.where(hints.told > 0, np.nan, age)
        own_quiet = _quiet(own, (1 - hints.told) * elapsed)
        bulk_quiet = np.exp(-part.mean * (1 - hints.told) * exposure)
        surprise = fold_surprise(
            before.surprise,
            observation=np.where(elapsed > 0, visits.observation, Observation.UNKNOWN),
            probability=1 - own_quiet * bulk_quiet * hints.quiet,
            elapsed=elapsed,
        )
        seen = np.where(is_noise(surprise), Observation.UNKNOWN, visits.observation)
        by_own = own.mean * elapsed
        share = by_own / np.maximum(by_own + part.mean * exposure, 1e-30)
        rate = observe_told(
            own, elapsed, seen, hints, n_true=hints.n_true * share, age=age,
            others_quiet=bulk_quiet * hints.quiet,
        )  # fmt: skip
        takes = observe_told(
            part, exposure, seen, hints, n_true=hints.n_true * (1 - share),
            others_quiet=own_quiet * hints.quiet,
        )  # fmt: skip
        return merged.with_columns(
            {
                "surprise": surprise,
                "rate_shape": rate.shape - prior.shape,
                "rate_exposure": rate.exposure - prior.exposure,
                "bulk_shape": takes.shape - _TAKES_PART.shape,
                "bulk_exposure": takes.exposure - _TAKES_PART.exposure,
            }
        )

    def hear(self, states: PageStates, now: int) -> None:
        """Take note that signals of these pages came at ``now`` [ms]."""
        self.signals.hear(states.host_key, now)

    def absorb(self, before: PageStates, visits: Visits) -> None:
        """Learn what visits teach of the groups, and of the signals of hosts."""
        elapsed = _elapsed(before, visits)
        tells = (visits.observation != Observation.UNKNOWN) & ~is_noise(before.surprise)
        at = np.flatnonzero(tells & (elapsed > 0))
        pages = before.take(at)
        if len(self.signals) and at.size:
            self.signals.observe(
                pages.host_key,
                pages.n_signals,
                is_changed=visits.observation[at] == Observation.CHANGED,
                untold=self._hints(pages, visits.take(at)).untold,
            )
        self.bulk.observe(
            self.bulk.rows(pages.group_key),
            pages.checked_at,
            visits.fetched_at[at],
            is_changed=visits.observation[at] == Observation.CHANGED,
            others_quiet=_quiet(self.own(pages), elapsed[at]),
            participation=_participation(pages).mean.astype(np.float64),
        )

    def calibrated(
        self, calibration: Calibration, before: PageStates, visits: Visits
    ) -> Calibration:
        """Return the calibration after visits of which this was known before."""
        elapsed = _elapsed(before, visits)
        tells = (visits.observation != Observation.UNKNOWN) & ~is_noise(before.surprise)
        at = np.flatnonzero(tells & (elapsed > 0))
        if not at.size:
            return calibration
        changes, _ = self.belief(before.take(at), int(visits.fetched_at[at].max()))
        is_changed = visits.observation[at] == Observation.CHANGED
        pages = before.take(at)
        return calibration.fold(
            changes, elapsed[at], pages.importance, is_changed, shape=self.own(pages).shape
        )

    def renewed(self, states: PageStates, now: int) -> Knowledge:
        """Return the knowledge with priors and groups as all pages show them by ``now`` [ms]."""
        group_key, n_pages = np.unique(states.group_key, return_counts=True)
        bulk = self.bulk.with_groups(group_key, n_pages, now)
        bulk.relearn(now, bulk.totals(now).rates)
        totals = rate_totals(self, states)
        return Knowledge(fit_prior(totals), bulk, self.signals)

    def _exposure(self, before: PageStates, visits: Visits) -> Seconds:
        """Return how many edits of its group each page was exposed to since the visit before."""
        row, wait = self.bulk.rows(before.group_key), _millis(_elapsed(before, visits))
        return self.bulk.exposure(row, visits.fetched_at - wait, visits.fetched_at)

    def _hints(self, before: PageStates, visits: Visits) -> Hints:
        """Return what signals said of the pages before the visits."""
        if not len(self.signals):
            return Hints.nothing(len(before))
        told = self.signals.recall(before.host_key, visits.fetched_at)
        precision = self.signals.precision(before.host_key)
        n = before.n_signals.astype(np.float64)
        by_own = self.own(before).mean * _elapsed(before, visits)
        by_bulk = _participation(before).mean * self._exposure(before, visits)
        untold = (1 - told) * (by_own + by_bulk)
        n_true, _ = expected_given_change(n, precision, untold)
        return Hints(told, (1 - precision) ** n, untold, n_true)


def rate_totals(knowledge: Knowledge, states: PageStates) -> RateTotals:
    """Return what is known of pages of their own change rates, by host; noise tells nothing."""
    return RateTotals.of(
        knowledge.own(states), states.host_key, is_excluded=is_noise(states.surprise)
    )


def fit_prior(totals: RateTotals) -> HostPrior:
    """Return what to think of new pages, after what all known pages come to."""
    return fit(totals, guess=_GUESS, shapes=_SHAPES)


def _participation(states: PageStates) -> ChangeRate:
    """Return how strongly pages take part in the edits of their groups."""
    told = ~is_noise(states.surprise)
    return ChangeRate(
        np.maximum(_TAKES_PART.shape + states.bulk_shape * told, _LEAST[0]),
        np.maximum(_TAKES_PART.exposure + states.bulk_exposure * told, _LEAST[0]),
    )


def _elapsed(before: PageStates, visits: Visits) -> Seconds:
    """Return the time since the last visit that could tell, 0 where there was none. [s]."""
    was_there = before.checked_at != NO_TIME
    since = np.where(was_there, before.checked_at, visits.fetched_at)
    return np.maximum(visits.fetched_at - since, 0) / 1000


def _millis(seconds: Seconds) -> NDArray[np.int64]:
    return np.rint(seconds * 1000).astype(np.int64)


def _quiet(known: ChangeRate, elapsed: Seconds) -> Seconds:
    """Return the probability that pages did not change by themselves."""
    quiet: Seconds = np.exp(-known.shape * np.log1p(elapsed / known.exposure))
    return quiet
