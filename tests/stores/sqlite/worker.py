"""A process that leases and commits pages of one store until it is stopped.

Run by test_processes.py as ``worker.py PATH OWNER NOW N_TURNS``: every turn leases pages at
a time of its own and commits them due again; it prints "open" before it opens the store.
"""

from __future__ import annotations

import sys

from recrawl.ports.store import ChangeKind
from recrawl.stores.sqlite import SqliteStore
from recrawl.testing.factories import commit_of, page_row


def main(path: str, owner: str, now: int, n_turns: int) -> None:
    print("open", flush=True)
    store = SqliteStore(path)
    store.add([page_row(f"https://{i % 7}.example/{i}", next_fetch_at=0) for i in range(100)])
    for turn in range(n_turns):
        at = now + turn
        pages = store.lease(owner, at, ttl=0.5, limit=20, per_host=5)
        found = (page_row(f"https://found.example/{at}", next_fetch_at=at + 10**9),)
        skipped = store.commit(
            owner,
            [
                commit_of(
                    page,
                    at,
                    next_fetch_at=at + 1,
                    kind=ChangeKind.CHANGED,
                    text=f"{page.url} {at}",
                    found=found,
                )
                for page in pages
            ],
            at,
        )
        print(len(pages), len(skipped), flush=True)
    store.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
