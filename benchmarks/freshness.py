"""How fresh each schedule keeps made-up pages, and how far that is from the best possible.

Run as ``python benchmarks/freshness.py --json``, about a quarter of an hour on two cores.  The
worlds S1 to S11 at 0.1 fetches/page/day for 240 days, from a cold start, measured after day 60;
importances of a Pareto law, and pages equal.  All schedules are run here and see the same pages.
It prints one JSON object a line:

- ``freshness``: a row a schedule.  ``fresh_weighted`` and ``fresh_equal``; ``share`` of the
  freshness of ``optimal-known``, the known-rate optimum, and its standard error by pages;
  ``age``, ``delay_mean`` and ``delay_p95`` [s]; ``fetches`` after day 60; ``curve``, the
  freshness of each 10 of the first 60 days.  Importance weighs all but ``fresh_equal``.
- ``freshness-fetches``: the fetches/page/day that ``optimal`` needs to be as fresh, weighted, as
  another schedule is with its own; with the first seed.  ``saved_known`` is what known rates
  save there.
- ``freshness-budget``: the week whose fetches are farthest from the budget, of all weeks that
  begin at any look at the queue, and the most fetches of a host in a look where 1 is allowed.
  The first fetch of each page, at time 0, is outside the budget.  How near the multiplier under
  caps of hosts comes to each cap is in ``benchmarks/optimal.py``.
- ``freshness-aim``: a figure that ``optimal`` is to reach, and whether it is ``met``.

Chance moves a level by some hundredths from seed to seed, differences by some thousandths.  Most
of the time is a fixed cost of each look at the queue, so that more pages cost little:
``--pages 10000`` is what the reference has.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recrawl.simulation.compare import Conditions, paired_difference, result_of, run
from recrawl.simulation.log import Log
from recrawl.simulation.metrics import freshness_over_time, measure
from recrawl.simulation.worlds import world
from recrawl.simulation.worlds.world import World

DAY = 86_400.0
HORIZON, START = 240 * DAY, 60 * DAY
#: Fetches of a page. [1/day]
BUDGET = 0.1
TICK = 7200.0
TICKS_A_WEEK = round(7 * DAY / TICK)
CURVE = np.arange(0, START + 1, 10 * DAY)
WORLDS = tuple(f"S{i}" for i in range(1, 12))
IMPORTANCES = ("pareto", "equal")
#: Schedules that do not know importance: one run shows both.
HEURISTICS = (
    "uniform", "nutch-shipped", "nutch-tuned", "stormcrawler", "stormcrawler-tuned",
    "aronsson-tuned",
)  # fmt: skip
KNOWING, OURS = "optimal-known", "optimal"
WEIGHING = ("cho-garcia-molina", KNOWING, OURS)
#: Worlds that are S1 with something on top, and who comes to the same there: who does not see it.
SAME = {
    "S8": ("uniform", KNOWING),
    "S9": ("uniform", KNOWING),
    "S10": (*HEURISTICS, "cho-garcia-molina", KNOWING),
}
#: Least share of the known-rate optimum.
SHARES = dict.fromkeys(("S1", "S2", "S3", "S5", "S7", "S9", "S11"), 0.985)
SHARES |= {"S4": 1.0, "S6": 0.975, "S8": 0.975, "S10": 1.02}
#: Where the periodic model is to show: freshness above the known-rate optimum.
PERIODIC = {"S4": 0.05}
#: Pages equal: least freshness above the best heuristic's and StormCrawler's, and most age and
#: delay in units of its.
LOST = -0.002
WON = {"S1": 0.003, "S11": 0.018}
MOST_AGE = 1.1
#: Least share of fetches that is saved against rivals; one of them spends what it likes, too.
UNBOUND = "nutch-shipped"
RIVALS = {
    ("stormcrawler", False): {"S1": 0.38, "S11": 0.48},
    ("nutch-tuned", False): {"S1": 0.38, "S11": 0.48},
    ("nutch-shipped", False): {"S1": 0.7, "S11": 0.7},
    (UNBOUND, True): {"S1": 0.7, "S11": 0.7},
}
#: A search ends where the budget is known to this part, or after so many runs a rival.
NEAR, MOST_RUNS = 0.04, 4
#: Most that a week's fetches may be off the budget.
HELD = {"S1": 0.02, "S10": 0.02, "S11": 0.02}


@dataclass(frozen=True, slots=True)
class Run:
    """One schedule on one world of one seed."""

    world: str
    schedule: str
    pages: int
    seed: int
    importance: str = "pareto"
    budget: float | None = BUDGET
    host_cap: int | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a run came to: figures by name, and ``parts`` of the pages, stale and weight.

    Where there are two columns, the second is weighted by importance.
    """

    figures: dict[str, float]
    curve: NDArray[np.float64]
    parts: tuple[NDArray[np.float64], NDArray[np.float64]] | None
    worst_week: float
    most_of_host: int


