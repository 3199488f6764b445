"""Writes the tables of the reference that repeat facts of the code, between their marks.

``python tools/docs.py`` writes them, ``--check`` only says which pages are out of date.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path

import click

from recrawl.cli.main import cli
from recrawl.config import settings
from recrawl.core.columns import COLUMNS, NEVER, NO_TIME
from recrawl.schedules.registry import SCHEDULES
from recrawl.signatures.registry import SIGNATURES

_RULE = "rule"
REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
_MARKED = re.compile(
    r"(?P<start><!-- generated: (?P<name>[a-z]+) -->\n)(?P<table>.*?)(?P<end><!-- end -->)",
    re.DOTALL,
)


def _row(*cells: object) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    names = tuple(head)
    return "\n".join([_row(*names), "|" + "---|" * len(names), *(_row(*row) for row in rows)])


def _code(text: object) -> str:
    return f"`{text}`" if text != "" else ""


def columns() -> str:
    """Return the table of page-state columns."""
    marks = {NO_TIME: "NO_TIME", NEVER: "NEVER"}
    rows = (
        (
            _code(column.name),
            _code(column.dtype),
            column.unit,
            _code("0 bytes" if isinstance(column.default, bytes) else _default(column.default))
            if column.default not in marks
            else _code(marks[column.default]),
            column.null,
            column.meaning,
        )
        for column in COLUMNS
    )
    return _table(("column", "type", "unit", "when added", "unknown", "meaning"), rows)


def _default(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case None:
            return ""
        case float() if value != value:
            return "NaN"
        case float() if value.is_integer():
            return str(int(value))
        case str():
            return f'"{value}"'
        case _:
            return str(value)


def settings_tables() -> str:
    """Return a table of settings a section, as in recrawl.toml."""
    sections = dict.fromkeys(item.section for item in settings() if item.section != _RULE)
    return "\n\n".join(f"### `[{name}]`\n\n{_settings_of(name)}" for name in sections)


def rules() -> str:
    """Return the table of what a rule may set."""
    return f"### `[[{_RULE}]]`\n\n{_settings_of(_RULE)}"


def _settings_of(section: str) -> str:
    rows = (
        (_code(item.name), item.type, _code(item.default), item.help)
        for item in settings()
        if item.section == section
    )
    return _table(("setting", "type", "default", "meaning"), rows)


def commands() -> str:
    """Return a section a command with its help and options."""
    return "\n\n".join(_commands_of(cli, click.Context(cli, info_name="recrawl")))


def _commands_of(group: click.Group, context: click.Context) -> list[str]:
    """Return a section a command of a group; those of a group within one level deeper."""
    parts = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        usage = command.get_usage(inner).removeprefix("Usage: ")
        text = "\n\n".join(map(_paragraph, inspect.cleandoc(command.help or "").split("\n\n")))
        records = [p for p in command.params if isinstance(p, click.Option)]
        options = [record for option in records if (record := option.get_help_record(inner))]
        part = f"## {name}\n\n```\n{' '.join(usage.split())}\n```\n\n{text}"
        if options:
            rows = ((_code(head), meaning) for head, meaning in options)
            part += "\n\n" + _table(("option", "meaning"), rows)
        parts.append(part)
        if isinstance(command, click.Group):
            parts += [f"#{inner_part}" for inner_part in _commands_of(command, inner)]
    return parts


def _paragraph(text: str) -> str:
    """Return a paragraph of a command's help; what must not be wrapped goes into a block."""
    if text.startswith("\b\n"):
        return f"```\n{text.removeprefix(chr(8)).strip()}\n```"
    return text


def _models(registry: Iterable[tuple[str, type]]) -> str:
    """Return a section a class: its name, what it does, its settings."""
    parts = []
    for name, model in registry:
        doc = inspect.getdoc(model) or ""
        summary = doc.partition("\n\n")[0].replace("\n", " ")
        rows = [
            (_code(field.name), _code(_default(field.default)), meaning)
            for field in fields(model)
            if (meaning := _parameter(doc, field.name))
        ]
        part = f"## {name}\n\n{summary}"
        if rows:
            part += "\n\n" + _table(("setting", "default", "meaning"), rows)
        parts.append(part)
    return "\n\n".join(parts)


def _parameter(doc: str, name: str) -> str:
    """Return what a numpydoc docstring says of a parameter, on one line."""
    match = re.search(rf"^(?:\w+, )*{name}(?:, \w+)* : .*\n((?:    .*\n?)+)", doc, re.MULTILINE)
    return " ".join(match[1].replace("``", "`").split()) if match else ""


def schedules() -> str:
    """Return a section a schedule."""
    return _models(SCHEDULES.items())


def signatures() -> str:
    """Return a section a signature."""
    return _models(SIGNATURES.items())


TABLES: dict[str, Callable[[], str]] = {
    "columns": columns,
    "commands": commands,
    "rules": rules,
    "schedules": schedules,
    "settings": settings_tables,
    "signatures": signatures,
}


def render(text: str) -> str:
    """Return a page with every marked table written anew."""
    return _MARKED.sub(
        lambda mark: f"{mark['start']}\n{TABLES[mark['name']]()}\n\n{mark['end']}", text
    )


def main() -> int:
    """Write or check the pages; return 1 if a checked page is out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    is_check = parser.parse_args().check
    stale = []
    for page in sorted(REFERENCE.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        rendered = render(text)
        if rendered != text:
            stale.append(page.name)
            if not is_check:
                page.write_text(rendered, encoding="utf-8")
    for name in stale:
        print(f"{name}: {'out of date; run make docs' if is_check else 'written'}")
    return int(is_check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
