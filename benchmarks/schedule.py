"""How many pages a schedule handles, and how much text a signature.

Run as ``python benchmarks/schedule.py --json``.  It prints one JSON object a line:

- every schedule of the registry, guarded and exact: pages per second of CPU, in calls of ``after``
  for 100,000 pages each, of which 5 % failed and the others changed, did not, or cannot be told;
- ``advance``: the whole pure step around it, in batches of 16,384 pages;
- ``text-profile``: megabytes of text per second of CPU, on texts of 50 KB whose words follow
  Zipf's law, as English does.

Times are the best of the turns: the machine may be busy with other things.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable

import numpy as np

from recrawl.core.document import Document, mime_key
from recrawl.core.states import PageStates
from recrawl.core.update import advance
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.schedules.nutch import NutchAdaptive
from recrawl.schedules.nutch_mime_file import MimeRates
from recrawl.schedules.registry import SCHEDULES
from recrawl.signatures.text_profile import TextProfile
from recrawl.testing.factories import DAY, NOW

N_TURNS = 7
SCHEDULE_BATCH = 100_000
BATCH = 16_384
MIMES = ("text/html", "application/pdf", "application/rss+xml", "image/png")
#: What a schedule is given so that it does all that it can.
EXTRA = {"nutch-mime": {"mimes": MimeRates.of(dict.fromkeys(MIMES[:3], (0.3, 0.1)))}}
N_WORDS = 9_000
N_TEXTS = 10


def pages(n: int) -> tuple[PageStates, Visits]:
    """Return n pages as a running crawler has them, and a visit of each."""
    rng = np.random.default_rng(1)
    outcome = rng.choice([Outcome.SUCCESS, Outcome.NOTMODIFIED], n)
    failed = rng.random(n) < 0.05
    outcome[failed] = rng.choice([Outcome.RETRY, Outcome.GONE], failed.sum())
    states = PageStates.of(
        n,
        page_key=np.arange(1, n + 1),
        status=2,
        interval=rng.uniform(3600, 30 * 86_400, n),
        modified_at=NOW - rng.integers(0, 100 * DAY, n),
        mime_key=rng.choice([mime_key(mime) for mime in MIMES], n),
    )
    visits = Visits.of(
        n,
        page_key=states.page_key,
        fetched_at=NOW + rng.integers(0, DAY, n),
        outcome=outcome,
        observation=rng.choice(list(Observation), n),
        modified_at=NOW - rng.integers(0, 100 * DAY, n),
    )
    return states, visits


def texts() -> list[Document]:
    """Return ASCII texts of about 50 KB: the r-th word has the weight 1/r, frequent ones are short.

    Such a text has 9,000 words, 2,600 different ones, and 4.6 letters a word, much as English.
    """
    rng = np.random.default_rng(1)
    letters = np.array(list("etaoinshrdlcumwfgypbvk"))
    rank = np.arange(1, 10_001)
    length = np.maximum(rng.normal(1.5 + 0.55 * np.log2(rank + 1), 1), 1).astype(np.int64)
    words = np.array(["".join(rng.choice(letters, n)) for n in length])
    weight = 1 / rank
    documents = []
    for _ in range(N_TEXTS):
        drawn = rng.choice(words, N_WORDS, p=weight / weight.sum())
        sentences = [" ".join(part).capitalize() for part in np.array_split(drawn, N_WORDS // 16)]
        documents.append(Document("https://example.org/", b"", ". ".join(sentences)))
    return documents


def best(work: Callable[[], object]) -> float:
    """Return the CPU time of the fastest turn. [s]."""
    seconds = []
    for _ in range(N_TURNS):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def report(name: str, quantity: str, value: float, **settings: object) -> None:
    figures = {"benchmark": name, quantity: round(value, 3), **settings}
    print(json.dumps({**figures, "numpy": np.__version__, "python": platform.python_version()}))


def batches_of(n: int, size: int) -> list[tuple[PageStates, Visits]]:
    """Return n pages and their visits in batches."""
    states, visits = pages(n)
    rows = [np.arange(start, min(start + size, n)) for start in range(0, n, size)]
    return [(states.take(index), visits.take(index)) for index in rows]


def measure_schedules(n: int) -> None:
    batches = batches_of(n, SCHEDULE_BATCH)
    for name, kind in SCHEDULES.items():
        for exact in (False, True):
            after = kind(exact=exact, **EXTRA.get(name, {})).after
            seconds = best(lambda after=after: [after(*batch) for batch in batches])
            settings = {"n_pages": n, "batch": min(n, SCHEDULE_BATCH), "exact": exact}
            report(name, "pages_per_s", n / seconds, **settings)


def measure_advance(n: int) -> None:
    batches = batches_of(n, BATCH)
    schedule = NutchAdaptive()
    seconds = best(lambda: [advance(*batch, schedule=schedule) for batch in batches])
    report("advance", "pages_per_s", n / seconds, n_pages=n, batch=BATCH)


def measure_signature() -> None:
    documents = texts()
    megabytes = sum(len(document.text or "") for document in documents) / 1e6
    signature = TextProfile()
    seconds = best(lambda: [signature.sign(document) for document in documents])
    text_kb = round(1000 * megabytes / N_TEXTS)
    report("text-profile", "mb_per_s", megabytes / seconds, text_kb=text_kb)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON, as it always does")
    parser.add_argument("--pages", type=float, default=1e6, help="pages in the batch")
    arguments = parser.parse_args()
    measure_schedules(int(arguments.pages))
    measure_advance(int(arguments.pages))
    measure_signature()


if __name__ == "__main__":
    main()
