"""What is left of a visit that a defect of ours ended."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from recrawl.core.columns import NO_SCHEME, NO_TIME, SIGNATURE_BYTES
from recrawl.core.visit import Observation, Outcome
from recrawl.ports.store import Commit, HostRow, PageRow, VisitRow

__all__ = ["CRASH_PREFIX", "Crash", "crash_commit"]

#: How the reason of a crash begins; the name of the exception follows.
CRASH_PREFIX = "internal_"

# The page is tried again after its interval, within these limits: soon enough to see the defect
# mended, seldom enough to spare the host. [s]
_LEAST_WAIT, _MOST_WAIT = 3_600.0, 86_400.0


@dataclass(frozen=True, slots=True)
class Crash:
    """One page whose visit raised.

    Parameters
    ----------
    page : PageRow
        The page as it was leased.
    host : HostRow
        The host as it is now.
    at : int
        When it happened, or when the request left. [ms]
    error : Exception
        What was raised.
    """

    page: PageRow
    host: HostRow
    at: int
    error: Exception


def crash_commit(crash: Crash) -> Commit:
    """Return what is written of a crash: a failed visit, and a later next fetch.

    No rule is applied, as a rule may be what raised. Status, baseline, validators and the count
    of failures stay: a defect of ours says nothing about the page, and a page must not count as
    gone for it.
    """
    state = crash.page.state
    interval = _MOST_WAIT if math.isnan(state.interval) else state.interval
    wait = min(max(interval, _LEAST_WAIT), _MOST_WAIT)
    reason = f"{CRASH_PREFIX}{type(crash.error).__name__}"
    return Commit(
        page=replace(
            crash.page,
            state=replace(
                state,
                fetched_at=crash.at,
                n_visits=state.n_visits + 1,
                next_fetch_at=crash.at + round(wait * 1000),
            ),
            reason=reason,
        ),
        visit=VisitRow(
            page_key=state.page_key,
            fetched_at=crash.at,
            outcome=Outcome.RETRY,
            observation=Observation.UNKNOWN,
            status_code=None,
            reason=reason,
            elapsed=0.0,
            n_bytes=0,
            modified_at=NO_TIME,
            signature=b"\0" * SIGNATURE_BYTES,
            signature_scheme=NO_SCHEME,
        ),
        host=crash.host,
    )
