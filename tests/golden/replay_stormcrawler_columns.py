"""Replays the calls of StormCrawler's schedulers on the schedules over columns as well.

The kinds are own ones, which a test asks for: ``stormcrawler-columns`` with the lines of the files
``schedule_default`` and ``schedule_adaptive``, ``stormcrawler-advance`` with those of ``traces``.
What columns cannot say is left out: custom intervals, a delay in the metadata, calls that end in an
exception, and dates that the status updater rounds.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import numpy as np

from recrawl.core.columns import NEVER
from recrawl.core.states import PageStates
from recrawl.core.update import UpdateRule, advance
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.interop.stormcrawler.instants import parse_instant
from recrawl.interop.stormcrawler.java import first_value, parse_int
from recrawl.interop.stormcrawler.schedulers import AdaptiveScheduler, DefaultScheduler
from recrawl.schedules.stormcrawler import StormCrawlerAdaptive, StormCrawlerDefault

Line = dict[str, Any]

SAME = "same"
LEFT_OUT = "left out: columns cannot say it"
OUTCOMES = {
    "FETCHED": Outcome.SUCCESS,
    "REDIRECTION": Outcome.REDIR_TEMP,
    "FETCH_ERROR": Outcome.RETRY,
    "ERROR": Outcome.GONE,
}


def can_be_said(line: Line) -> bool:
    return (
        line["status"] in OUTCOMES
        and line["result"]["outcome"] in ("scheduled", "never")
        and not any("=" in key for key in line["config"])
        and first_value(line["metadata"], "scheduler.delay.mins") is None
    )


def schedule_of(line: Line) -> StormCrawlerDefault | StormCrawlerAdaptive:
    base = DefaultScheduler.of(line["config"])
    waits = {
        "default_interval": base.default * 60.0,
        "retry_interval": base.fetch_error * 60.0,
        "error_interval": base.error * 60.0,
    }
    if line["id"].startswith("schedule_default"):
        return StormCrawlerDefault(**waits, exact=True)
    scheduler = AdaptiveScheduler.of(line["config"])
    return StormCrawlerAdaptive(
        **waits,
        min_interval=scheduler.least * 60.0,
        max_interval=scheduler.most * 60.0,
        inc_rate=scheduler.inc_rate,
        dec_rate=scheduler.dec_rate,
        exact=True,
    )


def visit_of(line: Line) -> tuple[Outcome, Observation]:
    outcome, metadata = OUTCOMES[line["status"]], line["metadata"]
    if outcome is not Outcome.SUCCESS:
        return outcome, Observation.UNKNOWN
    if first_value(metadata, "fetch.statusCode") == "304":
        return Outcome.NOTMODIFIED, Observation.UNCHANGED
    new, old = first_value(metadata, "signature"), first_value(metadata, "signatureOld")
    if new is None or old is None:
        return outcome, Observation.UNKNOWN
    return outcome, Observation.UNCHANGED if new == old else Observation.CHANGED


def interval_of(line: Line, schedule: StormCrawlerDefault | StormCrawlerAdaptive) -> float:
    """Return the interval before; without one the original starts from the default."""
    _, observation = visit_of(line)
    stored = first_value(line["metadata"], "fetchInterval")
    if observation is Observation.UNKNOWN or isinstance(schedule, StormCrawlerDefault):
        return np.nan
    return schedule.default_interval if stored is None else 60.0 * parse_int(stored, what="")


def replay(lines: list[Line]) -> list[str]:
    groups: dict[str, list[int]] = defaultdict(list)
    verdicts = [LEFT_OUT] * len(lines)
    for i, line in enumerate(lines):
        if can_be_said(line):
            groups[json.dumps([line["config"], line["id"].partition("-")[0]])].append(i)
    for index in groups.values():
        for i, found in zip(index, replay_batch([lines[i] for i in index]), strict=True):
            verdicts[i] = found
    return verdicts


def replay_batch(lines: list[Line]) -> list[str]:
    schedule = schedule_of(lines[0])
    seen = [visit_of(line) for line in lines]
    states = PageStates.of(
        len(lines), status=2, interval=[interval_of(line, schedule) for line in lines]
    )
    visits = Visits.of(
        len(lines),
        fetched_at=[parse_instant(line["now"]) // 1_000_000 for line in lines],
        outcome=[outcome for outcome, _ in seen],
        observation=[observation for _, observation in seen],
    )
    timing = schedule.after(states, visits)
    return [
        verdict(line, interval, due)
        for line, interval, due in zip(
            lines, timing.interval.tolist(), timing.next_fetch_at.tolist(), strict=True
        )
    ]


def verdict(line: Line, interval: float, due: int) -> str:
    result = line["result"]
    recorded = result.get("next_fetch_epoch_ms", NEVER)
    kept = first_value(result["metadata_after"], "fetchInterval")
    is_adapted = line["status"] == "FETCHED" and line["id"].startswith("schedule_adaptive")
    if due == recorded and (not is_adapted or due == NEVER or interval == 60.0 * int(kept)):
        return SAME
    return f"{line['id']}: {interval / 60} min, due {due}, is not the recorded {result}"


def replay_traces(lines: list[Line]) -> list[str]:
    return [replay_trace(line) if line["pipeline"] == "scheduler" else LEFT_OUT for line in lines]


def replay_trace(line: Line) -> str:
    """Replay a trace by the whole step over columns, which forgets no signature."""
    schedule = schedule_of(line)
    # Neither Nutch's limit of retries nor its forced refetch is part of the original here.
    rule = UpdateRule(exact=True, retry_max=1_000_000, interval_max=np.inf)
    states = PageStates.of(1)
    states = states.with_columns({"interval": schedule.first(states, 0).interval})
    for i, step in enumerate(line["steps"]):
        outcome = OUTCOMES[step.get("status", "FETCHED")]
        if step["http"] == 304:
            outcome = Outcome.NOTMODIFIED
        version = step["version"] + 1 if outcome is Outcome.SUCCESS else 0
        visits = Visits.of(
            1,
            fetched_at=parse_instant(step["now"]) // 1_000_000,
            outcome=outcome,
            signature=version.to_bytes(16, "big"),
            signature_scheme=int(version > 0),
        )
        states = advance(states, visits, schedule=schedule, rule=rule).states
        if states.next_fetch_at[0] != parse_instant(step["next"]) // 1_000_000:
            before = [s.get("status") or s["http"] for s in line["steps"][max(0, i - 2) : i + 1]]
            return f"{line['id']}: step {i} after {before}"
    return SAME


REPLAYERS = {"stormcrawler-columns": replay, "stormcrawler-advance": replay_traces}
