"""Edits that change many pages of a group together."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.estimation.bulk_edits import EXTENTS, BulkEdits

HOUR = 3_600_000
DAY = 24 * HOUR


def groups(*sizes: int, now: int = 0) -> BulkEdits:
    """Return groups of these sizes, with keys from 1 on."""
    return BulkEdits.of(np.arange(1, len(sizes) + 1), np.array(sizes), now)


def visit(
    bulk: BulkEdits,
    since: int,
    now: int,
    is_changed: bool,
    *,
    row: int = 0,
    quiet: float = 1.0,
    participation: float = 1.0,
) -> None:
    """Visit one page of a group."""
    bulk.observe(
        np.array([row]),
        np.array([since]),
        np.array([now]),
        is_changed=np.array([is_changed]),
        others_quiet=np.array([quiet]),
        participation=np.array([participation]),
    )


def exposure(bulk: BulkEdits, since: int, now: int, row: int = 0) -> float:
    """Return the exposure of one page."""
    return float(bulk.exposure(np.array([row]), np.array([since]), now)[0])


def test_nothing_seen_leaves_the_rate_of_the_start():
    """Exposure grows with time by the rate alone, as if nobody ever looked."""
    bulk = groups(10)

    assert exposure(bulk, 0, 0) == 0
    assert exposure(bulk, 0, 10 * DAY) == pytest.approx(10 * 0.01 * EXTENTS.sum())
    assert exposure(bulk, 5 * DAY, 10 * DAY) == pytest.approx(5 * 0.01 * EXTENTS.sum())


def test_one_page_alone_has_no_bulk_edits():
    """A group of one explains nothing by its siblings, whatever it is seen to do."""
    bulk = groups(1)

    visit(bulk, 0, DAY, True)
    bulk.relearn(DAY, bulk.totals(DAY).rates)

    assert exposure(bulk, 0, 9 * DAY) == 0
    assert bulk.hazard(np.array([0])) == 0


def test_a_change_raises_the_exposure_of_those_who_wait():
    """The more siblings changed, the surer; who was visited after the change is not concerned."""
    bulk = groups(10)
    found = [exposure(bulk, 0, DAY)]
    for k in range(4):
        visit(bulk, 0, DAY + k * HOUR, True, quiet=0.9)
        found.append(exposure(bulk, 0, DAY + k * HOUR))

    assert found == sorted(found)
    assert found[-1] > 1 > 10 * found[0]
    assert exposure(bulk, DAY + 3 * HOUR, DAY + 3 * HOUR) == 0


def test_no_change_lowers_the_exposure():
    """A sibling that was found unchanged speaks against edits since its last visit."""
    bulk = groups(10)
    visit(bulk, 0, 10 * DAY, False)
    after = exposure(bulk, 0, 10 * DAY)

    assert after < 0.6 * 10 * 0.01 * EXTENTS.sum()
    assert exposure(bulk, 0, 11 * DAY) - after == pytest.approx(0.01 * EXTENTS.sum())


def test_a_change_that_the_page_may_have_made_itself_says_less():
    """The quieter the page is by itself, the more its change is one of the group."""
    found = []
    for quiet in (0.01, 0.5, 0.99):
        bulk = groups(10)
        visit(bulk, 0, DAY, True, quiet=quiet)
        found.append(exposure(bulk, 0, DAY))

    assert found == sorted(found)


def test_who_never_takes_part_says_nothing():
    """A page of no participation leaves everything as it was."""
    bulk = groups(10)
    visit(bulk, 0, DAY, False, participation=0.0)

    assert exposure(bulk, 0, DAY) == pytest.approx(0.01 * EXTENTS.sum(), rel=1e-2)


def test_one_visit_moves_the_probabilities_as_by_bayes_rule():
    """Compared with the sum over all sets of edits that may have been: exact for one visit."""
    for is_changed in (False, True):
        bulk = groups(10)
        visit(bulk, 0, DAY, False)
        prior = bulk.probability[0].copy()
        spans = [(m, k) for m in range(prior.shape[0]) for k in range(len(EXTENTS))]
        spans = [(m, k) for m, k in spans if prior[m, k] > 0]

        visit(bulk, 0, DAY + 1, is_changed, quiet=0.7)

        prior[-1] = 1 - (1 - prior[-1]) * np.exp(-0.01 / DAY * np.ones(len(EXTENTS)))
        total, with_edit = 0.0, dict.fromkeys(spans, 0.0)
        for chosen in itertools.product((False, True), repeat=len(spans)):
            weight, quiet = 1.0, 0.7
            for (m, k), is_there in zip(spans, chosen, strict=True):
                weight *= prior[m, k] if is_there else 1 - prior[m, k]
                quiet *= 1 - EXTENTS[k] if is_there else 1
            weight *= 1 - quiet if is_changed else quiet
            total += weight
            for span, is_there in zip(spans, chosen, strict=True):
                with_edit[span] += weight * is_there
        for m, k in spans:
            assert bulk.probability[0, m, k] == pytest.approx(with_edit[m, k] / total, rel=1e-6)


def test_spans_are_longer_the_older_they_are():
    """After many visits the last hours are still told apart, and the first day is not lost."""
    bulk = groups(10)
    for k in range(1, 400):
        visit(bulk, (k - 1) * HOUR, k * HOUR, False)
    edge = bulk.edge[0]

    assert edge[0] == 0
    assert edge[-1] == 399 * HOUR
    assert (np.diff(edge) > 0).all()
    assert edge[-1] - edge[-4] <= 6 * HOUR
    assert np.diff(edge)[:4].max() > 24 * HOUR


def test_a_busy_group_is_edited_more_often_than_a_quiet_one():
    """Each group learns its own rate, and both learn from the other."""
    bulk = groups(20, 20)
    for day in range(1, 200):
        is_edited = day % 10 == 0
        for k in range(3):
            visit(bulk, (day - 1) * DAY, day * DAY + k * HOUR, is_edited, quiet=0.99)
            visit(bulk, (day - 1) * DAY, day * DAY + k * HOUR, False, row=1)
        bulk.relearn(day * DAY, bulk.totals(day * DAY).rates)
    busy, quiet = bulk.hazard(np.array([0, 1])) * DAY / 1000

    assert busy == pytest.approx(0.1, rel=0.3)
    assert quiet < 0.01


def test_visits_at_once_are_taken_one_after_the_other():
    """Two visits in one batch teach as much as in two."""
    one, two = groups(10, 10), groups(10, 10)
    for since in (0, HOUR):
        visit(one, since, DAY, True, row=1, quiet=0.9)

    two.observe(
        np.array([1, 1]),
        np.array([0, HOUR]),
        np.array([DAY, DAY]),
        is_changed=np.array([True, True]),
        others_quiet=np.array([0.9, 0.9]),
        participation=np.ones(2),
    )

    np.testing.assert_array_equal(one.probability, two.probability)


@given(
    steps=st.lists(
        st.tuples(st.integers(-HOUR, 9 * DAY), st.booleans(), st.floats(0, 1), st.floats(0, 50)),
        max_size=12,
    )
)
def test_no_visit_leads_out_of_range(steps: list[tuple[int, bool, float, float]]):
    """Clocks that go back, sure and impossible explanations: always probabilities, never NaN."""
    bulk = groups(5)
    now = last = 0
    for wait, is_changed, quiet, participation in steps:
        now += wait
        visit(bulk, last, now, is_changed, quiet=quiet, participation=participation)
        bulk.relearn(now, bulk.totals(now).rates)
        last = max(last, now)

        assert (bulk.probability >= 0).all()
        assert (bulk.probability < 1).all()
        assert (np.diff(bulk.edge) >= 0).all()
        assert math.isfinite(exposure(bulk, 0, max(now, 0)))
        assert (bulk.rate >= 0).all()


@pytest.mark.parametrize("back", [0, 1, 2, HOUR])
def test_a_clock_that_went_back_adds_no_span(back: int):
    """A visit from before the last one known teaches of what is there, and no span ends earlier."""
    bulk = groups(5, now=DAY)
    visit(bulk, 0, 2 * DAY, True)
    edge = bulk.edge.copy()
    before = exposure(bulk, 0, 2 * DAY)

    visit(bulk, 0, DAY - back, False)
    visit(bulk, 0, 2 * DAY - back, False)

    np.testing.assert_array_equal(bulk.edge, edge)
    assert 0 < exposure(bulk, 0, 2 * DAY) < before


def test_a_clock_that_went_back_exposes_to_nothing():
    """What may have come after a visit is no matter of one that is dated before it."""
    bulk = groups(10)
    visit(bulk, 0, 5 * DAY, True)

    assert exposure(bulk, 3 * DAY, 2 * DAY) == 0


@pytest.mark.parametrize("is_changed", [True, False])
def test_an_edit_that_surely_was_can_be_taken_back(is_changed: bool):
    """After a century there was one, and a page that always takes part leaves a probability."""
    bulk = groups(10)

    for k in range(3):
        visit(bulk, k, (k + 1) * 36_525 * DAY, is_changed, participation=1e3)

    assert (bulk.probability < 1).all()
    assert math.isfinite(exposure(bulk, 0, 200_000 * DAY))


def test_groups_come_and_go():
    """Who stays keeps what was learned; who is new starts, and a page that gets siblings too."""
    bulk = groups(10, 1)
    visit(bulk, 0, DAY, True, quiet=0.9)
    before = exposure(bulk, 0, DAY)

    grown = bulk.with_groups(np.array([1, 2, 5]), np.array([9, 3, 4]), DAY)

    assert exposure(grown, 0, DAY) == before
    assert len(grown) == 3
    assert (grown.hazard(np.array([1, 2])) > 0).all()
    assert grown.rows(np.array([5, 1])).tolist() == [2, 0]
    assert grown.watched_from.tolist() == [0, 0, DAY]


def test_no_group_is_no_trouble():
    """A collection without groups learns nothing and complains of nothing."""
    bulk = groups()

    bulk.relearn(DAY, bulk.totals(DAY).rates)

    assert len(bulk) == 0
