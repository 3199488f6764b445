"""Replays calls of Nutch's schedules, and of what is around them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from recrawl.core.columns import NO_KEY, NO_TIME
from recrawl.core.document import mime_key
from recrawl.core.states import PageStates, PageStatus
from recrawl.core.timing import Timing
from recrawl.core.update import UpdateRule, force_refetch, merge
from recrawl.core.url import host_key
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.errors import InputError, UrlError
from recrawl.interop.nutch.datum import fixed_interval_of
from recrawl.schedules import lifecycle
from recrawl.schedules.fixed import Fixed
from recrawl.schedules.nutch import NutchAdaptive
from recrawl.schedules.nutch_hosts import HostIntervals, parse_hosts, uri_host
from recrawl.schedules.nutch_mime import NutchMime
from recrawl.schedules.nutch_mime_file import MimeRates, content_type_mime, parse_mimes

Line = dict[str, Any]
Schedule = Fixed | NutchAdaptive

SAME = "same"
EXACT = UpdateRule(exact=True)
#: Each so many lines are replayed a second time, one row at a time.
SAMPLE = 17


def float32(recorded: dict[str, Any]) -> np.float32:
    return np.int32(recorded["bits"]).view(np.float32)


def same_bits(ours: float, recorded: dict[str, Any]) -> bool:
    return bool(np.float32(ours).view(np.int32) == np.int32(recorded["bits"]))


def verdict(line: Line, ours: object, recorded: object) -> str:
    return SAME if ours == recorded else f"{line['id']}: {ours} is not the recorded {recorded}"


def schedule_of(line: Line) -> Schedule:
    effective = line["effective"]
    default, most = effective["default_interval"], effective["interval_max"]
    if "inc_rate" not in effective:
        return Fixed(default_interval=default, interval_max=most, exact=True)
    low, high = float32(effective["min_interval"]), float32(effective["max_interval"])
    hosts = None
    if line.get("host_file") is not None:
        parsed = parse_hosts(line["host_file"], min_interval=low, max_interval=high)
        hosts = HostIntervals.of(parsed.intervals)
    adaptive = {
        "default_interval": default,
        "interval_max": most,
        "inc_rate": float(float32(effective["inc_rate"])),
        "dec_rate": float(float32(effective["dec_rate"])),
        "min_interval": float(low),
        "max_interval": float(high),
        "sync_delta": effective["sync_delta"],
        "sync_delta_rate": effective["sync_delta_rate_double"],
        "hosts": hosts,
        "exact": True,
    }
    if line.get("mime_file") is not None:
        mimes = MimeRates.of(parse_mimes(line["mime_file"], exact=True).rates)
        return NutchMime(**adaptive, mimes=mimes)
    return NutchAdaptive(**adaptive)


def settings_of(line: Line) -> str:
    kept = ("effective", "host_file", "mime_file", "schedule")
    return json.dumps([line.get(name) for name in kept])


def metadata_of(datum: Line) -> dict[str, object]:
    return {
        name: float32(item["value"]) if item["type"] == "float" else (item["type"], item["value"])
        for name, item in datum["metadata"].items()
    }


def host_key_of(url: str) -> int:
    try:
        host = uri_host(url)
    except UrlError:
        return NO_KEY
    return NO_KEY if host is None else host_key(host)


def mime_key_of(datum: Line) -> int:
    """Return the key of a record's MIME type; what is no text is looked up as it is spelt."""
    item = datum["metadata"].get("Content-Type")
    return NO_KEY if item is None else mime_key(content_type_mime(str(item["value"])))


def in_batches(
    lines: list[Line],
    group_of: Callable[[Line], str],
    replay: Callable[[list[Line]], list[str]],
) -> list[str]:
    """Replay lines of equal settings in one call, and some of them one by one as well."""
    groups: dict[str, list[int]] = defaultdict(list)
    for i, line in enumerate(lines):
        groups[group_of(line)].append(i)
    verdicts = [SAME] * len(lines)
    for index in groups.values():
        batch = [lines[i] for i in index]
        for i, found in zip(index, replay(batch), strict=True):
            verdicts[i] = found
    for i in range(0, len(lines), SAMPLE):
        [alone] = replay([lines[i]])
        if alone != verdicts[i]:
            verdicts[i] = f"{lines[i]['id']}: alone {alone}, in a batch {verdicts[i]}"
    return verdicts


def replay_calls(lines: list[Line]) -> list[str]:
    """Replay setFetchSchedule."""
    return in_batches(lines, settings_of, _replay_calls)


