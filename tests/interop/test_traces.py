"""Files of change histories."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from recrawl.errors import InputError
from recrawl.interop.traces import read_traces

LINE = b'{"page":0,"group":1,"first":100,"last":200,"end":"alive","changes":[150]}\n'


@pytest.mark.parametrize("is_compressed", [False, True])
def test_a_file_is_read_compressed_or_not(tmp_path: Path, is_compressed: bool):
    """Each line is a page; blank lines are skipped."""
    path = tmp_path / "pages.jsonl"
    text = LINE + b"\n" + LINE
    path.write_bytes(gzip.compress(text) if is_compressed else text)

    assert [history.changes.tolist() for history in read_traces(path)] == [[150], [150]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (LINE + b"{", "line 2: not JSON"),
        (LINE + b"\xff", "line 2: not JSON"),
        (b"[1]", "line 1: not a JSON object"),
        (b'{"group": 1}', "line 1: a history has a field 'first'"),
        (gzip.compress(LINE)[:-9], "cannot be read"),
    ],
    ids=["half", "bytes", "list", "field", "cut off"],
)
def test_a_bad_line_is_named(tmp_path: Path, content: bytes, message: str):
    """The message has the path, the line and what is wrong."""
    path = tmp_path / "pages.jsonl"
    path.write_bytes(content)

    with pytest.raises(InputError, match=f"pages.jsonl.*{message}"):
        read_traces(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    """A missing file is an error of the input."""
    with pytest.raises(InputError, match=r"none\.jsonl: cannot be read"):
        read_traces(tmp_path / "none.jsonl")
