"""The whole cycle of recrawl beside Scrapy's download of the same pages.

Run as ``python benchmarks/cycle.py --json``.  A server process answers for 300 hosts on loopback,
20 KB of HTML a page; a third of the pages is answered 304.  Each crawler runs in a process of its
own and is measured from its first request to its end: CPU seconds of the process and of its
children, imports and set-up left out.

- recrawl: lease, conditional fetch, extraction in worker processes, signature, update, schedule,
  commit to SQLite.  A first pass, not measured, lets it know the pages; of those that are not
  answered 304, half have changed since, and half send the same bytes again.
- Scrapy: download only, CONCURRENT_ITEMS=1, no robots.txt, no delay, no cookies, no retries, the
  validators given to it.

They take turns, and the ratio is that of the medians.  Prints one JSON object: ``ratio`` (recrawl's
pages per CPU second over Scrapy's), and what it was made of.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from recrawl.app.pages import new_page
from recrawl.clocks import SystemClock
from recrawl.config import (
    Config,
    CrawlSettings,
    FetchSettings,
    PolitenessSettings,
    ScheduleSettings,
    StoreSettings,
)
from recrawl.testing.answers import Answer, Asked
from recrawl.testing.site import LoopbackSite
from recrawl.wiring import make_policies, open_crawler, open_store

PAGE_BYTES = 20_000
CONCURRENCY = 64


def hosts(n: int) -> list[str]:
    """Return n loopback addresses."""
    return [f"127.0.{1 + i // 200}.{1 + i % 200}" for i in range(n)]


def urls(n_hosts: int, n_pages: int, port: int) -> list[str]:
    """Return the URLs of all pages, hosts taking turns."""
    # Host by host, Scrapy would hold requests for five hosts only in its 64 places, and would
    # need a quarter more CPU; to recrawl the order is all one.
    return [f"http://{host}:{port}/{i}" for i in range(n_pages) for host in hosts(n_hosts)]


def html(i: int, version: int) -> bytes:
    """Return 20 KB of a page as they are: navigation, paragraphs, links, a script."""
    head = f"<!doctype html><html><head><meta charset=utf-8><title>Page {i}</title></head><body>"
    navigation = "".join(f'<li><a href="/{k}">Section {k}</a></li>' for k in range(30))
    script = f"<script>var v = {version}; function f() {{ return v * {i}; }}</script>"
    paragraphs, size = [], len(head) + len(navigation) + len(script)
    k = 0
    while size < PAGE_BYTES:
        text = (
            f"<p class='c{k % 5}'>Paragraph {k} of page {i}, edition {version}: "
            f"<b>{'words and more words ' * 8}</b> and <a href='/{k % 20}?q={k}'>a link</a>.</p>"
        )
        paragraphs.append(text)
        size += len(text)
        k += 1
    return f"{head}<ul>{navigation}</ul>{script}{''.join(paragraphs)}</body></html>".encode()


def is_tagged(i: int) -> bool:
    """Return whether a page carries an ETag, and so is answered 304."""
    return i % 3 == 0


async def serve(n_hosts: int, n_pages: int) -> None:
    """Serve the pages until the parent goes away; SIGUSR1 changes half of those without a tag."""
    version = 0

    def change() -> None:
        nonlocal version
        version += 1

    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, change)
    made: dict[tuple[int, int], Answer] = {}

    def route(asked: Asked) -> Answer:
        i = int(asked.path[1:])
        if is_tagged(i) and asked.headers.get("if-none-match") == '"t"':
            return not_modified
        key = (i, version if i % 2 else 0)
        if key not in made:
            made[key] = Answer(html(*key), headers={"ETag": '"t"'} if is_tagged(i) else {})
        return made[key]

    not_modified = Answer(status=304, headers={"ETag": '"t"'})
    async with LoopbackSite(hosts(n_hosts), keep_log=False) as site:
        for host in site.addresses:
            for i in range(n_pages):
                site.route(f"/{i}", route, host=host)
        print(site.port, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def cpu() -> float:
    """Return the CPU seconds of this process and of the children that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def crawl_with_recrawl(directory: Path, pages: Sequence[str]) -> dict[str, float]:
    """Visit each page once with recrawl; return pages and CPU seconds."""
    config = Config(
        store=StoreSettings(url=f"sqlite:///{directory / 'store.sqlite'}"),
        fetch=FetchSettings(allow_networks=("127.0.0.0/8",), proxy_from_environment=False),
        politeness=PolitenessSettings(min_delay=0.0, robots_txt=False),
        crawl=CrawlSettings(hosts=CONCURRENCY),
        schedule=ScheduleSettings(interval=86400.0),
    )
    store = open_store(config, create=True)
    policy_of = make_policies(config)
    now = SystemClock().now()
    if store.status(now).n_pages:
        known = list(store)
        store.update([replace(p, state=replace(p.state, next_fetch_at=0)) for p in known])
    else:
        store.add([new_page(url, policy_of(url), now=now) for url in pages])

    async def run() -> dict[str, float]:
        async with open_crawler(config, store) as crawler:
            start = cpu()
            totals = await crawler.run(once=True)
        assert totals.n_errors == totals.n_denied == totals.n_lost == 0, totals
        # The workers start with the first document and end with the crawler: all theirs is in.
        seconds = cpu() - start
        return {
            "pages": totals.n_fetched,
            "notmodified": totals.n_notmodified,
            "changed": totals.n_changed,
            "cpu_s": seconds,
        }

    result = asyncio.run(run())
    store.close()
    return result


