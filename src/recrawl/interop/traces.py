"""Real change histories in files: a JSON object a line, compressed or not."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path

from recrawl.errors import InputError
from recrawl.simulation.traces import History, parse_history

__all__ = ["read_traces"]

_GZIP = b"\x1f\x8b"
#: Far more than the history of a page that changed each hour for a hundred years.
_LONGEST_LINE = 2**24


def read_traces(path: Path) -> list[History]:
    """Return the histories in a file, a page a line; blank lines are skipped.

    Parameters
    ----------
    path : Path
        The file; gzip is known by its first bytes, whatever the file is called.

    Raises
    ------
    InputError
        If the file cannot be read, or a line is not a history; the message names path and line.
    """
    number = 0
    histories: list[History] = []
    try:
        with path.open("rb") as raw:
            is_gzip = raw.read(2) == _GZIP
        with gzip.open(path) if is_gzip else path.open("rb") as lines:
            while line := lines.readline(_LONGEST_LINE):
                number += 1
                if line.strip():
                    histories.append(_history(line, f"{path}, line {number}"))
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        after = f" after line {number}" if number else ""
        raise InputError(f"{path}: cannot be read{after}: {reason}") from error
    return histories


def _history(line: bytes, place: str) -> History:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: not JSON: {error}") from error
    if not isinstance(record, dict):
        raise InputError(f"{place}: not a JSON object: {str(record)[:60]}")
    try:
        return parse_history(record)
    except InputError as error:
        raise InputError(f"{place}: {error}", value=error.value) from error
