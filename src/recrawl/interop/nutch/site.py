"""Reading a ``nutch-site.xml``: a file of Hadoop's Configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.parsers import expat

from recrawl.core.numeric import parse_float
from recrawl.errors import InputError

__all__ = ["expand", "read_bool", "read_float", "read_int", "read_site"]

_VARIABLE = re.compile(r"\$\{([^}$\s]+)\}")
#: Hadoop gives up after as many substitutions.
_MOST_STEPS = 20
_LEAST_INT, _MOST_INT = -(2**31), 2**31 - 1


class _Properties:
    """Collects the properties of a file as its parser goes on."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.n_includes = 0
        self._final: set[str] = set()
        self._parts: dict[str, list[str]] = {}
        self._path: list[str] = []

    def start(self, name: str, _attributes: Mapping[str, str]) -> None:
        if not self._path and name != "configuration":
            raise InputError(
                f"its root is <{name}>; a nutch-site.xml has <configuration>", value=name
            )
        self._path.append(name)
        if name == "property":
            self._parts = {}
        elif len(self._path) == 3 and self._path[1] == "property":
            self._parts[name] = []
        self.n_includes += name.endswith("include")

    def text(self, text: str) -> None:
        if len(self._path) == 3 and self._path[1] == "property":
            self._parts[self._path[2]].append(text)

    def end(self, _name: str) -> None:
        if self._path == ["configuration", "property"]:
            self._add({part: "".join(texts) for part, texts in self._parts.items()})
        self._path.pop()

    def _add(self, parts: Mapping[str, str]) -> None:
        name = parts.get("name", "").strip()
        # Hadoop keeps a property that an earlier one made final.
        if name and "value" in parts and name not in self._final:
            self.values[name] = parts["value"].strip()
        if parts.get("final", "").strip() == "true":
            self._final.add(name)


def _refuse(*_arguments: object) -> None:
    raise InputError(
        "it has a DOCTYPE; a settings file needs none, and entities are not read: take it out"
    )


def read_site(content: bytes) -> tuple[dict[str, str], int]:
    """Return the properties of a file, values trimmed, and how many includes were not read.

    Parameters
    ----------
    content : bytes
        The file.

    Raises
    ------
    InputError
        If it is not XML, has a DOCTYPE or another root.  No entity is ever expanded, so that a
        small file cannot become a large one, nor name another file.
    """
    properties = _Properties()
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse
    parser.EntityDeclHandler = _refuse
    parser.StartElementHandler = properties.start
    parser.EndElementHandler = properties.end
    parser.CharacterDataHandler = properties.text
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise InputError(f"not XML: {error}", value=None) from None
    except (LookupError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"not XML in an encoding that is known: {error}") from None
    return properties.values, properties.n_includes


def expand(values: Mapping[str, str], name: str) -> str | None:
    """Return a property with ``${other}`` put in, as Hadoop does; None where there is none.

    Only properties of the same file are known; the environment and the system's properties are
    not read, and what is not known stays as it is written.
    """
    text = values.get(name)
    for _ in range(_MOST_STEPS):
        if text is None:
            return None
        match = next((m for m in _VARIABLE.finditer(text) if m[1] in values), None)
        if match is None:
            return text
        text = text[: match.start()] + values[match[1]] + text[match.end() :]
        if len(text) > 10_000:
            break
    raise InputError(f"{name}: too many variables within variables: {values[name][:60]!r}")


def read_int(text: str) -> int:
    """Return the number that Hadoop's ``getInt`` reads: decimal, or ``0x`` and hexadecimal.

    Raises
    ------
    InputError
        If Hadoop would not read it (NumberFormatException).

    Examples
    --------
    >>> read_int(" 0x10 "), read_int("-5")
    (16, -5)
    """
    trimmed = text.strip()
    match = re.fullmatch(r"(-?)0[xX]([0-9a-fA-F]+)|([+-]?[0-9]+)", trimmed)
    value = None
    if match and len(trimmed) <= 40:
        value = int(match[3]) if match[3] else int(f"{match[1]}{match[2]}", 16)
    if value is None or not _LEAST_INT <= value <= _MOST_INT:
        raise InputError(f"not a whole number of 32 bits: {text!r}", value=text)
    return value


def read_float(text: str) -> float:
    """Return the number that Hadoop's ``getFloat`` reads; 0.4 is 0.4, not the nearest float32."""
    kept = parse_float(text)
    return float(str(kept))


def read_bool(text: str, default: bool) -> bool:
    """Return what Hadoop's ``getBoolean`` reads; anything but true and false is the default."""
    return {"true": True, "false": False}.get(text.strip().lower(), default)
