"""Replays reductions of the records of one page by Nutch's CrawlDbReducer."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import numpy as np

from recrawl.core.numeric import parse_float
from recrawl.core.update import UpdateRule
from recrawl.interop.nutch.datum import CrawlDatum
from recrawl.interop.nutch.reducer import Reduced, Reducer
from recrawl.schedules.fixed import Fixed
from recrawl.schedules.nutch import NutchAdaptive

Line = dict[str, Any]

SAME = "same"
URL = "http://www.example.com/page"
#: Each so many lines are replayed a second time, alone.
SAMPLE = 17

_DB = "db.fetch."
_ADAPTIVE = "db.fetch.schedule.adaptive."


def float32(recorded: dict[str, Any]) -> np.float32:
    return np.int32(recorded["bits"]).view(np.float32)


def bits(value: object) -> int:
    return int(np.float32(value).view(np.int32))


def reducer_of(config: dict[str, str]) -> Reducer:
    """Return the reducer with these settings, and the defaults of the code for others."""
    most = int(config.get(_DB + "interval.max", "0"))
    schedule: Fixed | NutchAdaptive = Fixed(
        default_interval=int(config.get(_DB + "interval.default", "0")),
        interval_max=most,
        exact=True,
    )
    if config.get(_DB + "schedule.class", "").endswith("AdaptiveFetchSchedule"):
        schedule = NutchAdaptive(
            default_interval=schedule.default_interval,
            interval_max=most,
            inc_rate=float(parse_float(config.get(_ADAPTIVE + "inc_rate", "0.2"))),
            dec_rate=float(parse_float(config.get(_ADAPTIVE + "dec_rate", "0.2"))),
            min_interval=float(parse_float(config.get(_ADAPTIVE + "min_interval", "60"))),
            max_interval=float(parse_float(config.get(_ADAPTIVE + "max_interval", "31536000"))),
            sync_delta=config.get(_ADAPTIVE + "sync_delta", "true") == "true",
            sync_delta_rate=float(parse_float(config.get(_ADAPTIVE + "sync_delta_rate", "0.2"))),
            exact=True,
        )
    rule = UpdateRule(
        retry_max=int(config.get(_DB + "retry.max", "3")), exact=True, interval_max=most
    )
    return Reducer(
        schedule=schedule,
        rule=rule,
        additions_allowed=config.get("db.update.additions.allowed", "true") == "true",
        max_inlinks=int(config.get("db.update.max.inlinks", "10000")),
    )


def datum_of(recorded: Line) -> CrawlDatum:
    signature = recorded["signature"]
    return CrawlDatum(
        status=recorded["status"],
        fetch_time=recorded["fetch_time"],
        modified_time=recorded["modified_time"],
        interval=recorded["interval"],
        retries=recorded["retries"],
        score=float32(recorded["score"]),
        signature=None if signature is None else bytes.fromhex(signature),
        metadata={
            name: float32(item["value"])
            if item["type"] == "float"
            else (item["type"], item["value"])
            for name, item in recorded["metadata"].items()
        },
    )


def plain(datum: CrawlDatum) -> Line:
    """Return a record in a form that compares floats by their bits."""
    return {
        "status": datum.status,
        "fetch_time": datum.fetch_time,
        "modified_time": datum.modified_time,
        "interval": datum.interval,
        "retries": datum.retries,
        "score": bits(datum.score),
        "signature": datum.signature,
        "metadata": {
            name: bits(value) if isinstance(value, np.float32) else value
            for name, value in datum.metadata.items()
        },
    }


def replay_reducer(lines: list[Line]) -> list[str]:
    """Replay reductions, those of equal settings in one call."""
    groups: dict[str, list[int]] = defaultdict(list)
    for i, line in enumerate(lines):
        groups[json.dumps([line["config"], line["now"]], sort_keys=True)].append(i)
    verdicts = [SAME] * len(lines)
    for index in groups.values():
        for i, found in zip(index, _replay([lines[i] for i in index]), strict=True):
            verdicts[i] = found
    for i in range(0, len(lines), SAMPLE):
        [alone] = _replay([lines[i]])
        if alone != verdicts[i]:
            verdicts[i] = f"{lines[i]['id']}: alone {alone}, in a batch {verdicts[i]}"
    return verdicts


def _replay(lines: list[Line]) -> list[str]:
    reducer = reducer_of(lines[0]["config"])
    pages = [(URL, [datum_of(value) for value in line["values"]]) for line in lines]
    # A line without a clock value did not need one: then any will do.
    reduced = reducer.reduce(pages, now=lines[0]["now"] or -1)
    return [_compare(line, ours) for line, ours in zip(lines, reduced, strict=True)]


def _compare(line: Line, ours: Reduced) -> str:
    written = [] if ours.written is None else [plain(ours.written)]
    error = None if ours.error is None else f"RuntimeException: {ours.error.message}"
    scores = ours.inlink_scores
    told = [written, error, ours.is_initial, ours.is_orphaned, ours.is_updated]
    told.append(None if scores is None else [bits(score) for score in scores])
    scoring = line["scoring"]
    recorded = [
        [plain(datum_of(datum)) for datum in line["written"]],
        line["exception"],
        scoring["initial_called"],
        scoring["orphaned_called"],
        scoring["update_called"],
        None
        if scoring["inlink_scores"] is None
        else [bits(score) for score in scoring["inlink_scores"]],
    ]
    return SAME if told == recorded else f"{line['id']}: {told} is not the recorded {recorded}"


REPLAYERS = {"nutch/reducer": replay_reducer}
