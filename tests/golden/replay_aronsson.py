"""Replays the table of Aronsson's message: a page that is updated every 30 days."""

from __future__ import annotations

import math
from typing import Any

from recrawl.core.states import PageStates
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.schedules.aronsson import Aronsson

Line = dict[str, Any]

SAME = "same"
DAY = 86_400.0
PERIOD = 30


def one_decimal(days: float) -> float:
    """Return the number as the message prints it; 5.15 is 5.2 there, however it is held."""
    return math.floor(days * 10 + 0.5 + 1e-9) / 10


def replay(lines: list[Line]) -> list[str]:
    """Replay the rows; each printed row starts from the rounded figures of the one before."""
    # The table leaves the constant out, as its figures say.
    schedule = Aronsson(constant=0, exact=True)
    is_updated = [line["updated"] for line in lines]
    states = PageStates.of(
        len(lines), interval=[line["interval_before_days"] * DAY for line in lines]
    )
    visits = Visits.of(
        len(lines),
        fetched_at=[round(line["fetched_on_day"] * DAY * 1000) for line in lines],
        outcome=Outcome.SUCCESS,
        observation=[Observation.CHANGED if u else Observation.UNCHANGED for u in is_updated],
    )
    timing = schedule.after(states, visits)
    return [
        _verdict(line, before, interval / DAY, due / 1000 / DAY, lines[i + 1 : i + 2])
        for i, (line, before, interval, due) in enumerate(
            zip(lines, [None, *lines], timing.interval, timing.next_fetch_at, strict=False)
        )
    ]


def _verdict(
    line: Line, before: Line | None, interval: float, due: float, after: list[Line]
) -> str:
    day = line["fetched_on_day"]
    last = before["fetched_on_day"] if before else -1.0
    is_updated = math.floor(day / PERIOD) > math.floor(last / PERIOD)
    after_days = one_decimal(interval)
    ours = {
        **line,
        "updated": is_updated,
        "updated_days_ago": one_decimal(day % PERIOD) if is_updated else None,
        "step_days": round(after_days - line["interval_before_days"], 1),
        "percent": -50 if is_updated else 20,
        "interval_after_days": after_days,
    }
    if ours != line:
        return f"day {day}: {ours} is not the printed {line}"
    # The next fetch is where the next row stands, but for what its rounding moved.
    if after and abs(due - after[0]["fetched_on_day"]) > 0.05 + 1e-9:
        return f"day {day}: the next fetch is on day {due}, not {after[0]['fetched_on_day']}"
    return SAME


REPLAYERS = {"aronsson": replay}
