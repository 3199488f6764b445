"""Did the page change?  One rule for every place that asks."""

from __future__ import annotations

import numpy as np

from recrawl.core.columns import NO_SCHEME
from recrawl.core.states import PageStates, Small
from recrawl.core.visit import Observation, Outcome, Visits, is_redirect

__all__ = ["observe"]


def observe(states: PageStates, visits: Visits, *, compares_redirects: bool = False) -> Small:
    """Return what each visit says about change.

    Parameters
    ----------
    states : PageStates
        States before the visit.
    visits : Visits
        One visit a page.
    compares_redirects : bool
        Compare a redirect that has a signature like content, as Nutch did before NUTCH-1422.

    Returns
    -------
    ndarray of int8, shape (n,)
        ``Observation``.  304 is UNCHANGED.  Content is compared by signature, and only within
        one signature scheme: another scheme or a missing side is UNKNOWN, never CHANGED.
        Redirects, unless they are compared, and failures are UNKNOWN.

    Notes
    -----
    Nutch, CrawlDbReducer.reduce, after NUTCH-1422: redirects take no part in the comparison.
    """
    has_content = visits.outcome == Outcome.SUCCESS
    if compares_redirects:
        has_content |= is_redirect(visits.outcome)
    comparable = (
        has_content
        & (visits.signature_scheme != NO_SCHEME)
        & (visits.signature_scheme == states.signature_scheme)
    )
    is_same = visits.signature == states.signature
    observation = np.full(len(visits), Observation.UNKNOWN, dtype=np.int8)
    observation[comparable & is_same] = Observation.UNCHANGED
    observation[comparable & ~is_same] = Observation.CHANGED
    observation[visits.outcome == Outcome.NOTMODIFIED] = Observation.UNCHANGED
    return observation
