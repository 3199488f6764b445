from __future__ import annotations

import csv
import io
import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.cli.output import Format, json_line, one_line, print_rows, printable, rfc3339
from recrawl.core.columns import NEVER, NO_TIME

_BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def obeyed(text: str) -> set[str]:
    """Return what a terminal would obey: controls, overrides, and what has no meaning."""
    return {
        c
        for c in text
        if unicodedata.category(c) in ("Cc", "Cs", "Co", "Cn", "Zl", "Zp") or c in _BIDI
    }


@given(st.text())
def test_one_line_leaves_nothing_to_obey(text):
    """Whatever a page says, it is one line without controls and overrides."""
    assert obeyed(one_line(text)) == set()


@given(st.text())
def test_printable_leaves_layout_alone(text):
    """Only line ends and tabs stay, in their places."""
    shown = printable(text)

    assert obeyed(shown) <= {"\n", "\t"}
    assert (shown.count("\n"), shown.count("\t")) == (text.count("\n"), text.count("\t"))


@given(st.text())
def test_json_keeps_every_character(text):
    """Nothing to obey, on one line, and nothing lost."""
    line = json_line({"x": text})

    assert obeyed(line) == set()
    assert json.loads(line) == {"x": text}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b]8;;http://x\x07", r"\x1b[31mred\x1b]8;;http://x\x07"),
        ("\x9b31m\x85", r"\x9b31m\x85"),
        ("a\r\nb\tc\u2028", r"a\r\nb\tc\u2028"),
        ("\u202egnp.exe\u2066", r"\u202egnp.exe\u2066"),
        ("\ud800\U000e0041\ufeff", r"\ud800\U000e0041\ufeff"),
        (
            "日本\u3000語 a\xa0b 👩\u200d🚀 می\u200cخواهم",
            "日本\u3000語 a\xa0b 👩\u200d🚀 می\u200cخواهم",
        ),
        ("", ""),
    ],
    ids=["escape", "c1", "lines", "bidi", "odd", "scripts", "empty"],
)
def test_what_is_shown(text, shown):
    """Controls are escapes; blanks and joiners of real scripts are as they were."""
    assert one_line(text) == shown


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_700_000_000_123, "2023-11-14T22:13:20.123Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (None, None),
        (NO_TIME, None),
        (NEVER, "never"),
        (NEVER - 1, "9999-12-31T23:59:59.999Z"),
        (NO_TIME + 1, "0001-01-01T00:00:00Z"),
        (-62_135_596_800_000, "0001-01-01T00:00:00Z"),
    ],
)
def test_instants(at, text):
    """RFC 3339 in UTC, whole seconds without a fraction; what has no year is cut to one."""
    assert rfc3339(at) == text


def printed(capsys, rows, columns, form, **more) -> str:
    print_rows(rows, columns, form, **more)
    return capsys.readouterr().out


def test_csv_is_that_of_rfc_4180(capsys):
    """Quotes, commas and line ends are quoted, lines end in CRLF, numbers are plain."""
    rows = [{"url": 'http://a.example/?q="x",y', "at": rfc3339(0), "n": 100_000, "t": "a\r\nb"}]

    out = printed(capsys, rows, ("url", "at", "n", "t"), Format.CSV)

    assert out == (
        'url,at,n,t\r\n"http://a.example/?q=""x"",y",1970-01-01T00:00:00Z,100000,"a\\r\nb"\r\n'
    )
    (cells,) = csv.DictReader(io.StringIO(out, newline=""), strict=True)
    assert cells["url"] == rows[0]["url"]


def test_csv_leaves_formulas_alone(capsys):
    """A cell is what the page says: changing it for spreadsheets would falsify it for others."""
    out = printed(capsys, [{"t": "=1+1"}, {"t": "@x"}, {"t": "-1"}], ("t",), Format.CSV)

    assert out == "t\r\n=1+1\r\n@x\r\n-1\r\n"


def test_unknown_values(capsys):
    """Null in JSON, nothing in CSV and tables; false and zero are values."""
    rows = [{"a": None, "b": 0, "c": False, "d": ""}]

    assert json.loads(printed(capsys, rows, "abcd", Format.JSONL)) == rows[0]
    assert printed(capsys, rows, "abcd", Format.CSV).splitlines()[1] == ",0,False,"


def test_lists_are_json_in_csv(capsys):
    """A cell with several values holds them as JSON."""
    out = printed(capsys, [{"a": [{"x": "y"}]}], ("a",), Format.CSV)

    (cells,) = csv.DictReader(io.StringIO(out, newline=""), strict=True)
    assert json.loads(cells["a"]) == [{"x": "y"}]


def test_tables_align(capsys):
    """Numbers to the right, text to the left, no blanks at the ends of lines."""
    rows = [{"n": 5, "t": "a"}, {"n": 123, "t": "longer"}]

    assert printed(capsys, rows, ("n", "t"), Format.TABLE) == "  n  t\n  5  a\n123  longer\n"


@pytest.mark.parametrize(("form", "out"), [("table", ""), ("jsonl", ""), ("csv", "a\r\n")])
def test_no_rows(capsys, form, out):
    """A table says so to people on standard error; machines get nothing but a CSV's head."""
    print_rows([], ("a",), Format(form), empty="Nothing.")

    captured = capsys.readouterr()
    assert captured.out == out
    assert captured.err == ("Nothing.\n" if form == "table" else "")


def test_machine_formats_are_utf8(monkeypatch):
    """Whatever the locale: who reads a file does not know it."""
    for form, text in ((Format.JSONL, '{"t": "ü日"}\n'), (Format.CSV, "t\r\nü日\r\n")):
        raw = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="latin-1"))
        print_rows([{"t": "ü日"}], ("t",), form)
        assert raw.getvalue().decode() == text
