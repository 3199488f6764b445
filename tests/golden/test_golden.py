"""recrawl does what the systems did whose calls were recorded.

``RECRAWL_GOLDEN=DIR pytest -s tests/golden`` reads the files of another directory.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Lines = list[dict[str, Any]]
Replayer = Callable[[Lines], list[str]]

SAME = "same"
LEFT_OUT = "left out: "


def test_recorded_calls_agree(
    golden_kind: str,
    golden_directory: Path,
    golden_lines: Callable[[str], Lines],
    replayers: dict[str, Replayer],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every recorded line that is not left out for a stated reason agrees exactly."""
    assert golden_kind != "no files", f"no recorded files in {golden_directory}"
    lines = golden_lines(golden_kind)

    assert golden_kind in replayers, f"nothing replays {golden_kind}: add a replay_*.py"
    verdicts = replayers[golden_kind](lines)

    reasons = Counter(v.removeprefix(LEFT_OUT) for v in verdicts if v.startswith(LEFT_OUT))
    different = [v for v in verdicts if v != SAME and not v.startswith(LEFT_OUT)]
    n_same = verdicts.count(SAME)
    told = "; ".join(f"{reason}: {n}" for reason, n in reasons.items())
    with capsys.disabled():
        print(
            f"\n{golden_kind}: compared {n_same + len(different)},"
            f" left out {reasons.total()}{f' ({told})' if told else ''},"
            f" different {len(different)}",
            end="",
        )
    assert len(verdicts) == len(lines)
    assert not different, "\n".join(different[:10])
    assert n_same > 0


def _with(line: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """Return the line with one recorded value changed."""
    changed = copy.deepcopy(line)
    *parents, last = path.split(".")
    place: Any = changed
    for name in parents:
        place = place[int(name) if name.isdigit() else name]
    place[int(last) if last.isdigit() else last] = value
    return changed


@pytest.mark.parametrize(
    ("kind", "path", "value"),
    [
        ("nutch/schedule_default", "out.fetch_time", 1),
        ("nutch/schedule_default", "out.modified_time", 1),
        ("nutch/schedule_adaptive", "out.interval", 59),
        ("nutch/schedule_adaptive", "args.fetch_time", 1),
        ("aronsson", "interval_after_days", 5.1),
        ("aronsson", "updated", None),
        ("nutch/schedule_mime_adaptive", "out.interval", 59),
        ("nutch/schedule_mime_adaptive", "rates_after.inc_rate.bits", 1),
        ("nutch/schedule_mime_adaptive", "mime_file", None),
        ("nutch/host_intervals", "host_parsed.nutch.apache.org", None),
        ("nutch/lifecycle", "out.retries", 77),
        ("nutch/lifecycle", "out.fetch_time", 1),
        ("nutch/reducer", "written", []),
        ("nutch/reducer", "scoring.update_called", None),
        ("nutch/traces", "steps.1.4", 1),
        ("nutch/traces", "totals.fetched", 1),
    ],
)
def test_a_changed_line_is_caught(
    kind: str,
    path: str,
    value: object,
    own_lines: Callable[[str], Lines],
    replayers: dict[str, Replayer],
) -> None:
    """A replayer finds the one line in which a recorded value was changed."""
    lines = own_lines(kind)[:20]
    at = next(i for i, line in enumerate(lines) if line.get("written", [1]))
    if path.startswith("host_parsed"):
        changed = copy.deepcopy(lines[at])
        changed["host_parsed"] = {}
    else:
        changed = _with(lines[at], path, value)

    verdicts = replayers[kind]([*lines[:at], changed, *lines[at + 1 :]])

    assert [i for i, verdict in enumerate(verdicts) if verdict != SAME] == [at]
