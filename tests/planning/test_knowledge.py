"""What a collection knows of its pages."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.core.columns import NO_TIME
from recrawl.core.states import PageStates
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.planning.knowledge import Knowledge, rate_totals

DAY = 86_400_000
NOW = 1_700_000_000_000
LEARNED = ("rate_shape", "rate_exposure", "bulk_shape", "bulk_exposure")


def pages(n: int, **columns: object) -> PageStates:
    """Return n pages of one host and group, visited a day ago."""
    given = {
        "page_key": np.arange(1, n + 1), "host_key": 1, "group_key": 1, "fetched_at": NOW,
        "checked_at": columns.get("fetched_at", NOW),
    }  # fmt: skip
    return PageStates.of(n, **{**given, **columns})


def visits_of(states: PageStates, observation: Observation, days: float = 10.0) -> Visits:
    """Return a visit of each page, some days after NOW."""
    return Visits.of(
        len(states),
        page_key=states.page_key,
        fetched_at=NOW + round(days * DAY),
        outcome=Outcome.SUCCESS,
        observation=observation,
    )


def known(states: PageStates) -> Knowledge:
    """Return what is known of pages before any of them was seen to change or not."""
    return Knowledge.nothing().renewed(states, NOW)


def test_new_pages_are_thought_to_change_in_forty_days():
    """The guess holds until visits say something else."""
    states = pages(1)

    rate = known(states).change_rate(states)

    assert rate[0] * 86_400 == pytest.approx(1 / 40)


def test_changes_make_a_page_faster_and_quiet_visits_slower():
    """One visit of each kind moves the rate to its side; a visit that cannot tell moves nothing."""
    states = pages(3, group_key=[1, 2, 3])
    knowledge = known(states)
    before = knowledge.change_rate(states)
    visits = visits_of(states, Observation.UNKNOWN)
    visits.observation[:] = [Observation.CHANGED, Observation.UNCHANGED, Observation.UNKNOWN]

    learned = knowledge.learn(states, states, visits)

    after = knowledge.change_rate(learned)
    assert after[0] > before[0]
    assert after[1] < before[1]
    assert after[2] == before[2]


def test_a_first_visit_teaches_nothing():
    """Nobody knows how long the page had been as it was."""
    states = pages(1, fetched_at=NO_TIME)
    knowledge = known(states)

    learned = knowledge.learn(states, states, visits_of(states, Observation.CHANGED))
    knowledge.absorb(states, visits_of(states, Observation.CHANGED))

    assert all(getattr(learned, name)[0] == 0 for name in LEARNED)
    assert knowledge.belief(states, NOW + DAY)[0] == 0


def test_learning_is_row_by_row():
    """Any split of the visits gives the same columns."""
    states = pages(6, rate_shape=np.arange(6), rate_exposure=np.arange(6) * 1e6)
    knowledge = known(states)
    visits = visits_of(states, Observation.CHANGED)

    whole = knowledge.learn(states, states, visits)
    parts = [
        knowledge.learn(states.take(rows), states.take(rows), visits.take(rows))
        for rows in ([0, 1], [2], [3, 4, 5])
    ]

    for name in LEARNED:
        np.testing.assert_array_equal(
            getattr(whole, name), np.concatenate([getattr(part, name) for part in parts])
        )


def test_siblings_that_changed_make_a_page_worth_looking_at():
    """After four of ten were found changed the others are expected to have changed as well."""
    states = pages(10)
    knowledge = known(states)
    at = NOW + 10 * DAY
    before = knowledge.belief(states, at)[0]

    found = states.take(np.arange(4))
    knowledge.absorb(found, visits_of(found, Observation.CHANGED))

    after = knowledge.belief(states, at)[0]
    assert (after[4:] > 2 * before[4:]).all()


def test_a_change_that_the_group_explains_says_little_of_the_page():
    """The rate of a page's own rises less where its siblings changed too."""
    states = pages(10)
    alone, together = known(states), known(states)
    others = states.take(np.arange(1, 10))
    together.absorb(others, visits_of(others, Observation.CHANGED))
    page = states.take([0])
    visit = visits_of(page, Observation.CHANGED)

    found = [k.learn(page, page, visit) for k in (alone, together)]

    own = [k.own(state).mean[0] for k, state in zip((alone, together), found, strict=True)]
    assert own[1] < 0.8 * own[0]
    assert together.change_rate(found[1])[0] > own[1]


def test_a_trusted_time_of_change_says_more():
    """A page known to have changed an hour ago is faster than one that changed at any time."""
    states = pages(1, group_key=9)
    knowledge = known(states)
    visit = visits_of(states, Observation.CHANGED)
    vague = knowledge.own(knowledge.learn(states, states, visit)).mean[0]
    visit.modified_at[:] = NOW + 10 * DAY - DAY // 24

    dated = knowledge.own(knowledge.learn(states, states, visit)).mean[0]

    assert dated > vague


