"""What settings of another crawler mean here, and what has no counterpart."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Imported", "Value", "shown"]

#: Most characters of a value that a note shows.
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Value:
    """One setting of ours.

    Parameters
    ----------
    value : bool, int, float or str
        In the form in which ``recrawl.config`` holds it: durations in seconds, sizes in bytes.
    source : str
        The setting that it comes from, or why it is there.
    """

    value: bool | int | float | str
    source: str


@dataclass(slots=True)
class Imported:
    """Settings by section and name, filled while a file is read.

    Parameters
    ----------
    origin : str
        The program whose settings they were.
    settings : dict
        Section to name to ``Value``.
    notes : list of str
        One sentence for each setting that has no counterpart, or another meaning.
    """

    origin: str
    settings: dict[str, dict[str, Value]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def put(self, place: str, value: bool | int | float | str, source: str) -> None:
        """Set ``section.name``."""
        section, _, name = place.partition(".")
        self.settings.setdefault(section, {})[name] = Value(value, source)

    def get(self, place: str) -> Value | None:
        """Return what ``section.name`` was set to."""
        section, _, name = place.partition(".")
        return self.settings.get(section, {}).get(name)


def shown(value: object) -> str:
    """Return a value as a note shows it: on one line, short, and of a list only that it is one."""
    if isinstance(value, list | tuple | set):
        return "a list"
    if isinstance(value, dict):
        return "a table"
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