def _replay_calls(lines: list[Line]) -> list[str]:
    schedule = schedule_of(lines[0])
    fixed, errors = [], []
    for line in lines:
        try:
            fixed.append(fixed_interval_of(metadata_of(line["datum"])))
            errors.append(None)
        except InputError:
            fixed.append(np.float32(np.nan))
            errors.append({"exception": "ClassCastException"})
    states = _states([line["datum"] for line in lines]).with_columns(
        {
            "fixed_interval": np.array(fixed),
            "host_key": np.array([host_key_of(line["url"]) for line in lines]),
            "mime_key": np.array([mime_key_of(line["datum"]) for line in lines]),
        }
    )
    visits = Visits.of(
        len(lines),
        fetched_at=[line["args"]["fetch_time"] for line in lines],
        outcome=Outcome.SUCCESS,
        observation=[line["args"]["state"] for line in lines],
        modified_at=[line["args"]["modified_time"] for line in lines],
    )
    timing = schedule.after(states, visits)
    retries = merge(states, visits, EXACT).retries
    ours = _outs(timing, retries, [line["datum"]["status"] for line in lines])
    if isinstance(schedule, Fixed):
        errors = [None] * len(lines)
    return [
        verdict(line, error or out, line["out"])
        for line, error, out in zip(lines, errors, ours, strict=True)
    ]


def _states(datums: list[Line]) -> PageStates:
    return PageStates.of(
        len(datums),
        interval=[datum["interval"] for datum in datums],
        retries=[datum["retries"] for datum in datums],
        next_fetch_at=[datum["fetch_time"] for datum in datums],
        modified_at=[datum["modified_time"] for datum in datums],
    )


def _outs(timing: Timing, retries: Iterable[int], status: Iterable[int]) -> list[Line]:
    return [
        {
            "interval": int(interval),
            "fetch_time": int(due),
            "modified_time": int(modified),
            "retries": int(count),
            "status": code,
        }
        for interval, due, modified, count, code in zip(
            timing.interval,
            timing.next_fetch_at,
            timing.modified_at,
            retries,
            status,
            strict=True,
        )
    ]


def replay_hosts(lines: list[Line]) -> list[str]:
    """Replay the reading of files of intervals by host, and look-ups in them."""
    return [_replay_hosts(line) for line in lines]


def _replay_hosts(line: Line) -> str:
    low, high = float32(line["min_interval"]), float32(line["max_interval"])
    parsed = parse_hosts(line["host_file"], min_interval=low, max_interval=high)
    told = [problem.partition(":")[0] for problem in parsed.problems]
    logged = [
        "line " + log["message"].partition(" on line ")[2].split(" ")[0] for log in line["logs"]
    ]
    if told != logged:
        return f"{line['id']}: reported {told}, not {logged}"
    if parsed.intervals.keys() != line["host_parsed"].keys():
        return f"{line['id']}: hosts {sorted(parsed.intervals)}"
    for host, bounds in line["host_parsed"].items():
        least, greatest = parsed.intervals[host]
        if not (same_bits(least, bounds["min"]) and same_bits(greatest, bounds["max"])):
            return f"{line['id']}: {host} {least} {greatest} is not {bounds}"
    table = HostIntervals.of(parsed.intervals)
    for lookup in line["lookups"]:
        try:
            host = uri_host(lookup["url"])
        except UrlError:
            host = "URISyntaxException"
        if host != lookup["host_name"]:
            return f"{line['id']}: host {host} of {lookup}"
        least, greatest = table.lookup(np.array([host_key_of(lookup["url"])]), low, high)
        for ours, recorded, default in (
            (least[0], lookup["custom_min"], line["min_interval"]),
            (greatest[0], lookup["custom_max"], line["max_interval"]),
        ):
            if not same_bits(ours, recorded or default):
                return f"{line['id']}: {ours} of {lookup}"
    return SAME


def replay_mime(lines: list[Line]) -> list[str]:
    """Replay calls of the schedule by MIME type, and the settings that it cannot start with."""
    calls = [line for line in lines if "setconf_exception" not in line]
    called = dict(zip([line["id"] for line in calls], replay_calls(calls), strict=True))
    return [
        next(
            (found for found in (_mime_file_verdict(line), called.get(line["id"], SAME))
             if found != SAME),
            SAME,
        )
        for line in lines
    ]  # fmt: skip


