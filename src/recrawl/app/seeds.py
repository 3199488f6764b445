"""Seed lists: a URL a line, with what the user knows of the page.

::

    # comments and blank lines are skipped
    https://www.example.org/
    https://www.example.org/news<TAB>interval=1h<TAB>importance=5
    https://www.example.org/terms<TAB>fixed_interval=30d

The format is strict. A comma, semicolon, bar or blank in a line without a TAB is taken for the
separator of another format and refused: columns that become part of a URL make pages that do
not exist. A URL that really holds such a character ends with a TAB (or is written with ``%20``
for a blank).
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from recrawl.core.duration import parse_duration
from recrawl.core.url import canonical_url, redact
from recrawl.errors import InputError, UrlError

__all__ = ["MAX_IMPORTANCE", "Seed", "SeedProblem", "parse_seeds"]

_KEYS = ("fixed_interval", "importance", "interval")
_SEPARATOR = re.compile(r"[ ,;|]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# A canonical URL has at most 8,000 characters; up to four bytes each, and the fields.
_MAX_LINE = 40_000
#: Largest importance of a page, as a seed or a rule may give it.
MAX_IMPORTANCE = 1_000_000


@dataclass(frozen=True, slots=True)
class Seed:
    """One page to add.

    Parameters
    ----------
    url : str
        Canonical URL.
    importance : float or None
        Weight of the page's freshness; None if the line names none.
    interval : float or None
        First fetch interval; None if the line names none. [s]
    fixed_interval : float or None
        Interval that no schedule moves; None if the line names none. [s]
    line : int
        Number of the line, from 1.
    """

    url: str
    importance: float | None = None
    interval: float | None = None
    fixed_interval: float | None = None
    line: int = 1


@dataclass(frozen=True, slots=True)
class SeedProblem:
    """One line that was not understood; ``text`` is what it says, fit to be shown."""

    line: int
    text: str
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


def parse_seeds(lines: Iterable[bytes | str]) -> Iterator[Seed | SeedProblem]:
    """Yield what each line says, in order; a bad line is a problem and the rest is read.

    Parameters
    ----------
    lines : iterable of bytes or str
        Lines as a file opened in binary mode gives them: UTF-8, with or without a byte order
        mark, ended by LF or CRLF. Read one at a time.
    """
    for number, line in enumerate(lines, start=1):
        try:
            text = _decoded(line, is_first=number == 1)
            seed = _seed_of(text, number) if text and not text.startswith("#") else None
        except InputError as error:
            yield SeedProblem(number, _shown(line), error.message)
        else:
            if seed is not None:
                yield seed


def _decoded(line: bytes | str, *, is_first: bool) -> str:
    """Return the line without its end and without blanks around it, TABs kept."""
    if len(line) > _MAX_LINE:
        raise InputError(f"longer than {_MAX_LINE} bytes; is this a list of URLs, one a line?")
    if isinstance(line, bytes):
        try:
            line = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"not UTF-8 text (byte 0x{line[error.start]:02x} at position {error.start + 1});"
                " save the list as UTF-8"
            ) from None
    if is_first:
        line = line.removeprefix("\ufeff")
    line = line.removesuffix("\n").removesuffix("\r").strip(" ")
    if control := _CONTROL.search(line):
        raise InputError(
            f"holds the control character 0x{ord(control[0]):02x};"
            " save the list as UTF-8 text with a line end after each URL"
        )
    return line if line.strip("\t ") else ""


def _seed_of(text: str, line: int) -> Seed:
    first, *fields = text.split("\t")
    if not fields and (separator := _SEPARATOR.search(first)):
        raise UrlError(
            f"not a URL; unknown separator {separator[0]!r} (fields are separated by a TAB;"
            f" if the URL itself holds {separator[0]!r}, end it with a TAB)"
        )
    url = canonical_url(first)
    values: dict[str, float] = {}
    for field in fields:
        if field.strip(" "):
            key, value = _field(field.strip(" "))
            if key in values:
                raise InputError(f"{key} is given twice; remove one of them")
            values[key] = value
    return Seed(
        url,
        values.get("importance"),
        values.get("interval"),
        values.get("fixed_interval"),
        line,
    )


def _field(field: str) -> tuple[str, float]:
    key, equals, value = (part.strip(" ") for part in field.partition("="))
    if not equals or key not in _KEYS:
        near = difflib.get_close_matches(key.lower(), _KEYS, n=1)
        hint = f"did you mean {near[0]}=?" if near else f"known are {'=, '.join(_KEYS)}="
        raise InputError(f"unknown field {redact(field)!r}; {hint}")
    if key == "importance":
        return key, _importance(value)
    try:
        seconds = parse_duration(value)
    except InputError as error:
        raise InputError(f"{key}: {error.message}") from None
    if not seconds:
        raise InputError(f"{key}: 0 is not allowed; give a duration such as 12h")
    return key, seconds


def _importance(value: str) -> float:
    try:
        importance = float(value)
    except ValueError:
        importance = math.nan
    if not 0 <= importance <= MAX_IMPORTANCE:
        raise InputError(
            f"importance: {value!r} is not a number from 0 to {MAX_IMPORTANCE}, such as 2.5"
        )
    return importance


def _shown(line: bytes | str) -> str:
    text = line if isinstance(line, str) else line.decode("utf-8", "backslashreplace")
    text = redact(text.strip("\ufeff\r\n "))
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
