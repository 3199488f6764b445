"""Schedules by name, with settings as text."""

from __future__ import annotations

import pytest

from recrawl.errors import InputError, NotFound
from recrawl.planning.planner import Planner
from recrawl.schedules.fixed import Fixed
from recrawl.schedules.nutch import NutchAdaptive
from recrawl.schedules.registry import SCHEDULES
from recrawl.simulation.baselines import BASELINES
from recrawl.simulation.presets import PRESETS, schedule_for, schedule_names
from recrawl.simulation.worlds import World

WORLD = World.of(864_000.0, [1, 0], [5.0])


@pytest.mark.parametrize("name", schedule_names())
def test_every_name_gives_a_schedule(name: str):
    """Each schedule, preset and baseline can be made and knows what to do with new pages."""
    made = schedule_for(name, WORLD)

    assert hasattr(made.schedule if isinstance(made, Planner) else made, "after")


def test_names_are_those_of_schedules_presets_and_baselines():
    """No name means two things, and presets stand on schedules that there are."""
    assert not set(PRESETS) & set(SCHEDULES)
    assert not set(BASELINES) & (set(SCHEDULES) | set(PRESETS))
    assert {base for base, _ in PRESETS.values()} <= set(SCHEDULES)


def test_shipped_and_code_settings_of_nutch_differ_in_the_rates():
    """The presets are the settings of nutch-default.xml, and those that its code falls back to."""
    shipped, code = schedule_for("nutch-shipped", WORLD), schedule_for("nutch-code", WORLD)

    rates = [(s.inc_rate, s.dec_rate, s.sync_delta_rate) for s in (shipped, code)]
    assert rates == [(0.4, 0.2, 0.3), (0.2, 0.2, 0.2)]


def test_settings_are_read_by_the_type_of_their_default():
    """Numbers, durations and truth values follow the name."""
    schedule = schedule_for("nutch-tuned:inc_rate=0.2,min_interval=12h,sync_delta=true", WORLD)

    assert schedule == NutchAdaptive(
        inc_rate=0.2, dec_rate=0.4, min_interval=43_200.0, max_interval=2_592_000.0
    )


@pytest.mark.parametrize(
    ("text", "interval"),
    [("nutch-tuned", 20.0), ("nutch-tuned:default_interval=5", 5.0), ("nutch-shipped", 2_592_000)],
)
def test_tuned_schedules_start_at_the_interval_of_the_budget(text: str, interval: float):
    """Two pages and a fetch each ten seconds make twenty, unless the interval is given."""
    assert schedule_for(text, WORLD, budget=0.1).default_interval == interval


def test_exact_mode_is_that_of_the_schedule():
    """Exact is handed on to schedules that have it."""
    assert schedule_for("fixed", WORLD, exact=True) == Fixed(exact=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fixed:speed=1", "fixed has no setting 'speed'"),
        ("nutch-adaptive:hosts=1", "'hosts' that a text can give; there are: default_interval"),
        ("nutch-adaptive:sync_delta=1", "sync_delta is '1': write true or false"),
        ("nutch-adaptive:inc_rate=x", "inc_rate is 'x': write a number, or a duration"),
        ("uniform:speed=1", "uniform has neither settings nor an exact mode"),
    ],
    ids=["unknown", "not text", "truth", "number", "baseline"],
)
def test_settings_that_cannot_be_are_refused(text: str, message: str):
    """A setting that is not there or cannot be read is named."""
    with pytest.raises(InputError, match=message):
        schedule_for(text, WORLD)


def test_what_has_no_original_has_no_exact_mode():
    """No program is the original of a baseline, nor of the schedule that learns."""
    with pytest.raises(InputError, match="azar has neither settings nor an exact mode"):
        schedule_for("azar", WORLD, exact=True)
    with pytest.raises(InputError, match="optimal has no exact mode"):
        schedule_for("optimal", WORLD, exact=True)


@pytest.mark.parametrize(
    ("text", "hint"), [("uniforn", "did you mean uniform"), ("zzzz", "'zzzz'; there are: ")]
)
def test_an_unknown_name_is_refused(text: str, hint: str):
    """The nearest name is offered where there is one, and all are listed."""
    with pytest.raises(NotFound, match=hint):
        schedule_for(text, WORLD)
