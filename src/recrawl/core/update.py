"""The whole step that a visit makes: observe, merge, schedule, bound, settle, announce."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recrawl.core.change import announce
from recrawl.core.columns import NO_SCHEME, NO_TIME
from recrawl.core.interval import Bounds, believable, bound
from recrawl.core.merge import UpdateRule, merge
from recrawl.core.numeric import round_to_int
from recrawl.core.observation import observe
from recrawl.core.states import Mask, PageStates, PageStatus, Small
from recrawl.core.timing import Learner, Schedule, Timing
from recrawl.core.visit import Observation, Outcome, Visits, is_usable
from recrawl.errors import InputError

__all__ = ["Step", "UpdateRule", "advance", "force_refetch", "merge", "settle"]


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
    learner: Learner | None = None,
) -> Step:
    """Return what one visit a page makes of the pages: the whole pure step.

    Observe, merge, learn, schedule, bound, settle, announce.  The crawler, the simulator and the
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
    learner : Learner, optional
        Writes what the visits teach of the pages; by default nothing is learned.

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
    observation = observe(states, visits, compares_redirects=rule.compares_redirects)
    seen = replace(visits, observation=observation)
    merged = merge(states, seen, rule)
    believed = seen if rule.exact else believable(states, seen)
    if learner is not None:
        merged = learner.learn(states, merged, believed)
    timing = schedule.after(merged, believed)
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
