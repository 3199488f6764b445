"""What the settings of StormCrawler mean here: one table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import yaml

from recrawl.errors import InputError
from recrawl.interop.imported import Imported, shown

__all__ = ["SETTINGS", "import_stormcrawler"]

_PACKAGES: Final = (
    "org.apache.stormcrawler.persistence.",
    "com.digitalpebble.stormcrawler.persistence.",
)
_SCHEDULES: Final = {
    "DefaultScheduler": "stormcrawler-default",
    "AdaptiveScheduler": "stormcrawler-adaptive",
}
#: What stands for "never" among the settings.
_NEVER = -1


def _schedule(value: object) -> str:
    name = str(value)
    for package in _PACKAGES:
        name = name.removeprefix(package)
    if name not in _SCHEDULES:
        raise InputError("a class of your own")
    return _SCHEDULES[name]


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError("not a number")
    return int(value)


def _minutes(value: object) -> float:
    minutes = _whole(value)
    if minutes == _NEVER:
        raise InputError("-1 is never again")
    return minutes * 60.0


def _error_minutes(value: object) -> float:
    return 0.0 if _whole(value) == _NEVER else _minutes(value)


def _milliseconds(value: object) -> float:
    return _whole(value) / 1000


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError("not a number")
    return float(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise InputError("not a text")
    return value


def _is_not(value: object) -> bool:
    if not isinstance(value, bool):
        raise InputError("neither true nor false")
    return not value


class _Setting(NamedTuple):
    """A setting of StormCrawler: ours, how it is read, and what its defaults say."""

    place: str
    read: Callable[[object], bool | int | float | str]
    #: Written also where the file does not set it; None: not.
    default: object = None


_ADAPTIVE = "scheduler.adaptive.fetchInterval."
SETTINGS: Final[dict[str, _Setting]] = {
    "scheduler.class": _Setting("schedule.name", _schedule, "DefaultScheduler"),
    "fetchInterval.default": _Setting("schedule.interval", _minutes, 1440),
    "fetchInterval.fetch.error": _Setting("schedule.retry_interval", _minutes, 120),
    "fetchInterval.error": _Setting("schedule.error_interval", _error_minutes, -1),
    _ADAPTIVE + "min": _Setting("schedule.min_interval", _minutes, 60),
    _ADAPTIVE + "max": _Setting("schedule.max_interval", _minutes, 20_160),
    _ADAPTIVE + "rate.incr": _Setting("schedule.inc_rate", _number, 0.5),
    _ADAPTIVE + "rate.decr": _Setting("schedule.dec_rate", _number, 0.5),
    "max.fetch.errors": _Setting("schedule.retry_max", _whole, 3),
    "http.agent.url": _Setting("fetch.contact", _text),
    "http.timeout": _Setting("fetch.timeout", _milliseconds),
    "http.content.limit": _Setting("fetch.max_size", _whole),
    "http.skip.robots": _Setting("politeness.robots_txt", _is_not),
    "fetcher.server.delay": _Setting("politeness.min_delay", _number),
    "fetcher.threads.per.queue": _Setting("politeness.requests_per_host", _whole),
    "fetcher.threads.number": _Setting("crawl.hosts", _whole),
}
_HANDLED: Final = {"http.agent.name", "http.agent.version", "http.agent.email"}


def import_stormcrawler(content: bytes) -> Imported:
    """Return what a ``crawler-conf.yaml`` means here.

    Parameters
    ----------
    content : bytes
        The file.  What it does not set is as in crawler-default.yaml, and for the adaptive
        scheduler as in its code.

    Raises
    ------
    InputError
        If it cannot be read at all; a single value that cannot is a note.
    """
    values = _values(content)
    imported = Imported("StormCrawler")
    for name, setting in SETTINGS.items():
        value = values.get(name)
        if value is None and setting.default is None:
            continue
        _read(imported, name, setting.default if value is None else value, value is not None)
    _bounds(imported)
    _agent(imported, values)
    for name in sorted(values.keys() - SETTINGS.keys() - _HANDLED):
        note = f"no counterpart: {name} = {shown(values[name])}"
        if name.startswith("fetchInterval."):
            note += "; a [[rule]] by URL or host can set an interval"
        imported.notes.append(note)
    imported.put("schedule.jitter", 0.0, "StormCrawler has none")
    return imported


def _values(content: bytes) -> dict[str, Any]:
    try:
        loaded = yaml.safe_load(content)
    except (yaml.YAMLError, UnicodeError, ValueError) as error:
        raise InputError(f"not YAML: {' '.join(str(error).split())[:200]}") from None
    except RecursionError:
        raise InputError("not usable: it is nested too deeply") from None
    if isinstance(loaded, dict) and isinstance(loaded.get("config"), dict):
        loaded = loaded["config"]
    if not isinstance(loaded, dict):
        raise InputError("no settings: a crawler-conf.yaml has lines such as `config:` and below")
    return {str(name): value for name, value in loaded.items()}


def _read(imported: Imported, name: str, value: object, is_given: bool) -> None:
    setting = SETTINGS[name]
    try:
        source = name if is_given else f"{name}, default of StormCrawler"
        imported.put(setting.place, setting.read(value), source)
    except InputError as error:
        imported.notes.append(
            f"no counterpart: {name} = {shown(value)} ({error.message});"
            f" {setting.place} is left as it is here"
        )


def _bounds(imported: Imported) -> None:
    """Let the bounds leave room for what the scheduler says."""
    schedule = imported.settings["schedule"]
    name = schedule["name"].value if "name" in schedule else ""
    waits = [
        float(schedule[setting].value)
        for setting in ("interval", "retry_interval", "error_interval")
        if setting in schedule
    ]
    if name == "stormcrawler-default":
        for setting in ("min_interval", "max_interval", "inc_rate", "dec_rate"):
            schedule.pop(setting, None)
        shortest, longest = min(w for w in [*waits, 60.0] if w > 0), max([*waits, 7_776_000.0])
        imported.put("schedule.min_interval", shortest, "the scheduler has no bounds")
        imported.put("schedule.max_interval", longest, "the scheduler has no bounds")
        return
    most = schedule.get("max_interval")
    if most is not None and waits and max(waits) > float(most.value):
        imported.notes.append(
            f"another meaning: {_ADAPTIVE}max bounds every wait here, also those after an error,"
            f" which were up to {max(waits) / 60:g} min"
        )


def _agent(imported: Imported, values: Mapping[str, Any]) -> None:
    """Put the parts of the User-Agent together."""
    name, version, email = (values.get(f"http.agent.{p}") for p in ("name", "version", "email"))
    contact = imported.get("fetch.contact")
    if email and (contact is None or not contact.value):
        imported.put("fetch.contact", str(email), "http.agent.email")
        contact = imported.get("fetch.contact")
    if name and contact and contact.value:
        agent = f"{name}/{version}" if version else str(name)
        imported.put("fetch.user_agent", f"{agent} (+{contact.value})", "http.agent.name")
    elif name:
        imported.notes.append(
            f"no counterpart: http.agent.name = {shown(name)} without http.agent.url or"
            " http.agent.email; set fetch.contact"
        )
