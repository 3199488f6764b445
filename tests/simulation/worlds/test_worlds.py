"""Worlds: what their processes draw, and that a part is the same as in the whole."""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise

import numpy as np
import pytest

from recrawl.errors import InputError
from recrawl.simulation.worlds import World, with_importance, world
from recrawl.simulation.worlds.grammar import MIXES

DAY = 86_400.0
EVERY = [
    *MIXES,
    "always",
    "never+bulk:9d",
    "diurnal:1d",
    "poisson:3d+bulk:5d:0.5+signals:1:0.9:0.8+noisy:0.5",
]


def differing(first: World, second: World) -> list[str]:
    return [
        f.name
        for f in fields(World)
        if np.asarray(getattr(first, f.name)).tobytes()
        != np.asarray(getattr(second, f.name)).tobytes()
    ]


def drawn(spec: str, n: int = 5000, days: float = 100, **values: int) -> World:
    return world(spec, n, horizon=days * DAY, **values)


@pytest.mark.parametrize("spec", EVERY)
def test_a_part_is_the_same_as_in_the_whole(spec: str):
    """Drawn whole, or in 3 or 17 partitions, a world is equal to the last bit."""
    n = 2100
    whole = drawn(spec, n, 10, seed=4)

    for k in (1, 3, 17):
        edges = np.arange(k + 1) * n // k
        parts = [drawn(spec, n, 10, seed=4, rows=slice(low, high)) for low, high in pairwise(edges)]
        assert differing(World.concatenate(parts), whole) == []


@pytest.mark.parametrize("spec", EVERY)
def test_columns_fit_together(spec: str):
    """Changes and signals are sorted within each page and lie within the world."""
    made = drawn(spec, 500, 50)

    checked = World.of(made.horizon, made.n_changes, made.change_time)
    assert len(checked) == len(made) == 500
    World.of(made.horizon, np.diff(made.signal_start), made.signal_time)
    assert (made.importance >= 1).all()


def test_another_seed_is_another_world():
    """Seeds draw other changes and other importances."""
    names = differing(drawn("S1", 100, seed=1), drawn("S1", 100, seed=2))

    assert {"change_time", "importance", "true_rate"} <= set(names)


@pytest.mark.parametrize("spec", ["S8", "S9", "S10"])
def test_overlays_leave_the_changes_alone(spec: str):
    """Noise, dates and signals lie over the very changes of S1."""
    assert drawn(spec, 300, seed=1).change_time.tolist() == (
        drawn("S1", 300, seed=1).change_time.tolist()
    )


@pytest.mark.parametrize(
    "process", ["poisson", "periodic", "diurnal", "weekly", "switching", "noisy"]
)
def test_pages_change_at_their_rate(process: str):
    """A page with a mean gap of 4 days changes 25 times in 100 days, whatever the process."""
    made = drawn(f"{process}:4d", 5000, 98)

    # 122,500 changes: the standard error is 0.3 %, and four of it are 1.2 %.
    assert made.n_changes.mean() == pytest.approx(98 / 4, rel=0.012)
    assert made.true_rate == pytest.approx(1 / (4 * DAY))
    assert made.is_noisy.all() == (process == "noisy")


def test_fixed_periods_begin_at_the_start():
    """A page that changes each 31 days changes on days 31, 62 and 93, and not at the horizon."""
    assert (drawn("fixed:31d", 1).change_time / DAY).tolist() == [31, 62, 93]
    assert (drawn("fixed:50d", 1).change_time / DAY).tolist() == [50]


@pytest.mark.parametrize(("law", "median"), [("lognormal", 40), ("pareto", 120 / 2 ** (1 / 1.1))])
def test_rates_follow_their_law(law: str, median: float):
    """Half of the pages change less often than the median of the law, and none each hour."""
    rates = np.concatenate([drawn(f"poisson:{law}", 5000, 1, seed=s).true_rate for s in range(8)])

    # 400 hosts and 8 seeds share half of the variance: 40,000 pages, 3,200 hosts, 3 %.
    assert (rates * DAY < 1 / median).mean() == pytest.approx(0.5, abs=0.04)
    assert rates.max() * DAY <= 24


def test_gamma_rates_have_their_mean():
    """Rates of the gamma law are 0.15 a day on average."""
    rates = np.concatenate([drawn("poisson:gamma", 5000, 1, seed=s).true_rate for s in range(8)])

    assert rates.mean() * DAY == pytest.approx(0.15, rel=0.15)


