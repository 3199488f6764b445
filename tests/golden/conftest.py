"""Finds the recorded files and the code that replays each kind of them.

A file ``replay_*.py`` beside this one has ``REPLAYERS``: from the kind of a file (``nutch/traces``)
to a function that takes its lines and returns one verdict a line: ``SAME``, ``LEFT_OUT`` and a
reason, or any other text that says what differs.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Replayer = Callable[[list[dict[str, Any]]], list[str]]

HERE = Path(__file__).parent
GOLDEN = Path(os.environ.get("RECRAWL_GOLDEN") or HERE / "data")


def _kind(path: Path, directory: Path) -> str:
    return path.relative_to(directory).as_posix().removesuffix(".jsonl.gz").removesuffix(".json")


def _files(directory: Path) -> dict[str, Path]:
    found = [*directory.glob("*/*.jsonl.gz"), *directory.glob("aronsson.json")]
    return {_kind(path, directory): path for path in sorted(found)}


def _load_replayers() -> dict[str, Replayer]:
    replayers: dict[str, Replayer] = {}
    for path in sorted(HERE.glob("replay_*.py")):
        spec = importlib.util.spec_from_file_location(f"golden_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        replayers |= module.REPLAYERS
    return replayers


def _read(path: Path) -> list[dict[str, Any]]:
    if path.suffix != ".gz":
        return json.loads(path.read_text(encoding="utf-8"))["rows"]
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test of each recorded file."""
    if "golden_kind" in metafunc.fixturenames:
        metafunc.parametrize("golden_kind", list(_files(GOLDEN)) or ["no files"])


@pytest.fixture(scope="session")
def golden_directory() -> Path:
    """Directory of the recorded files."""
    return GOLDEN


@pytest.fixture(scope="session")
def replayers() -> dict[str, Replayer]:
    """Replayers by kind of file."""
    return _load_replayers()


@pytest.fixture(scope="session")
def golden_lines() -> Callable[[str], list[dict[str, Any]]]:
    """Return the function that reads the lines of a kind of file."""
    return lambda kind: _read(_files(GOLDEN)[kind])


@pytest.fixture(scope="session")
def own_lines() -> Callable[[str], list[dict[str, Any]]]:
    """Return the function that reads the project's own lines, whatever directory is set."""
    return lambda kind: _read(_files(HERE / "data")[kind])
