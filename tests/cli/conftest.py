"""Commands called in this process, in a folder of their own, over a site on loopback."""

from __future__ import annotations

import csv
import io
import json
import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from recrawl.cli.main import main
from recrawl.stores.sqlite import SqliteStore
from recrawl.testing.background import LOOPBACK_SETTINGS, CommandLine, SiteThread
from recrawl.testing.site import Answer, LoopbackSite


@dataclass(frozen=True)
class Result:
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of JSON Lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def cells(self) -> list[dict[str, str]]:
        """The rows of CSV."""
        return list(csv.DictReader(io.StringIO(self.out, newline=""), strict=True))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty working directory, and an environment that names no settings."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if "RECRAWL" in name:
            monkeypatch.delenv(name)
    return tmp_path


@pytest.fixture
def recrawl(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Result]]:
    """Give a function that calls a command as the shell would."""
    handlers = logging.getLogger().handlers[:]

    def call(*args: str, stdin: bytes = b"") -> Result:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as caught:
            main(args)
        out, err = capsys.readouterr()
        return Result(caught.value.code, out, err)

    yield call
    logging.getLogger().handlers[:] = handlers


@pytest.fixture
def settings(folder: Path) -> Path:
    """Give a recrawl.toml with which loopback may be fetched."""
    path = folder / "recrawl.toml"
    path.write_text(LOOPBACK_SETTINGS, encoding="utf-8")
    return path


@pytest.fixture
def site(settings: Path) -> Iterator[LoopbackSite]:
    """Give a site with three pages, beside settings that allow it."""
    with SiteThread() as site:
        site.route("/", Answer("<title>Home</title><p>one"))
        site.route("/a", Answer("<title>A</title><p>a", headers={"ETag": '"1"'}))
        yield site


@pytest.fixture
def command_line(folder: Path) -> Iterator[CommandLine]:
    """Give a starter of real processes in the same folder."""
    with CommandLine(folder) as command_line:
        yield command_line


@pytest.fixture
def store(folder: Path) -> Iterator[SqliteStore]:
    """Give the store of the folder."""
    store = SqliteStore(folder / "recrawl.sqlite")
    yield store
    store.close()
