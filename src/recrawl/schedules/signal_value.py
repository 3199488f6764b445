"""What a fetch is worth of a page some of whose changes are told by signals."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recrawl.core.poisson import gain, harm
from recrawl.core.states import Mask, Rates, Seconds

__all__ = ["Outlook", "changes_at_signal_value", "signal_value"]

#: Newton steps, or halvings where one leads out of the bracket.
_STEPS = 14
_TINY = 1e-30
#: What the logarithm of the changes lies between.
_BRACKET = (-18.0, 6.0)
#: With less told, or less of it true, a page is as one without signals.
_LEAST_TOLD, _LEAST_PRECISE = 1e-3, 1e-6


@dataclass(frozen=True, slots=True)
class Outlook:
    """What n pages are expected to do from now on.

    Parameters
    ----------
    rate : ndarray of float64, shape (n,)
        Changes. [1/s]
    told : ndarray of float64, shape (n,)
        Share of the changes that signals tell, below 1.
    precision : ndarray of float64, shape (n,)
        Share of the signals that are true, below 1.
    """

    rate: Rates
    told: Seconds
    precision: Seconds

    @classmethod
    def untold(cls, rate: Rates) -> Outlook:
        """Return the outlook of pages without signals, of these change rates [1/s]."""
        none = np.zeros(len(rate))
        return cls(rate, none, none)

    @property
    def drift(self) -> Rates:
        """How fast the expected changes grow while no signal comes. [1/s]."""
        drift: Rates = self.rate * (1 - self.told)
        return drift

    @property
    def is_told(self) -> Mask:
        """Which pages have signals."""
        told: Mask = (self.told >= _LEAST_TOLD) & (self.precision >= _LEAST_PRECISE)
        return told

    def take(self, index: NDArray[np.int64]) -> Outlook:
        """Return the rows at ``index``."""
        return Outlook(self.rate[index], self.told[index], self.precision[index])


def signal_value(changes: Seconds, outlook: Outlook, eta: float) -> Seconds:
    """Return what a fetch is worth of pages with signals, for an importance of 1. [s].

    Parameters
    ----------
    changes : ndarray, shape (n,)
        Changes expected since the last visit: untold ones, and what each signal adds, which is
        ``-log(1 - precision)``.
    outlook : Outlook
        What is expected from now on; the pages have signals.
    eta : float
        Weight of the stale time against the freshness, 0 to 1.

    Notes
    -----
    Let T(y) be the mean time until the expected changes first reach y.  A page that is fetched
    whenever they reach x is worth a fetch then for ``integral from 0 to x of T(y) exp(-y) dy``,
    or, as to the stale time, of ``T'(y) (1 - exp(-y))``.  Without signals T is y over the change
    rate, and this is ``crawl_value``.  With signals that come at a rate s and add b each, and a
    drift d between them, T is ``(1 - exp(-y s / d)) / s`` up to b, where the first signal leads
    beyond y, and beyond that about y over the mean speed, with half a step in advance.
    """
    return np.maximum(_Law.of(outlook, eta).value(changes), 0.0)


def changes_at_signal_value(value: Seconds, outlook: Outlook, eta: float) -> Seconds:
    """Return the expected changes at which a fetch is worth this much.

    Parameters
    ----------
    value : ndarray, shape (n,)
        Values of ``signal_value``, 0 or more. [s]
    outlook, eta
        As there.

    Returns
    -------
    ndarray of float64, shape (n,)
        Within a ten-thousandth of themselves; infinite where more than 400 would be needed.
    """
    law, target = _Law.of(outlook, eta), np.log(np.maximum(value, _TINY))
    low, high = (np.full(len(value), edge) for edge in _BRACKET)
    # The value is at most half the square of the changes over the drift.
    x = np.clip(np.log(2 * np.maximum(value, _TINY) * outlook.drift) / 2, low, high)
    for _ in range(_STEPS):
        changes = np.exp(x)
        found = law.value(changes)
        miss = target - np.log(found)
        low, high = np.where(miss >= 0, x, low), np.where(miss <= 0, x, high)
        guess = x + miss * found / (changes * law.slope(changes))
        x = np.where((guess > low) & (guess < high), guess, (low + high) / 2)
    return np.where(x > _BRACKET[1] - 0.01, np.inf, np.exp(x))


@dataclass(frozen=True, slots=True)
class _Law:
    """The value as a function of the expected changes alone; arrays of shape (n,).

    Parameters
    ----------
    eta : float
        Weight of the stale time.
    drift, signals, speed : ndarray
        Growth of the expected changes between signals, signals, and growth with them. [1/s]
    step : ndarray
        What a signal adds to the expected changes.
    ahead : ndarray
        Time by which the first passage is ahead of the mean growth. [s]
    fresh, stale : ndarray
        Both values at one step, less what the later part begins with. [s]
    """

    eta: float
    drift: Rates
    signals: Rates
    speed: Rates
    step: Seconds
    ahead: Seconds
    fresh: Seconds
    stale: Seconds

    @classmethod
    def of(cls, outlook: Outlook, eta: float) -> _Law:
        drift, step = outlook.drift, -np.log1p(-outlook.precision)
        signals = outlook.rate * outlook.told / outlook.precision
        speed = drift + signals * step
        ahead = signals * step**2 / (2 * speed**2)
        empty = np.zeros(len(step))
        law = cls(eta, drift, signals, speed, step, ahead, empty, empty)
        fresh, stale = law._before(step)
        return replace(
            law,
            fresh=fresh - gain(step) / speed + ahead * np.exp(-step),
            stale=stale - harm(step) / speed,
        )

    def _before(self, x: Seconds) -> tuple[Seconds, Seconds]:
        """Return both values up to one step."""
        k = self.signals / self.drift
        both = -np.expm1(-(1 + k) * x) / (1 + k)
        # Not 1 - exp(-x): of few changes rounding would leave nothing, or less than nothing.
        fresh = (-np.expm1(-x) - both) / self.signals
        stale = (-np.expm1(-k * x) / k - both) / self.drift
        return fresh, stale

    def value(self, x: Seconds) -> Seconds:
        """Return ``signal_value`` at these changes."""
        fresh, stale = self._before(np.minimum(x, self.step))
        is_after = x > self.step
        y = x[is_after]
        decay = np.exp(-y)
        speed, ahead = self.speed[is_after], self.ahead[is_after]
        fresh[is_after] = self.fresh[is_after] + gain(y) / speed - ahead * decay
        stale[is_after] = self.stale[is_after] + harm(y) / speed
        value: Seconds = (1 - self.eta) * fresh + self.eta * stale
        return value

    def slope(self, x: Seconds) -> Seconds:
        """Return the derivative of ``value`` by the changes."""
        k = self.signals / self.drift
        is_after = x > self.step
        passage = np.where(is_after, x / self.speed + self.ahead, -np.expm1(-k * x) / self.signals)
        slower = np.where(is_after, 1 / self.speed, np.exp(-k * x) / self.drift)
        decay = np.exp(-x)
        slope: Seconds = (1 - self.eta) * passage * decay + self.eta * slower * (1 - decay)
        return slope