def download_with_scrapy(pages: Sequence[str]) -> dict[str, float]:
    """Download each page once with Scrapy; return pages and CPU seconds."""
    import scrapy
    from scrapy.crawler import CrawlerProcess

    result = {"pages": 0, "notmodified": 0, "cpu_s": 0.0}

    class Download(scrapy.Spider):
        name = "download"

        async def start(self):
            result["cpu_s"] = cpu()
            for url in pages:
                tag = {"If-None-Match": '"t"'} if is_tagged(int(url.rpartition("/")[2])) else {}
                yield scrapy.Request(url, headers=tag, meta={"handle_httpstatus_list": [304]})

        def parse(self, response):
            result["pages"] += 1
            result["notmodified"] += response.status == 304

        def closed(self, reason):  # noqa: ARG002 Scrapy names it
            result["cpu_s"] = cpu() - result["cpu_s"]

    process = CrawlerProcess(
        {
            "CONCURRENT_ITEMS": 1,
            "CONCURRENT_REQUESTS": CONCURRENCY,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
            "DOWNLOAD_DELAY": 0,
            "ROBOTSTXT_OBEY": False,
            "COOKIES_ENABLED": False,
            "RETRY_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "LOG_ENABLED": False,
        }
    )
    process.crawl(Download)
    process.start()
    return result


@contextlib.contextmanager
def server(arguments: list[str]) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Start the server process; give it and its port."""
    with subprocess.Popen(
        [sys.executable, __file__, "--role", "server", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process, int(process.stdout.readline())
        process.stdin.close()


def measure(n_hosts: int, n_pages: int, turns: int) -> dict[str, object]:
    """Let both take turns and return the figures."""
    size = ["--hosts", str(n_hosts), "--pages", str(n_pages)]
    rates: dict[str, list[float]] = {"recrawl": [], "scrapy": []}
    figures: dict[str, object] = {}
    with server(size) as (process, port), tempfile.TemporaryDirectory() as directory:

        def role(name: str) -> dict[str, float]:
            arguments = ["--role", name, *size, "--port", str(port), "--directory", directory]
            command = [sys.executable, __file__, *arguments]
            run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            return json.loads(run.stdout.splitlines()[-1])

        role("recrawl")
        for _ in range(turns):
            os.kill(process.pid, signal.SIGUSR1)
            for name, rate in rates.items():
                run = role(name)
                assert run["pages"] == n_hosts * n_pages, (name, run)
                rate.append(run["pages"] / run["cpu_s"])
                for kind in ("notmodified", "changed"):
                    if kind in run:
                        figures[f"{name}_{kind}"] = run[kind]
    recrawl, scrapy = (statistics.median(rates[name]) for name in ("recrawl", "scrapy"))
    return {
        "benchmark": "cycle",
        "ratio": round(recrawl / scrapy, 3),
        "recrawl_pages_per_cpu_s": round(recrawl, 1),
        "scrapy_pages_per_cpu_s": round(scrapy, 1),
        "recrawl_us_a_page": round(1e6 / recrawl, 1),
        "scrapy_us_a_page": round(1e6 / scrapy, 1),
        "pages": n_hosts * n_pages,
        "turns": turns,
        **figures,
    }


def main() -> None:
    """Read the command line and run one role, or the whole."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON (always done)")
    parser.add_argument("--role", choices=["all", "server", "recrawl", "scrapy"], default="all")
    parser.add_argument("--hosts", type=int, default=300)
    parser.add_argument("--pages", type=int, default=12, help="pages a host")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--directory", type=Path)
    options = parser.parse_args()
    pages = urls(options.hosts, options.pages, options.port)
    match options.role:
        case "server":
            asyncio.run(serve(options.hosts, options.pages))
        case "recrawl":
            print(json.dumps(crawl_with_recrawl(options.directory, pages)))
        case "scrapy":
            print(json.dumps(download_with_scrapy(pages)))
        case _:
            print(json.dumps(measure(options.hosts, options.pages, options.turns)))


if __name__ == "__main__":
    main()
