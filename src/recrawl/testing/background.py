"""A site and the command line beside a test: in a thread and in processes of their own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from recrawl.testing.site import LoopbackSite

__all__ = ["LOOPBACK_SETTINGS", "CommandLine", "SiteThread"]

#: A settings file with which loopback may be fetched, without waits.
LOOPBACK_SETTINGS = """\
[fetch]
allow_networks = ["127.0.0.0/8"]
proxy_from_environment = false

[politeness]
min_delay = "0s"
backoff = "100ms"

[extract]
workers = 1
"""


class SiteThread:
    """A ``LoopbackSite`` that answers from a thread of its own; a context manager.

    Parameters
    ----------
    addresses : sequence of str
        Addresses to listen on.
    keep_log : bool
        Note requests down.

    Examples
    --------
    ::

        with SiteThread() as site:
            site.route("/", Answer("hello"))
    """

    def __init__(self, addresses: Sequence[str] = ("127.0.0.1",), *, keep_log: bool = True) -> None:
        self.site = LoopbackSite(addresses, keep_log=keep_log)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> LoopbackSite:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self.site.__aenter__(), self._loop).result(10)
        return self.site

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _close(self) -> None:
        await self.site.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class CommandLine:
    """Runs ``python -m recrawl`` in a folder; a context manager that leaves no process behind.

    Parameters
    ----------
    folder : Path
        Working directory; a ``recrawl.toml`` is written into it.
    settings : str
        What the settings file holds.
    """

    def __init__(self, folder: Path, settings: str = LOOPBACK_SETTINGS) -> None:
        self.folder = folder
        folder.joinpath("recrawl.toml").write_text(settings, encoding="utf-8")
        self._started: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate(timeout=10)

    def start(self, *args: str, **more: Any) -> subprocess.Popen[str]:
        """Start a command, its output piped; ``more`` are arguments of ``Popen``."""
        process = subprocess.Popen(  # noqa: S603 - this very program
            [sys.executable, "-m", "recrawl", *args],
            cwd=self.folder,
            **{
                "stdin": subprocess.DEVNULL,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                "encoding": "utf-8",
                **more,
            },
        )
        self._started.append(process)
        return process

    def run(
        self, *args: str, text: str | None = None, timeout: float = 60.0, **more: Any
    ) -> tuple[int, str, str]:
        """Run a command to its end; return exit code, standard output and standard error."""
        process = self.start(*args, stdin=subprocess.PIPE, **more)
        out, err = process.communicate(text, timeout=timeout)
        return process.returncode, out, err