def crawl(task: Run) -> tuple[World, Log]:
    """Run a schedule."""
    made = world(
        task.world, task.pages, horizon=HORIZON, seed=task.seed, importance=task.importance
    )
    budget = None if task.budget is None else task.budget * task.pages / DAY
    conditions = Conditions(budget=budget, tick=TICK, start=START, host_cap=task.host_cap)
    return made, run(task.schedule, made, conditions, seed=task.seed)


def find(task: Run) -> Found:
    """Run a schedule and measure it."""
    made, log = crawl(task)
    metrics = measure(made, log, start=START)
    figures = asdict(metrics.equal)
    figures |= {f"{name}_weighted": value for name, value in asdict(metrics.weighted).items()}
    curve = [freshness_over_time(made, log, CURVE, weighted=w) for w in (False, True)]
    parts = None
    if task.schedule in WEIGHING:
        result = result_of(task.schedule, made, log, start=START)
        parts = result.stale, result.weight
    return Found(figures, np.array(curve), parts, *spending(made, log, task.budget))


def spending(made: World, log: Log, budget: float | None) -> tuple[float, int]:
    """Return the greatest deviation of a week from the budget, and most fetches of a host."""
    later = np.flatnonzero(log.at > 0)
    tick, host = log.at[later] // round(TICK * 1000), made.host[log.page[later]]
    _, n = np.unique(tick * (int(made.host.max()) + 1) + host, return_counts=True)
    total = np.cumsum(np.bincount(tick, minlength=math.ceil(HORIZON / TICK)))
    weeks = total[TICKS_A_WEEK:] - total[:-TICKS_A_WEEK]
    allowed = math.nan if budget is None else 7 * budget * len(made)
    return float(np.abs(weeks / allowed - 1).max()), int(n.max(initial=0))


