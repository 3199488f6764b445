"""StormCrawler's schedules over columns, and its hash tables, agree with the records too."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

Lines = list[dict[str, Any]]
Replayer = Callable[[Lines], list[str]]

SAME = "same"


@pytest.mark.parametrize(
    ("kind", "least"),
    [("stormcrawler/schedule_default", 150), ("stormcrawler/schedule_adaptive", 2200)],
)
def test_schedules_over_columns_agree(
    kind: str,
    least: int,
    own_lines: Callable[[str], Lines],
    replayers: dict[str, Replayer],
) -> None:
    """Every recorded call that columns can say has the recorded interval and date."""
    verdicts = replayers["stormcrawler-columns"](own_lines(kind))

    compared = [verdict for verdict in verdicts if not verdict.startswith("left out")]
    assert [verdict for verdict in compared if verdict != SAME] == []
    assert len(compared) > least


def test_traces_over_columns_agree_but_for_what_columns_keep(
    own_lines: Callable[[str], Lines], replayers: dict[str, Replayer]
) -> None:
    """The whole step agrees to the last date, except for content after a failure and a 304.

    The original forgot its signature with the failure, so that content has nothing to be compared
    with; a page over columns still has it.
    """
    verdicts = replayers["stormcrawler-advance"](own_lines("stormcrawler/traces"))

    others = [v for v in verdicts if v != SAME and not v.startswith("left out")]
    assert verdicts.count(SAME) == 92
    assert [v.partition(" after ")[2] for v in others] == ["['FETCH_ERROR', 304, 200]"] * 2


@pytest.mark.parametrize(
    "kind", ["stormcrawler/schedule_default", "stormcrawler/schedule_adaptive"]
)
def test_calls_decided_by_a_hash_table_agree_in_its_order(
    kind: str, own_lines: Callable[[str], Lines], replayers: dict[str, Replayer]
) -> None:
    """Also the calls that the replay leaves out agree, if rules come in the order of the table."""
    lines = [line for line in own_lines(kind) if line.get("custom_rules_matched", 0) > 1]
    plain = [line | {"custom_rules_matched": 1, "note": None} for line in lines]

    assert set(replayers[kind](plain)) == {SAME}
    assert len(lines) > 100


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("schedule_default", ("result", "next_fetch_epoch_ms"), 1),
        ("schedule_default", ("result", "metadata_after"), {"isFeed": ["?"]}),
        ("schedule_adaptive", ("result", "minutes"), 1),
        ("schedule_adaptive", ("result", "outcome"), "never"),
        ("signature", ("result", "metadata_after"), {}),
        ("status_http", ("status",), "ERROR"),
        ("traces", ("steps", 1, "next"), "2020-01-01T00:00:00Z"),
        ("traces", ("steps", 1, "fetchInterval"), "1"),
        ("traces", ("final_metadata",), {}),
        ("updater", ("results", 0, "tuple_metadata_after"), {}),
        ("updater", ("results", 0, "events", 0, "status"), "?"),
    ],
)
def test_a_changed_line_is_caught(
    kind: str,
    path: tuple[str | int, ...],
    value: object,
    own_lines: Callable[[str], Lines],
    replayers: dict[str, Replayer],
) -> None:
    """A replayer finds the one line in which a recorded value was changed."""
    lines = copy.deepcopy(own_lines(f"stormcrawler/{kind}")[:5])
    *parents, last = path
    place: Any = lines[2]
    for name in parents:
        place = place[name]
    place[last] = value

    verdicts = replayers[f"stormcrawler/{kind}"](lines)

    assert [i for i, verdict in enumerate(verdicts) if verdict != SAME] == [2]
