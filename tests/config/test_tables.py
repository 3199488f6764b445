"""Files of intervals by host and rates by MIME type are read as Nutch's."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from recrawl.config import ScheduleSettings
from recrawl.config.tables import read_tables
from recrawl.core.document import mime_key
from recrawl.core.url import host_key
from recrawl.errors import ConfigError


@pytest.fixture
def file(tmp_path: Path):
    def write(text: str) -> str:
        path = tmp_path / "lines.txt"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_without_files_there_are_no_tables() -> None:
    """Nothing is read that is not named."""
    tables = read_tables(ScheduleSettings())

    assert (tables.hosts, tables.mimes) == (None, None)


def test_hosts_are_known_by_their_canonical_name(file) -> None:
    """A host is found however the file spells it; a name that no URL has does no harm."""
    settings = ScheduleSettings(host_file=file("Bücher.example 3600 7200\nno_host! 60 default\n"))

    hosts = read_tables(settings).hosts

    keys = np.array([host_key("xn--bcher-kva.example"), host_key("b.example")])
    low, high = hosts.lookup(keys, np.float32(1), np.float32(2))
    assert (low.tolist(), high.tolist()) == ([3600, 1], [7200, 2])


def test_rates_are_known_by_mime_type(file) -> None:
    """The file is read as it is."""
    mimes = read_tables(
        ScheduleSettings(name="nutch-mime", mime_file=file("text/html\t0.5\t0.25\n"))
    ).mimes

    assert mimes.lookup(np.array([mime_key("text/html"), 0])).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("setting", "text", "told"),
    [
        ("host_file", "a.example 1h 2h", "line 1: not a number: '1h'"),
        ("host_file", "a.example\nb.example", r"line 1: 1 parts.*; 1 more lines cannot"),
        ("host_file", "a.example 10 3600", "the least interval is below 60 s: 'a.example 10 3600'"),
        ("mime_file", "text/html 0.5 0.5", r"lines\.txt, line 1: 1 parts; write MIME type"),
        ("mime_file", "text/html\t2\t0.5", "the rate of increase is 2, allowed is above 0 and up"),
    ],
)
def test_a_line_that_cannot_be_used_stops_the_start(
    file, setting: str, text: str, told: str
) -> None:
    """The error has file, line, value, what is allowed and what to do."""
    settings = ScheduleSettings(**{setting: file(text)})

    with pytest.raises(ConfigError, match=rf"{told}.*; correct the line or begin it with #"):
        read_tables(settings)


def test_exact_mode_leaves_lines_out_as_the_original(
    file, caplog: pytest.LogCaptureFixture
) -> None:
    """The line is left out with a warning, only a rate that is no number stops the start."""
    with caplog.at_level(logging.WARNING):
        tables = read_tables(
            ScheduleSettings(
                name="nutch-mime", mime_file=file("a/b 1 1\ntext/html\t2\t-1\n"), exact=True
            )
        )

    assert tables.mimes.inc_rate.tolist() == [2]
    assert "line_left_out" in caplog.text
    with pytest.raises(ConfigError, match=r"lines\.txt, line 1: not a number: 'x'"):
        read_tables(
            ScheduleSettings(name="nutch-mime", mime_file=file("text/html\tx\t1"), exact=True)
        )


@pytest.mark.parametrize("setting", ["host_file", "mime_file"])
def test_a_file_that_cannot_be_read_is_named(setting: str, tmp_path: Path) -> None:
    """The setting and the path are named, and what to do."""
    bytes_file = tmp_path / "bytes"
    bytes_file.write_bytes(b"a\xff")

    with pytest.raises(ConfigError, match=rf"schedule\.{setting}: none\.txt cannot be read: No"):
        read_tables(ScheduleSettings(**{setting: "none.txt"}))
    with pytest.raises(ConfigError, match="cannot be read: embedded null byte"):
        read_tables(ScheduleSettings(**{setting: "a\0"}))
    with pytest.raises(ConfigError, match=r"not UTF-8 text \(byte 2\)"):
        read_tables(ScheduleSettings(**{setting: str(bytes_file)}))
