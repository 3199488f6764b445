from __future__ import annotations

import asyncio
from typing import Any

from recrawl.app.committer import Committer
from recrawl.app.crash import Crash
from recrawl.app.targets import RedirectTargets
from recrawl.stores.memory import MemoryStore
from recrawl.testing.factories import host_row


class SizesStore(MemoryStore):
    """Notes down how many visits each transaction has."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    def commit(self, owner: str, commits: Any, now: int, **more: Any) -> list[int]:
        self.sizes.append(len(commits))
        return super().commit(owner, commits, now, **more)


async def test_no_transaction_is_larger_than_the_batch(world):
    """All that was put is written, in as few transactions as the batch allows."""
    world.store = SizesStore()
    world.add(*(f"https://a.example/{i}" for i in range(20)))
    now, written = world.clock.now(), []
    pages = world.store.lease("me", now, ttl=60.0, limit=99, per_host=99)
    committer = Committer(
        world.store,
        world.clock,
        owner="me",
        policy_of=world.policy_of,
        redirects=RedirectTargets(),
        batch=7,
        pause=0.0,
        written=lambda commits, lost: written.append((len(commits), lost)),
    )

    for page in pages:
        committer.put(Crash(page, host_row(page.url), now, ValueError()))
    committer.close()
    await asyncio.wait_for(committer.run(), 10)

    assert world.store.sizes == [7, 7, 6]
    assert written == [(7, set()), (7, set()), (6, set())]
    assert world.store.status(now).n_visits == 20
