"""What a fetch must be worth, and what is left of the budget, shared by all crawlers of a store."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from recrawl.app.learned import Learned
from recrawl.core.budget import Budget
from recrawl.planning.calibration import Calibration
from recrawl.planning.pricing import aimed, priced
from recrawl.planning.spending import Spending
from recrawl.planning.survey import Survey
from recrawl.ports.store import PageStore
from recrawl.schedules.optimal import Optimal

__all__ = ["Price", "PriceTag"]

_PRICE = "price"


@dataclass(frozen=True, slots=True)
class Price:
    """What a fetch must be worth, and what is left of the budget: kept in the store.

    Parameters
    ----------
    price : float
        0 for not yet known. [s]
    longest : float
        Longest interval that leaves the budget room to choose. [s]
    made_for : list
        The settings that the price was made for: another price is looked for when they change.
    spending : Spending
        The budget.
    calibration : Calibration
        What visits found against what was expected.
    """

    price: float
    longest: float
    made_for: list[float]
    spending: Spending
    calibration: Calibration

    def to_text(self) -> str:
        """Return the value as it is kept."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Price:
        """Return the value that was kept."""
        values = json.loads(text)
        parts = {
            "spending": Spending(**values["spending"]),
            "calibration": Calibration(**values["calibration"]),
        }
        return cls(**{**values, **parts})


class PriceTag:
    """The price in a store.

    Parameters
    ----------
    store : PageStore
        Keeps it.
    schedule : Optimal
        The settings.
    learned : Learned
        Knows how many pages the last survey found.
    budget : Budget or None
        What may be fetched; None for as much as the schedule's target needs.
    """

    def __init__(
        self, store: PageStore, schedule: Optimal, learned: Learned, budget: Budget | None
    ) -> None:
        self._store = store
        self._schedule = schedule
        self._learned = learned
        self._wanted = budget

    @property
    def budget(self) -> Budget | None:
        """The budget of as many pages as the last survey found; None without one."""
        return self.budget_of(self._learned.surveyed.n_pages)

    def budget_of(self, n_pages: int) -> Budget | None:
        """Return the budget of so many pages; None without one."""
        return None if self._wanted is None else self._wanted.of(n_pages)

    @property
    def made_for(self) -> list[float]:
        """What a price of these settings is made for."""
        wanted, schedule = self._wanted or Budget(0.0, 1.0), self._schedule
        return [wanted.amount, wanted.period, schedule.eta, schedule.freshness, schedule.max_age]

    def after_survey(self, price: Price, survey: Survey) -> Price:
        """Return the price after a survey.

        One that a budget has is kept, as it follows what fetches are worth; one that a target has
        is found anew.
        """
        is_kept = price.price > 0 and price.made_for == self.made_for
        calibration = price.calibration.renewed(survey.weight)
        if self.budget is not None:
            schedule = priced(self._schedule, survey, self.budget.rate)
            found, longest = price.price if is_kept else schedule.price, schedule.max_interval
        else:
            found, longest = aimed(self._schedule, survey, calibration.factor).price, 0.0
        return replace(
            price, price=found, longest=longest, made_for=self.made_for, calibration=calibration
        )

    def at(self, now: int) -> Price:
        """Return the price at ``now`` [ms], with what of the budget has come in."""
        text = self._store.get_meta(_PRICE)
        if text is None:
            begun = Spending.begin(self.budget or Budget(0.0, 1.0), now)
            return Price(0.0, 0.0, [], begun, Calibration())
        price = Price.from_text(text)
        if self.budget is None:
            return price
        if price.made_for != self.made_for:
            price = replace(price, spending=Spending.begin(self.budget, now))
        return replace(price, spending=price.spending.by(now, self.budget))

    def change(self, now: int, change: Callable[[Price], Price]) -> None:
        """Change the value in the store, whoever else changes it."""
        while True:
            old = self._store.get_meta(_PRICE)
            new = change(self.at(now)).to_text()
            if old == new or self._store.swap_meta(_PRICE, old, new):
                return