def _mime_file_verdict(line: Line) -> str:
    """Compare how the file of MIME types is read, and the rates that a page has by it."""
    error, told, file = None, [], None
    if line["mime_file"] is None:
        # There is nothing to read: whoever names a file that is not there hears of it at once.
        error = "NullPointerException"
    else:
        try:
            file = parse_mimes(line["mime_file"], exact=True)
            told = [int(p.removeprefix("line ").partition(":")[0]) for p in file.problems]
        except InputError:
            error = "NumberFormatException"
    if error != line.get("setconf_exception"):
        return f"{line['id']}: {error} is not {line.get('setconf_exception')}"
    if file is None:
        return SAME
    texts = line["mime_file"].splitlines()
    ours = [texts[number - 1] for number in told]
    logged = [
        log["message"].removeprefix("Invalid configuration line in: ")
        for log in line["setconf_logs"]
        if log["level"] == "WARN"
    ]
    rates = line["rates_after"]
    inc, dec = (float32(line["effective"][name]) for name in ("inc_rate", "dec_rate"))
    item = line["datum"]["metadata"].get("Content-Type")
    if item is not None:
        inc, dec = file.rates.get(content_type_mime(str(item["value"])), (inc, dec))
    is_same = same_bits(inc, rates["inc_rate"]) and same_bits(dec, rates["dec_rate"])
    return verdict(line, [ours, is_same], [logged, True])


def replay_lifecycle(lines: list[Line]) -> list[str]:
    """Replay what the schedules do besides setFetchSchedule."""
    return in_batches(
        lines,
        lambda line: json.dumps(
            [
                line["effective"],
                line["method"],
                line["schedule"],
                line.get("now"),
                line["args"].get("cur_time"),
            ]
        ),
        _replay_lifecycle,
    )


def _replay_lifecycle(lines: list[Line]) -> list[str]:
    effective = lines[0]["effective"]
    kind = Fixed if lines[0]["schedule"] == "DefaultFetchSchedule" else NutchAdaptive
    schedule = kind(
        default_interval=effective["default_interval"],
        interval_max=effective["interval_max"],
        exact=True,
    )
    datums = [line["datum"] for line in lines]
    states = _states(datums).with_columns(
        {
            "status": np.array([datum["status"] for datum in datums]),
            "signature": np.frombuffer(
                b"".join(bytes.fromhex(d["signature"] or "00" * 16) for d in datums), "V16"
            ),
            "signature_scheme": np.array([datum["signature"] is not None for datum in datums]),
        }
    )
    replay = _METHODS[lines[0]["method"]]
    after, returned = replay(schedule, states, lines)
    verdicts = []
    for line, row, value in zip(lines, after.rows(), returned, strict=True):
        ours = line["datum"] | {
            "status": row.status,
            "interval": int(row.interval),
            "fetch_time": row.next_fetch_at,
            "modified_time": 0 if row.modified_at == NO_TIME else row.modified_at,
            "retries": row.retries,
            "signature": row.signature.hex() if row.signature_scheme else None,
        }
        recorded = line["out"] | {"status_name": line["datum"]["status_name"]}
        verdicts.append(verdict(line, [ours, value], [recorded, line.get("return")]))
    return verdicts


Replayed = tuple[PageStates, list[object]]


def _with_timing(states: PageStates, timing: Timing) -> PageStates:
    return states.with_columns(
        {
            "interval": timing.interval,
            "next_fetch_at": timing.next_fetch_at,
            "modified_at": timing.modified_at,
        }
    )


def _initialize(schedule: Schedule, states: PageStates, lines: list[Line]) -> Replayed:
    new = _with_timing(states, schedule.first(states, lines[0]["now"]))
    return new.with_columns({"retries": PageStates.of(len(lines)).retries}), [None] * len(lines)


def _fail(outcome: Outcome) -> Callable[[Schedule, PageStates, list[Line]], Replayed]:
    def replay(schedule: Schedule, states: PageStates, lines: list[Line]) -> Replayed:
        visits = Visits.of(
            len(lines),
            fetched_at=[line["args"]["fetch_time"] for line in lines],
            outcome=outcome,
        )
        # The reducer sets the status, not the schedule; a page tried again is unfetched there.
        unfetched = states.with_columns({"status": np.full(len(lines), PageStatus.UNFETCHED)})
        after = _with_timing(states, schedule.after(unfetched, visits))
        return after.with_columns({"retries": merge(states, visits, EXACT).retries}), [None] * len(
            lines
        )

    return replay


def _last_fetch(schedule: Schedule, states: PageStates, lines: list[Line]) -> Replayed:
    at = lifecycle.last_fetch_at(states.status, states.next_fetch_at, states.interval)
    return states, at.tolist()


def _should_fetch(schedule: Schedule, states: PageStates, lines: list[Line]) -> Replayed:
    is_due, due, interval = lifecycle.should_fetch(
        states.next_fetch_at,
        states.interval,
        lines[0]["args"]["cur_time"],
        interval_max=int(schedule.interval_max),
    )
    return states.with_columns({"next_fetch_at": due, "interval": interval}), is_due.tolist()


