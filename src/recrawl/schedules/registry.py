"""Schedules by name."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from recrawl.errors import NotFound
from recrawl.schedules.aronsson import Aronsson
from recrawl.schedules.fixed import Fixed
from recrawl.schedules.nutch import NutchAdaptive
from recrawl.schedules.nutch_mime import NutchMime
from recrawl.schedules.optimal import Optimal
from recrawl.schedules.stormcrawler import StormCrawlerAdaptive, StormCrawlerDefault

__all__ = ["SCHEDULES", "ScheduleClass", "schedule_class"]

ScheduleClass = (
    type[Fixed]
    | type[NutchAdaptive]
    | type[NutchMime]
    | type[StormCrawlerDefault]
    | type[StormCrawlerAdaptive]
    | type[Aronsson]
    | type[Optimal]
)

#: Every schedule, by the name that settings use.
SCHEDULES: Final[dict[str, ScheduleClass]] = {
    schedule.name: schedule
    for schedule in (
        Fixed,
        NutchAdaptive,
        NutchMime,
        StormCrawlerDefault,
        StormCrawlerAdaptive,
        Aronsson,
        Optimal,
    )
}


def schedule_class(name: str) -> ScheduleClass:
    """Return the class of the schedule with this name.

    Raises
    ------
    NotFound
        If there is none; the message names the nearest and all.

    Examples
    --------
    >>> schedule_class("fixed").__name__
    'Fixed'
    """
    if name not in SCHEDULES:
        nearest = get_close_matches(name, SCHEDULES, n=1)
        hint = f"did you mean {nearest[0]}? " if nearest else ""
        raise NotFound(
            f"no schedule is named {name!r}; {hint}there are: {', '.join(sorted(SCHEDULES))}",
            value=name,
        )
    return SCHEDULES[name]
