"""How much of the time pages really were stale, against what was expected of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recrawl.core.poisson import fresh_share
from recrawl.core.states import Importances, Mask, Seconds

__all__ = ["Calibration"]

#: What was expected before the first visits weighs as much as one expected day of stale time of
#: this share of the pages. [s]
_FIRST = 0.1 * 86_400.0
#: A visit is forgotten by this part with each survey: a day.
_FADED = 0.9
#: Visits correct what is expected by no more than this factor: in a collection in which nothing
#: changes, the next change must not be worth nothing.
_MOST_WRONG = 10.0
#: Numbers of changes at which the stale share is a half; a shape this near to 1 is moved away.
_FEW, _NEAR = 1e-4, 1e-6


Floats: TypeAlias = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class Calibration:
    """Stale time that visits found and that was expected of them, weighted by importance.

    Known rates promise too much: a page that changes far more often than it is visited looks
    slower than it is, and a collection has more of them than visits have shown.  What a visit
    finds needs no rate: unchanged, it was fresh all along; changed, it was stale from the first
    change on, half the time for few changes and nearly all of it for many.

    Parameters
    ----------
    expected, found : float
        Sums over visits. [s]
    """

    expected: float = 0.0
    found: float = 0.0

    @property
    def factor(self) -> float:
        """Stale time found for each that was expected, within bounds; 1 before any visit."""
        if not self.expected:
            return 1.0
        return min(max(self.found / self.expected, 1 / _MOST_WRONG), _MOST_WRONG)

    def renewed(self, weight: float) -> Calibration:
        """Return the calibration a survey later, or begun with pages of this weight together."""
        if not self.expected:
            return Calibration(_FIRST * weight, _FIRST * weight)
        return Calibration(_FADED * self.expected, _FADED * self.found)

    def fold(
        self,
        changes: Seconds,
        elapsed: Seconds,
        importance: Importances,
        is_changed: Mask,
        *,
        shape: Floats,
    ) -> Calibration:
        """Return the calibration after more visits.

        Parameters
        ----------
        changes : ndarray of float64, shape (n,)
            Changes that were to be expected since the visit before.
        elapsed : ndarray of float64, shape (n,)
            Time since then. [s]
        importance : ndarray, shape (n,)
            Weight of the pages.
        is_changed : ndarray of bool, shape (n,)
            Whether the visit saw a change; leave out those that cannot tell.
        shape : ndarray, shape (n,)
            Shape of the Gamma distribution of the rates: how sure the changes are.

        Notes
        -----
        What is expected is what a plan expects, which takes rates for known.  The stale time of a
        page that changed is that of a rate from the Gamma distribution: pages that changed are the
        fast ones among those that look alike.
        """
        stale = elapsed * (1 - fresh_share(changes))
        expected = float((importance * stale).sum())
        if_changed = elapsed * _stale_if_changed(changes, shape.astype(np.float64))
        found = float((importance * np.where(is_changed, if_changed, 0.0)).sum())
        return Calibration(self.expected + expected, self.found + found)


def _stale_if_changed(changes: Seconds, shape: Seconds) -> Seconds:
    """Return the share of the time for which a page that changed was stale.

    With the mean number of changes x and the shape a of its Gamma distribution no change comes
    with the probability ``(1 + x / a)^-a``; all stale time comes from the other case.
    """
    scaled = changes / shape
    log = np.log1p(scaled)
    power = np.where(np.abs(shape - 1) < _NEAR, shape - 1 + 2 * _NEAR, shape - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        fresh = -np.expm1(-power * log) / (power * scaled)
        share = (1 - fresh) / -np.expm1(-shape * log)
    # Below, half and no more: the difference of two ones would be noise.
    share = np.where(changes < _FEW, 0.5, share)
    return np.clip(share, 0.5, 1.0)
