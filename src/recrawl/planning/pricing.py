"""The price at which a budget is spent, or a collection is as fresh as wanted."""

from __future__ import annotations

from dataclasses import replace

from recrawl.core.interval import LONGEST_INTERVAL
from recrawl.planning.survey import Survey
from recrawl.schedules.multiplier import (
    longest_interval,
    multiplier_for_age,
    multiplier_for_budget,
    multiplier_for_freshness,
)
from recrawl.schedules.optimal import Optimal

__all__ = ["aimed", "priced"]

#: What a budget for more than all pages can use makes of the price: it can still rise. [s]
_LEAST_PRICE = 1e-6
#: More than this is not asked to be stale: at all, no page would be fetched.
_MOST_STALE = 0.999


def priced(schedule: Optimal, survey: Survey, budget: float) -> Optimal:
    """Return the schedule with the price at which pages that change by themselves use a budget.

    The longest interval grows with the collection, so that it leaves the budget room to choose.

    Parameters
    ----------
    schedule : Optimal
        The settings.
    survey : Survey
        The collection.
    budget : float
        Fetches, those of pages with an interval set by hand included. [1/s]
    """
    left = max(budget - survey.fixed_rate, 0.0)
    longest = min(
        float(longest_interval(survey.n_pages, budget, schedule.max_interval)), LONGEST_INTERVAL
    )
    price = multiplier_for_budget(survey.totals, left, eta=schedule.eta, longest=longest)
    return replace(schedule, price=max(price, _LEAST_PRICE), max_interval=longest)


def aimed(schedule: Optimal, survey: Survey, factor: float) -> Optimal:
    """Return the schedule with the price at which the collection is as fresh as wanted.

    Parameters
    ----------
    schedule : Optimal
        The settings.
    survey : Survey
        The collection.
    factor : float
        Stale time that visits find for each that is expected, as ``Calibration`` has it.
    """
    eta, longest = schedule.eta, schedule.max_interval
    prices = []
    if schedule.freshness:
        wanted = 1 - min((1 - schedule.freshness) / factor, _MOST_STALE)
        prices.append(multiplier_for_freshness(survey.totals, wanted, eta=eta, longest=longest))
    if schedule.max_age:
        age = schedule.max_age / factor
        prices.append(multiplier_for_age(survey.totals, age, eta=eta, longest=longest))
    return replace(schedule, price=max(min(prices), _LEAST_PRICE))
