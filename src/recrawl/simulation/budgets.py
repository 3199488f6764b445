"""Budgets as people write them."""

from __future__ import annotations

import math
import re

from recrawl.errors import InputError

__all__ = ["parse_budget"]

_SECONDS = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86_400.0, "week": 604_800.0}
_BUDGET = re.compile(rf"([0-9]*\.?[0-9]+)(/page)?/({'|'.join(_SECONDS)})")


def parse_budget(text: str, n: int) -> float:
    """Return the budget of a collection of n pages.

    Parameters
    ----------
    text : str
        ``"0.1/page/day"`` or ``"1000/day"``: fetches, of each page or of all, in a time.
    n : int
        Number of pages.

    Returns
    -------
    float
        Fetches of the whole collection, more than 0. [1/s]

    Raises
    ------
    InputError
        If it is not a budget.

    Examples
    --------
    >>> parse_budget("1000/day", 10) * 86_400
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
    return value * (n if match[2] else 1) / _SECONDS[match[3]]
