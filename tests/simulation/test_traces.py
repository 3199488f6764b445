"""Worlds from real change histories."""

from __future__ import annotations

import math
from typing import Any

import pytest

from recrawl.errors import InputError
from recrawl.simulation.traces import parse_history, world_of_traces

RECORD: dict[str, Any] = {
    "group": 7, "first": 100, "last": 200, "end": "alive", "changes": [150, 120, 150],
}  # fmt: skip


def history(**values: Any):
    return parse_history(RECORD | values)


def test_a_window_keeps_the_pages_that_were_there_throughout():
    """Times count from the window's beginning; the changes before it are left out."""
    pages = [
        history(),
        history(first=160, group=3),
        history(last=190, end="deleted"),
        history(group=3, end="deleted", changes=[]),
    ]

    made = world_of_traces(pages, window=60)

    assert made.horizon == 60
    assert made.change_time.tolist() == [10]
    assert made.change_start.tolist() == [0, 1, 1]
    assert made.group.tolist() == made.host.tolist() == [1, 0]
    assert made.true_rate.tolist() == [1 / 60, 0]
    assert made.born_at.tolist() == [-40, -40]
    assert made.gone_at.tolist() == [math.inf, math.inf]


def test_without_a_window_pages_come_and_go():
    """The world is all of the time that any page was watched."""
    made = world_of_traces([history(), history(first=110, last=180, end="deleted")])

    assert made.horizon == 100
    assert made.change_time.tolist() == [20, 50, 20, 50]
    assert made.born_at.tolist() == [0, 10]
    assert made.gone_at.tolist() == [math.inf, 80]
    assert made.true_rate.tolist() == [2 / 100, 2 / 70]


@pytest.mark.parametrize(
    ("pages", "window", "message"),
    [
        ([], None, "no histories"),
        ([history()], 101, "none of 1 pages"),
        ([history()], 0, "window"),
        ([history(first=200)], None, "where they begin"),
    ],
    ids=["empty", "too long", "nothing", "no time"],
)
def test_no_world_can_be_made(pages: list[Any], window: float | None, message: str):
    """The message says why."""
    with pytest.raises(InputError, match=message):
        world_of_traces(pages, window=window)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"group": "a"}, "group"),
        ({"end": "lost"}, "alive nor deleted"),
        ({"first": "x"}, "first is not a time"),
        ({"last": -1}, "last is not a time"),
        ({"first": 300}, "later than last"),
        ({"changes": 3}, "not a list"),
        ({"changes": [True]}, "a change is not a time"),
        ({"changes": [math.nan]}, "a change is not a time"),
    ],
    ids=str,
)
def test_a_bad_field_is_named(wrong: dict[str, Any], message: str):
    """The message names the field and the value."""
    with pytest.raises(InputError, match=message):
        history(**wrong)


def test_a_missing_field_is_named():
    """All fields are asked for by name."""
    with pytest.raises(InputError, match="'last'"):
        parse_history({name: value for name, value in RECORD.items() if name != "last"})
