"""Random calls on a store and on the memory store: every answer must be the same."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from recrawl.core.columns import NEVER, NO_TIME
from recrawl.ports.store import ChangeKind, PageRow, PageStore
from recrawl.stores.memory import MemoryStore
from recrawl.testing.factories import NOW, commit_of, host_row, page_row
from recrawl.testing.store.base import StoreSuite, assert_same

__all__ = ["MachineTests"]

_KEEP_VISITS = 2
_URLS = [f"https://{host}.example/{i}" for host in "abc" for i in range(4)]
_OWNERS = st.sampled_from(["a", "b"])
_SOME_URLS = st.lists(st.sampled_from(_URLS), max_size=5)
# Seconds from now; what is due lies close to what time does.
_OFFSETS = st.integers(-20, 20)


def _at(now: int, offset: int) -> int:
    return now + 1000 * offset


class _Machine(RuleBasedStateMachine):
    """Calls both stores alike."""

    make: Callable[[], PageStore]

    def __init__(self) -> None:
        super().__init__()
        self.store = self.make()
        self.memory = MemoryStore(_KEEP_VISITS)
        self.now = NOW
        self.out: dict[str, list[PageRow]] = {"a": [], "b": []}

    def _both(self, call: str, *args: Any, **keywords: Any) -> Any:
        wanted = getattr(self.memory, call)(*args, **keywords)
        got = getattr(self.store, call)(*args, **keywords)
        assert_same(got, wanted)
        return wanted

    @rule(seconds=_OFFSETS)
    def move_time(self, seconds: int) -> None:
        self.now = _at(self.now, seconds)

    @rule(urls=_SOME_URLS, due=_OFFSETS | st.sampled_from([NEVER, NO_TIME]))
    def add(self, urls: list[str], due: int) -> None:
        at = due if due in (NEVER, NO_TIME) else _at(self.now, due)
        self._both("add", [page_row(url, next_fetch_at=at) for url in urls])

    @rule(
        owner=_OWNERS,
        limit=st.integers(0, 6),
        per_host=st.integers(0, 3),
        ttl=_OFFSETS,
        due_by=st.none() | _OFFSETS,
    )
    def lease(self, owner: str, limit: int, per_host: int, ttl: int, due_by: int | None) -> None:
        # Short, and now and then over before it began.
        pages = self._both(
            "lease",
            owner,
            self.now,
            ttl=float(ttl),
            limit=limit,
            per_host=per_host,
            due_by=None if due_by is None else _at(self.now, due_by),
        )
        self.out[owner] += pages

    @rule(owner=_OWNERS, data=st.data())
    def release(self, owner: str, data: st.DataObject) -> None:
        pages = data.draw(_some_of(self.out["a"] + self.out["b"]))
        self._both("release", owner, [page.state.page_key for page in pages])

    @rule(owner=_OWNERS, data=st.data(), found=_SOME_URLS)
    def commit(self, owner: str, data: st.DataObject, found: list[str]) -> None:
        # Rows once leased, by either owner, long ago or just now.
        pages = data.draw(_some_of(self.out[owner] or self.out["a"] + self.out["b"]))
        commits = [
            commit_of(
                page,
                _at(self.now, data.draw(st.integers(-2, 0))),
                next_fetch_at=data.draw(_OFFSETS.map(lambda s: _at(self.now, s)) | st.just(NEVER)),
                status=data.draw(st.integers(1, 9)),
                kind=data.draw(st.sampled_from([None, *ChangeKind])),
                text=data.draw(st.none() | st.text(max_size=5)),
                host=host_row(page.url, ready_at=_at(self.now, data.draw(st.integers(-2, 2)))),
                found=tuple(page_row(url, next_fetch_at=self.now, depth=1) for url in found),
            )
            for page in {page.url: page for page in pages}.values()
        ]
        self._both("commit", owner, commits, self.now)

    @rule(urls=_SOME_URLS, due=_OFFSETS, importance=st.floats(0, 10, width=32))
    def update(self, urls: list[str], due: int, importance: float) -> None:
        at = _at(self.now, due)
        rows = [page_row(url, next_fetch_at=at, importance=importance) for url in urls]
        self._both("update", rows)

    @rule(urls=_SOME_URLS, ready=_OFFSETS)
    def save_hosts(self, urls: list[str], ready: int) -> None:
        self._both(
            "save_hosts", [host_row(url, ready_at=_at(self.now, ready), n_errors=1) for url in urls]
        )

    @rule(limit=st.integers(0, 20))
    def read(self, limit: int) -> None:
        self._both("due", self.now, limit=limit)
        self._both("next_due", self.now, due_by=_at(self.now, limit - 10))
        self._both("changes", limit, limit=limit)
        keys = [page_row(url).state.page_key for url in _URLS]
        self._both("scan", after=keys[limit % len(keys)], limit=limit)
        for key in keys:
            self._both("visits", key)
            self._both("texts", key)

    @invariant()
    def all_is_the_same(self) -> None:
        self._both("next_due", self.now)
        assert_same(list(self.store), list(self.memory))
        keys = [page_row(url).state.host_key for url in _URLS]
        assert self.store.hosts(keys) == self.memory.hosts(keys)
        assert self.store.status(self.now) == self.memory.status(self.now)

    def teardown(self) -> None:
        self.store.close()


def _some_of(pages: list[PageRow]) -> st.SearchStrategy[list[PageRow]]:
    return st.lists(st.sampled_from(pages), max_size=6) if pages else st.just([])


class MachineTests(StoreSuite):
    """The store beside the memory store."""

    #: Number of random histories, and of calls in each.
    n_histories = 40
    n_calls = 40

    def test_answers_are_those_of_the_memory_store(self, tmp_path: Path) -> None:
        """Whatever calls come, at whatever times, every answer is the reference's."""

        class Machine(_Machine):
            def make(machine) -> PageStore:  # noqa: N805  # self is the suite here
                folder = Path(mkdtemp(dir=tmp_path))
                machine.folder = folder
                return self.make_store(folder, _KEEP_VISITS)

            def teardown(machine) -> None:  # noqa: N805  # self is the suite here
                super().teardown()
                shutil.rmtree(machine.folder)

        run_state_machine_as_test(
            Machine,
            settings=settings(
                max_examples=self.n_histories,
                stateful_step_count=self.n_calls,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