def _force(schedule: Schedule, states: PageStates, lines: list[Line]) -> Replayed:
    forced = force_refetch(states, np.ones(len(lines), dtype=np.bool_), schedule.interval_max)
    due = np.array(
        [line["now"] if line["args"]["asap"] else line["datum"]["fetch_time"] for line in lines]
    )
    return forced.with_columns({"next_fetch_at": due}), [None] * len(lines)


_METHODS = {
    "initializeSchedule": _initialize,
    "setPageGoneSchedule": _fail(Outcome.GONE),
    "setPageRetrySchedule": _fail(Outcome.RETRY),
    "calculateLastFetchTime": _last_fetch,
    "shouldFetch": _should_fetch,
    "forceRefetch": _force,
}


def replay_traces(lines: list[Line]) -> list[str]:
    """Replay chains of calls, in which each starts from the result of the one before."""
    return in_batches(lines, settings_of, _replay_traces)


def _replay_traces(lines: list[Line]) -> list[str]:
    """Replay traces of equal settings side by side; the interval is carried on."""
    schedule = schedule_of(lines[0])
    n_steps = np.array([len(line["steps"]) for line in lines])
    longest = int(n_steps.max())
    # Traces that end early repeat their last step, which is not looked at.
    steps = np.stack(
        [
            np.pad(np.array(line["steps"]), ((0, longest - n), (0, 0)), mode="edge")
            for line, n in zip(lines, n_steps, strict=True)
        ]
    )
    states = PageStates.of(len(lines), interval=[line["initial"]["interval"] for line in lines])
    visits = Visits.of(len(lines), fetched_at=0, outcome=Outcome.SUCCESS)
    is_same = np.ones(len(lines), dtype=np.bool_)
    for i in range(longest):
        fetched_at, modified_at, state, interval, due, modified = steps[:, i].T
        visit = replace(visits, fetched_at=fetched_at, modified_at=modified_at, observation=state)
        timing = schedule.after(states, visit)
        is_step_same = (
            (timing.interval == interval)
            & (timing.next_fetch_at == due)
            & (timing.modified_at == modified)
        )
        is_same &= is_step_same | (i >= n_steps)
        states = replace(states, interval=timing.interval)
    return [
        _totals(schedule, line) if same else f"{line['id']}: a step differs"
        for line, same in zip(lines, is_same, strict=True)
    ]


def _totals(schedule: Schedule, line: Line) -> str:
    if line["kind"] != "AdaptiveFetchSchedule.main":
        return verdict(line, len(line["steps"]), line["totals"]["fetched"])
    steps, totals = _run_main(schedule, line)
    return verdict(line, [steps, totals], [line["steps"], line["totals"]])


def _call(
    schedule: Schedule, interval: int, fetched_at: int, modified_at: int, state: int
) -> list[int]:
    visits = Visits.of(
        1,
        fetched_at=fetched_at,
        outcome=Outcome.SUCCESS,
        observation=state,
        modified_at=modified_at,
    )
    timing = schedule.after(PageStates.of(1, interval=float(interval)), visits)
    return [int(timing.interval[0]), int(timing.next_fetch_at[0]), int(timing.modified_at[0])]


def _run_main(schedule: Schedule, line: Line) -> tuple[list[list[int]], Line]:
    """Run the loop of AdaptiveFetchSchedule.main: a page that changes each 31 days."""
    model = line["change_model"]
    now = due = changed_at = 0
    interval = line["initial"]["interval"]
    is_changed = True
    n_missed = most_missed = total_missed = n_changes = 0
    steps = []
    for _ in range(model["time_steps"]):
        if changed_at + model["update_ms"] < now:
            is_changed, changed_at, n_changes = True, now, n_changes + 1
        if due <= now:
            state = Observation.CHANGED if is_changed else Observation.UNCHANGED
            out = _call(schedule, interval, now, changed_at, state)
            steps.append([now, changed_at, int(state), *out])
            interval, due, _ = out
            n_missed += not is_changed
            most_missed = max(most_missed, n_missed)
            total_missed += n_missed
            is_changed, n_missed = False, 0
        n_missed += is_changed
        now += model["delta_ms"]
    return steps, {
        "total_missed": total_missed,
        "max_miss": most_missed,
        "changed": n_changes,
        "fetched": len(steps),
    }


REPLAYERS = {
    "nutch/host_intervals": replay_hosts,
    "nutch/lifecycle": replay_lifecycle,
    "nutch/schedule_adaptive": replay_calls,
    "nutch/schedule_default": replay_calls,
    "nutch/schedule_mime_adaptive": replay_mime,
    "nutch/traces": replay_traces,
}