def test_changes_follow_day_and_week():
    """Weekends bring few changes, and each page has its hours."""
    made = drawn("weekly:6h", 200, 70)

    day = (made.change_time // DAY % 7).astype(int)
    per_day = np.bincount(day, minlength=7) / np.array([1.28] * 5 + [0.3] * 2)
    page = np.repeat(np.arange(200), made.n_changes)
    turn = np.exp(2j * np.pi * made.change_time / DAY)
    swing = np.abs(np.bincount(page, turn.real) + 1j * np.bincount(page, turn.imag))
    assert per_day / per_day.mean() == pytest.approx(1, rel=0.05)
    assert (swing / made.n_changes).mean() == pytest.approx(0.45, abs=0.03)


def test_rates_switch_for_oracles_too():
    """The rate at an instant is that of the changes around it."""
    made = drawn("switching:lognormal", 2000, 400)

    later = made.rate_at(399.999 * DAY)
    assert (made.rate_at(0) == made.true_rate).all()
    assert (later == made.switch_rate[:, -1]).all()
    last = made.take(np.flatnonzero(made.switch_at[:, -1] < 300 * DAY))
    page = np.repeat(np.arange(len(last)), last.n_changes)
    n_last = np.bincount(page[last.change_time > last.switch_at[page, -1]], minlength=len(last))
    expected = last.switch_rate[:, -1] * (last.horizon - last.switch_at[:, -1])
    assert n_last.sum() == pytest.approx(expected.sum(), rel=0.02)


def test_mixes_keep_their_shares():
    """A fifth of S11 never changes, a tenth is noisy, 30 % have dates."""
    made = drawn("S11", 20_000, 1)

    # The standard error of a share of 20,000 is at most 0.35 %.
    assert (made.true_rate == 0).mean() == pytest.approx(0.2, abs=0.012)
    assert made.is_noisy.mean() == pytest.approx(0.1, abs=0.012)
    assert made.has_last_modified.mean() == pytest.approx(0.3, abs=0.014)


def test_signals_have_precision_and_recall():
    """80 % of changes are told half an hour later, and 90 % of signals are true."""
    made = drawn("poisson:5d+signals:1:0.9:0.8", 2000, 200)

    n = len(made.change_time)
    told = made.change_time + 1800
    page = np.repeat(np.arange(2000), np.diff(made.signal_start))
    of_change = np.repeat(np.arange(2000), made.n_changes)
    pairs = set(zip(page.tolist(), made.signal_time.tolist(), strict=True))
    n_told = sum(pair in pairs for pair in zip(of_change.tolist(), told.tolist(), strict=True))
    assert n_told / n == pytest.approx(0.8, abs=0.01)
    assert n_told / len(pairs) == pytest.approx(0.9, abs=0.01)
    assert made.signal_precision == pytest.approx(0.9)


def test_half_of_the_hosts_send_signals():
    """Hosts send or do not; the others' precision is unknown."""
    made = drawn("S10", 5000, 10)

    sends = np.isfinite(made.signal_precision)
    assert len(np.unique(made.host[sends])) == 200
    assert not np.intersect1d(made.host[sends], made.host[~sends]).size
    assert np.diff(made.signal_start)[~sends].sum() == 0


def test_edits_change_a_group_at_once():
    """Edits in bulk change half of a group's pages at one instant."""
    made = drawn("never+bulk:10d:0.5", 5000, 100)

    group = np.repeat(made.group, made.n_changes)
    edits, sizes = np.unique(np.stack([group, made.change_time]), axis=1, return_counts=True)
    assert sizes.mean() == pytest.approx(5000 / 400 / 2, rel=0.1)
    assert len(edits[0]) == pytest.approx(400 * 10, rel=0.07)
    assert made.n_changes.mean() == pytest.approx(made.true_rate[0] * made.horizon, rel=0.07)


def test_importances_are_equal_or_pareto():
    """A few pages matter much more than the rest, but none more than 200 times."""
    made = drawn("never", 20_000, 1)

    assert (made.importance > 4).mean() == pytest.approx(4**-1.5, abs=0.01)
    assert made.importance.max() == 200
    assert (with_importance(made, "equal").importance == 1).all()
    again = [with_importance(made, "pareto", seed=3).importance.tolist() for _ in range(2)]
    assert again[0] == again[1] != made.importance.tolist()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("poison:40d", "did you mean poisson"),
        ("zzz", "no change process"),
        ("never:3d", "takes no rate"),
        ("poisson:normal", "lognormal, pareto or a duration"),
        ("fixed:lognormal", "a duration"),
        ("fixed:0s", "not 0"),
        ("mix:0.5*never", "add up to 0.5"),
        ("mix:never", "no share"),
        ("mix:2*never", "not a share"),
        ("never+noisy:x", "not a share"),
        ("never+rain:1", "not an overlay"),
        ("never+signals:1:0.5", "not an overlay"),
        ("never+signals:1:0:0.5", "precision 0"),
    ],
)
def test_a_text_that_is_no_world_is_refused(spec: str, message: str):
    """The message says what is wrong and what is allowed."""
    with pytest.raises(InputError, match=message):
        drawn(spec, 1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n": 0}, "at least one page"),
        ({"horizon": 0.0}, "horizon"),
        ({"horizon": np.inf}, "horizon"),
        ({"seed": -1}, "seed"),
        ({"rows": slice(3, 3)}, "rows"),
        ({"rows": slice(0, 4, 2)}, "rows"),
        ({"importance": "huge"}, "importance"),
        ({"spec": "fixed:1ms", "horizon": 100 * DAY}, "would change about"),
    ],
    ids=str,
)
def test_numbers_out_of_range_are_refused(wrong: dict[str, object], message: str):
    """The message has the value."""
    good = {"spec": "never", "n": 5, "horizon": DAY}
    arguments = good | wrong
    with pytest.raises(InputError, match=message):
        world(arguments.pop("spec"), arguments.pop("n"), **arguments)


@pytest.mark.parametrize(
    ("arguments", "columns", "message"),
    [
        (([2], [1.0]), {}, "adds up"),
        (([2], [2.0, 1.0]), {}, "not sorted"),
        (([1], [10.0]), {}, "outside"),
        (([0], []), {"colour": 1}, "colour"),
    ],
)
def test_a_world_that_does_not_fit_together_is_refused(arguments, columns, message: str):
    """Counts, order, times and names are looked at."""
    with pytest.raises(InputError, match=message):
        World.of(10.0, *arguments, **columns)


def test_taken_pages_keep_all_that_is_theirs():
    """Rows taken in another order have their own changes and signals."""
    made = drawn("S10", 50, 50)

    taken = made.take(np.array([7, 3]))

    assert taken.importance.tolist() == made.importance[[7, 3]].tolist()
    for row, page in enumerate((7, 3)):
        for time, start in (("change_time", "change_start"), ("signal_time", "signal_start")):
            found = [
                getattr(w, time)[slice(*getattr(w, start)[i : i + 2])].tolist()
                for w, i in ((taken, row), (made, page))
            ]
            assert found[0] == found[1]
