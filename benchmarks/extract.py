"""What it costs to turn a page into text, in this process and through the pool of workers.

Run as ``python benchmarks/extract.py --json``.  Pages of 20 KB, each another, with navigation,
paragraphs, tables and a script.  It prints one JSON object a line:

- ``in-process``: charset, text, title and links by ``extract_document``;
- ``pool``: the same by ``ExtractPool`` with one worker, CPU of the parent and of the worker;
- ``hostile``: 20 KB that keep the parser busy, the reason why no page is read in process.

CPU seconds, best of the turns: the machine may be busy with other things.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import time
from pathlib import Path

from recrawl.extract.document import extract_document
from recrawl.extract.pool import ExtractPool

PAGE_BYTES = 20_000
N_PAGES = 200
N_TURNS = 7
CONCURRENCY = 32
URL = "https://a.example/section/page"
CONTENT_TYPE = "text/html; charset=utf-8"


def make_page(rng: random.Random, words: list[str]) -> bytes:
    """Return a page of about ``PAGE_BYTES``."""

    def some(n: int) -> str:
        return " ".join(rng.choices(words, k=n))

    menu = "".join(
        f'<li class="item"><a href="/section/{i}">{some(2)}</a></li>\n' for i in range(25)
    )
    head = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{some(5)}</title>'
        f'<script>var settings = {{"words": "{some(60)}"}};</script></head>\n'
    )
    parts = [f"{head}<body><nav><ul>{menu}</ul></nav>\n<main>"]
    size = len(parts[0])
    while size < PAGE_BYTES - 500:
        kind = rng.random()
        if kind < 0.6:
            part = (
                f'<p class="text">{some(20)} <a href="/page/{rng.randint(1, 999)}">{some(3)}</a> '
                f"{some(15)} <b>{some(2)}</b>,\n{some(12)} <em>{some(1)}</em>.</p>\n"
            )
        elif kind < 0.75:
            part = f'<h2 id="h{size}">{some(4)}</h2>\n'
        elif kind < 0.9:
            row = f"<tr><td>{some(2)}</td><td>{rng.randint(1, 999)}</td><td>{some(1)}</td></tr>\n"
            part = f'<table class="data">{row * 6}</table>\n'
        else:
            part = f'<div class="box"><span>{some(3)}</span><br><img src="i.png">{some(10)}</div>\n'
        parts.append(part)
        size += len(part)
    parts.append("</main><script>track();</script></body></html>\n")
    return "".join(parts).encode()


def make_pages() -> list[bytes]:
    """Return the pages, the same in every run."""
    rng = random.Random(1)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(900)]
    return [make_page(rng, words) for _ in range(N_PAGES)]


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of another process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def in_process(pages: list[bytes]) -> float:
    """Return the least CPU seconds for all pages."""
    turns = []
    for _ in range(N_TURNS):
        start = time.process_time()
        for page in pages:
            extract_document(page, content_type=CONTENT_TYPE, url=URL)
        turns.append(time.process_time() - start)
    return min(turns)


async def through_pool(pages: list[bytes]) -> tuple[float, float]:
    """Return the CPU seconds of parent and worker in the turn that took least."""
    pool = ExtractPool(n_workers=1)
    turn = asyncio.Semaphore(CONCURRENCY)

    async def read(page: bytes) -> None:
        async with turn:
            await pool.extract(page, content_type=CONTENT_TYPE, url=URL)

    turns = []
    await read(pages[0])
    [pid] = pool.pids
    for _ in range(N_TURNS):
        start, worker_start = time.process_time(), cpu_of(pid)
        await asyncio.gather(*(read(page) for page in pages))
        turns.append((time.process_time() - start, cpu_of(pid) - worker_start))
    await pool.close()
    return min(turns, key=sum)


def hostile() -> float:
    """Return the CPU seconds of one hostile page of ``PAGE_BYTES``."""
    page = b"".join(b"<font size=%d><p>" % size for size in range(PAGE_BYTES // 17))
    start = time.process_time()
    extract_document(page, content_type=CONTENT_TYPE, url=URL)
    return time.process_time() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON (there is no other form)")
    parser.parse_args()
    pages = make_pages()
    n_bytes = sum(map(len, pages))

    def line(name: str, seconds: float, **more: object) -> None:
        figures = {
            "name": name,
            "us_per_page": round(seconds / len(pages) * 1e6),
            "mb_per_s": round(n_bytes / seconds / 1e6, 1),
            **more,
            "python": platform.python_version(),
        }
        print(json.dumps(figures), flush=True)

    line("in-process", in_process(pages), page_bytes=n_bytes // len(pages))
    parent, worker = asyncio.run(through_pool(pages))
    line(
        "pool",
        parent + worker,
        parent_us_per_page=round(parent / len(pages) * 1e6),
        worker_us_per_page=round(worker / len(pages) * 1e6),
    )
    print(json.dumps({"name": "hostile", "page_bytes": PAGE_BYTES, "ms": round(hostile() * 1e3)}))


if __name__ == "__main__":
    main()
