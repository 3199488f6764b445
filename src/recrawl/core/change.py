"""What the change feed says of a visit: only transitions of the ``announced`` column."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from recrawl.core.states import Announced, PageStates, PageStatus, Small
from recrawl.core.visit import Observation, Outcome, Visits

__all__ = ["ChangeCode", "announce"]


class ChangeCode(IntEnum):
    """What happened to a page; the names are those of ``ports.store.ChangeKind``."""

    NONE = 0
    NEW = 1
    CHANGED = 2
    MOVED = 3
    GONE = 4
    RETURNED = 5


#: What the feed has said once an event is in it.
_TOLD = {
    ChangeCode.NEW: Announced.PRESENT,
    ChangeCode.CHANGED: Announced.PRESENT,
    ChangeCode.MOVED: Announced.MOVED,
    ChangeCode.GONE: Announced.GONE,
    ChangeCode.RETURNED: Announced.PRESENT,
}


def announce(before: PageStates, after: PageStates, visits: Visits) -> tuple[Small, Small]:
    """Return the event of each visit and the new ``announced`` column.

    Parameters
    ----------
    before : PageStates
        States before the visit.
    after : PageStates
        The same pages merged with the visit.
    visits : Visits
        One visit a page, ``observation`` filled in.

    Returns
    -------
    codes : ndarray of int8, shape (n,)
        ``ChangeCode``; NONE where the visit told nothing new.
    announced : ndarray of int8, shape (n,)
        ``Announced`` once the event is in the feed.

    Notes
    -----
    ========================================== ============ =========
    visit                                      announced    event
    ========================================== ============ =========
    success                                    nothing      NEW
    success or 304                             gone, moved  RETURNED
    success that is CHANGED                    present      CHANGED
    redirect                                   not moved    MOVED
    redirect to another target                 moved        MOVED
    gone, or failed so often that it is gone   not gone     GONE
    ========================================== ============ =========

    Whatever else happens is silent: temporary failures, denials, empty or unreadable content,
    content signed by another scheme.  A returned page is told once, also if its content is new,
    and also if it is the old one, because readers of the feed dropped it.

    Columns read: announced, redirect_key, status.  Written: announced.
    """
    outcome = visits.outcome
    announced = before.announced
    is_present = announced == Announced.PRESENT
    is_lost = (announced == Announced.GONE) | (announced == Announced.MOVED)
    is_success = outcome == Outcome.SUCCESS
    is_moved = (outcome == Outcome.REDIR_TEMP) | (outcome == Outcome.REDIR_PERM)
    is_gone = ((outcome == Outcome.GONE) | (outcome == Outcome.RETRY)) & (
        after.status == PageStatus.GONE
    )
    is_other_target = before.redirect_key != after.redirect_key
    events = {
        ChangeCode.NEW: is_success & (announced == Announced.NOTHING),
        ChangeCode.CHANGED: is_success & is_present & (visits.observation == Observation.CHANGED),
        ChangeCode.MOVED: is_moved & ((announced != Announced.MOVED) | is_other_target),
        ChangeCode.GONE: is_gone & (announced != Announced.GONE),
        ChangeCode.RETURNED: (is_success | (outcome == Outcome.NOTMODIFIED)) & is_lost,
    }
    codes = np.full(len(visits), ChangeCode.NONE, dtype=np.int8)
    told = announced.copy()
    for code, happened in events.items():
        codes[happened] = code
        told[happened] = _TOLD[code]
    return codes, told
