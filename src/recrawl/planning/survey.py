"""What all pages of a collection say together, added up chunk by chunk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recrawl.core.columns import NEVER, NO_KEY
from recrawl.core.states import Keys, PageStates
from recrawl.estimation.prior import RateTotals
from recrawl.planning.knowledge import Knowledge, rate_totals
from recrawl.schedules.lifecycle import fixed_mask
from recrawl.schedules.totals import Totals

__all__ = ["GroupSizes", "Survey"]


@dataclass(frozen=True, slots=True)
class GroupSizes:
    """Number of pages of groups, in the order of their keys; those of two chunks can be added."""

    group_key: Keys
    n_pages: NDArray[np.int64]

    @classmethod
    def of(cls, group_key: Keys) -> GroupSizes:
        """Return the sizes of the groups of pages; pages without a group belong to none."""
        return cls(*np.unique(group_key[group_key != NO_KEY], return_counts=True))

    def __add__(self, other: GroupSizes) -> GroupSizes:
        keys, row = np.unique(
            np.concatenate([self.group_key, other.group_key]), return_inverse=True
        )
        sizes = np.zeros(len(keys), dtype=np.int64)
        np.add.at(sizes, row, np.concatenate([self.n_pages, other.n_pages]))
        return GroupSizes(keys, sizes)


@dataclass(frozen=True, slots=True)
class Survey:
    """Sums over pages; the surveys of two chunks add up to that of both.

    Parameters
    ----------
    n_pages : int
        Pages that are to be fetched again.
    rates : RateTotals
        What is known of their own change rates, by host.
    sizes : GroupSizes
        Pages of each group.
    totals : Totals
        Change rates and importances of the pages that the schedule may move.
    fixed_rate : float
        Fetches of the pages whose interval was set by hand. [1/s]
    """

    n_pages: int
    rates: RateTotals
    sizes: GroupSizes
    totals: Totals
    fixed_rate: float

    @classmethod
    def of(cls, states: PageStates, knowledge: Knowledge) -> Survey:
        """Return the survey of pages, with what was known of them before."""
        is_fixed, is_open = fixed_mask(states.fixed_interval), states.next_fetch_at != NEVER
        free = states.take(~is_fixed & is_open)
        is_fixed &= is_open
        return cls(
            n_pages=int(is_open.sum()),
            rates=rate_totals(knowledge, states),
            sizes=GroupSizes.of(states.group_key),
            totals=Totals.of(knowledge.change_rate(free), free.importance),
            fixed_rate=float((1 / states.fixed_interval[is_fixed].astype(np.float64)).sum()),
        )

    @classmethod
    def nothing(cls) -> Survey:
        """Return the survey of no pages."""
        return cls.of(PageStates.of(0), Knowledge.nothing())

    @property
    def weight(self) -> float:
        """Sum of the importances of the pages that the schedule may move."""
        return float(self.totals.weight.sum()) + self.totals.idle_weight

    def __add__(self, other: Survey) -> Survey:
        return Survey(
            self.n_pages + other.n_pages,
            self.rates + other.rates,
            self.sizes + other.sizes,
            self.totals + other.totals,
            self.fixed_rate + other.fixed_rate,
        )
