"""What the SQLite store costs: loading, leasing, committing and looking up pages.

Run as ``python benchmarks/store.py --json --pages 1e6``.  It prints one JSON object:

- ``load_pages_per_s``: pages added, in calls of 10,000, per second of CPU;
- ``bytes_per_page``: size of the file after loading, the write-ahead log folded in;
- ``lease_ms``: CPU time of one call that leases 10,000 due pages, 10 a host (``lease_n`` were had);
- ``commit_pages_per_s``: pages committed with a visit and a change event each, per second of CPU;
- ``lookup_us``: CPU time of one look-up by key, in random order;
- ``next_due_us``: CPU time of one call of ``next_due``;
- ``peak_mb``: greatest memory of the process.

Times are the best of the turns: the machine may be busy with other things.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from recrawl.ports.store import ChangeKind, PageRow
from recrawl.stores.sqlite import SqliteStore
from recrawl.testing.factories import DAY, NOW, commit_of, page_row

CHUNK = 10_000
N_TURNS = 4
PAGES_PER_HOST = 100


def chunks(n_pages: int, rng: random.Random) -> Iterator[list[PageRow]]:
    """Yield the pages to load; a host has 100 on average, a page is due within two days."""
    n_hosts = max(n_pages // PAGES_PER_HOST, 1)
    for start in range(0, n_pages, CHUNK):
        yield [
            page_row(
                f"https://www.site-{rng.randrange(n_hosts)}.example/section/{i}/some-words.html",
                next_fetch_at=NOW - DAY + rng.randrange(2 * DAY),
            )
            for i in range(start, min(start + CHUNK, n_pages))
        ]


def load(path: Path, n_pages: int, rng: random.Random) -> float:
    """Return the CPU time of adding all pages, in seconds."""
    store = SqliteStore(path)
    seconds = 0.0
    for pages in chunks(n_pages, rng):
        start = time.process_time()
        store.add(pages)
        seconds += time.process_time() - start
    store.close()
    return seconds


def measure(path: Path) -> dict[str, float]:
    """Return the figures of leases, commits and look-ups."""
    store = SqliteStore(path)
    lease_s, commit_s, lookup_s = [], [], []
    n_leased = 0
    keys: list[int] = []
    for turn in range(N_TURNS):
        gc.collect()
        start = time.process_time()
        pages = store.lease("bench", NOW, ttl=600.0, limit=CHUNK, per_host=10)
        lease_s.append(time.process_time() - start)
        commits = [
            commit_of(
                page, NOW + turn, kind=ChangeKind.CHANGED, signature=b"s" * 16, signature_scheme=1
            )
            for page in pages
        ]
        start = time.process_time()
        skipped = store.commit("bench", commits, NOW + turn)
        commit_s.append((time.process_time() - start) / len(pages))
        assert not skipped
        n_leased = max(n_leased, len(pages))
        keys = [page.state.page_key for page in pages]
    random.Random(1).shuffle(keys)
    for part in (keys[0::3], keys[1::3], keys[2::3]):
        start = time.process_time()
        for key in part:
            store.get(key)
        lookup_s.append((time.process_time() - start) / len(part))
    start = time.process_time()
    for _ in range(100):
        store.next_due(NOW)
    next_due_s = (time.process_time() - start) / 100
    store.close()
    return {
        "lease_ms": round(min(lease_s) * 1e3, 1),
        "lease_n": n_leased,
        "commit_pages_per_s": round(1 / min(commit_s)),
        "lookup_us": round(min(lookup_s) * 1e6, 1),
        "next_due_us": round(next_due_s * 1e6, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=float, default=1e5, help="pages to load, for example 1e6")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    n_pages = int(arguments.pages)
    if n_pages < 1:
        parser.error(f"--pages is {arguments.pages:g}; give at least 1")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "store.sqlite"
        load_s = load(path, n_pages, random.Random(0))
        figures = {
            "benchmark": "store",
            "pages": n_pages,
            "load_pages_per_s": round(n_pages / load_s),
            "bytes_per_page": round(path.stat().st_size / n_pages, 1),
            **measure(path),
            "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        }
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:20} {value}")


if __name__ == "__main__":
    main()
