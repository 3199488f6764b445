"""How fresh each schedule keeps real pages, by when they really changed.

Run as ``python benchmarks/real.py --json``, some twenty minutes on two cores; ``--traces DIR``
takes other files of the same format.  Each run is the last 730 days of a file, from a cold start,
measured after day 60, at budgets of 0.03, 0.1 and 0.3 fetches/page/day, with pages equal and with
importances of a Pareto law.  It prints one JSON object a line:

- a row a schedule: ``stale`` (share of the time), ``age`` and ``delay`` [s], ``fetches``;
- a row that compares: ``best`` of those that know no rates, and ``ratio``, the staleness of
  ``optimal`` divided by the best one's and by that of the optimum for known mean rates.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recrawl.interop.traces import read_traces
from recrawl.simulation.compare import Conditions, compare
from recrawl.simulation.traces import world_of_traces
from recrawl.simulation.worlds import with_importance

DAY = 86_400.0
TRACES = Path(__file__).parent / "traces"
RIVALS = (
    "uniform", "stormcrawler", "nutch-shipped", "nutch-tuned", "aronsson", "cho-garcia-molina",
)  # fmt: skip
KNOWING = "optimal-known"
OURS = "optimal"


@dataclass(frozen=True, slots=True)
class Run:
    """One schedule on one file."""

    path: Path
    importance: str
    budget: float
    schedule: str
    seeds: int
    window: float


def run(task: Run) -> dict[str, object]:
    """Return the row of one run, a mean over the seeds of the queue."""
    world = world_of_traces(read_traces(task.path), window=task.window)
    world = with_importance(world, task.importance)
    conditions = Conditions(budget=task.budget * len(world) / DAY, start=60 * DAY)
    rows = [
        compare([task.schedule], [world], conditions, seeds=[seed])[0].row()
        for seed in range(task.seeds)
    ]
    suffix = "" if task.importance == "equal" else "_weighted"
    return {
        "benchmark": "real",
        "file": task.path.name.split(".")[0],
        "importance": task.importance,
        "budget": task.budget,
        "schedule": task.schedule,
        "pages": len(world),
        "stale": float(np.mean([row[f"stale{suffix}"] for row in rows])),
        "age": float(np.mean([row[f"age{suffix}"] for row in rows])),
        "delay": float(np.mean([row[f"delay_mean{suffix}"] for row in rows])),
        "fetches": float(np.mean([row["fetches"] for row in rows])),
    }


def comparison(rows: list[dict[str, object]]) -> dict[str, object]:
    """Return how ``optimal`` compares with the others of one file, importance and budget."""
    stale = {str(row["schedule"]): float(str(row["stale"])) for row in rows}
    best = min(RIVALS, key=stale.__getitem__)
    return {
        "benchmark": "real-compared",
        **{name: rows[0][name] for name in ("file", "importance", "budget")},
        "best": best,
        "best_stale": stale[best],
        "optimal_stale": stale[OURS],
        "ratio": stale[OURS] / stale[best],
        "ratio_to_known": stale[OURS] / stale[KNOWING],
    }


def rows_of(given: argparse.Namespace) -> Iterator[dict[str, object]]:
    """Yield all rows, as soon as they are there."""
    schedules = (*RIVALS, KNOWING, OURS)
    paths = sorted(given.traces.glob("*.jsonl*"))
    settings = [
        (path, importance, budget)
        for path in paths
        for importance in given.importance
        for budget in given.budgets
    ]
    tasks = [
        Run(path, importance, budget, name, given.seeds, given.window * DAY)
        for path, importance, budget in settings
        for name in schedules
    ]
    with ProcessPoolExecutor(given.jobs) as pool:
        found: list[dict[str, object]] = []
        for row in pool.map(run, tasks):
            yield row
            found.append(row)
            if len(found) == len(schedules):
                yield comparison(found)
                found = []


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="the only output there is")
    parser.add_argument("--traces", type=Path, default=TRACES)
    parser.add_argument("--budgets", type=float, nargs="+", default=[0.03, 0.1, 0.3])
    parser.add_argument("--importance", nargs="+", default=["equal", "pareto"])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--window", type=float, default=730.0, help="days")
    parser.add_argument("--jobs", type=int, default=2)
    for row in rows_of(parser.parse_args()):
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
