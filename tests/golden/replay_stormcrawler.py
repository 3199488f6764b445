"""Replays StormCrawler's schedulers, status updater, signature filter and statuses."""

from __future__ import annotations

import base64
from typing import Any

from recrawl.core.columns import NEVER
from recrawl.errors import InputError
from recrawl.interop.stormcrawler.instants import parse_instant, spell_instant
from recrawl.interop.stormcrawler.schedulers import (
    AdaptiveScheduler,
    DefaultScheduler,
    Scheduled,
    Scheduler,
)
from recrawl.interop.stormcrawler.signature import SignatureFilter
from recrawl.interop.stormcrawler.status import status_of_code
from recrawl.interop.stormcrawler.updater import StatusUpdater, Updated
from recrawl.schedules.stormcrawler_minutes import CrawlStatus

Line = dict[str, Any]

SAME = "same"
HASH_ORDER = "left out: order of a hash table"
TIME_ZONE = "left out: time zone other than UTC"

_MILLISECOND = 1_000_000
_PACKAGE = "org.apache.stormcrawler.persistence."


def verdict(line: Line, ours: object, recorded: object) -> str:
    return SAME if ours == recorded else f"{line.get('id')}: {ours} is not the recorded {recorded}"


def is_by_hash_order(line: Line) -> bool:
    """Return whether the order of Java's hash table decides what was recorded."""
    note = (line.get("note") or "").lower()
    told = "hashmap order" in note or "hash order" in note
    return line.get("custom_rules_matched", 0) > 1 or told


def exception_of(error: InputError) -> str:
    return error.message.partition(":")[0]


def short(exception: str) -> str:
    return exception.rpartition(".")[2]


