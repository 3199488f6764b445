"""Rows for people and machines: a table, JSON Lines or CSV with the same fields."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeAlias

from recrawl.core.columns import NEVER, NO_TIME

__all__ = ["Format", "Value", "json_line", "one_line", "print_rows", "printable", "rfc3339"]

#: Lists are for JSON; CSV holds them as JSON text.
Value: TypeAlias = str | int | float | bool | Sequence[Any] | None

#: Zero-width joiner and non-joiner.
_JOINERS = "\u200c\u200d"
_LAYOUT = ("\n", "\t")
_PARTS = re.compile(r"([\n\t])")
_FIRST_YEAR, _LAST_YEAR = -62_135_596_800_000, 253_402_300_799_999


class Format(StrEnum):
    """Output formats; the fields are the same in all."""

    TABLE = "table"
    JSONL = "jsonl"
    CSV = "csv"


def rfc3339(at: int | None) -> str | None:
    """Return an instant [ms] as RFC 3339 in UTC; None where unknown, "never" for NEVER."""
    if at is None or at == NO_TIME:
        return None
    if at == NEVER:
        return "never"
    at = min(max(at, _FIRST_YEAR), _LAST_YEAR)
    seconds, ms = divmod(at, 1000)
    moment = datetime.fromtimestamp(seconds, tz=UTC)
    fraction = f".{ms:03d}" if ms else ""
    return f"{moment.replace(tzinfo=None).isoformat(timespec='seconds')}{fraction}Z"


def one_line(text: str) -> str:
    """Return page-made text safe to print: what a terminal obeys is made visible.

    Control characters, line ends, bidirectional overrides, unassigned and private characters
    become escapes as in Python; blanks of other widths and the joiners, which some scripts and
    emoji need, stay.
    """
    if text.isprintable():
        return text
    return "".join(c if _is_harmless(c) else c.encode("unicode_escape").decode() for c in text)


def _is_harmless(character: str) -> bool:
    return (
        character.isprintable() or character in _JOINERS or unicodedata.category(character) == "Zs"
    )


def printable(text: str) -> str:
    """Return page-made text of several lines safe to print: only line ends and tabs stay."""
    return "".join(part if part in _LAYOUT else one_line(part) for part in _PARTS.split(text))


def json_line(value: object) -> str:
    """Return a value as JSON on one line; what a terminal obeys is escaped, and nothing lost."""
    text = json.dumps(value, ensure_ascii=False)
    if text.isprintable():
        return text
    return "".join(c if _is_harmless(c) else json.dumps(c)[1:-1] for c in text)


def print_rows(
    rows: Iterable[Mapping[str, Value]],
    columns: Sequence[str],
    form: Format,
    *,
    empty: str = "",
    has_header: bool = True,
) -> None:
    """Print rows to standard output.

    Parameters
    ----------
    rows : iterable of mapping
        Values by column name.
    columns : sequence of str
        Columns in order.
    form : Format
        JSON Lines and CSV stream, in UTF-8 whatever the locale; a table is measured first.
        CSV is that of RFC 4180 with a header, its cells as they are: none is changed because a
        spreadsheet would take it for a formula.
    empty : str
        What a table says, on standard error, when there are no rows.
    has_header : bool
        Whether a table or CSV starts with the names of the columns.
    """
    if form is not Format.TABLE:
        _use_utf8()
    match form:
        case Format.JSONL:
            for row in rows:
                sys.stdout.write(json_line({c: row.get(c) for c in columns}) + "\n")
        case Format.CSV:
            buffer = io.StringIO()
            writer = csv.writer(buffer, lineterminator="\r\n")
            if has_header:
                writer.writerow(columns)
            for row in rows:
                writer.writerow([_csv_cell(row.get(c)) for c in columns])
                sys.stdout.write(buffer.getvalue())
                buffer.seek(0)
                buffer.truncate()
            sys.stdout.write(buffer.getvalue())
        case Format.TABLE:
            _print_table([dict(row) for row in rows], columns, empty, has_header)
    sys.stdout.flush()


def _use_utf8() -> None:
    """Write machine formats in UTF-8: what reads them does not know our locale."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.encoding.lower() != "utf-8":
        sys.stdout.reconfigure(encoding="utf-8")


def _csv_cell(value: Value) -> str | int | float:
    if value is None:
        return ""
    if isinstance(value, str):
        return printable(value)
    return value if isinstance(value, int | float) else json_line(value)


def _print_table(
    rows: list[dict[str, Value]], columns: Sequence[str], empty: str, has_header: bool
) -> None:
    if not rows:
        if empty:
            sys.stderr.write(empty + "\n")
        return
    cells = [
        ["" if row.get(c) is None else one_line(str(row.get(c))) for c in columns] for row in rows
    ]
    is_number = [all(isinstance(row.get(c), int | float | None) for row in rows) for c in columns]
    widths = [max(len(column), *(len(row[i]) for row in cells)) for i, column in enumerate(columns)]
    for line in [list(columns), *cells] if has_header else cells:
        padded = [
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(line, widths, is_number, strict=True)
        ]
        sys.stdout.write("  ".join(padded).rstrip() + "\n")
