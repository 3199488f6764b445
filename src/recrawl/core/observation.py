"""Did the page change?  One rule for every place that asks."""

from __future__ import annotations

import numpy as np

from recrawl.core.columns import NO_SCHEME
from recrawl.core.states import PageStates, Small
from recrawl.core.visit import Observation, Outcome, Visits

__all__ = ["observe"]


def observe(states: PageStates, visits: Visits) -> Small:
    """Return what each visit says about change.

    Parameters
    ----------
    states : PageStates
        States before the visit.
    visits : Visits
        One visit a page.

    Returns
    -------
    ndarray of int8, shape (n,)
        ``Observation``.  304 is UNCHANGED.  Content is compared by signature, and only within
        one signature scheme: another scheme or a missing side is UNKNOWN, never CHANGED.
        Redirects and failures are UNKNOWN.

    Notes
    -----
    Nutch, CrawlDbReducer.reduce, after NUTCH-1422: redirects take no part in the comparison.
    """
    comparable = (
        (visits.outcome == Outcome.SUCCESS)
        & (visits.signature_scheme != NO_SCHEME)
        & (visits.signature_scheme == states.signature_scheme)
    )
    is_same = visits.signature == states.signature
    observation = np.full(len(visits), Observation.UNKNOWN, dtype=np.int8)
    observation[comparable & is_same] = Observation.UNCHANGED
    observation[comparable & ~is_same] = Observation.CHANGED
    observation[visits.outcome == Outcome.NOTMODIFIED] = Observation.UNCHANGED
    return observation