class Table:
    """What the runs came to, and the rows made of it."""

    def __init__(self, pages: int, seeds: list[int]) -> None:
        self.pages, self.seeds = pages, seeds
        self.found: dict[Run, Found] = {}

    def runs(self, name: str) -> list[Run]:
        """Return the runs of a world."""
        runs = [one for schedule in HEURISTICS for one in self.each(name, schedule, "pareto")]
        for importance, schedule in itertools.product(IMPORTANCES, WEIGHING):
            runs += self.each(name, schedule, importance)
        if name in HELD:
            runs.append(self.capped(name))
        if name in WON:
            runs += self.each(name, UNBOUND, "pareto", budget=None)
        return list(dict.fromkeys(runs))

    def each(
        self, name: str, schedule: str, importance: str, *, budget: float | None = BUDGET
    ) -> list[Run]:
        """Return the runs of a schedule, one a seed."""
        seen = "S1" if schedule in SAME.get(name, ()) else name
        known = "pareto" if schedule in HEURISTICS else importance
        return [Run(seen, schedule, self.pages, seed, known, budget) for seed in self.seeds]

    def capped(self, name: str) -> Run:
        """Return the run in which a host is fetched once at most at each look at the queue."""
        return Run(name, OURS, self.pages, self.seeds[0], host_cap=1)

    def of(self, name: str, schedule: str, importance: str) -> list[Found]:
        """Return what a schedule came to with each seed."""
        return [self.found[one] for one in self.each(name, schedule, importance)]

    def figure(self, name: str, schedule: str, importance: str, figure: str) -> float:
        """Return a figure of a schedule, a mean over the seeds."""
        key = figure + ("_weighted" if importance == "pareto" else "")
        return mean(one.figures[key] for one in self.of(name, schedule, importance))

    def row(self, name: str, schedule: str, importance: str) -> dict[str, Any]:
        """Return the row of a schedule."""
        column, found = int(importance == "pareto"), self.of(name, schedule, importance)
        fresh = 1 - self.figure(name, schedule, importance, "stale")
        best = 1 - self.figure(name, KNOWING, importance, "stale")
        row = {"benchmark": "freshness", "world": name, "importance": importance}
        row |= {"schedule": schedule, "fresh_weighted": fresh}
        row |= {"fresh_equal": 1 - mean(one.figures["stale"] for one in found)}
        row |= {"share": fresh / best}
        if schedule in WEIGHING:
            row["share_se"] = self.error(name, schedule, importance) / best
        for figure in ("age", "delay_mean", "delay_p95"):
            row[figure] = self.figure(name, schedule, importance, figure)
        curve = np.mean([one.curve[column] for one in found], axis=0).round(4).tolist()
        return {**row, "fetches": mean(one.figures["fetches"] for one in found), "curve": curve}

    def error(self, name: str, schedule: str, importance: str) -> float:
        """Return the standard error of the distance from the known-rate optimum, by pages."""
        column = int(importance == "pareto")
        stale, known = (
            np.concatenate([one.parts[0][:, column] for one in self.of(name, each, importance)])
            for each in (schedule, KNOWING)
        )
        weight = [one.parts[1][:, column] for one in self.of(name, schedule, importance)]
        return paired_difference(stale, known, np.concatenate(weight))[1]

    def aims(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield what ``optimal`` is to reach on a world."""
        share = self.row(name, OURS, "pareto")["share"]
        yield aim(name, "share of the known-rate optimum", share, SHARES[name])
        if name in PERIODIC:
            known, ours = (self.figure(name, each, "pareto", "stale") for each in (KNOWING, OURS))
            yield aim(name, "freshness above that optimum", known - ours, PERIODIC[name])
        stale = {each: self.figure(name, each, "equal", "stale") for each in (*HEURISTICS, OURS)}
        best, rival = min(HEURISTICS, key=stale.__getitem__), "stormcrawler"
        gain = stale[best] - stale[OURS]
        yield aim(name, "pages equal, freshness above the best heuristic's", gain, LOST, rival=best)
        if name in WON:
            gain = stale[rival] - stale[OURS]
            yield aim(name, "pages equal, freshness above", gain, WON[name], rival=rival)
        for figure in ("age", "delay_mean"):
            ours, other = (self.figure(name, each, "equal", figure) for each in (OURS, rival))
            text = f"pages equal, {figure} as a part of"
            yield aim(name, text, ours / other, MOST_AGE, rival=rival, is_most=True)


def mean(values: Iterable[float]) -> float:
    """Return the mean."""
    return float(np.mean(list(values)))


def aim(
    name: str, text: str, value: float, target: float, *, rival: str = "", is_most: bool = False
) -> dict[str, Any]:
    """Return the row of an aim."""
    row = {"benchmark": "freshness-aim", "world": name, "aim": text}
    row |= {"rival": rival} if rival else {}
    row |= {"value": round(value, 5), "most" if is_most else "least": target}
    return {**row, "met": bool(value <= target if is_most else value >= target)}


@dataclass(frozen=True, slots=True)
class Search:
    """Which freshness a schedule is to have, and its freshness at one budget."""

    start: Run
    fresh: float
    targets: tuple[float, ...]


def search(task: Search) -> list[float]:
    """Return the budget [1/day] of a page at which the schedule has each freshness, weighted."""
    points, found = {math.log(BUDGET): task.fresh}, []
    for target in task.targets:
        for _ in range(MOST_RUNS):
            guess = crossing(points, target)
            if min(abs(guess - known) for known in points) < NEAR:
                break
            made, log = crawl(replace(task.start, budget=math.exp(guess)))
            points[guess] = 1 - measure(made, log, start=START).weighted.stale
        found.append(math.exp(crossing(points, target)))
    return found


def crossing(points: dict[float, float], target: float) -> float:
    """Return where freshness goes through a target, by straight lines over log budgets."""
    known = sorted(points.items())
    if len(known) == 1:
        # Half of the budget costs about eight points of freshness.
        return known[0][0] + (target - known[0][1]) / 0.12
    pairs = list(itertools.pairwise(known))
    between = [pair for pair in pairs if pair[0][1] <= target <= pair[1][1]]
    (x, y), (x2, y2) = between[0] if between else pairs[0 if target < known[0][1] else -1]
    slope = min(max((y2 - y) / (x2 - x), 0.03), 0.5)
    return x + (target - y) / slope


def search_of(table: Table, name: str, schedule: str) -> Search:
    """Return the search on a world, with the first seed alone: it takes long."""
    stale = [
        table.found[runs_of(table, name, rival, is_free)[0]].figures["stale_weighted"]
        for rival, is_free in RIVALS
    ]
    start = table.each(name, schedule, "pareto")[0]
    fresh = 1 - table.found[start].figures["stale_weighted"]
    return Search(start, fresh, tuple(1 - each for each in stale))


def runs_of(table: Table, name: str, rival: str, is_free: bool) -> list[Run]:
    """Return the runs of a rival, with the budget or without."""
    return table.each(name, rival, "pareto", budget=None if is_free else BUDGET)


def fetches_rows(
    table: Table, name: str, task: Search, needed: list[float], known: list[float]
) -> Iterator[dict[str, Any]]:
    """Yield how many fetches ``optimal`` needs to be as fresh as others on a world."""
    scale = table.pages * (HORIZON - START) / DAY
    for (rival, is_free), fresh, ours, best in zip(
        RIVALS, task.targets, needed, known, strict=True
    ):
        one = runs_of(table, name, rival, is_free)[0]
        own = table.found[one].figures["fetches"] / scale
        label = rival + (" without a budget" if is_free else "")
        row = {"benchmark": "freshness-fetches", "world": name, "rival": label}
        row |= {"seed": task.start.seed, "fresh_weighted": fresh, "rival_fetches": own}
        saved = 1 - ours / own
        yield {**row, "fetches": ours, "saved": saved, "saved_known": 1 - best / own}
        least = RIVALS[rival, is_free][name]
        yield aim(name, "share of fetches saved", saved, least, rival=label)


def budget_rows(table: Table, name: str) -> Iterator[dict[str, Any]]:
    """Yield how the budget is held on a world, with and without a cap of hosts."""
    for cap, runs in ((None, table.each(name, OURS, "pareto")), (1, [table.capped(name)])):
        worst = max(table.found[one].worst_week for one in runs)
        of_host = max(table.found[one].most_of_host for one in runs)
        row = {"benchmark": "freshness-budget", "world": name, "host_cap": cap}
        yield {**row, "worst_week": worst, "most_of_host": of_host}
        text = "a week off the budget" + (", with caps" if cap else "")
        yield aim(name, text, worst, HELD[name], is_most=True)
        if cap:
            yield aim(name, "fetches of a host at once", of_host, cap, is_most=True)


def rows_of(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield all rows, as soon as they are there."""
    table = Table(given.pages, given.seeds)
    with ProcessPoolExecutor(given.jobs) as pool:
        pending: dict[Run, Future[Found]] = {}
        for one in (one for name in given.worlds for one in table.runs(name)):
            if one not in pending:
                pending[one] = pool.submit(find, one)
        for name in given.worlds:
            table.found |= {one: pending[one].result() for one in table.runs(name)}
            for importance, schedule in itertools.product(IMPORTANCES, (*HEURISTICS, *WEIGHING)):
                yield table.row(name, schedule, importance)
            yield from table.aims(name)
            if name in HELD:
                yield from budget_rows(table, name)
        names = [name for name in WON if name in given.worlds]
        tasks = [search_of(table, name, schedule) for name in names for schedule in (OURS, KNOWING)]
        answers = pool.map(search, tasks)
        for name, task in zip(names, tasks[::2], strict=True):
            yield from fetches_rows(table, name, task, next(answers), next(answers))


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="the only output there is")
    parser.add_argument("--pages", type=int, default=1500, help="of each world")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS), choices=WORLDS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    given = parser.parse_args()
    begun, aims = time.monotonic(), []
    setup = {"pages": given.pages, "seeds": given.seeds, "days": HORIZON / DAY}
    setup |= {"measured_from_day": START / DAY, "fetches_per_page_day": BUDGET, "jobs": given.jobs}
    print(json.dumps({"benchmark": "freshness-setup", **setup}), flush=True)
    for row in rows_of(given):
        print(json.dumps(row), flush=True)
        aims += [row["met"]] if "met" in row else []
    spent = os.times()
    total = {"aims": len(aims), "met": sum(aims), "s": round(time.monotonic() - begun)}
    total["cpu_s"] = round(spent.children_user + spent.children_system)
    print(json.dumps({"benchmark": "freshness-total", **total}))


if __name__ == "__main__":
    main()
