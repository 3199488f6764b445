"""Documents read in worker processes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from recrawl.errors import InputError, RecrawlError, UsageError
from recrawl.extract import _process
from recrawl.extract._frames import pack, pack_extracted
from recrawl.extract.document import extract_document
from recrawl.extract.pool import ExtractPool
from recrawl.ports.extractor import Extracted

URL = "https://a.example/page"
PAGE = "<title>T</title><p>café <a href=b>go</a>".encode()

# Takes the parser far longer than any limit here, and far more memory.
HOSTILE = b"".join(b"<font size=%d><p>" % size for size in range(12_000))


@pytest.fixture
async def pool():
    """Return a pool of one worker that is closed afterwards."""
    pool = ExtractPool(n_workers=1, time_limit=30.0)
    yield pool
    await pool.close()


async def extract(pool, body=PAGE, content_type="text/html"):
    return await pool.extract(body, content_type=content_type, url=URL)


def is_there(pid):
    """Return whether a process exists and is no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def until_gone(pid):
    async with asyncio.timeout(30):
        while is_there(pid):
            await asyncio.sleep(0.01)


async def test_the_pool_says_what_the_function_says(pool):
    """A worker gives the same as a call in this process, for every type."""
    for content_type in ("text/html", None, "text/plain", "image/png"):
        expected = extract_document(PAGE, content_type=content_type, url=URL)

        assert await extract(pool, PAGE, content_type) == expected


async def test_without_url_links_are_left_out(pool):
    """A worker does not look for links if it is not told what they are relative to."""
    found = await pool.extract(PAGE, content_type="text/html", url=None)

    assert (found.text, found.links) == ("café go", ())


async def test_many_documents_come_back_each_to_its_own(pool):
    """More documents than workers hold at once are all answered, each with its own text."""
    results = await asyncio.gather(*(extract(pool, b"<p>%d" % i) for i in range(200)))

    assert [result.text for result in results] == [str(i) for i in range(200)]
    assert len(pool.pids) == 1


async def test_a_large_document_goes_through(pool):
    """A document of many megabytes is no trouble for the socket."""
    body = b"<p>" + b"word " * 1_000_000

    assert len((await extract(pool, body)).text) == 4_999_999


async def test_workers_start_when_there_is_work():
    """No process without a document, and no more than asked for."""
    pool = ExtractPool(n_workers=2)
    try:
        assert pool.pids == []
        await asyncio.gather(*(extract(pool) for _ in range(20)))
        assert len(pool.pids) == 2
    finally:
        await pool.close()


async def test_a_document_that_takes_too_long_is_ended():
    """Its worker is killed, its error says why, and the documents behind it are read."""
    pool = ExtractPool(n_workers=1, time_limit=0.3)
    try:
        await extract(pool)
        [pid] = pool.pids

        hostile, *others = await asyncio.gather(
            extract(pool, HOSTILE), extract(pool), extract(pool)
        )

        assert (hostile.text, hostile.error) == ("", "time_limit")
        assert [other.text for other in others] == ["café go"] * 2
        assert pid not in pool.pids
        await until_gone(pid)
    finally:
        await pool.close()


async def test_a_document_that_needs_too_much_memory_is_an_error():
    """The worker's memory is bounded, and the next document is read."""
    pool = ExtractPool(n_workers=1, time_limit=60.0, memory_limit=400 << 20)
    try:
        assert (await extract(pool, HOSTILE)).error == "crashed"
        assert (await extract(pool)).text == "café go"
    finally:
        await pool.close()


async def test_a_document_outlives_one_worker(pool):
    """A worker that something else killed costs nothing."""
    await extract(pool)
    tasks = [asyncio.ensure_future(extract(pool)) for _ in range(8)]
    await asyncio.sleep(0)
    os.kill(pool.pids[0], signal.SIGKILL)

    assert {result.text for result in await asyncio.gather(*tasks)} == {"café go"}


async def test_a_document_that_ends_two_workers_has_crashed(pool):
    """The second death is the document's, and the others are still read."""
    await extract(pool)
    hostile = asyncio.ensure_future(extract(pool, HOSTILE))
    other = asyncio.ensure_future(extract(pool))
    await asyncio.sleep(0)

    [first] = pool._workers
    os.kill(first.pid, signal.SIGKILL)
    while not (pool._workers != [first] and pool._workers[0].is_ready):
        await asyncio.sleep(0.005)
    assert not hostile.done()
    os.kill(pool.pids[0], signal.SIGKILL)

    assert (await hostile).error == "crashed"
    assert (await other).text == "café go"


