"""How fast the learning schedule's kernels are, and how far from exact.

Run as ``python benchmarks/optimal.py --json``.  It prints one JSON object a line:

- ``update``: posterior of a visit and next due time in float32, pages per second of CPU, with 3 of
  10 and with all visits changed; the largest error of the interval against float64, and the
  learned state in bytes a page;
- ``learn``: the same with forgetting and the search for false changes;
- ``interval``: the next due time alone, for eta 0 as well;
- ``multiplier``: totals and solution for 1 and 10 million pages, and the part by which the exact
  intervals of a million pages miss the budget;
- ``hosts``: caps of 20,000 hosts and the joint multiplier, a million pages;
- ``prior``: fit of 20,000 hosts, a million pages.

Times are the best of the turns: the machine may be busy with other things.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from recrawl.core.visit import Observation
from recrawl.estimation.false_change import fold_surprise, is_noise
from recrawl.estimation.gamma_poisson import ChangeRate, change_probability, forget, observe
from recrawl.estimation.prior import RateTotals, fit
from recrawl.schedules.crawl_value import fetch_interval, value_table
from recrawl.schedules.host_caps import host_multipliers, multiplier_under_caps
from recrawl.schedules.multiplier import longest_interval, multiplier_for_budget
from recrawl.schedules.totals import Totals

N_TURNS = 5
DAY = 86_400.0
ETA = 0.1
N_PAGES = 1_000_000
N_HOSTS = 20_000
#: Fetches of a page. [1/s]
BUDGET = 0.1 / DAY


def best(task: Callable[[], object], n_turns: int = N_TURNS) -> float:
    """Return the CPU time of the fastest turn. [s]."""
    times = []
    for _ in range(n_turns):
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return min(times)


def collection(n: int) -> tuple[ChangeRate, NDArray[np.float32]]:
    """Return what is known of n pages, and their importance."""
    rng = np.random.default_rng(1)
    shape = rng.uniform(0.5, 10, n)
    rate = np.exp(rng.normal(-3.7, 2.0, n)) / DAY
    known = ChangeRate(shape.astype(np.float32), (shape / rate).astype(np.float32))
    return known, np.minimum(rng.pareto(1.5, n) + 1, 200).astype(np.float32)


def update(changed: float) -> dict[str, object]:
    """Time posterior and next due time, and compare with float64."""
    known, weight = collection(N_PAGES)
    rng = np.random.default_rng(2)
    seen = np.where(rng.random(N_PAGES) < changed, Observation.CHANGED, Observation.UNCHANGED)
    seen = seen.astype(np.int8)
    elapsed = rng.exponential(10 * DAY, N_PAGES).astype(np.float32)
    fetched_at = rng.integers(0, 10**12, N_PAGES)
    table, price = value_table(ETA), 1.6e5

    def task() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        after = observe(known, elapsed=elapsed, observation=seen)
        interval = table.interval(after.mean, weight, price, longest=1000 * DAY)
        return interval, fetched_at + (interval * np.float32(1000)).astype(np.int64)

    seconds = best(task)
    wide = ChangeRate(known.shape.astype(np.float64), known.exposure.astype(np.float64))
    after = observe(wide, elapsed=elapsed, observation=seen)
    exact = fetch_interval(after.mean, weight, price, eta=ETA, longest=1000 * DAY)
    return {
        "task": "update",
        "changed": changed,
        "pages_per_s": round(N_PAGES / seconds),
        "largest_error_of_interval": float(f"{np.abs(task()[0] / exact - 1).max():.1e}"),
        "learned_bytes_per_page": known.shape.itemsize + known.exposure.itemsize,
    }


def learn() -> dict[str, object]:
    """Time all that a visit teaches, and the next due time."""
    known, weight = collection(N_PAGES)
    rng = np.random.default_rng(2)
    seen = rng.choice(np.array([Observation.CHANGED, Observation.UNCHANGED], np.int8), N_PAGES)
    elapsed = rng.exponential(10 * DAY, N_PAGES).astype(np.float32)
    surprise = np.zeros(N_PAGES, np.float16)
    table, prior = value_table(ETA), ChangeRate(known.shape / 2, known.exposure / 2)

    def task() -> NDArray[np.float32]:
        recent = forget(known, prior, memory=0.9, least=(0.05, 1000.0))
        probability = change_probability(recent, elapsed)
        surprising = fold_surprise(
            surprise, observation=seen, probability=probability, elapsed=elapsed
        )
        trusted = np.where(is_noise(surprising), np.int8(Observation.UNKNOWN), seen)
        after = observe(recent, elapsed=elapsed, observation=trusted)
        return table.interval(after.mean, weight, 1.6e5, longest=1000 * DAY)

    return {"task": "learn", "changed": 0.5, "pages_per_s": round(N_PAGES / best(task))}


def interval(eta: float) -> dict[str, object]:
    """Time the next due time alone."""
    known, weight = collection(N_PAGES)
    rate, table = known.mean, value_table(eta)
    seconds = best(lambda: table.interval(rate, weight, 1.6e5, longest=1000 * DAY))
    return {"task": "interval", "eta": eta, "pages_per_s": round(N_PAGES / seconds)}


def multiplier(n: int) -> dict[str, object]:
    """Time totals and solution, and see what the pages then spend."""
    known, weight = collection(n)
    rate, budget = known.mean, BUDGET * n
    longest = float(longest_interval(n, budget, 0.0))
    totals = Totals.of(rate, weight)
    counting = best(lambda: Totals.of(rate, weight), 3)
    solving = best(lambda: multiplier_for_budget(totals, budget, eta=ETA, longest=longest), 3)
    price = multiplier_for_budget(totals, budget, eta=ETA, longest=longest)
    part = slice(0, N_PAGES)
    exact = fetch_interval(rate[part], weight[part], price, eta=ETA, longest=longest)
    of_part = Totals.of(rate[part], weight[part]).outlook(price, eta=ETA, longest=longest)
    return {
        "task": "multiplier",
        "pages": n,
        "s": round(counting + solving, 4),
        "counting_s": round(counting, 4),
        "solving_s": round(solving, 4),
        "bins": totals.bin.size,
        "error_of_budget": float(f"{(1 / exact).sum() / of_part.spending - 1:.1e}"),
    }


def hosts() -> dict[str, object]:
    """Time the caps of hosts and the joint multiplier."""
    known, weight = collection(N_PAGES)
    rng = np.random.default_rng(3)
    host = rng.integers(0, N_HOSTS, N_PAGES)
    n_pages = np.bincount(host, minlength=N_HOSTS)
    cap = np.where(rng.random(N_HOSTS) < 0.4, 0.04 * n_pages / DAY, math.inf)
    longest = longest_interval(n_pages, cap, 100 * DAY)
    rate, budget = known.mean, BUDGET * N_PAGES

    def caps() -> NDArray[np.float64]:
        return host_multipliers(rate, weight, host, cap, eta=ETA, longest=longest)

    mu = caps()

    def joint() -> float:
        return multiplier_under_caps(rate, weight, host, mu, budget, eta=ETA, longest=longest)

    price = np.maximum(mu, joint())
    spent = 1 / fetch_interval(rate, weight, price[host], eta=ETA, longest=longest[host])
    by_host = np.bincount(host, spent, N_HOSTS)
    binds = mu >= price
    binds &= cap < math.inf
    return {
        "task": "hosts",
        "caps_s": round(best(caps, 2), 3),
        "joint_s": round(best(joint, 2), 3),
        "binding": int(binds.sum()),
        "largest_error_of_cap": float(f"{np.abs(by_host[binds] / cap[binds] - 1).max():.1e}"),
        "error_of_budget": float(f"{spent.sum() / budget - 1:.1e}"),
    }


def prior() -> dict[str, object]:
    """Time the fit of the hosts' priors."""
    known, _ = collection(N_PAGES)
    host = np.random.default_rng(3).integers(0, N_HOSTS, N_PAGES)
    guess = ChangeRate(np.array([1.0]), np.array([20 * DAY]))
    seconds = best(
        lambda: fit(RateTotals.of(known, host), guess=guess, shapes=(1.0, 9.0)).of(host), 2
    )
    return {"task": "prior", "pages": N_PAGES, "s": round(seconds, 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    arguments = parser.parse_args()
    tasks: list[Callable[[], dict[str, object]]] = [
        lambda: update(0.3),
        lambda: update(1.0),
        learn,
        lambda: interval(ETA),
        lambda: interval(0.0),
        lambda: multiplier(1_000_000),
        lambda: multiplier(10_000_000),
        hosts,
        prior,
    ]
    for task in tasks:
        row = {"benchmark": "optimal", **task()}
        row |= {"numpy": np.__version__, "python": platform.python_version()}
        print(json.dumps(row) if arguments.json else row)


if __name__ == "__main__":
    main()
