"""The rule that merges a visit into a page's state, and the whole step around it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recrawl.core.change import announce
from recrawl.core.columns import NO_KEY, NO_SCHEME, NO_TIME
from recrawl.core.interval import Bounds, believable, bound
from recrawl.core.numeric import round_to_int
from recrawl.core.observation import observe
from recrawl.core.states import Announced, Mask, PageStates, PageStatus, Small
from recrawl.core.timing import Schedule, Timing
from recrawl.core.visit import Observation, Outcome, Visits, is_usable
from recrawl.errors import InputError

__all__ = ["Step", "UpdateRule", "advance", "force_refetch", "merge", "settle"]

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

    Raises
    ------
    InputError
        If ``retry_max`` is less than 1 or greater than 127 and the mode is not exact.
    """

    retry_max: int = 3
    exact: bool = False
    interval_max: float = 7_776_000.0

    def __post_init__(self) -> None:
        if not self.exact and not 1 <= self.retry_max <= _MOST_RETRIES:
            raise InputError(
                f"retry_max is not from 1 to {_MOST_RETRIES}: {self.retry_max}",
                value=self.retry_max,
            )


@dataclass(frozen=True, slots=True)
class Step:
    """What a visit made of n pages.

    Parameters
    ----------
    states : PageStates
        States after the visit.
    visits : Visits
        The visits, ``observation`` filled in.
    change : ndarray of int8, shape (n,)
        ``core.change.ChangeCode``: the event for the change feed, NONE for none.
    """

    states: PageStates
    visits: Visits
    change: Small


