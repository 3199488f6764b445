"""What is known of a page before its first visits: the rates of its host, and of all pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recrawl.core.states import Keys, Mask, Seconds
from recrawl.errors import InputError
from recrawl.estimation.gamma import digamma, trigamma
from recrawl.estimation.gamma_poisson import ChangeRate

__all__ = ["HostPrior", "RateTotals", "fit", "swap"]

#: Newton steps from the start, which is within 1.5 %, to the last digits: each doubles them.
_STEPS = 4


@dataclass(frozen=True, slots=True)
class RateTotals:
    """What the pages of each host sum up to; the totals of two sets of pages can be added.

    Parameters
    ----------
    host_key : ndarray of int64, shape (h,)
        Hosts, each once, in order.
    n_pages : ndarray of float64, shape (h,)
        Their pages.
    rate_sum : ndarray of float64, shape (h,)
        Sum of the expected change rates. [1/s]
    log_sum : ndarray of float64, shape (h,)
        Sum of the expected logarithms of the change rates.
    """

    host_key: Keys
    n_pages: Seconds
    rate_sum: Seconds
    log_sum: Seconds

    @classmethod
    def of(
        cls, known: ChangeRate, host_key: Keys, *, is_excluded: Mask | None = None
    ) -> RateTotals:
        """Return the totals of pages.

        Parameters
        ----------
        known : ChangeRate
            What is known of the pages.
        host_key : ndarray of int64, shape (n,)
            The hosts or whatever groups share a prior.
        is_excluded : ndarray of bool, shape (n,), optional
            Pages that do not count, such as those whose every fetch differs.
        """
        kept = slice(None) if is_excluded is None else ~is_excluded
        shape = known.shape[kept].astype(np.float64)
        exposure = known.exposure[kept].astype(np.float64)
        log_rate = digamma(shape) - np.log(exposure)
        return cls._grouped(host_key[kept], np.ones_like(shape), shape / exposure, log_rate)

    def __add__(self, other: RateTotals) -> RateTotals:
        return self._grouped(
            np.concatenate([self.host_key, other.host_key]),
            np.concatenate([self.n_pages, other.n_pages]),
            np.concatenate([self.rate_sum, other.rate_sum]),
            np.concatenate([self.log_sum, other.log_sum]),
        )

    @classmethod
    def _grouped(cls, host_key: Keys, *columns: Seconds) -> RateTotals:
        """Return the sums of the columns over equal keys."""
        keys, row = np.unique(host_key, return_inverse=True)
        n_pages, rate_sum, log_sum = (
            np.bincount(row, weights=column, minlength=keys.size).astype(np.float64)
            for column in columns
        )
        return cls(keys, n_pages, rate_sum, log_sum)


@dataclass(frozen=True, slots=True)
class HostPrior:
    """What is known of new pages, by host.

    Parameters
    ----------
    host_key : ndarray of int64, shape (h,)
        Hosts that have a prior of their own, in order.
    hosts : ChangeRate
        Their priors, one a host.
    overall : ChangeRate
        The prior of all other hosts: one row.
    """

    host_key: Keys
    hosts: ChangeRate
    overall: ChangeRate

    @classmethod
    def concatenate(cls, parts: Sequence[HostPrior]) -> HostPrior:
        """Return the hosts of all parts, which come in the order of their keys."""
        return cls(
            np.concatenate([part.host_key for part in parts]),
            ChangeRate(
                np.concatenate([part.hosts.shape for part in parts]),
                np.concatenate([part.hosts.exposure for part in parts]),
            ),
            parts[-1].overall,
        )

    def take(self, rows: slice) -> HostPrior:
        """Return some of the hosts."""
        some = ChangeRate(self.hosts.shape[rows], self.hosts.exposure[rows])
        return HostPrior(self.host_key[rows], some, self.overall)

    def of(self, host_key: Keys) -> ChangeRate:
        """Return the prior of each page of these hosts.

        Parameters
        ----------
        host_key : ndarray of int64, shape (n,)
            One a page.
        """
        # The last row is that of the hosts that are not there.
        n = len(self.host_key)
        place = np.searchsorted(self.host_key, host_key)
        is_there = np.append(self.host_key, 0)[place] == host_key
        row = np.where(is_there & (place < n), place, n)
        shape = np.append(self.hosts.shape, self.overall.shape)
        exposure = np.append(self.hosts.exposure, self.overall.exposure)
        return ChangeRate(shape[row], exposure[row])


def fit(
    totals: RateTotals,
    *,
    guess: ChangeRate,
    shapes: tuple[float, float],
    pseudo_pages: float = 5.0,
) -> HostPrior:
    """Return the priors under which the pages' rates are likeliest.

    Parameters
    ----------
    totals : RateTotals
        Sums over all pages.
    guess : ChangeRate
        What to think before any page is known: one row.
    shapes : tuple of float
        Least and greatest shape of a prior: how sure it may be of a new page.  At most .9 did well
        on made-up pages, at least 1 on real ones, which change in bulk.
    pseudo_pages : float
        Pages as all pages are that each host is given beside its own, and pages as guessed that
        all pages are given, more than 0; hosts with few pages stay close to the whole.

    Returns
    -------
    HostPrior
        A prior of each host in the totals, float64, and of all others.

    Raises
    ------
    InputError
        If ``pseudo_pages`` or ``shapes`` is out of range.

    Notes
    -----
    Empirical Bayes: a Gamma distribution is fitted to each host's pages, of which only mean rate
    and mean logarithm are needed.  With ``s = log(mean) - mean(log)`` the shape solves
    ``log(a) - digamma(a) = s`` [Minka2002]_.  It is found to the last digits, so that fitting
    again to pages that were never visited changes nothing.
    """
    if not 0 < pseudo_pages < np.inf:
        raise InputError(
            f"pseudo_pages is {pseudo_pages:g}; allowed: more than 0", value=pseudo_pages
        )
    if not 0 < shapes[0] <= shapes[1] < np.inf:
        raise InputError(
            f"shapes is {shapes}; allowed: two numbers above 0, the least first", value=shapes
        )
    shape, exposure = guess.shape.astype(np.float64), guess.exposure.astype(np.float64)
    guessed = pseudo_pages * np.array([1.0, (shape / exposure)[0], 0.0])
    guessed[2] = pseudo_pages * (digamma(shape) - np.log(exposure))[0]
    by_host = np.stack([totals.n_pages, totals.rate_sum, totals.log_sum], axis=1)
    whole = by_host.sum(axis=0) + guessed
    overall = _fitted(whole[np.newaxis], shapes)
    hosts = _fitted(by_host + pseudo_pages * whole / whole[0], shapes)
    return HostPrior(totals.host_key, hosts, overall)


def swap(
    known: ChangeRate, *, old: ChangeRate, new: ChangeRate, least: tuple[float, float]
) -> ChangeRate:
    """Return what is known with one prior taken out and another put in.

    Parameters
    ----------
    known : ChangeRate
        What is known, the old prior included.
    old, new : ChangeRate
        The priors, one a page.
    least : tuple of float
        Least shape, and least exposure. [1], [s]

    Returns
    -------
    ChangeRate
        In the dtype of ``known``.  A page that was never visited has the new prior.
    """
    dtype = known.shape.dtype
    shape = np.maximum(known.shape + (new.shape - old.shape), least[0])
    exposure = np.maximum(known.exposure + (new.exposure - old.exposure), least[1])
    return ChangeRate(shape.astype(dtype, copy=False), exposure.astype(dtype, copy=False))


def _fitted(sums: NDArray[np.float64], shapes: tuple[float, float]) -> ChangeRate:
    """Return the Gamma distributions with these numbers of pages, sums of rates and of logs."""
    mean = sums[:, 1] / sums[:, 0]
    # By Jensen's inequality above 0, but for rounding where all rates are alike and sure.
    s = np.maximum(np.log(mean) - sums[:, 2] / sums[:, 0], 1e-12)
    # Start and Newton step on the inverse of the shape [Minka2002]_.
    a = (3 - s + np.sqrt((s - 3) ** 2 + 24 * s)) / (12 * s)
    for _ in range(_STEPS):
        a = 1 / (1 / a + (np.log(a) - digamma(a) - s) / (a * a * (1 / a - trigamma(a))))
    a = np.clip(a, *shapes)
    return ChangeRate(a, a / mean)