def test_the_prior_moves_without_touching_the_pages():
    """A host whose pages are found busy makes its unseen pages busy too."""
    states = pages(50, group_key=np.arange(1, 51))
    knowledge = known(states)
    seen = states.take(np.arange(40))
    for k in range(1, 6):
        visits = visits_of(seen, Observation.CHANGED, k)
        seen = knowledge.learn(seen, seen, visits).with_columns({"checked_at": visits.fetched_at})
    unseen = states.take(np.arange(40, 50))
    before = knowledge.change_rate(unseen)

    renewed = knowledge.renewed(PageStates.concatenate([seen, unseen]), NOW + 5 * DAY)

    assert (renewed.change_rate(unseen) > 4 * before).all()
    assert (unseen.rate_shape == 0).all()


def seen_changed(knowledge: Knowledge, states: PageStates, hours: float, n: int) -> PageStates:
    """Return the pages after n visits, some hours apart, that all saw a change."""
    for k in range(1, n + 1):
        visits = visits_of(states, Observation.CHANGED, hours * k / 24)
        learned = knowledge.learn(states, states, visits)
        states = learned.with_columns({"checked_at": visits.fetched_at})
    return states


def test_a_page_whose_every_fetch_differs_is_a_new_page_of_its_host():
    """An hour apart it cannot have changed each time: it has the host's rate and teaches none."""
    states = pages(2, group_key=[1, 2])
    knowledge = known(states)
    first = knowledge.change_rate(states)

    noisy = seen_changed(knowledge, states, hours=1, n=5)

    np.testing.assert_allclose(knowledge.change_rate(noisy), first)
    assert rate_totals(knowledge, noisy).host_key.size == 0


def test_noise_tells_nothing_of_its_group():
    """Siblings of a page whose every fetch differs are believed to be as they were."""
    states = pages(10)
    knowledge = known(states)
    at = NOW + 10 * DAY
    before = knowledge.belief(states, at)[0]
    noisy = states.take(np.arange(4)).with_columns({"surprise": np.full(4, 4.0)})

    knowledge.absorb(noisy, visits_of(noisy, Observation.CHANGED))

    np.testing.assert_array_equal(knowledge.belief(states, at)[0], before)


def test_noise_that_was_once_the_same_is_a_page_again():
    """A visit that saw no change proves that the page can be told from noise."""
    states = pages(1)
    knowledge = known(states)
    noisy = seen_changed(knowledge, states, hours=1, n=5)

    learned = knowledge.learn(noisy, noisy, visits_of(noisy, Observation.UNCHANGED, 20))

    assert noisy.surprise[0] > 3
    assert learned.surprise[0] == -50
    assert knowledge.change_rate(learned)[0] < knowledge.change_rate(noisy)[0]


def signalled(states: PageStates, n: int) -> PageStates:
    """Return the pages with n signals each."""
    return states.with_columns({"n_signals": np.full(len(states), n)})


def taught(
    states: PageStates, n: int, observation: Observation, *, of: PageStates | None = None
) -> Knowledge:
    """Return what is known of all after forty visits of pages with n signals each."""
    knowledge = known(of or states)
    for k in range(40):
        knowledge.hear(states, NOW + k * DAY)
        knowledge.absorb(signalled(states, n), visits_of(states, observation))
    return knowledge


def test_a_signal_is_worth_what_those_before_it_were():
    """True ones make a change likely, false ones hardly add to what was expected."""
    states = pages(2, group_key=[1, 2])
    good, bad = (taught(states, 1, seen) for seen in (Observation.CHANGED, Observation.UNCHANGED))
    at = NOW + 40 * DAY

    added = [k.belief(signalled(states, 1), at)[0] - k.belief(states, at)[0] for k in (good, bad)]

    assert (added[0] > 2).all()
    assert (added[1] < 0.02).all()


def test_no_signal_is_news_only_where_signals_come():
    """Silence makes a change less likely on hosts that tell, and says nothing of others."""
    states = pages(2, host_key=[1, 2], group_key=[1, 2])
    knowledge = taught(states.take([0]), 1, Observation.CHANGED, of=states)
    at = NOW + 41 * DAY

    changes, outlook = knowledge.belief(states, at)

    assert changes[0] < 0.3 * outlook.rate[0] * 41 * 86_400
    assert changes[1] == pytest.approx(outlook.rate[1] * 41 * 86_400)


def test_fetches_at_signals_do_not_make_a_page_fast():
    """A page fetched right after each change, ten days apart, is known to change every ten days.

    The time without a signal counts as well as that before an untold change.
    """
    states = pages(1, group_key=9)
    knowledge = taught(states, 1, Observation.CHANGED)
    for k in range(1, 31):
        visits = visits_of(states, Observation.CHANGED, 10.0 * k)
        visits.modified_at[:] = visits.fetched_at - DAY // 24
        knowledge.hear(states, NOW + 10 * k * DAY)
        learned = knowledge.learn(signalled(states, 1), states, visits)
        states = learned.with_columns({"checked_at": visits.fetched_at})

    assert knowledge.own(states).mean[0] * 86_400 == pytest.approx(0.1, rel=0.2)


def test_quiet_visits_teach_the_same_with_signals():
    """Nothing changed, told or not: the time counts in full."""
    states = pages(1, group_key=9)
    visits = visits_of(states, Observation.UNCHANGED)
    knowledge = taught(states, 1, Observation.CHANGED)

    plain = known(states).learn(states, states, visits)
    told = knowledge.learn(signalled(states, 2), states, visits)

    np.testing.assert_allclose(told.rate_exposure, plain.rate_exposure, rtol=1e-5)
