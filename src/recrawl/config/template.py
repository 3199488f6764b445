"""The settings file that ``recrawl init`` writes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from recrawl.config.rules import Rule
from recrawl.config.section import Section, SettingInfo, describe
from recrawl.config.settings import SECTIONS

__all__ = ["default_toml", "settings"]

_HEAD = """\
# Settings of recrawl. A line such as #hosts = 64 says the default; remove its # to change it.
# Durations: 90s, 12h, 30d, 1h30m, P1D. Sizes: 5MB, 500KiB.
"""
_RULES = """\
# Rules for some pages, as many as you like. Each setting comes from the first rule that matches
# the page and sets it.
#[[rule]]
"""
_EXAMPLES = {
    "url": '"https://www.example.org/news/*"',
    "host": '"*.example.org"',
    "interval": '"1h"',
    "fixed_interval": '"30d"',
    "min_interval": '"10m"',
    "max_interval": '"7d"',
    "importance": "5",
    "signature": '"text-profile"',
    "schedule": '"fixed"',
    # What is left to the schedule is shown as that of the default one.
    "inc_rate": "0.4",
    "dec_rate": "0.2",
}


def settings() -> Iterator[SettingInfo]:
    """Yield every setting, those of ``[[rule]]`` last, in the order of the template."""
    return describe((*SECTIONS, Rule))


def default_toml() -> str:
    """Return a settings file with every setting, its meaning and its default, commented out."""
    sections = [f"\n[{part.title}]\n{_summary(part)}{_lines(part)}" for part in SECTIONS]
    examples = "".join(
        f"{_comment(_help_of(info))}#{info.name} = {_EXAMPLES[info.name]}\n"
        for info in describe((Rule,))
    )
    return "".join([_HEAD, *sections, f"\n{_RULES}{examples}"])


def _summary(section: type[Section]) -> str:
    return f"# {(section.__doc__ or '').splitlines()[0]}\n"


def _lines(section: type[Section]) -> str:
    return "".join(
        f"\n{_comment(_help_of(info))}#{info.name} = {info.default or _EXAMPLES[info.name]}\n"
        for info in describe((section,))
    )


def _help_of(info: SettingInfo) -> str:
    return f"{info.help} [{info.unit}]" if info.unit else info.help


def _comment(text: str) -> str:
    return "".join(f"# {line}\n" for line in textwrap.wrap(text, 98, break_on_hyphens=False))
