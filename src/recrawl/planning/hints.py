"""What a visit teaches of a page whose changes are told by signals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.core.states import Seconds, Small
from recrawl.core.visit import Observation
from recrawl.estimation.gamma_poisson import ChangeRate, observe

__all__ = ["Hints", "observe_told"]


@dataclass(frozen=True, slots=True)
class Hints:
    """What signals said of n pages before a visit.

    Parameters
    ----------
    told : ndarray of float64, shape (n,)
        Share of the changes that signals tell.
    quiet : ndarray of float64, shape (n,)
        Probability that no signal was true.
    untold : ndarray of float64, shape (n,)
        Changes to be expected that none told of.
    n_true : ndarray of float64, shape (n,)
        True signals to be expected if the page changed.
    """

    told: Seconds
    quiet: Seconds
    untold: Seconds
    n_true: Seconds

    @classmethod
    def nothing(cls, n: int) -> Hints:
        """Return the hints of n pages where no signal ever came; nobody asks what is untold."""
        none = np.zeros(n)
        return cls(none, np.ones(n), none, none)


def observe_told(
    known: ChangeRate,
    elapsed: Seconds,
    seen: Small,
    hints: Hints,
    *,
    n_true: Seconds,
    others_quiet: Seconds,
    age: Seconds | None = None,
) -> ChangeRate:
    """Return what is known of a rate after one visit a page.

    Parameters
    ----------
    known : ChangeRate
        What was known before.
    elapsed : ndarray of float64, shape (n,)
        Time since the visit before, or another exposure.
    seen : ndarray of int8, shape (n,)
        ``Observation``; UNKNOWN teaches nothing.
    hints : Hints
        What signals said.
    n_true : ndarray of float64, shape (n,)
        True signals to be expected of a page that changed, as far as they are of this rate.
    others_quiet : ndarray of float64, shape (n,)
        Probability that nothing else changed the page; signals count as something else.
    age : ndarray of float64, shape (n,), optional
        Age of the last change, where it is known. [s]

    Notes
    -----
    The changes of a page are two processes: told ones, which are counted as they come, and the
    rest, of which a visit sees whether there was one.  For both together that is exact but for
    the number of true signals, and it does not matter when a page is visited: one fetched at
    each signal does not look faster than it is.
    """
    tells = seen != Observation.UNKNOWN
    heard = ChangeRate(
        known.shape + n_true * (seen == Observation.CHANGED),
        known.exposure + hints.told * elapsed * tells,
    )
    return observe(
        heard,
        elapsed=(1 - hints.told) * elapsed,
        observation=seen,
        change_age=age,
        others_quiet=others_quiet,
    )
