"""Priors of hosts: what a fit finds again, how it falls back, and that totals add up."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.errors import InputError
from recrawl.estimation.gamma_poisson import ChangeRate
from recrawl.estimation.prior import RateTotals, fit, swap

DAY = 86_400.0
WIDE = (1e-3, 1e9)
GUESS = ChangeRate(np.array([0.5]), np.array([20 * DAY]))


def same_pages(n: int, shape: float, exposure: float) -> ChangeRate:
    return ChangeRate(np.full(n, shape), np.full(n, exposure))


@settings(deadline=None)
@given(shape=st.floats(1e-2, 1e4), exposure=st.floats(1.0, 1e9), n=st.integers(0, 20))
def test_pages_never_visited_keep_their_prior(shape: float, exposure: float, n: int):
    """Where all pages are as guessed the fit is the guess, so fitting daily does not drift."""
    guess = ChangeRate(np.array([shape]), np.array([exposure]))
    totals = RateTotals.of(same_pages(n, shape, exposure), np.arange(n) // 3)

    prior = fit(totals, guess=guess, shapes=WIDE)

    for found in (prior.overall, prior.hosts):
        assert found.shape == pytest.approx(np.full(found.shape.shape, shape), rel=1e-6)
        assert found.exposure == pytest.approx(np.full(found.shape.shape, exposure), rel=1e-6)


def test_the_fit_finds_the_distribution_of_the_rates():
    """Rates known surely and drawn from one Gamma distribution give it back."""
    rng = np.random.default_rng(1)
    rates = rng.gamma(0.6, 1 / (10 * DAY), 40_000)
    known = ChangeRate(np.full(rates.shape, 1e6), 1e6 / rates)

    prior = fit(RateTotals.of(known, np.zeros(rates.shape, np.int64)), guess=GUESS, shapes=WIDE)

    # The standard error of the shape is about 1.1 sqrt(.6 / 40,000).
    assert prior.overall.shape[0] == pytest.approx(0.6, abs=4 * 0.0045)
    assert prior.overall.mean[0] == pytest.approx(0.6 / (10 * DAY), rel=0.03)


def test_a_host_leans_on_all_pages_until_it_has_pages_of_its_own():
    """A fast host of one page is near the whole, one of a thousand is itself."""
    slow, fast = 1 / (100 * DAY), 1 / DAY
    host = np.concatenate([np.zeros(3000, np.int64), np.ones(1000, np.int64), [2]])
    rates = np.where(host == 0, slow, fast)
    known = ChangeRate(np.full(host.shape, 5.0), 5.0 / rates)

    prior = fit(RateTotals.of(known, host), guess=GUESS, shapes=WIDE)

    whole = prior.overall.mean[0]
    assert prior.hosts.mean[0] == pytest.approx(slow, rel=0.05 * whole / slow)
    assert prior.hosts.mean[1] == pytest.approx(fast, rel=0.01)
    assert prior.hosts.mean[2] == pytest.approx((5 * whole + fast) / 6, rel=1e-9)


def test_shapes_stay_within_their_limits():
    """A prior may be made no surer than asked, and keeps its mean rate."""
    totals = RateTotals.of(same_pages(50, 400.0, 400 * DAY), np.zeros(50, np.int64))

    narrow = fit(totals, guess=GUESS, pseudo_pages=0.01, shapes=(0.15, 0.9))
    sure = fit(totals, guess=GUESS, pseudo_pages=0.01, shapes=(1.0, 3.0))

    assert (narrow.overall.shape[0], sure.overall.shape[0]) == (0.9, 3.0)
    assert narrow.overall.mean == pytest.approx(sure.overall.mean)


def test_totals_of_parts_add_up():
    """Totals of two halves, hosts on both sides, are those of the whole."""
    rng = np.random.default_rng(2)
    known = ChangeRate(rng.uniform(0.1, 9, 500), rng.uniform(1, 1e6, 500))
    host = rng.integers(-5, 5, 500)
    half = ChangeRate(known.shape[:200], known.exposure[:200])
    rest = ChangeRate(known.shape[200:], known.exposure[200:])

    total = RateTotals.of(half, host[:200]) + RateTotals.of(rest, host[200:])

    whole = RateTotals.of(known, host)
    assert np.array_equal(total.host_key, whole.host_key)
    assert np.array_equal(total.n_pages, whole.n_pages)
    assert total.rate_sum == pytest.approx(whole.rate_sum)
    assert total.log_sum == pytest.approx(whole.log_sum)


def test_excluded_pages_do_not_count():
    """A page left out changes no total, and a host all of whose pages are left out is unknown."""
    known = ChangeRate(np.array([1.0, 9.0, 9.0]), np.array([5.0, 1e-3, 1e-3]))

    totals = RateTotals.of(known, np.array([4, 4, 8]), is_excluded=np.array([False, True, True]))

    assert (totals.host_key.tolist(), totals.n_pages.tolist()) == ([4], [1.0])
    assert totals.rate_sum.tolist() == [0.2]


def test_pages_find_the_prior_of_their_host():
    """A known host has its own prior, and others, below, between and above, the overall one."""
    known = ChangeRate(np.array([1.0, 1.0]), np.array([DAY, 9 * DAY]))
    prior = fit(RateTotals.of(known, np.array([10, 20])), guess=GUESS, shapes=WIDE)

    found = prior.of(np.array([20, 10, 0, 5, 15, 99]))

    hosts, overall = prior.hosts, prior.overall
    assert found.exposure[:2].tolist() == [hosts.exposure[1], hosts.exposure[0]]
    assert set(found.shape[2:]) == {overall.shape[0]}
    assert set(found.exposure[2:]) == {overall.exposure[0]}


def test_without_pages_there_is_the_guess():
    """No page known, every host has the guess."""
    totals = RateTotals.of(same_pages(0, 1.0, 1.0), np.array([], np.int64))

    prior = fit(totals, guess=GUESS, shapes=WIDE)

    found = prior.of(np.array([0, 7]))
    assert found.shape == pytest.approx([0.5, 0.5])
    assert found.exposure == pytest.approx([20 * DAY, 20 * DAY])


def test_swapping_priors_keeps_what_was_learned():
    """A page is moved by the difference of the priors, and never below the floors."""
    known = ChangeRate(np.array([3.0, 0.5], "float32"), np.array([500.0, 90.0], "float32"))
    old, new = same_pages(2, 0.5, 100.0), same_pages(2, 0.2, 20.0)

    after = swap(known, old=old, new=new, least=(0.25, 15.0))

    assert after.shape == pytest.approx([2.7, 0.25])
    assert after.exposure == pytest.approx([420.0, 15.0])
    assert after.shape.dtype == after.exposure.dtype == np.float32


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pseudo_pages": 0.0}, "pseudo_pages is 0; allowed: more than 0"),
        ({"pseudo_pages": math.nan}, "pseudo_pages is nan"),
        ({"shapes": (0.9, 0.1)}, r"shapes is \(0.9, 0.1\); allowed: two numbers above 0"),
        ({"shapes": (0.0, 1.0)}, "shapes is"),
    ],
    ids=["none", "unknown", "order", "zero"],
)
def test_settings_out_of_range_are_refused(settings: dict, message: str):
    """A setting out of range is named with what is allowed."""
    totals = RateTotals.of(same_pages(1, 1.0, 1.0), np.array([1]))

    with pytest.raises(InputError, match=message):
        fit(totals, guess=GUESS, **{"shapes": WIDE, **settings})
