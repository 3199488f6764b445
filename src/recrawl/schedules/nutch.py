"""Intervals that grow and shrink by fixed rates: Nutch's AdaptiveFetchSchedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recrawl.core.numeric import divide, round_half_up, round_to_int, to_long
from recrawl.core.states import Keys, PageStates, Seconds, Small, Times
from recrawl.core.timing import Timing
from recrawl.core.variant import CODE, DOCUMENTED, require_variant
from recrawl.core.visit import Observation, Visits
from recrawl.schedules import lifecycle
from recrawl.schedules.nutch_hosts import HostIntervals

__all__ = ["NutchAdaptive", "clip_code", "rate_factors"]

Float32s: TypeAlias = NDArray[np.float32]
#: One interval for all pages, or one a page.
Interval: TypeAlias = np.float32 | Float32s

#: Rows worked on at a time: the dozen columns of a block stay in the cache.
_BLOCK = 16_384


@dataclass(frozen=True, slots=True)
class NutchAdaptive:
    """Shortens the interval of a page that changed, and lengthens that of one that did not.

    Parameters
    ----------
    default_interval : float
        Interval of a page that has none. [s]
    inc_rate : float
        The interval grows by this share when the page did not change.
    dec_rate : float
        The interval shrinks by this share when the page changed, less than 1.
    min_interval, max_interval : float
        Least and greatest interval. [s]
    sync_delta : bool
        Move the next fetch towards the time of the last change.
    sync_delta_rate : float
        By this share of the time since then, 0 to 1.
    interval_max : float
        Where the interval of gone pages stops growing; see ``lifecycle.gone``.  No other page
        waits longer either. [s]
    retry_interval : float
        Wait after a temporary failure, if the interval is not shorter. [s]
    hosts : HostIntervals, optional
        Least and greatest interval of some hosts.
    exact : bool
        Agree with the original bit for bit, whatever the settings.
    variant : str
        ``code`` for what the original does, ``documented`` for what its description says where
        that differs; see Notes.

    Raises
    ------
    InputError
        If a setting is out of range and the mode is not exact.

    Notes
    -----
    The defaults are those that Nutch ships in nutch-default.xml; its code falls back to 0.2 for
    all three rates (case sch-001).  Numbers are float32 where they are in the original.

    Guarded mode departs from it in these places:

    - The interval keeps its fraction, so that short ones can grow (exact: whole seconds).
    - A shift beyond ``max_interval`` is scaled down (exact: an integer division makes it 0 or a
      multiple of ``max_interval``, case sch-004).
    - An interval set by hand that is not positive is ignored (exact: it is taken).
    - A page whose interval is longer is fetched after ``interval_max`` (exact: it is fetched by
      force at the next occasion, see ``lifecycle.should_fetch``).  In a budget pages that changed
      would else wait behind those that never did, whose fetches the shift moves forward.

    The variant ``documented`` differs from ``code`` in two steps of the synchronisation, in either
    mode.  An interval *longer* than the time since the change is replaced by that time, as the
    description of the class says (code: an interval that is shorter); a page that has just
    changed keeps its interval, for nothing has passed since.  And a shift beyond ``max_interval``
    is scaled down as the comment in the code says, "9/30*7", in exact mode too.

    Columns read: fixed_interval, host_key, interval, modified_at, status.  Written: interval,
    modified_at, next_fetch_at.

    References
    ----------
    Nutch, AdaptiveFetchSchedule.setFetchSchedule.
    """

    name: ClassVar[str] = "nutch-adaptive"

    default_interval: float = 2_592_000.0
    inc_rate: float = 0.4
    dec_rate: float = 0.2
    min_interval: float = 60.0
    max_interval: float = 31_536_000.0
    sync_delta: bool = True
    sync_delta_rate: float = 0.3
    interval_max: float = 7_776_000.0
    retry_interval: float = 86_400.0
    hosts: HostIntervals | None = None
    exact: bool = False
    variant: str = CODE

    def __post_init__(self) -> None:
        require_variant(f"schedule {self.name}", self.variant)
        if self.exact:
            return
        lifecycle.require_intervals(
            self,
            "default_interval",
            "min_interval",
            "max_interval",
            "interval_max",
            "retry_interval",
        )
        lifecycle.require_rate(self.name, "inc_rate", self.inc_rate)
        lifecycle.require_rate(self.name, "dec_rate", self.dec_rate)
        rate = self.sync_delta_rate
        lifecycle.require(0 <= rate <= 1, self.name, "sync_delta_rate", rate, "0 to 1")
        lifecycle.require_order(self)

    def first(self, states: PageStates, now: int) -> Timing:
        """Return the timing of pages that were just added: due at once."""
        return lifecycle.first(
            states, now, default_interval=self.default_interval, exact=self.exact
        )

    def after(self, states: PageStates, visits: Visits) -> Timing:
        """Return the timing after one visit a page."""
        timing = self._after_answer(states, visits)
        lifecycle.put_failures(
            timing,
            states,
            visits,
            default_interval=self.default_interval,
            interval_max=self.interval_max,
            retry_interval=self.retry_interval,
            exact=self.exact,
        )
        return timing

    def _after_answer(self, states: PageStates, visits: Visits) -> Timing:
        """Return the timing as if every visit had given a usable answer."""
        n = len(visits)
        timing = Timing(np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64))
        for start in range(0, n, _BLOCK):
            rows = slice(start, start + _BLOCK)
            low, high = self._limits(states.host_key[rows])
            interval, next_fetch_at, modified_at = self._adapt(
                states.interval[rows],
                visits.observation[rows],
                self._factor(states.mime_key[rows], visits.observation[rows]),
                visits.fetched_at[rows],
                visits.modified_at[rows],
                low,
                high,
            )
            timing.interval[rows] = interval
            timing.next_fetch_at[rows] = next_fetch_at
            timing.modified_at[rows] = modified_at
        fixed = states.fixed_interval
        has_fixed = ~np.isnan(fixed) if self.exact else lifecycle.fixed_mask(fixed)
        chosen = np.flatnonzero(has_fixed)
        if chosen.size:
            wait = round_half_up(fixed[chosen].astype(np.float64) * 1000)
            timing.interval[chosen] = self._kept(fixed[chosen])
            timing.next_fetch_at[chosen] = visits.fetched_at[chosen] + wait
            if self.exact:
                # The original keeps whatever modified time it is given for such a page.
                timing.modified_at[chosen] = visits.modified_at[chosen]
        return timing

    def _limits(self, host_key: Keys) -> tuple[Interval, Interval]:
        """Return the least and greatest interval, one number where all hosts share it."""
        low, high = np.float32(self.min_interval), np.float32(self.max_interval)
        return self.hosts.lookup(host_key, low, high) if self.hosts else (low, high)

    def _kept(self, interval: Float32s) -> Seconds:
        """Return the interval as it is stored."""
        if self.exact:
            return round_to_int(interval).astype(np.float64)
        return interval.astype(np.float64)

    @np.errstate(over="ignore", invalid="ignore")
    def _adapt(
        self,
        before: Seconds,
        observation: Small,
        factor: Float32s,
        fetched_at: Times,
        modified_at: Times,
        low: Interval,
        high: Interval,
    ) -> tuple[Seconds, Times, Times]:
        """Return interval, next fetch and modified time of a block without fixed intervals."""
        is_changed = observation == Observation.CHANGED
        modified_at = np.where(is_changed | (modified_at <= 0), fetched_at, modified_at)
        interval = before.astype(np.float32)
        is_unset = interval == 0 if self.exact else ~(interval > 0)
        np.copyto(interval, np.float32(self.default_interval), where=is_unset)
        interval *= factor
        base = fetched_at
        if self.sync_delta:
            delta = fetched_at - modified_at
            # A long is compared with a float, so it becomes a float first.
            elapsed, planned = delta.astype(np.float32), interval * np.float32(1000)
            takes_elapsed = elapsed > planned
            if self.variant == DOCUMENTED:
                takes_elapsed = (elapsed < planned) & (delta > 0)
            np.copyto(interval, divide(delta, 1000).astype(np.float32), where=takes_elapsed)
            base = fetched_at - self._shift(delta, high)
        is_short, is_long = interval < low, interval > high
        # In this order the least interval wins where it is greater than the greatest.
        np.copyto(interval, high, where=is_long)
        np.copyto(interval, low, where=is_short)
        next_fetch_at = base + round_half_up(interval.astype(np.float64) * 1000)
        if not self.exact:
            np.minimum(
                next_fetch_at, fetched_at + round(self.interval_max * 1000), out=next_fetch_at
            )
        return self._kept(interval), next_fetch_at, modified_at

    def _factor(self, mime_key: Keys, observation: Small) -> Float32s:  # noqa: ARG002 nutch-mime's
        """Return the factor of each page's interval."""
        factors = rate_factors(
            np.array([self.inc_rate], np.float32), np.array([self.dec_rate], np.float32)
        )
        factor: Float32s = factors[clip_code(observation)]
        return factor

    def _shift(self, delta: Times, high: Interval) -> Times:
        """Return the milliseconds by which the next fetch moves towards the time of change."""
        shift = round_half_up(delta * self._rate)
        most = to_long(np.atleast_1d(high)) * 1000
        is_far = np.flatnonzero((delta > 0) & (shift > most))
        if is_far.size:
            most = np.broadcast_to(most, shift.shape)[is_far]
            if self.exact and self.variant == CODE:
                shift[is_far] = divide(shift[is_far], delta[is_far]) * most
            else:
                shift[is_far] = round_half_up(most * self._rate)
        return shift

    @property
    def _rate(self) -> float:
        """The share of the shift: read as float32 and kept as float64, as in the original."""
        return float(np.float32(self.sync_delta_rate))


def rate_factors(inc_rate: Float32s, dec_rate: Float32s) -> Float32s:
    """Return the factors of the interval, one for each observation of the first rates and so on."""
    one = np.float32(1)
    factors = np.ones((len(inc_rate), len(Observation)), dtype=np.float32)
    factors[:, Observation.CHANGED] = one - dec_rate
    factors[:, Observation.UNCHANGED] = one + inc_rate
    return factors.ravel()


def clip_code(observation: Small) -> Small:
    """Return the codes with those that are no ``Observation`` as UNKNOWN."""
    is_code = (observation >= Observation.UNKNOWN) & (observation <= Observation.UNCHANGED)
    return observation * is_code
