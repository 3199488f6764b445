"""What a collection is to be expected to come to: freshness and age, by budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from recrawl.planning.pricing import aimed, priced
from recrawl.planning.survey import Survey
from recrawl.schedules.optimal import Optimal

__all__ = ["Forecast", "forecast"]

#: The budgets of the curve, as parts of the present one: two steps an octave.
_PARTS = tuple(2 ** (k / 2) for k in range(-8, 9))


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a budget comes to once the schedule has settled.

    Parameters
    ----------
    what : str
        ``present``, ``curve``, or ``wanted`` for the budget that a wanted freshness needs.
    wanted : float
        That freshness, 0 for none.
    part : float
        Of the curve: the budget as a part of the present one, 0 for none.
    rate : float
        Fetches. [1/s]
    freshness : float
        Share of time in which copies are right, weighted by importance.
    age : float
        Mean time for which the copies have been wrong, weighted by importance. [s]
    price : float
        What a fetch must be worth. [s]
    """

    what: str
    wanted: float
    part: float
    rate: float
    freshness: float
    age: float
    price: float


def forecast(
    schedule: Optimal,
    survey: Survey,
    budget: float | None,
    factor: float,
    wanted: Sequence[float] = (),
) -> list[Forecast]:
    """Return the forecasts of the present budget, of parts and multiples of it, and of wishes.

    Parameters
    ----------
    schedule : Optimal
        The settings.
    survey : Survey
        The collection.
    budget : float or None
        Fetches; None for as many as the schedule's target needs. [1/s]
    factor : float
        Stale time that visits find for each that is expected, as ``Calibration`` has it.
    wanted : sequence of float
        Freshnesses, each above 0 and below 1.

    Notes
    -----
    Pages are taken to change by themselves, at the rates that are expected of them: where groups
    are edited together, a crawl does better.
    """

    def at(
        what: str, priced_schedule: Optimal, *, wish: float = 0.0, part: float = 0.0
    ) -> Forecast:
        outlook = survey.totals.outlook(
            priced_schedule.price, eta=schedule.eta, longest=priced_schedule.max_interval
        )
        return Forecast(
            what,
            wish,
            part,
            outlook.spending + survey.fixed_rate,
            max(1 - factor * (1 - outlook.freshness), 0.0),
            factor * outlook.age,
            priced_schedule.price,
        )

    if budget is None:
        present = at("present", aimed(schedule, survey, factor))
    else:
        present = at("present", priced(schedule, survey, budget))
    rates = [(part, part * present.rate) for part in _PARTS]
    curve = [at("curve", priced(schedule, survey, rate), part=part) for part, rate in rates]
    aims = [replace(schedule, freshness=wish, max_age=0.0) for wish in wanted]
    wishes = [at("wanted", aimed(aim, survey, factor), wish=aim.freshness) for aim in aims]
    return [present, *curve, *wishes]
