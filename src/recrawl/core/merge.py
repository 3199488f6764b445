"""The rule that merges a visit into a page's state: all but the timing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recrawl.core.columns import NO_KEY, NO_SCHEME
from recrawl.core.states import Announced, PageStates, PageStatus, Small
from recrawl.core.visit import Observation, Outcome, Visits, is_redirect, is_usable
from recrawl.errors import InputError

__all__ = ["UpdateRule", "merge"]

#: Nutch keeps retries in a signed byte; we stop counting where it wraps.
_MOST_RETRIES = 127

#: Status after an outcome; 0 where the status stays, or more than the outcome decides.
_STATUS_AFTER = np.zeros(max(Outcome) + 1, dtype=np.int8)
_STATUS_AFTER[Outcome.SUCCESS] = PageStatus.FETCHED
_STATUS_AFTER[Outcome.NOTMODIFIED] = PageStatus.NOTMODIFIED
_STATUS_AFTER[Outcome.REDIR_TEMP] = PageStatus.REDIR_TEMP
_STATUS_AFTER[Outcome.REDIR_PERM] = PageStatus.REDIR_PERM
_STATUS_AFTER[Outcome.GONE] = PageStatus.GONE
_STATUS_AFTER[Outcome.PARSE_FAILED] = PageStatus.PARSE_FAILED


@dataclass(frozen=True, slots=True)
class UpdateRule:
    """Settings of the update.

    Parameters
    ----------
    retry_max : int
        Temporary failures in a row that make a page gone.
    exact : bool
        Do as Nutch's CrawlDbReducer does, also where that loses pages or content; else guarded.
    interval_max : float
        Exact mode only: a page whose interval is greater is refetched by force. [s]
    compares_redirects : bool
        Exact mode only: compare redirects by signature, as Nutch did before NUTCH-1422.

    Raises
    ------
    InputError
        If the mode is not exact, and ``retry_max`` is less than 1 or greater than 127 or
        ``compares_redirects`` is set.
    """

    retry_max: int = 3
    exact: bool = False
    interval_max: float = 7_776_000.0
    compares_redirects: bool = False

    def __post_init__(self) -> None:
        if not self.exact and not 1 <= self.retry_max <= _MOST_RETRIES:
            raise InputError(
                f"retry_max is not from 1 to {_MOST_RETRIES}: {self.retry_max}",
                value=self.retry_max,
            )
        if not self.exact and self.compares_redirects:
            raise InputError(
                "compares_redirects is of exact mode: in guarded mode a page keeps the signature"
                " of its content, and no redirect is compared with it",
                value=self.compares_redirects,
            )


def merge(states: PageStates, visits: Visits, rule: UpdateRule) -> PageStates:
    """Return the states with everything a visit decides before the schedule is asked.

    Parameters
    ----------
    states : PageStates
        States before the visit.
    visits : Visits
        One visit a page, ``observation`` filled in.
    rule : UpdateRule
        Settings.

    Returns
    -------
    PageStates
        Interval, next fetch, modified time and ``announced`` are still those of before.

    Notes
    -----
    ============== ====================== ========= ===============
    outcome        status                 retries   signature
    ============== ====================== ========= ===============
    success        fetched, notmodified   0         the new one
    304            notmodified            0         kept
    redirect       redir_temp, redir_perm 0         kept
    retry          unfetched, gone        + 1       kept
    gone           gone                   kept      kept
    parse failed   parse_failed           kept      kept
    denied, empty  kept                   kept      kept
    ============== ====================== ========= ===============

    Success with the signature of before is notmodified.  Exact mode follows Nutch's
    CrawlDbReducer, and guarded mode departs from it in four places:

    - A redirect keeps the signature (exact: it takes the redirect's), because it is the baseline
      of the content.
    - A page that the change feed told to be gone or moved is fetched when it comes back, also
      with its old signature (case st-006).
    - A temporary failure of a page that is gone leaves it gone (case sch-008).
    - Retries stop at 127 (exact: they wrap to -128, case sch-010).

    Columns read: announced, n_changes, n_signals, n_visits, redirect_key, retries, signature,
    signature_scheme, status.  Written: these but announced, and changed_at, checked_at, fetched_at,
    mime_key.
    """
    outcome = visits.outcome
    is_success = outcome == Outcome.SUCCESS
    redirects = is_redirect(outcome)
    usable = is_usable(outcome)
    is_changed = is_success & (visits.observation == Observation.CHANGED)
    has_content = is_success & (visits.signature_scheme != NO_SCHEME)
    if rule.exact:
        takes = (is_success & (visits.observation != Observation.UNCHANGED)) | redirects
    else:
        takes = has_content
    tells = (visits.observation != Observation.UNKNOWN) | has_content
    retries = np.where(usable, 0, states.retries)
    retries = np.where(outcome == Outcome.RETRY, _count_retry(states, rule), retries)
    is_new = is_changed | (has_content & (states.signature_scheme == NO_SCHEME))
    return states.with_columns(
        {
            "status": _status_after(states, visits, retries, rule),
            "retries": retries,
            "n_visits": states.n_visits + 1,
            "n_changes": states.n_changes + is_changed,
            "fetched_at": visits.fetched_at,
            "n_signals": np.where(tells, 0, states.n_signals),
            "checked_at": np.where(tells, visits.fetched_at, states.checked_at),
            "changed_at": np.where(is_new, visits.fetched_at, states.changed_at),
            "redirect_key": np.where(
                redirects,
                visits.redirect_key,
                np.where(usable, NO_KEY, states.redirect_key),
            ),
            "signature": np.where(takes, visits.signature, states.signature),
            "signature_scheme": np.where(takes, visits.signature_scheme, states.signature_scheme),
            "mime_key": np.where(
                is_success & (visits.mime_key != NO_KEY), visits.mime_key, states.mime_key
            ),
        }
    )


def _count_retry(states: PageStates, rule: UpdateRule) -> NDArray[np.int16]:
    """Return the retries after one more temporary failure."""
    counted: NDArray[np.int16] = states.retries + np.int16(1)
    if rule.exact:
        return counted.astype(np.int8).astype(np.int16)
    return counted.clip(max=np.int16(_MOST_RETRIES))


def _status_after(
    states: PageStates,
    visits: Visits,
    retries: NDArray[np.int16],
    rule: UpdateRule,
) -> Small:
    """Return the status after the visit; see the table of ``merge``."""
    decided = _STATUS_AFTER[visits.outcome]
    status = np.where(decided == 0, states.status, decided)
    is_unchanged = (visits.observation == Observation.UNCHANGED) & is_usable(visits.outcome)
    status = np.where(is_unchanged, PageStatus.NOTMODIFIED, status)
    is_gone = retries >= rule.retry_max
    if not rule.exact:
        is_back = (states.announced == Announced.GONE) | (states.announced == Announced.MOVED)
        status = np.where(is_unchanged & is_back, PageStatus.FETCHED, status)
        is_gone = is_gone | (states.status == PageStatus.GONE)
    failed = np.where(is_gone, PageStatus.GONE, PageStatus.UNFETCHED)
    return np.where(visits.outcome == Outcome.RETRY, failed, status).astype(np.int8)