async def test_a_cancelled_wait_costs_nobody_else(pool):
    """Who does not wait any more is forgotten; the rest get their own results."""
    tasks = [asyncio.ensure_future(extract(pool, b"<p>%d" % i)) for i in range(20)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()

    results = await asyncio.gather(*tasks, return_exceptions=True)

    assert [result.text for result in results[1::2]] == [str(i) for i in range(1, 20, 2)]
    assert all(isinstance(result, asyncio.CancelledError) for result in results[::2])


async def test_closing_ends_the_workers_and_those_who_wait():
    """After close no process is left, waits are cancelled, and work is refused."""
    pool = ExtractPool(n_workers=1)
    await extract(pool)
    [pid] = pool.pids
    waiting = [asyncio.ensure_future(extract(pool, HOSTILE)) for _ in range(6)]
    await asyncio.sleep(0)

    await pool.close()
    await pool.close()

    assert not is_there(pid)
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(result, asyncio.CancelledError) for result in results)
    with pytest.raises(UsageError, match="was closed"):
        await extract(pool)


async def test_closing_while_a_worker_starts_ends_it():
    """A worker that is not connected yet is ended as well."""
    pool = ExtractPool(n_workers=1)
    waiting = asyncio.ensure_future(extract(pool))
    await asyncio.sleep(0)
    [pid] = pool.pids

    await pool.close()

    assert not is_there(pid)
    with pytest.raises(asyncio.CancelledError):
        await waiting


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_signals_to_the_group_leave_workers_alone(pool, number):
    """Ctrl-C and a stop of the service are the pool's to decide about."""
    await extract(pool)
    [pid] = pool.pids

    os.kill(pid, number)

    assert (await extract(pool)).text == "café go"
    assert pool.pids == [pid]


async def test_workers_that_cannot_start_are_an_error(monkeypatch):
    """A broken installation is told to who waits, not tried for ever."""
    monkeypatch.setattr(_process, "_command", lambda *_: [sys.executable, "-c", "pass"])
    pool = ExtractPool(n_workers=1)
    try:
        with pytest.raises(RecrawlError, match="before they are ready"):
            await extract(pool)
    finally:
        await pool.close()


async def test_workers_that_hang_at_the_start_are_an_error(monkeypatch):
    """A worker that is never ready is not waited for without end."""
    sleeping = [sys.executable, "-c", "import time; time.sleep(99)"]
    monkeypatch.setattr(_process, "_command", lambda *_: sleeping)
    monkeypatch.setattr(_process, "_START_LIMIT", 0.05)
    pool = ExtractPool(n_workers=1)
    try:
        with pytest.raises(RecrawlError, match="before they are ready"):
            await extract(pool)
    finally:
        await pool.close()


async def test_a_system_without_processes_is_an_error(monkeypatch):
    """If no process starts at all, the reason of the system is told."""
    monkeypatch.setattr(_process, "_command", lambda *_: ["/nonexistent/python"])
    pool = ExtractPool(n_workers=1)
    try:
        with pytest.raises(RecrawlError, match=r"starts no process: .*nonexistent"):
            await extract(pool)
    finally:
        await pool.close()


@pytest.mark.parametrize(
    "nonsense",
    [b"x" * 99, pack_extracted(99, Extracted("")), pack(1, [b"text"])],
    ids=["no message", "no question", "no answer"],
)
async def test_a_worker_that_talks_nonsense_is_ended(nonsense, monkeypatch):
    """A worker that a page has taken over is not listened to."""
    code = f"import os, time; os.write(0, bytes(12) + {nonsense!r}); time.sleep(99)"
    monkeypatch.setattr(_process, "_command", lambda *_: [sys.executable, "-c", code])
    pool = ExtractPool(n_workers=1)
    try:
        assert (await extract(pool)).error == "crashed"
    finally:
        await pool.close()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_workers": 0}, "n_workers is 0; give at least 1"),
        ({"time_limit": 0.0}, "time_limit is 0.0"),
        ({"time_limit": float("nan")}, "time_limit is nan"),
        ({"memory_limit": 0}, "memory_limit is 0"),
    ],
)
def test_limits_that_allow_nothing_are_refused(settings, message):
    """The error names the setting, its value and what is allowed."""
    with pytest.raises(InputError, match=message):
        ExtractPool(**settings)


PARENT = """
import asyncio, sys
from recrawl.extract.pool import ExtractPool

async def main():
    pool = ExtractPool(n_workers=1, time_limit=float(sys.argv[1]))
    await pool.extract(b"<p>x", content_type="text/html", url="https://a.example/")
    if len(sys.argv) > 2:
        body = b"".join(b"<font size=%d><p>" % size for size in range(12_000))
        asyncio.ensure_future(pool.extract(body, content_type="text/html", url="https://a.example/"))
        await asyncio.sleep(0.05)
    print(pool.pids[0], flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.parametrize("arguments", [["30"], ["0.2", "busy"]], ids=["idle", "busy"])
async def test_no_worker_outlives_its_parent(arguments):
    """A parent ended by kill -9 leaves none, also one that is deep in a hostile page."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, *arguments], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(await asyncio.to_thread(parent.stdout.readline))
        parent.kill()

    await until_gone(pid)