def advance(
    states: PageStates,
    visits: Visits,
    *,
    schedule: Schedule,
    rule: UpdateRule | None = None,
    bounds: Bounds | None = None,
) -> Step:
    """Return what one visit a page makes of the pages: the whole pure step.

    Observe, merge, schedule, bound, settle, announce.  The crawler, the simulator and the
    engines all call this one function.

    Parameters
    ----------
    states : PageStates
        States before the visit.
    visits : Visits
        One visit a page, in the order of ``states``; ``observation`` is overwritten.
    schedule : Schedule
        Sets the interval and the next fetch.
    rule : UpdateRule, optional
        Settings; by default guarded, with three retries.
    bounds : Bounds, optional
        Bounds and jitter; by default those of ``Bounds()``.  Exact mode takes none.

    Returns
    -------
    Step
        States, observed visits and change events; row-wise, so that permuted rows give permuted
        rows and any split gives the same rows.

    Raises
    ------
    InputError
        If the rows of ``visits`` are not those of ``states``, an outcome is not an ``Outcome``,
        or bounds were given in exact mode.
    """
    rule = rule or UpdateRule()
    _check(states, visits, rule, bounds)
    seen = replace(visits, observation=observe(states, visits))
    merged = merge(states, seen, rule)
    timing = schedule.after(merged, seen if rule.exact else believable(states, seen))
    if not rule.exact:
        timing = bound(
            timing,
            bounds or Bounds(),
            page_key=states.page_key,
            fetched_at=visits.fetched_at,
            fixed_interval=states.fixed_interval,
        )
    change, announced = announce(states, merged, seen)
    settled = settle(merged, seen, timing, rule)
    return Step(replace(settled, announced=announced), seen, change)


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

    Columns read: announced, n_changes, n_visits, redirect_key, retries, signature,
    signature_scheme, status.  Written: these but announced, and changed_at, fetched_at.
    """
    outcome = visits.outcome
    is_success = outcome == Outcome.SUCCESS
    is_redirect = _is_redirect(outcome)
    usable = is_usable(outcome)
    is_changed = is_success & (visits.observation == Observation.CHANGED)
    has_content = is_success & (visits.signature_scheme != NO_SCHEME)
    if rule.exact:
        takes = (is_success & (visits.observation != Observation.UNCHANGED)) | is_redirect
    else:
        takes = has_content
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
            "changed_at": np.where(is_new, visits.fetched_at, states.changed_at),
            "redirect_key": np.where(
                is_redirect,
                visits.redirect_key,
                np.where(usable, NO_KEY, states.redirect_key),
            ),
            "signature": np.where(takes, visits.signature, states.signature),
            "signature_scheme": np.where(takes, visits.signature_scheme, states.signature_scheme),
        }
    )


def settle(merged: PageStates, visits: Visits, timing: Timing, rule: UpdateRule) -> PageStates:
    """Return the merged states with the timing that the schedule and the bounds gave.

    Parameters
    ----------
    merged : PageStates
        What ``merge`` returned.
    visits : Visits
        The visits of that merge.
    timing : Timing
        The schedule's answer, bounded.
    rule : UpdateRule
        Settings.

    Returns
    -------
    PageStates
        The modified time moves only where content came that is not known to be unchanged
        (case sch-014); failures never touch it, redirects only in exact mode.

    Notes
    -----
    In exact mode a page whose new interval is greater than ``rule.interval_max`` is refetched by
    force after an answer that was usable.  Guarded mode has no such thing: bounds clamp the
    interval, and no page loses its signature for being quiet (case sch-007).

    Columns written: interval, modified_at, next_fetch_at; by force also retries, signature,
    signature_scheme, status.
    """
    usable = is_usable(visits.outcome)
    takes = usable if rule.exact else visits.outcome == Outcome.SUCCESS
    takes = takes & (visits.observation != Observation.UNCHANGED)
    settled = merged.with_columns(
        {
            "interval": timing.interval,
            "next_fetch_at": timing.next_fetch_at,
            "modified_at": np.where(takes, timing.modified_at, merged.modified_at),
        }
    )
    if not rule.exact:
        return settled
    return force_refetch(settled, usable & (timing.interval > rule.interval_max), rule.interval_max)


def force_refetch(states: PageStates, chosen: Mask, interval_max: float) -> PageStates:
    """Return the states with the chosen pages as if they had never been fetched.

    Nutch's AbstractFetchSchedule.forceRefetch without the instant: ``next_fetch_at`` stays.

    Parameters
    ----------
    states : PageStates
        The states.
    chosen : ndarray of bool, shape (n,)
        Pages to refetch.
    interval_max : float
        Intervals above it are cut to 0.9 of it. [s]

    Notes
    -----
    Columns written: interval, modified_at, retries, signature, signature_scheme, status.
    """
    cut = round_to_int(np.array([interval_max], dtype=np.float32) * np.float32(0.9))
    blank = PageStates.of(1)
    return states.with_columns(
        {
            "interval": np.where(chosen & (states.interval > interval_max), cut, states.interval),
            "modified_at": np.where(chosen, NO_TIME, states.modified_at),
            "retries": np.where(chosen, 0, states.retries),
            "signature": np.where(chosen, blank.signature, states.signature),
            "signature_scheme": np.where(chosen, NO_SCHEME, states.signature_scheme),
            "status": np.where(chosen, PageStatus.UNFETCHED, states.status),
        }
    )


def _check(states: PageStates, visits: Visits, rule: UpdateRule, bounds: Bounds | None) -> None:
    """Refuse visits that do not belong to the states."""
    if not np.array_equal(states.page_key, visits.page_key):
        raise InputError(
            f"the visits ({len(visits)}) are not of the pages ({len(states)}):"
            " give one visit a page, in the same order"
        )
    is_known = (visits.outcome >= min(Outcome)) & (visits.outcome <= max(Outcome))
    if not is_known.all():
        value = int(visits.outcome[~is_known][0])
        raise InputError(
            f"not an outcome: {value}; use core.visit.Outcome,"
            f" {min(Outcome):d} to {max(Outcome):d}",
            value=value,
        )
    if rule.exact and bounds is not None:
        raise InputError("exact mode has no bounds: leave them out, or use a guarded rule")


def _is_redirect(outcome: Small) -> Mask:
    is_redirect: Mask = (outcome == Outcome.REDIR_TEMP) | (outcome == Outcome.REDIR_PERM)
    return is_redirect


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
