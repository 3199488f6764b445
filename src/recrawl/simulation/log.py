"""What a simulated crawl did: its visits, in time order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recrawl.core.states import Counts, Small, Times

__all__ = ["Log"]


@dataclass(frozen=True, slots=True)
class Log:
    """Visits in time order, and by page within an instant; each array has shape ``(m,)``.

    Parameters
    ----------
    page : ndarray of int32
        Row of the page in the world.
    at : ndarray of int64
        When, since the world began. [ms]
    outcome : ndarray of int8
        ``core.visit.Outcome``.
    observation : ndarray of int8
        ``core.visit.Observation``: what the crawler saw, not what is true of the page.
    interval : ndarray of float32
        The fetch interval that the schedule set after the visit. [s]
    """

    page: Counts
    at: Times
    outcome: Small
    observation: Small
    interval: NDArray[np.float32]

    @classmethod
    def empty(cls) -> Log:
        """Return the log of no visits."""
        return cls(
            page=np.zeros(0, np.int32),
            at=np.zeros(0, np.int64),
            outcome=np.zeros(0, np.int8),
            observation=np.zeros(0, np.int8),
            interval=np.zeros(0, np.float32),
        )

    def __len__(self) -> int:
        return int(self.page.shape[0])
