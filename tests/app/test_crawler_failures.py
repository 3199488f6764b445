"""What raises during a visit, and what becomes of the page and of the run."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from recrawl.core.states import PageStatus
from recrawl.errors import KeyClash, StoreError, StoreFull
from recrawl.stores.memory import MemoryStore
from recrawl.testing.factories import DAY

A, B, C = (f"https://{name}.example/" for name in "abc")


class BrokenStore(MemoryStore):
    """Raises from ``commit`` for the pages named, or for all."""

    def __init__(self, error: StoreError, urls: set[str] | None = None) -> None:
        super().__init__()
        self.error, self.urls = error, urls

    def commit(self, owner: str, commits: Any, now: int, **more: Any) -> list[int]:
        bad = [
            commit
            for commit in commits
            if self.urls is None or (commit.page.url in self.urls and commit.text is not None)
        ]
        if bad:
            raise self.error
        return super().commit(owner, commits, now, **more)


@pytest.mark.parametrize("part", ["fetcher", "extractor", "signature", "kernel", "policy"])
async def test_one_bad_page_stops_that_page_alone(world, caplog, part):
    """Whatever part raises: logged, visited again later, and the others are done."""

    class Bad:
        name = scheme = "bad"

        def __getattr__(self, name: str) -> Any:
            raise ZeroDivisionError(part)

    world.site = {A: b"a", B: b"b", C: b"c"}
    world.add(A, B, C)
    if part == "fetcher":
        world.site[B] = ZeroDivisionError()
    elif part == "extractor":
        world.site[B] = b"raise"
    elif part == "signature":
        world.policies[B] = world.policy_with(signature=Bad())
    elif part == "kernel":
        world.policies[B] = world.policy_with(schedule=Bad())
    policy_of = world.policy_of
    if part == "policy":

        def policy_of(url: str) -> Any:
            return 1 / 0 if url == B else world.policy

    before = world.page(B).state
    now = world.clock.now()

    with caplog.at_level(logging.ERROR, "recrawl"):
        totals = await world.run_once(policy_of=policy_of)

    assert (totals.n_new, totals.n_errors, totals.n_fetched) == (2, 1, 3)
    assert world.visits(B) == [("RETRY", "internal_ZeroDivisionError")]
    after = world.page(B)
    assert (after.state.status, after.state.retries) == (before.status, 0)
    assert after.state.next_fetch_at == now + DAY
    assert [B in record.getMessage() for record in caplog.records] == [True]
    assert world.store.status(now).n_leased == 0


async def test_crashes_never_make_a_page_gone(world):
    """A defect of ours says nothing about the page, however often it shows."""
    world.site = {A: b"a"}
    world.add(A)
    await world.run_once()
    etag = world.page(A).etag
    world.site = {A: ZeroDivisionError()}

    for _ in range(6):
        world.clock.advance(3 * 86_400)
        await world.run_once()

    page = world.page(A)
    assert (page.state.status, page.etag) == (PageStatus.FETCHED, etag)
    assert world.kinds() == ["new"]
    world.site = {A: b"a"}
    world.clock.advance(3 * 86_400)
    assert (await world.run_once()).n_unchanged == 1


async def test_a_crash_waits_between_an_hour_and_a_day(world):
    """Short and long intervals alike: soon enough to see it mended, seldom enough for a host."""
    world.site = {A: ZeroDivisionError(), B: ZeroDivisionError()}
    world.add(A, interval=60.0)
    world.add(B, interval=30 * 86_400.0)
    now = world.clock.now()

    await world.run_once()

    assert world.page(A).state.next_fetch_at == now + 3_600_000
    assert world.page(B).state.next_fetch_at == now + DAY


async def test_a_row_that_the_store_refuses_is_one_page(world, caplog):
    """The others of its batch are written, the page itself as a crash."""
    world.store = BrokenStore(StoreError("no such value"), {B})
    world.site = {A: b"a", B: b"b", C: b"c"}
    world.add(A, B, C)

    totals = await world.run_once()

    assert (totals.n_new, totals.n_errors, totals.n_lost) == (2, 1, 0)
    assert world.visits(B) == [("RETRY", "internal_StoreError")]
    assert [r.getMessage() for r in caplog.records] == [f"commit_failed url={B}"]


@pytest.mark.parametrize("error", [StoreError("broken"), StoreFull("full"), KeyClash("clash")])
async def test_a_broken_store_ends_the_run(world, error):
    """The error surfaces, and what was held is given back."""
    world.store = BrokenStore(error)
    world.site = dict.fromkeys((A, B, C), b"x")
    world.add(A, B, C)

    with pytest.raises(type(error)):
        await world.run_once()

    status = world.store.status(world.clock.now())
    assert (status.n_leased, status.n_visits, status.n_due) == (0, 0, 3)


async def test_a_full_store_writes_no_crash(world):
    """No room is no fault of a page: nothing is written in its place."""
    world.store = BrokenStore(StoreFull("full"), {A})
    world.site = {A: b"a"}
    world.add(A)

    with pytest.raises(StoreFull):
        await world.run_once()

    assert world.visits(A) == []


async def test_a_failing_release_is_logged(world, caplog):
    """Leases end by themselves: the run goes on, and the log says why pages are held."""

    class Store(MemoryStore):
        def release(self, owner: str, page_keys: Any) -> None:
            raise StoreError("locked")

    world.store = Store()
    world.site = dict.fromkeys((A, f"{A}2"), b"x")
    world.add(A, f"{A}2")
    fetcher = type(world.fetcher)(world._answer, world.clock, min_delay=10.0)

    totals = await world.run_once(fetcher=fetcher, lease=30.0)

    assert totals.n_fetched == 2
    assert caplog.records[0].getMessage() == "release_failed pages=1 error=locked"
