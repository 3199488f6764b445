"""Settings from files, the environment and the command line: the only reader of them."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from recrawl.config.rules import Rule, RuleSet
from recrawl.config.section import Section, refusal, spec_of
from recrawl.config.settings import (
    SECTIONS,
    CrawlSettings,
    ExtractSettings,
    FetchSettings,
    PolitenessSettings,
    ScheduleSettings,
    SignatureSettings,
    StoreSettings,
)
from recrawl.config.values import Unusable
from recrawl.errors import ConfigError

__all__ = ["Config", "Override", "find_file", "load", "parse_override"]

_DEFAULT_FILE = "recrawl.toml"
_BY_TITLE: dict[str, type[Section]] = {section.title: section for section in SECTIONS}


@dataclass(frozen=True)
class Config:
    """All settings; one field a section, and the rules in the order of the file."""

    store: StoreSettings = field(default_factory=StoreSettings)
    fetch: FetchSettings = field(default_factory=FetchSettings)
    politeness: PolitenessSettings = field(default_factory=PolitenessSettings)
    crawl: CrawlSettings = field(default_factory=CrawlSettings)
    schedule: ScheduleSettings = field(default_factory=ScheduleSettings)
    signature: SignatureSettings = field(default_factory=SignatureSettings)
    extract: ExtractSettings = field(default_factory=ExtractSettings)
    rules: tuple[Rule, ...] = ()

    def rule_set(self) -> RuleSet:
        """Return the rules over these settings."""
        return RuleSet(self.rules, schedule=self.schedule, signature=self.signature)


class Override(NamedTuple):
    """One setting from the command line, its value in the form it is held in."""

    section: str
    name: str
    value: Any


def find_file(option: str | Path | None = None) -> Path | None:
    """Return the settings file to use, or None for the defaults.

    The option of the command line goes before the environment's ``RECRAWL_CONFIG``, that before
    ``recrawl.toml`` in the working directory. Only the last need not exist.
    """
    named = option or os.environ.get("RECRAWL_CONFIG")
    if named:
        return Path(named)
    default = Path(_DEFAULT_FILE)
    return default if default.exists() else None


def load(path: str | Path | None = None, *, overrides: Iterable[str] = ()) -> Config:
    """Return the settings.

    Parameters
    ----------
    path : str or Path, optional
        Settings file; the defaults alone without one. See ``find_file``.
    overrides : iterable of str
        ``section.name=VALUE``, as given to ``-s``; a later one wins.

    Returns
    -------
    Config
        Overrides go before the environment's ``RECRAWL_STORE``, that before the file, the file
        before the defaults.

    Raises
    ------
    ConfigError
        If a source cannot be read or a setting is not known or not usable. The message names
        the source, with the line where it can be found, the setting, and what is allowed.
    """
    values: dict[str, dict[str, Any]] = {title: {} for title in _BY_TITLE}
    rules: tuple[Rule, ...] = ()
    source = "settings"
    if path is not None:
        source = str(path)
        text = _text_of(Path(path))
        rules = _read_file(text, source, values)
    parsed = [parse_override(override) for override in overrides]
    if path is not None:
        _check_ranges(values, parsed, text, source)
    if store_url := os.environ.get("RECRAWL_STORE"):
        values["store"]["url"] = _value("store", "url", store_url, "RECRAWL_STORE")
    for override in parsed:
        values[override.section][override.name] = override.value
    try:
        made = {title: section(**values[title]) for title, section in _BY_TITLE.items()}
        config = replace(Config(rules=rules), **made)  # type: ignore[arg-type]  # by title
        config.rule_set()
    except ConfigError as error:
        raise ConfigError(f"{source}: {error.message}", value=error.value) from None
    return config


def parse_override(text: str) -> Override:
    """Return what ``section.name=VALUE`` sets; no quotes are needed around the value.

    Raises
    ------
    ConfigError
        If it has another form, the setting is not known, or the value not usable.

    Examples
    --------
    >>> parse_override("politeness.min_delay=2s")
    Override(section='politeness', name='min_delay', value=2.0)
    """
    place, equals, raw = text.partition("=")
    section, dot, name = place.strip().partition(".")
    source = f"-s {place.strip()}"
    if not equals or not dot:
        raise ConfigError(
            f"-s {text!r} has another form than section.name=VALUE,"
            " such as politeness.min_delay=2s",
            value=text,
        )
    if section == Rule.title:
        raise ConfigError(f"{source}: rules can be given in a settings file only", value=text)
    _known_section(section, source)
    item = _field(_BY_TITLE[section], name, source)
    try:
        return Override(section, name, spec_of(item).from_text(raw.strip()))
    except Unusable as error:
        refused = refusal(section, item, raw.strip(), error.message)
        raise ConfigError(f"{source}: {refused.message}", value=refused.value) from None


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: there is no such settings file; `recrawl init` writes one", value=str(path)
        ) from None
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path}: not UTF-8 text (byte {error.start + 1}); save it as UTF-8", value=str(path)
        ) from None
    except OSError as error:
        raise ConfigError(
            f"{path}: the settings file cannot be read: {error.strerror or error};"
            " check the path and its permissions",
            value=str(path),
        ) from error


def _read_file(text: str, source: str, values: dict[str, dict[str, Any]]) -> tuple[Rule, ...]:
    """Read a settings file into ``values``; return its rules."""
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers and nesting beyond Python's limits
        raise ConfigError(
            f"{source}: not valid TOML: {error}; text values stand in quotes", value=source
        ) from None
    rules: tuple[Rule, ...] = ()
    for title, table in tables.items():
        if title == Rule.title:
            rules = _read_rules(table, text, source)
            continue
        where = _where(source, text, title)
        if title not in _BY_TITLE and not isinstance(table, dict):
            raise ConfigError(_outside(title, where), value=title)
        _known_section(title, where)
        if not isinstance(table, dict):
            raise ConfigError(f"{where}: {title} is a section; write [{title}]", value=table)
        for name, raw in table.items():
            values[title][name] = _value(title, name, raw, _where(source, text, title, name))
    return rules


def _read_rules(table: object, text: str, source: str) -> tuple[Rule, ...]:
    if not isinstance(table, list) or not all(isinstance(item, dict) for item in table):
        where = _where(source, text, Rule.title)
        raise ConfigError(f"{where}: write each rule under its own [[rule]]", value=table)
    rules = []
    for nth, item in enumerate(table):
        values = {
            name: _value(Rule.title, name, raw, _where(source, text, Rule.title, name, nth=nth))
            for name, raw in item.items()
        }
        try:
            rules.append(Rule(**values))
        except ConfigError as error:
            where = _where(source, text, Rule.title, nth=nth)
            raise ConfigError(f"{where}: {error.message}", value=error.value) from None
    return tuple(rules)


def _value(section: str, name: str, raw: object, where: str) -> Any:
    item = _field(Rule if section == Rule.title else _BY_TITLE[section], name, where)
    try:
        return spec_of(item).read(raw)
    except Unusable as error:
        refused = refusal(section, item, raw, error.message)
        raise ConfigError(f"{where}: {refused.message}", value=refused.value) from None


def _check_ranges(
    values: Mapping[str, Mapping[str, Any]], overrides: list[Override], text: str, source: str
) -> None:
    """Refuse what only exact mode takes, with its line, once it is known that it is not on.

    The sections check the same, but they do not know lines.
    """
    given = {(o.section, o.name): o.value for o in overrides}
    for title, section in values.items():
        is_exact = given.get((title, "exact"), section.get("exact", False))
        for name, value in section.items():
            item = _field(_BY_TITLE[title], name, source)
            if is_exact or not spec_of(item).exact_is_free or (title, name) in given:
                continue
            try:
                spec_of(item).check(value)
            except Unusable as error:
                refused = refusal(title, item, value, error.message)
                where = _where(source, text, title, name)
                raise ConfigError(f"{where}: {refused.message}", value=refused.value) from None


def _known_section(title: str, where: str) -> None:
    if title not in _BY_TITLE:
        known = [*_BY_TITLE, Rule.title]
        raise ConfigError(f"{where}: unknown section [{title}]{_nearest(title, known)}")


def _field(section: type[Section], name: str, where: str) -> Any:
    known = {item.name: item for item in fields(section)}
    if name not in known:
        raise ConfigError(
            f"{where}: unknown setting {section.title}.{name}{_nearest(name, known)}", value=name
        )
    return known[name]


def _nearest(name: str, known: Mapping[str, object] | Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(name.lower().replace("-", "_"), names, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else ";"
    return f"{hint} Known are {', '.join(names)}"


def _outside(name: str, where: str) -> str:
    homes = [s.title for s in SECTIONS if name in {item.name for item in fields(s)}]
    hint = f"move it under [{homes[0]}]" if homes else f"known sections: {', '.join(_BY_TITLE)}"
    return f"{where}: {name} stands outside of a section; {hint}"


def _where(source: str, text: str, title: str, name: str = "", *, nth: int = 0) -> str:
    """Return the source, with the line of a setting or section where it can be found.

    tomllib tells no lines; this finds those of the usual spelling, which is enough for a hint.
    """
    header = re.compile(rf"\s*\[\[?\s*{re.escape(title)}\s*\]\]?")
    key = re.compile(rf"\s*\"?{re.escape(name or title)}\"?\s*=")
    seen = -1
    is_inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("["):
            is_inside = bool(header.match(line))
            seen += is_inside
            if is_inside and not name and seen == nth:
                return f"{source}, line {number}"
        elif key.match(line) and ((is_inside and seen == nth) or (seen < 0 and not name)):
            return f"{source}, line {number}"
    return source