def spelt(metadata: Line, now: str) -> Line:
    """Return recorded metadata with the present in place of its token."""
    at = parse_instant(now)
    # The token is what Java writes, which need not be how the line spells the present.
    tokens = {
        "@now": spell_instant(at),
        "@now_ms": spell_instant(at // _MILLISECOND * _MILLISECOND),
    }
    return {key: [tokens.get(v, v) for v in values] for key, values in metadata.items()}


def scheduler_of(line: Line, name: str) -> Scheduler:
    kind = {"schedule_default": DefaultScheduler, "schedule_adaptive": AdaptiveScheduler}[name]
    # The class was the last setting put in; it counts for the size of the table.
    return kind.of({**line["config"], "scheduler.class": name}, as_hash_map=True)


def replay_schedule(name: str, line: Line) -> str:
    result = line["result"]
    now = parse_instant(line["now"]) // _MILLISECOND
    try:
        scheduler = scheduler_of(line, name)
    except InputError as error:
        ours: Line = {"outcome": "init_exception", "exception": exception_of(error)}
        recorded = {"outcome": result["outcome"], "exception": short(result.get("exception", ""))}
        return verdict(line, ours, recorded)
    done = scheduler.schedule(CrawlStatus[line["status"]], line["metadata"], now)
    ours = outcome_of(done, now)
    recorded = dict(result)
    if "exception" in recorded:
        recorded["exception"] = short(recorded["exception"])
        message = recorded.pop("exception_message", "")
        if done.error is not None and not done.error.message.partition(": ")[2].startswith(message):
            return f"{line['id']}: {done.error.message} is not the recorded {message}"
    recorded["metadata_after"] = spelt(result["metadata_after"], line["now"])
    return verdict(line, ours, recorded)


def outcome_of(done: Scheduled, now: int) -> Line:
    if done.error is not None:
        outcome: Line = {"outcome": "exception", "exception": exception_of(done.error)}
    elif done.next_fetch_at == NEVER:
        outcome = {"outcome": "never"}
    else:
        outcome = {
            "outcome": "scheduled",
            "minutes": (done.next_fetch_at - now) // 60_000,
            "next_fetch_epoch_ms": done.next_fetch_at,
        }
    return outcome | {"metadata_after": done.metadata}


def replay_schedules(name: str, lines: list[Line]) -> list[str]:
    return [HASH_ORDER if is_by_hash_order(line) else replay_schedule(name, line) for line in lines]


def replay_default(lines: list[Line]) -> list[str]:
    return replay_schedules("schedule_default", lines)


def replay_adaptive(lines: list[Line]) -> list[str]:
    return replay_schedules("schedule_adaptive", lines)


def replay_updates(lines: list[Line]) -> list[str]:
    return [replay_update(line) for line in lines]


def replay_update(line: Line) -> str:
    if line.get("jvm_timezone", "UTC") != "UTC":
        return TIME_ZONE
    if is_by_hash_order(line):
        return HASH_ORDER
    try:
        updater = StatusUpdater.of(line["config"], as_hash_map=True)
    except InputError as error:
        return verdict(line, exception_of(error), short(line.get("prepare_exception", "")))
    if "prepare_exception" in line:
        return f"{line['id']}: no exception, where {line['prepare_exception']} was recorded"
    known: set[str] = set()
    ours, recorded = [], []
    for item, result in zip(line["tuples"], line["results"], strict=True):
        done = updater.update(
            CrawlStatus[item["status"]],
            item["metadata"],
            parse_instant(item["now"]),
            is_known=item["url"] in known,
        )
        fails = bool(line.get("store_throws")) and done.stored is not None
        if done.stored is not None and not fails:
            known.add(item["url"])
        ours.append([*events_of(done, item["url"], fails=fails), done.metadata])
        events = [event_as_ours(event, item["now"]) for event in result["events"]]
        recorded.append([*events, spelt(result["tuple_metadata_after"], item["now"])])
    return verdict(line, ours, recorded)


def event_as_ours(event: Line, now: str) -> Line:
    event = dict(event)
    if "metadata" in event:
        event["metadata"] = spelt(event["metadata"], now)
    if "exception" in event:
        event["exception"] = short(event["exception"])
    return event


def events_of(done: Updated, url: str, *, fails: bool) -> list[Line]:
    """Return what the original would have emitted, stored and acknowledged, in its order."""
    events: list[Line] = []
    if done.deleted is not None:
        told = {"url": url, "metadata": done.deleted}
        events.append({"event": "emit", "stream": "deletion", **told})
    if done.error is not None:
        return [*events, {"event": "exception", "exception": exception_of(done.error)}]
    if fails:
        return [*events, {"event": "fail"}]
    if done.stored is not None:
        stored = done.stored
        event = {"event": "store", "url": url, "status": stored.status.name}
        event |= {"metadata": stored.metadata, "next_fetch": "never"}
        if stored.next_fetch_at != NEVER:
            event["next_fetch"] = spell_instant(stored.next_fetch_at * _MILLISECOND)
            event["next_fetch_epoch_ms"] = stored.next_fetch_at
        events.append(event)
    return [*events, {"event": "ack"}]


def replay_signatures(lines: list[Line]) -> list[str]:
    return [replay_signature(line) for line in lines]


def replay_signature(line: Line) -> str:
    encoded = line["content_base64"]
    content = None if encoded is None else base64.b64decode(encoded)
    signer = SignatureFilter.of(line["params"])
    ours = signer.apply(line["url"], content, line["text"], line["metadata"])
    return verdict(line, {"metadata_after": ours}, line["result"])


def replay_statuses(lines: list[Line]) -> list[str]:
    return [
        verdict({"id": line["http_code"]}, status_of_code(line["http_code"]).name, line["status"])
        for line in lines
    ]


def replay_traces(lines: list[Line]) -> list[str]:
    return [replay_trace(line) for line in lines]


def replay_trace(line: Line) -> str:
    if is_by_hash_order(line):
        return HASH_ORDER
    is_updated = line["pipeline"] == "updater"
    config = {**line["config"], "scheduler.class": _PACKAGE + "AdaptiveScheduler"}
    scheduler = AdaptiveScheduler.of(config, as_hash_map=True)
    updater = StatusUpdater.of(config, as_hash_map=True) if is_updated else None
    signer = SignatureFilter(copy_key="signatureOld")
    metadata: Line = line["initial_metadata"]
    version = None
    for i, step in enumerate(line["steps"]):
        answers_304 = line["server_supports_conditional_get"] and "last-modified" in metadata
        if step["http"] == 304 and not (answers_304 and version is not None):
            return f"{line['id']}: step {i} cannot be a 304"
        metadata = {**metadata, "fetch.statusCode": [str(step["http"])]}
        if step["http"] == 200:
            version = step["version"]
            content = f"{line['url']}#v{version}".encode()
            metadata = signer.apply(line["url"], content, None, metadata)
        status = CrawlStatus[step.get("status", "FETCHED")]
        now = parse_instant(step["now"])
        ours: Line = {}
        if updater is None:
            done = scheduler.schedule(status, metadata, now // _MILLISECOND)
            metadata, next_fetch_at = done.metadata, done.next_fetch_at
        else:
            stored = updater.update(status, metadata, now).stored
            assert stored is not None
            metadata, next_fetch_at = stored.metadata, stored.next_fetch_at
            if stored.status is not status:
                ours["stored_status"] = stored.status.name
        ours["next"] = spell_instant(next_fetch_at * _MILLISECOND)
        for key in ("fetchInterval", "signatureChangeDate", "last-modified", "fetch.error.count"):
            if key in metadata:
                ours[key] = metadata[key][0]
        given = ("now", "http", "version", "status")
        recorded = {key: value for key, value in step.items() if key not in given}
        tokens = spelt({key: [value] for key, value in recorded.items()}, step["now"])
        if ours != {key: value for key, [value] in tokens.items()}:
            return f"{line['id']}: step {i}: {ours} is not the recorded {step}"
    return verdict(line, metadata, line["final_metadata"])


REPLAYERS = {
    "stormcrawler/schedule_adaptive": replay_adaptive,
    "stormcrawler/schedule_default": replay_default,
    "stormcrawler/signature": replay_signatures,
    "stormcrawler/status_http": replay_statuses,
    "stormcrawler/traces": replay_traces,
    "stormcrawler/updater": replay_updates,
}
