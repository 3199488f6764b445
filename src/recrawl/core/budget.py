"""Budgets of fetches, and how people write them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from recrawl.errors import InputError

__all__ = ["Budget", "parse_budget"]

_SECONDS = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86_400.0, "week": 604_800.0}
_BUDGET = re.compile(rf"([0-9]*\.?[0-9]+)(/page)?/({'|'.join(_SECONDS)})")


@dataclass(frozen=True, slots=True)
class Budget:
    """So many fetches in a period.

    Parameters
    ----------
    amount : float
        Fetches, 0 or more.
    period : float
        The time in which they may be made. [s]
    is_per_page : bool
        Whether each page has so many, and not all pages together.
    """

    amount: float
    period: float
    is_per_page: bool = False

    def of(self, n_pages: int) -> Budget:
        """Return the budget of a collection of so many pages, all together."""
        return Budget(self.amount * n_pages, self.period) if self.is_per_page else self

    @property
    def rate(self) -> float:
        """Fetches a second. [1/s]."""
        return self.amount / self.period

    @property
    def most(self) -> float:
        """The most that can be saved: that of a period, and one fetch if that gives less."""
        return max(self.amount, 1.0) if self.amount else 0.0


def parse_budget(text: str) -> Budget:
    """Return a budget that someone wrote.

    Parameters
    ----------
    text : str
        ``"0.1/page/day"`` or ``"1000/day"``: fetches, of each page or of all, in a time.

    Raises
    ------
    InputError
        If it is not a budget, or one of nothing.

    Examples
    --------
    >>> parse_budget("1000/day").rate * 86_400
    1000.0
    """
    match = _BUDGET.fullmatch(text.strip())
    value = float(match[1]) if match else math.nan
    if not match or not 0 < value < math.inf:
        raise InputError(
            f"not a budget: {text!r}; write fetches a page or of all pages in a time, such as"
            f" 0.1/page/day or 1000/day; times are {', '.join(_SECONDS)}",
            value=text,
        )
    return Budget(value, _SECONDS[match[3]], match[2] is not None)
