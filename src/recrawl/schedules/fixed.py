"""The same interval always: Nutch's DefaultFetchSchedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recrawl.core.states import PageStates
from recrawl.core.timing import Timing
from recrawl.core.variant import CODE, require_variant
from recrawl.core.visit import Observation, Visits
from recrawl.schedules import lifecycle

__all__ = ["Fixed"]


@dataclass(frozen=True, slots=True)
class Fixed:
    """Fetches each page at its own interval, whether it changes or not.

    Parameters
    ----------
    default_interval : float
        Interval of a page that has none. [s]
    interval_max : float
        Where the interval of gone pages stops growing; see ``lifecycle.gone``. [s]
    retry_interval : float
        Wait after a temporary failure, if the interval is not shorter. [s]
    exact : bool
        As Nutch: any setting, whole seconds, ``fixed_interval`` ignored.
    variant : str
        ``code``: a page that changed, or whose modified time is unknown, was modified at the time
        of its fetch.  ``documented``: the modified time is kept as it is given, as the interface
        of Nutch's schedules says.

    Notes
    -----
    Columns read: fixed_interval, interval, modified_at, status.  Written: interval, modified_at,
    next_fetch_at.

    Raises
    ------
    InputError
        If a setting is out of range and the mode is not exact.
    """

    name: ClassVar[str] = "fixed"

    default_interval: float = 2_592_000.0
    interval_max: float = 7_776_000.0
    retry_interval: float = 86_400.0
    exact: bool = False
    variant: str = CODE

    def __post_init__(self) -> None:
        require_variant(f"schedule {self.name}", self.variant)
        if not self.exact:
            lifecycle.require_intervals(self, "default_interval", "interval_max", "retry_interval")

    def first(self, states: PageStates, now: int) -> Timing:
        """Return the timing of pages that were just added: due at once."""
        return lifecycle.first(
            states, now, default_interval=self.default_interval, exact=self.exact
        )

    def after(self, states: PageStates, visits: Visits) -> Timing:
        """Return the timing after one visit a page: the interval, from the visit's start."""
        if self.exact:
            interval = np.where(states.interval == 0, self.default_interval, states.interval)
        else:
            interval = lifecycle.known_interval(
                states.interval, states.fixed_interval, self.default_interval
            )
        is_new = (visits.modified_at <= 0) | (visits.observation == Observation.CHANGED)
        is_new &= self.variant == CODE
        return lifecycle.timing_after(self, states, visits, interval, is_new=is_new)
