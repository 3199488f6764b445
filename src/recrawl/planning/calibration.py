"""How much of the time pages really were stale, against what was expected of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.core.poisson import fresh_share
from recrawl.core.states import Importances, Mask, Seconds

__all__ = ["Calibration"]

#: What was expected before the first visits weighs as much as one expected day of stale time of
#: this share of the pages. [s]
_FIRST = 0.1 * 86_400.0
#: A visit is forgotten by this part with each survey: a day.
_FADED = 0.9


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

    @classmethod
    def begin(cls, weight: float) -> Calibration:
        """Return the calibration of pages whose importances add up to ``weight``."""
        return cls(_FIRST * weight, _FIRST * weight)

    @property
    def factor(self) -> float:
        """Stale time found for each that was expected."""
        return self.found / self.expected if self.expected else 1.0

    def fold(
        self, changes: Seconds, elapsed: Seconds, importance: Importances, is_changed: Mask
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
        """
        stale = elapsed * (1 - fresh_share(changes))
        seen = -np.expm1(-changes)
        # The stale time if there was a change: all there is to expect comes from that case.
        if_changed = np.divide(stale, seen, out=elapsed / 2, where=seen > 1e-9)
        expected = float((importance * stale).sum())
        found = float((importance * np.where(is_changed, if_changed, 0.0)).sum())
        return Calibration(self.expected + expected, self.found + found)

    def faded(self) -> Calibration:
        """Return the calibration a survey later."""
        return Calibration(_FADED * self.expected, _FADED * self.found)
