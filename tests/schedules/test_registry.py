"""Schedules are found by name."""

from __future__ import annotations

import pytest

from recrawl.errors import NotFound
from recrawl.schedules.registry import SCHEDULES, schedule_class


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_is_found_by_its_name(name: str) -> None:
    """Each name gives the class that has it, and its defaults are usable."""
    assert schedule_class(name)().name == name


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    """A misspelt name is answered with the one that was meant, and with all."""
    with pytest.raises(NotFound, match=r"'nutch-adaptiv'; did you mean nutch-adaptive\?.*fixed"):
        schedule_class("nutch-adaptiv")


def test_a_name_like_no_other_is_refused_with_all() -> None:
    """Where no name is near, all of them are named."""
    with pytest.raises(NotFound, match="'zzz'; there are: aronsson, fixed, nutch-adaptive"):
        schedule_class("zzz")
