"""Schedules by name: those of crawls, the same with settings that have a name, and baselines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from typing import Any, Final

from recrawl.core.duration import parse_duration
from recrawl.core.timing import Schedule
from recrawl.errors import InputError, NotFound
from recrawl.planning.planner import Planner
from recrawl.schedules.optimal import Optimal
from recrawl.schedules.registry import SCHEDULES
from recrawl.simulation.baselines import BASELINES
from recrawl.simulation.worlds.world import World

__all__ = ["PRESETS", "schedule_for", "schedule_names"]

_HOUR, _DAY = 3600.0, 86_400.0

#: Settings that have a name: the schedule, and what is set of it.
PRESETS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    # What nutch-default.xml sets, and what the code falls back to without it.
    "nutch-shipped": ("nutch-adaptive", {}),
    "nutch-code": ("nutch-adaptive", {"inc_rate": 0.2, "dec_rate": 0.2, "sync_delta_rate": 0.2}),
    # The three tuned ones are the best of a grid on two synthetic worlds at 0.1/page/day; in a
    # budget they start at the mean interval that it allows.
    "nutch-tuned": (
        "nutch-adaptive",
        {
            "inc_rate": 0.1,
            "dec_rate": 0.4,
            "sync_delta": False,
            "min_interval": 6 * _HOUR,
            "max_interval": 30 * _DAY,
        },
    ),
    "stormcrawler": ("stormcrawler-adaptive", {}),
    "stormcrawler-tuned": (
        "stormcrawler-adaptive",
        {
            "inc_rate": 0.1,
            "dec_rate": 0.3,
            "min_interval": 3 * _DAY,
            "max_interval": 30 * _DAY,
        },
    ),
    "aronsson-tuned": ("aronsson", {"constant": 6 * _HOUR, "inc_rate": 0.05, "dec_rate": 0.4}),
}


def schedule_names() -> list[str]:
    """Return every name that ``schedule_for`` knows."""
    return sorted({*SCHEDULES, *BASELINES, *PRESETS})


def schedule_for(
    text: str, world: World, *, budget: float | None = None, exact: bool = False
) -> Schedule | Planner:
    """Return the schedule that a text names, for a world.

    Parameters
    ----------
    text : str
        A name, alone or with settings: ``"uniform"``, ``"nutch-tuned"``,
        ``"nutch-adaptive:inc_rate=0.1,min_interval=6h"``.  Settings go before those of a preset.
    world : World
        The pages; baselines ask it.
    budget : float, optional
        Fetches of the whole collection; where a tuned preset starts. [1/s]
    exact : bool
        As the original does, where the schedule has such a mode.

    Raises
    ------
    NotFound
        If no schedule has the name.
    InputError
        If a setting is unknown or not usable, or a schedule has no exact mode that should.
    """
    name, _, rest = text.partition(":")
    known = schedule_names()
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise NotFound(
            f"no schedule is named {name!r}; {hint}there are: {', '.join(known)}", value=name
        )
    given = [part.partition("=") for part in rest.split(",") if part]
    if name in BASELINES:
        if given or exact:
            raise InputError(f"the baseline {name} has neither settings nor an exact mode")
        return BASELINES[name](world)
    base, preset = PRESETS.get(name, (name, {}))
    model = SCHEDULES[base]
    settings: dict[str, Any] = dict(preset)
    if budget and name.endswith("-tuned"):
        settings["default_interval"] = len(world) / budget
    for key, _, value in given:
        settings[key.strip()] = _read(name, model, key.strip(), value.strip())
    if name == Optimal.name:
        if exact:
            raise InputError(f"{name} has no exact mode: it has no original")
        return Planner(Optimal(**settings))
    if exact:
        settings["exact"] = True
    schedule: Schedule = model(**settings)
    return schedule


def _read(name: str, model: type, key: str, value: str) -> Any:
    """Return the value of a setting, read by the type of its default."""
    assert is_dataclass(model)
    defaults = {field.name: field.default for field in fields(model)}
    readers: dict[type, Callable[[str], Any]] = {
        bool: _boolean,
        float: _number,
        int: int,
        str: str,
    }
    reader = readers.get(type(defaults.get(key)))
    if reader is None:
        allowed = ", ".join(k for k, default in defaults.items() if type(default) in readers)
        raise InputError(
            f"{name} has no setting {key!r} that a text can give; there are: {allowed}", value=key
        )
    try:
        return reader(value)
    except ValueError as error:
        raise InputError(f"{name}: {key} is {value!r}: {error}", value=value) from error


def _boolean(text: str) -> bool:
    """Return true or false."""
    if text not in ("true", "false"):
        raise ValueError("write true or false")
    return text == "true"


def _number(text: str) -> float:
    """Return a number, or the seconds of a duration such as 6h."""
    try:
        return float(text)
    except ValueError:
        return _seconds(text)


def _seconds(text: str) -> float:
    """Return the seconds of a duration."""
    try:
        return parse_duration(text)
    except InputError:
        raise ValueError("write a number, or a duration such as 6h or 30d") from None
