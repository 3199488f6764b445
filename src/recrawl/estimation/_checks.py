"""What every allocation of a budget demands of its arguments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.core.states import Seconds
from recrawl.errors import InputError

__all__ = ["allocation_arguments", "require_all", "require_budget"]


def require_all(name: str, values: NDArray[Any], is_good: NDArray[np.bool_], allowed: str) -> None:
    """Raise InputError with the first value that is not good."""
    if not is_good.all():
        value = float(values[~is_good][0])
        raise InputError(f"{name} is {value:g}; allowed: {allowed}", value=value)


def require_budget(budget: float) -> None:
    """Raise InputError unless the budget is a number from 0."""
    if not 0 <= budget < math.inf:
        raise InputError(f"budget is {budget:g}; allowed: 0 or more fetches a second", value=budget)


def allocation_arguments(
    change_rate: ArrayLike, importance: ArrayLike, budget: float
) -> tuple[Seconds, Seconds]:
    """Return change rates and importances of one shape in float64, checked."""
    require_budget(budget)
    rate = np.asarray(change_rate, dtype=np.float64)
    weight = np.broadcast_to(np.asarray(importance, dtype=np.float64), rate.shape)
    is_good = (rate >= 0) & (rate < math.inf)
    require_all("change_rate", rate, is_good, "0 or more changes a second")
    is_good = (weight >= 0) & (weight < math.inf)
    require_all("importance", weight, is_good, "0 or more")
    return rate, weight
