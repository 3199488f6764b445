"""The Gamma distribution of a change rate: each update by quadrature, limits, and coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.core.visit import Observation
from recrawl.errors import InputError
from recrawl.estimation.gamma_poisson import (
    ChangeRate,
    change_probability,
    credible_interval,
    forget,
    observe,
)

DAY = 86_400.0
NOT, SAME, DIFFERENT = Observation.UNKNOWN, Observation.UNCHANGED, Observation.CHANGED

shapes = st.floats(0.05, 200.0)
exposures = st.floats(1e3, 1e8)
waits = st.floats(1.0, 1e8)
odds = st.floats(0.0, 1.0)


def rate(shape: float, exposure: float, dtype: str = "float64") -> ChangeRate:
    return ChangeRate(np.array([shape], dtype=dtype), np.array([exposure], dtype=dtype))


def kinds(*observation: Observation) -> np.ndarray:
    return np.array(observation, dtype=np.int8)


def by_quadrature(shape: float, exposure: float, elapsed: float, quiet: float) -> tuple:
    """Return probability of a change, and mean and variance of the rate after it."""
    # In units of the exposure, over the logarithm of the rate; both tails are far out.
    s = np.linspace(-60 / min(shape, 1.0) - 20, math.log(shape + 1) + 6, 400_001)
    log_density = shape * s - np.exp(s)
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    sees = 1 - quiet * np.exp(-np.exp(s) * elapsed / exposure)
    if quiet == 1.0:
        sees = -np.expm1(-np.exp(s) * elapsed / exposure)
    probability = weight @ sees
    after = weight * sees / probability
    mean = after @ np.exp(s)
    variance = after @ (np.exp(s) - mean) ** 2
    return probability, mean / exposure, variance / exposure**2


@settings(deadline=None, max_examples=40)
@given(shape=shapes, exposure=exposures, elapsed=waits, quiet=st.one_of(st.just(1.0), odds))
def test_a_change_at_an_unknown_time_has_the_moments_of_quadrature(
    shape: float, exposure: float, elapsed: float, quiet: float
):
    """Mean, variance and probability agree with a sum over the rate to six digits."""
    known = rate(shape, exposure)

    after = observe(
        known, elapsed=elapsed, observation=kinds(DIFFERENT), others_quiet=np.array([quiet])
    )

    probability, mean, variance = by_quadrature(shape, exposure, elapsed, quiet)
    assert change_probability(known, elapsed, quiet) == pytest.approx(probability, rel=1e-6)
    assert after.mean == pytest.approx(mean, rel=1e-6)
    assert after.shape / after.exposure**2 == pytest.approx(variance, rel=1e-5)


def test_no_change_adds_the_time():
    """An unchanged visit adds the elapsed time to the exposure, whatever else is going on."""
    after = observe(
        rate(2.0, 100.0),
        elapsed=[50.0],
        observation=kinds(SAME),
        change_age=np.array([3.0]),
        others_quiet=np.array([0.5]),
    )

    assert (after.shape.tolist(), after.exposure.tolist()) == ([2.0], [150.0])


def test_a_change_of_known_age_adds_one_and_the_age():
    """A trusted age of the last change adds 1 to the shape and the age to the exposure."""
    after = observe(
        rate(2.0, 100.0), elapsed=50.0, observation=kinds(DIFFERENT), change_age=np.array([30.0])
    )

    assert (after.shape.tolist(), after.exposure.tolist()) == ([3.0], [130.0])


@pytest.mark.parametrize("age", [0.0, -5.0, 50.5, math.nan])
def test_an_impossible_age_counts_as_unknown(age: float):
    """An age of 0 or less, before the visit before, or NaN leaves the time of the change open."""
    visit = {"elapsed": 50.0, "observation": kinds(DIFFERENT)}

    after = observe(rate(2.0, 100.0), change_age=np.array([age]), **visit)

    unknown = observe(rate(2.0, 100.0), **visit)
    assert (after.shape, after.exposure) == (unknown.shape, unknown.exposure)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [0.05, 1.0, 30.0, 5e4])
def test_a_change_has_its_limits(shape: float, dtype: str):
    """A short wait adds one change, and a long one, or one with other causes, nothing."""
    rough = 3e-4 if dtype == "float32" else 1e-6

    short = observe(rate(shape, 1e6, dtype), elapsed=0.001, observation=kinds(DIFFERENT))
    long = observe(rate(shape, 1.0, dtype), elapsed=math.inf, observation=kinds(DIFFERENT))
    drowned = observe(
        rate(shape, 1e6, dtype), elapsed=1e5, observation=kinds(DIFFERENT), others_quiet=0.0
    )

    assert short.shape == pytest.approx(shape + 1, rel=rough)
    assert short.exposure == pytest.approx(1e6, rel=rough)
    assert drowned.shape == pytest.approx(shape, rel=rough)
    assert drowned.exposure == pytest.approx(1e6, rel=rough)
    if shape >= 1.0:
        assert long.shape == pytest.approx(shape, rel=rough)
        assert long.exposure == pytest.approx(1.0, rel=rough)


@pytest.mark.parametrize("elapsed", [0.0, -3600.0, math.nan])
@pytest.mark.parametrize("seen", list(Observation))
def test_no_time_teaches_nothing(elapsed: float, seen: Observation):
    """A visit at once, under a clock that went back, or at an unknown time changes nothing."""
    after = observe(
        rate(2.0, 100.0), elapsed=elapsed, observation=kinds(seen), change_age=np.array([1.0])
    )

    assert (after.shape.tolist(), after.exposure.tolist()) == ([2.0], [100.0])
    assert change_probability(rate(2.0, 100.0), elapsed).tolist() == [0.0]


def test_visits_that_cannot_tell_teach_nothing():
    """UNKNOWN leaves shape and exposure alone, and the arrays given are not written into."""
    known = ChangeRate(np.full(3, 2.0), np.full(3, 100.0))

    after = observe(known, elapsed=50.0, observation=kinds(NOT, SAME, DIFFERENT))

    assert (after.shape[0], after.exposure[0]) == (2.0, 100.0)
    assert (known.shape.tolist(), known.exposure.tolist()) == ([2.0] * 3, [100.0] * 3)


@pytest.mark.parametrize("seen", [SAME, DIFFERENT])
def test_more_changes_than_can_be_told_leave_the_rate_alone(seen: Observation):
    """A shape beyond its limit is cut off together with the exposure."""
    known = rate(6e5, 6e6, "float64")

    after = observe(known, elapsed=10.0, observation=kinds(seen))

    assert after.shape[0] == 6e4
    assert after.mean[0] == pytest.approx(0.1, rel=1e-5)


@settings(deadline=None)
@given(
    shape=st.floats(1e-3, 1e9),
    exposure=st.floats(1e-3, 1e12),
    visits=st.lists(
        st.tuples(
            st.floats(allow_nan=True, width=32),
            st.sampled_from(Observation),
            st.floats(allow_nan=True, width=32),
            odds,
        ),
        min_size=1,
        max_size=12,
    ),
)
def test_no_history_makes_a_rate_that_is_no_number(shape: float, exposure: float, visits: list):
    """Whatever the visits, in float32, shape and exposure stay within their limits."""
    known = rate(shape, exposure, "float32")

    for elapsed, seen, age, quiet in visits:
        known = observe(
            known,
            elapsed=elapsed,
            observation=kinds(seen),
            change_age=np.array([age]),
            others_quiet=np.array([quiet]),
        )
        probability = change_probability(known, elapsed, quiet)
        assert 1e-3 * 0.999 <= known.shape[0] <= 6e4
        assert 1e-3 * 0.999 <= known.exposure[0] <= 1e12
        assert 0 <= probability[0] <= 1


def test_float32_is_enough():
    """Ten visits of 50,000 pages in float32 end within a thousandth of float64."""
    rng = np.random.default_rng(1)
    n = 50_000
    true = DAY**-1 * np.exp(rng.normal(-3.7, 2.0, n))
    prior = ChangeRate(rng.uniform(0.15, 2.0, n), rng.uniform(1, 100, n) * DAY)
    narrow = ChangeRate(prior.shape.astype("float32"), prior.exposure.astype("float32"))

    for _ in range(10):
        elapsed = rng.exponential(10 * DAY, n)
        is_changed = rng.random(n) < -np.expm1(-true * elapsed)
        seen = np.where(is_changed, DIFFERENT, SAME).astype(np.int8)
        prior = observe(prior, elapsed=elapsed, observation=seen)
        narrow = observe(narrow, elapsed=elapsed, observation=seen)

    assert narrow.shape.dtype == narrow.exposure.dtype == np.float32
    assert np.abs(narrow.shape / prior.shape - 1).max() < 1e-4
    assert np.abs(narrow.mean / prior.mean - 1).max() < 1e-4


def test_rows_do_not_know_each_other():
    """Permuted pages give permuted results, over the edges of the blocks as well."""
    rng = np.random.default_rng(2)
    n = 40_000
    known = ChangeRate(rng.uniform(0.1, 5, n), rng.uniform(1e3, 1e7, n))
    elapsed, seen = rng.uniform(1, 1e7, n), rng.integers(0, 3, n).astype(np.int8)
    order = rng.permutation(n)

    after = observe(known, elapsed=elapsed, observation=seen)

    turned = observe(
        ChangeRate(known.shape[order], known.exposure[order]),
        elapsed=elapsed[order],
        observation=seen[order],
    )
    assert np.array_equal(turned.shape, after.shape[order])
    assert np.array_equal(turned.exposure, after.exposure[order])


def test_nothing_gives_nothing():
    """No pages give no rates."""
    after = observe(
        ChangeRate(np.array([]), np.array([])), elapsed=np.array([]), observation=kinds()
    )

    assert after.shape.shape == after.exposure.shape == (0,)


def test_a_column_of_the_wrong_length_is_refused():
    """A column that does not fit the pages is named with its shape."""
    with pytest.raises(InputError, match=r"elapsed has the shape \(2,\); give one value, or 1"):
        observe(rate(1.0, 1.0), elapsed=[1.0, 2.0], observation=kinds(SAME))


def test_forgetting_goes_back_to_the_prior():
    """A part of what was learned is kept: all of it, a half, or nothing, down to the floors."""
    known, prior = rate(3.0, 500.0, "float32"), rate(1.0, 100.0)

    kept = [forget(known, prior, memory=memory, least=(0.05, 1.0)) for memory in (1.0, 0.5, 0.0)]

    assert [float(part.shape[0]) for part in kept] == [3.0, 2.0, 1.0]
    assert [float(part.exposure[0]) for part in kept] == [500.0, 300.0, 100.0]
    assert kept[0].shape.dtype == kept[0].exposure.dtype == np.float32
    floor = forget(known, rate(0.0, 0.0), memory=0.0, least=(0.05, 1.0))
    assert (floor.shape[0], floor.exposure[0]) == (np.float32(0.05), 1.0)


@pytest.mark.parametrize("memory", [-0.1, 1.1, math.nan])
def test_memory_out_of_range_is_refused(memory: float):
    """A memory is a part."""
    with pytest.raises(InputError, match=r"memory is .*; allowed: 0 to 1"):
        forget(rate(1.0, 1.0), rate(1.0, 1.0), memory=memory, least=(0.0, 0.0))


def test_credible_interval_covers_as_often_as_it_says():
    """Of pages drawn from the prior, 90 % of the rates lie in the interval of 90 %."""
    rng = np.random.default_rng(3)
    n = 10_000
    true = rng.gamma(0.8, 1 / (20 * DAY), n)
    known = ChangeRate(np.full(n, 0.8), np.full(n, 20 * DAY))

    for _ in range(20):
        elapsed = rng.exponential(10 * DAY, n)
        is_changed = rng.random(n) < -np.expm1(-true * elapsed)
        known = observe(
            known,
            elapsed=elapsed,
            observation=np.where(is_changed, DIFFERENT, SAME).astype(np.int8),
        )
    low, high = credible_interval(known, 0.9)

    # Four standard errors of a share of .9 of 10,000 pages, and .005 for matching two moments.
    assert ((true >= low) & (true <= high)).mean() == pytest.approx(0.9, abs=4 * 0.003 + 0.005)


def test_credible_interval_of_a_known_distribution():
    """At shape 1 the rate is exponential."""
    low, high = credible_interval(rate(1.0, 10.0, "float32"), 0.5)

    assert low == pytest.approx(-math.log(0.75) / 10)
    assert high == pytest.approx(-math.log(0.25) / 10)


@pytest.mark.parametrize("level", [0.0, 1.0, math.nan])
def test_level_out_of_range_is_refused(level: float):
    """A level of 0 or 1 has no interval."""
    with pytest.raises(InputError, match=r"level is .*; allowed: above 0 and below 1"):
        credible_interval(rate(1.0, 1.0), level)
