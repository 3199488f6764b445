"""Surveys of chunks add up to that of all pages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.columns import NEVER, NO_KEY
from recrawl.core.states import PageStates
from recrawl.estimation.bulk_edits import FIRST_RATES, BulkEdits
from recrawl.planning.knowledge import FIRST_PRIOR, Knowledge
from recrawl.planning.survey import Survey

DAY = 86_400_000
NOW = 1_700_000_000_000


def pages(n: int = 12) -> PageStates:
    """Return n pages of three hosts and five groups, one page of no group."""
    group = np.arange(n) % 5 + 1
    group[0] = NO_KEY
    return PageStates.of(
        n, page_key=np.arange(1, n + 1), host_key=np.arange(n) % 3 + 1, group_key=group,
        rate_shape=np.linspace(0, 3, n), rate_exposure=np.linspace(0, 9e6, n),
        importance=np.arange(n), next_fetch_at=NOW,
    )  # fmt: skip


def known(states: PageStates) -> Knowledge:
    """Return what is known of nothing but the first prior."""
    none = np.empty(0, dtype=np.int64)
    return Knowledge(FIRST_PRIOR, BulkEdits.of(none, none, NOW).select(states.group_key, NOW))


@given(cut=st.integers(0, 12))
def test_parts_add_up(cut: int):
    """Any two parts give what all pages give."""
    states = pages()
    parts = [states.take(np.arange(cut)), states.take(np.arange(cut, 12))]

    whole = Survey.of(states, known(states))
    added = Survey.nothing()
    for part in parts:
        added += Survey.of(part, known(part))

    assert added.n_pages == whole.n_pages == 12
    assert added.sizes.group_key.tolist() == [1, 2, 3, 4, 5]
    assert added.sizes.n_pages.tolist() == whole.sizes.n_pages.tolist() == [2, 3, 2, 2, 2]
    np.testing.assert_allclose(added.rates.rate_sum, whole.rates.rate_sum)
    np.testing.assert_allclose(added.totals.rate, whole.totals.rate)
    assert added.totals.n_idle == whole.totals.n_idle == 1


def test_pages_that_no_schedule_moves_are_counted_apart():
    """Those with an interval set by hand cost their fetches; those never fetched cost nothing."""
    states = pages().with_columns(
        {
            "fixed_interval": np.array([3600.0, 7200.0, 60.0] + [np.nan] * 9),
            "next_fetch_at": np.array([NOW, NOW, NEVER] + [NOW] * 8 + [NEVER]),
        }
    )

    survey = Survey.of(states, known(states))

    assert survey.n_pages == 10
    assert survey.fixed_rate == pytest.approx(1 / 3600 + 1 / 7200)
    assert survey.totals.n_pages.sum() + survey.totals.n_idle == 8


def test_groups_without_spans_have_the_same_rates():
    """A pass over all pages needs the rates of groups and not when they were edited."""
    bulk = BulkEdits.of(np.array([1, 4]), np.array([5, 6]), NOW)
    bulk.observe(
        np.array([0]), np.array([NOW]), np.array([NOW + DAY]),
        is_changed=np.array([True]), others_quiet=np.array([0.9]), participation=np.array([1.0]),
    )  # fmt: skip
    bulk.relearn(NOW + 2 * DAY, FIRST_RATES)

    light = BulkEdits.concatenate([part.without_spans() for part in (bulk,)])
    chosen = light.select(np.array([4, 1, 9, 1]), NOW)

    assert chosen.group_key.tolist() == [1, 4, 9]
    assert chosen.n_pages.tolist() == [5, 6, 1]
    np.testing.assert_array_equal(chosen.hazard(np.array([0, 1])), bulk.hazard(np.array([0, 1])))
    assert chosen.hazard(np.array([2]))[0] == 0
    assert chosen.probability.size == 0
    np.testing.assert_allclose(light.totals(NOW + 2 * DAY).rates, bulk.totals(NOW + 2 * DAY).rates)
    totals = bulk.totals(NOW + 2 * DAY)
    np.testing.assert_allclose((totals + totals).seen, 2 * totals.seen)
