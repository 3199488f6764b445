"""Weeks on a real site under a clock that moves on when nothing is left to do.

Run as ``python benchmarks/week.py --json``.  Pages on 127.0.0.1 change at rates from once in ten
days to several times a day, some of them by edits of their directory; `recrawl run` keeps them
within a budget, over real HTTP, with the default settings.  After some weeks `recrawl plan` says
what is to be expected, and one more week is measured by the log that the site keeps of what it
served and when its pages changed.

Prints one JSON object: ``promised`` and ``achieved`` freshness, their ``difference`` in points
(aim: at most 2), the fetches and the budget of the week.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recrawl.app.pages import new_page
from recrawl.config import (
    Config,
    FetchSettings,
    PolitenessSettings,
    ScheduleSettings,
    StoreSettings,
)
from recrawl.testing.answers import Answer, Asked
from recrawl.testing.clock import ManualClock
from recrawl.testing.site import LoopbackSite
from recrawl.wiring import learned_plan, make_policies, open_crawler, open_store

DAY = 86_400_000
PAGES_IN_DIRECTORY = 10


@dataclass(frozen=True)
class Page:
    """A page of the site: its path and when it changes [ms]."""

    path: str
    changes: NDArray[np.float64]


def site_pages(n: int, start: int, days: float, seed: int) -> list[Page]:
    """Return pages that change by themselves and, every fourth directory, together."""
    rng = np.random.default_rng(seed)
    pages = []
    for i in range(n):
        directory = i // PAGES_IN_DIRECTORY
        if i % PAGES_IN_DIRECTORY == 0:
            n_edits = rng.poisson(days / 5) if directory % 4 == 0 else 0
            edits = rng.uniform(0, days, n_edits)
        rate = 0.1 * 40 ** rng.random() if rng.random() < 0.8 else 0.0
        own = rng.uniform(0, days, rng.poisson(rate * days))
        times = np.sort(np.concatenate([own, edits]))
        pages.append(Page(f"/d{directory}/{i}", start + times * DAY))
    return pages


def answer_of(page: Page, clock: ManualClock) -> Callable[[Asked], Answer]:
    """Return the route of a page: its text says how often it has changed."""

    def route(_: Asked) -> Answer:
        version = int(np.searchsorted(page.changes, clock.now(), side="right"))
        return Answer(f"<title>{page.path}</title><p>Edition {version} of this page.</p>")

    return route


def fresh_share(pages: Sequence[Page], asked: Sequence[Asked], begin: int, end: int) -> float:
    """Return the share of time in which the last answer was still right."""
    visits: dict[str, list[int]] = {page.path: [] for page in pages}
    for request in asked:
        if request.path in visits:
            visits[request.path].append(request.at)
    total = 0.0
    for page in pages:
        at = np.array(sorted(visits[page.path]))
        edges = np.unique(np.clip(np.concatenate([[begin, end], page.changes, at]), begin, end))
        middle = (edges[1:] + edges[:-1]) / 2
        last = at[np.searchsorted(at, middle, side="right") - 1]
        right = np.searchsorted(page.changes, middle) == np.searchsorted(page.changes, last)
        total += float((np.diff(edges) * right).sum())
    return total / (end - begin) / len(pages)


async def run(n: int, budget: str, weeks: int, seed: int, folder: Path) -> dict[str, float]:
    """Return the figures of one run."""
    clock = ManualClock()
    start = clock.now()
    pages = site_pages(n, start, 7 * (weeks + 2), seed)
    config = Config(
        store=StoreSettings(url=f"sqlite:///{folder}/week.sqlite"),
        fetch=FetchSettings(allow_networks=("127.0.0.0/8",)),
        politeness=PolitenessSettings(min_delay=0.0, requests_per_host=8, robots_txt=False),
        schedule=ScheduleSettings(budget=budget),
    )
    policy_of = make_policies(config)
    store = open_store(config, create=True)
    async with LoopbackSite(clock=clock) as site:
        for page in pages:
            site.route(page.path, answer_of(page, clock))
        urls = [site.url(page.path) for page in pages]
        store.add([new_page(url, policy_of(url), now=start) for url in urls])

        async def crawl_until(end: int) -> None:
            async with open_crawler(config, store, clock=clock, pause=0.0) as crawler:
                task = asyncio.create_task(crawler.run())
                while clock.now() < end and not task.done():
                    await asyncio.sleep(0.001)
                crawler.stop()
                await task

        await crawl_until(start + weeks * 7 * DAY)
        _, forecasts = await learned_plan(config, store, policy_of).outlook(clock.now())
        begin, n_before = clock.now(), len(site.requests)
        await crawl_until(begin + 7 * DAY)
        end = clock.now()
        achieved = fresh_share(pages, site.requests, begin, end)
        promised = forecasts[0].freshness
        store.close()
        return {
            "pages": n,
            "weeks_before": weeks,
            "promised": round(promised, 4),
            "achieved": round(achieved, 4),
            "difference": round(100 * (achieved - promised), 2),
            "fetches": len(site.requests) - n_before,
            "budget": round(forecasts[0].rate * (end - begin) / 1000, 1),
        }


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="the only form there is")
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--budget", default="0.5/page/day")
    parser.add_argument("--weeks", type=int, default=4, help="before the week that is measured")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(run(given.pages, given.budget, given.weeks, given.seed, Path(folder)))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
