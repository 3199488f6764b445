"""What budgets come to, and what a wanted freshness needs."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.core.states import PageStates
from recrawl.planning.forecast import forecast
from recrawl.planning.knowledge import Knowledge
from recrawl.planning.survey import Survey
from recrawl.schedules.optimal import Optimal

DAY = 86_400.0
NOW = 1_700_000_000_000


def surveyed(n: int = 200) -> Survey:
    """Return the survey of pages that change from once in ten days to ten times a day."""
    shape = np.full(n, 50.0)
    rate = np.logspace(-1, 1, n) / DAY
    states = PageStates.of(
        n, page_key=np.arange(1, n + 1), host_key=1, group_key=np.arange(1, n + 1),
        rate_shape=shape, rate_exposure=shape / rate, next_fetch_at=NOW,
    )  # fmt: skip
    knowledge = Knowledge.nothing()
    bulk = knowledge.bulk.with_groups(states.group_key, np.ones(n, dtype=np.int64), NOW)
    return Survey.of(states, Knowledge(knowledge.prior, bulk))


def test_more_fetches_keep_more_fresh():
    """The curve rises with the budget, and each point spends what it says."""
    found = forecast(Optimal(), surveyed(), 20 / DAY, 1.0)

    curve = [each for each in found if each.what == "curve"]
    assert [each.part for each in curve] == sorted(each.part for each in curve)
    assert (np.diff([each.freshness for each in curve]) > 0).all()
    assert (np.diff([each.age for each in curve]) < 0).all()
    for each in curve:
        assert each.rate == pytest.approx(each.part * 20 / DAY, rel=0.01)


def test_a_wish_needs_a_budget_that_fulfils_it():
    """The budget for a freshness has that freshness on the curve."""
    survey = surveyed()
    found = forecast(Optimal(), survey, 20 / DAY, 1.0, [0.5, 0.9])

    wishes = [each for each in found if each.what == "wanted"]
    again = [forecast(Optimal(), survey, each.rate, 1.0)[0] for each in wishes]

    assert [each.wanted for each in wishes] == [0.5, 0.9]
    assert [each.freshness for each in wishes] == pytest.approx([0.5, 0.9], abs=0.01)
    assert [each.freshness for each in again] == pytest.approx([0.5, 0.9], abs=0.01)


def test_what_visits_found_is_promised():
    """Where twice as much was stale as rates say, twice as much will be, and no more than all."""
    survey = surveyed()
    told, found = (forecast(Optimal(), survey, 200 / DAY, factor)[0] for factor in (1.0, 2.0))
    hopeless = forecast(Optimal(), survey, 1e-9, 5.0)[0]

    assert 1 - found.freshness == pytest.approx(2 * (1 - told.freshness))
    assert found.age == pytest.approx(2 * told.age)
    assert hopeless.freshness == 0


def test_a_target_has_a_present_without_a_budget():
    """As fresh as wanted, at the budget that this needs."""
    survey = surveyed()

    present, *others = forecast(Optimal(freshness=0.8), survey, None, 1.0)
    same = forecast(Optimal(), survey, present.rate, 1.0)[0]

    assert present.freshness == pytest.approx(0.8, abs=0.01)
    assert same.freshness == pytest.approx(0.8, abs=0.01)
    assert [each.rate / present.rate for each in others if each.part == 2] == [
        pytest.approx(2, rel=0.01)
    ]
