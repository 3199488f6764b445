"""Settings files of other crawlers, as a ``recrawl.toml``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from recrawl.config.section import Section, spec_of
from recrawl.config.settings import SECTIONS, FetchSettings
from recrawl.config.values import Unusable
from recrawl.errors import ConfigError, InputError
from recrawl.interop.imported import Imported, Value, shown
from recrawl.interop.nutch.settings import import_nutch
from recrawl.interop.stormcrawler.settings import import_stormcrawler

__all__ = ["ImportedFile", "import_file"]

#: Files of settings are small; what is larger is something else. [bytes]
_MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """A settings file for recrawl.

    Parameters
    ----------
    toml : str
        Its text, which ``recrawl.config.load`` reads.
    notes : tuple of str
        One sentence for each setting that has no counterpart, or another meaning.
    """

    toml: str
    notes: tuple[str, ...]


def import_file(path: Path) -> ImportedFile:
    """Read a ``nutch-site.xml`` or a ``crawler-conf.yaml``; which of them, its content says.

    Raises
    ------
    ConfigError
        If the file cannot be read, or is neither.
    """
    content = _content_of(path)
    is_xml = content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") or b"<\0" in content[:4]
    try:
        imported = import_nutch(content) if is_xml else import_stormcrawler(content)
    except InputError as error:
        raise ConfigError(
            f"{path}: {error.message}; give a nutch-site.xml of Nutch or a crawler-conf.yaml of"
            " StormCrawler",
            value=str(path),
        ) from None
    notes = list(imported.notes)
    head = (
        f"# Settings of recrawl, from {shown(path.name)} of {imported.origin}.\n"
        f"# Guarded: `exact = true` under [schedule] gives the numbers of {imported.origin} bit"
        " for bit,\n# its faults included.\n"
    )
    body = "".join(_sections(imported, notes))
    return ImportedFile(head + body, tuple(notes))


def _content_of(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{path}: cannot be read: {reason}", value=str(path)) from None
    if len(content) > _MOST_BYTES:
        raise ConfigError(f"{path}: larger than 1 MB, so no file of settings", value=str(path))
    return content


def _sections(imported: Imported, notes: list[str]) -> Iterator[str]:
    """Yield the sections of the file; what ours cannot take is noted and left out."""
    for section in SECTIONS:
        values = imported.settings.get(section.title, {})
        usable = dict(_usable(section, values, notes))
        _fit(section, usable, values, notes)
        if usable:
            lines = [
                f"{item.name} = {spec_of(item).spell(usable[item.name])}"
                f"  # {values[item.name].source}\n"
                for item in fields(section)
                if item.name in usable
            ]
            yield f"\n[{section.title}]\n{''.join(lines)}"


def _usable(
    section: type[Section], values: dict[str, Value], notes: list[str]
) -> Iterator[tuple[str, Any]]:
    for item in fields(section):
        if item.name not in values:
            continue
        spec, found = spec_of(item), values[item.name]
        value = found.value
        try:
            if isinstance(value, str) and not value.isprintable():
                raise Unusable("it has characters that cannot be printed")
            # The spelling is what is read again, so it is what must be allowed.
            spec.check(value)
            spec.from_text(spec.spell(value).strip('"'))
        except (InputError, Unusable) as error:
            notes.append(
                f"no counterpart: {found.source} = {shown(value)} for {section.title}.{item.name}:"
                f" {error.message}"
            )
        else:
            yield item.name, value


def _fit(
    section: type[Section], usable: dict[str, Any], values: dict[str, Value], notes: list[str]
) -> None:
    """Widen bounds that do not hold the first interval, and leave out what contradicts itself."""
    timeout = usable.get("timeout", math.inf)
    if section is FetchSettings and timeout < FetchSettings().connect_timeout:
        usable["connect_timeout"] = timeout
        values["connect_timeout"] = values["timeout"]
    least, most = usable.get("min_interval"), usable.get("max_interval")
    if least is not None and most is not None and least > most:
        notes.append(
            f"left out: {values['min_interval'].source} = {least:.15g} s is above"
            f" {values['max_interval'].source} = {most:.15g} s, which only exact mode takes"
        )
        del usable["min_interval"], usable["max_interval"]
    if section.title == "schedule" and "interval" in usable:
        interval = usable["interval"]
        for name, is_outside in (
            ("min_interval", usable.get("min_interval", 0) > interval),
            ("max_interval", usable.get("max_interval", interval) < interval),
        ):
            if is_outside:
                notes.append(
                    f"another meaning: {values['interval'].source} = {interval:.15g} s is outside"
                    f" of {values[name].source} = {usable[name]:.15g} s; {name} is set to it"
                )
                usable[name] = interval
    try:
        section(**usable)
    except ConfigError as error:
        notes.append(f"left out: the settings of [{section.title}]: {error.message}")
        usable.clear()
