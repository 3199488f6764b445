"""Custom intervals: ``fetchInterval(.STATUS).KEY=VALUE`` among the settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from recrawl.interop.stormcrawler.java import Config, Metadata, hash_order, read_int, refusal
from recrawl.schedules.stormcrawler_minutes import CrawlStatus

__all__ = ["CustomInterval", "custom_intervals", "custom_minutes"]

_CHARACTER = r"[^\n\r\x85\u2028\u2029]"
_KEY = re.compile(rf"fetchInterval(\.{_CHARACTER}+?)?\.({_CHARACTER}+)=({_CHARACTER}+)")
#: A setting of this value counts as not set.
_UNSET = -(2**31)


@dataclass(frozen=True, slots=True)
class CustomInterval:
    """Intervals of the pages whose metadata have a certain value.

    Parameters
    ----------
    key, value : str
        The page has this value among those of this key.
    minutes : mapping of CrawlStatus or None to int
        Intervals by status, None for all statuses without one of their own. [min]
    """

    key: str
    value: str
    minutes: Mapping[CrawlStatus | None, int]


def custom_intervals(config: Config, *, as_hash_map: bool = False) -> tuple[CustomInterval, ...]:
    """Return the custom intervals of the settings.

    Parameters
    ----------
    config : mapping
        The settings, in their order.
    as_hash_map : bool
        Take them in the order of the original's hash tables, which depends on every key that a
        topology has; by default in the order of the settings.

    Raises
    ------
    InputError
        If the part before a dot is no status (IllegalArgumentException), or the interval no
        number (ClassCastException).

    Notes
    -----
    The original looks intervals up by key and value written together, so ``a=bc`` and ``ab=c``
    are one: the first of them gives key and value.
    """
    found: dict[str, CustomInterval] = {}
    for name in hash_order(config) if as_hash_map else config:
        match = _KEY.fullmatch(name)
        if match is None:
            continue
        minutes = read_int(config, name, _UNSET)
        if minutes == _UNSET:
            continue
        status = None if match[1] is None else _status(match[1].removeprefix("."), name)
        known = found.get(match[2] + match[3]) or CustomInterval(match[2], match[3], {})
        found[match[2] + match[3]] = CustomInterval(
            known.key, known.value, {**known.minutes, status: minutes}
        )
    order = hash_order(found) if as_hash_map else list(found)
    return tuple(found[name] for name in order)


def _status(name: str, setting: str) -> CrawlStatus:
    if name not in CrawlStatus.__members__:
        raise refusal(
            "IllegalArgumentException",
            f"{setting}: {name!r} is no status; there are {', '.join(CrawlStatus.__members__)}",
            name,
        )
    return CrawlStatus[name]


def custom_minutes(
    rules: tuple[CustomInterval, ...], status: CrawlStatus, metadata: Metadata
) -> int | None:
    """Return the custom interval of a page; None where it has none. [min].

    The first rule that fits decides, also where it has no interval for the status.

    Raises
    ------
    InputError
        If a value is null before one that fits (NullPointerException).
    """
    for rule in rules:
        for value in metadata.get(rule.key) or ():
            if value is None:
                raise refusal("NullPointerException", f"a value of {rule.key} is null")
            if value == rule.value:
                return rule.minutes.get(status, rule.minutes.get(None))
    return None
