"""How the value of one setting is read, checked, spelt and described."""

from __future__ import annotations

import ipaddress
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, assert_never

from recrawl.core.duration import parse_duration, spell_duration
from recrawl.core.size import parse_size, spell_size
from recrawl.errors import ConfigError, InputError

__all__ = ["Kind", "Spec", "Unusable"]


class Unusable(ConfigError):
    """A value cannot be used; the message is what is wrong and what is allowed, no more."""


class Kind(StrEnum):
    """What a setting holds."""

    BOOLEAN = "boolean"
    CHOICE = "choice"
    DURATION = "duration"
    INTEGER = "integer"
    NETWORKS = "list of networks"
    NUMBER = "number"
    SIZE = "size"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Spec:
    """All that is known about a setting but its name and default.

    Parameters
    ----------
    kind : Kind
        What it holds.
    help : str
        What it does, one line.
    unit : str
        Unit of the value as it is held, "" for none.
    least, most : float or None
        Allowed range, ends included.
    above : float or None
        The value must be larger than this.
    choices : tuple of str
        Allowed values of a CHOICE.
    may_be_list : bool
        Several choices may be given; they are held joined by "+".
    problem : callable or None
        Returns what is wrong with a value, "" for nothing.
    exact_is_free : bool
        Exact mode takes any number, as the original does; so the range is checked by the section,
        which knows the mode.
    is_secret : bool
        The value may carry a password and is never shown.
    """

    kind: Kind
    help: str
    unit: str = ""
    least: float | None = None
    most: float | None = None
    above: float | None = None
    choices: tuple[str, ...] = ()
    may_be_list: bool = False
    problem: Callable[[Any], str] | None = None
    exact_is_free: bool = False
    is_secret: bool = False

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        match self.kind:
            case Kind.BOOLEAN:
                return "true or false"
            case Kind.CHOICE:
                one = " or ".join(json.dumps(choice) for choice in self.choices)
                return f"{one}, or a list of them" if self.may_be_list else one
            case Kind.DURATION:
                return f"a duration such as 90s, 12h, 30d or P1D{self._range}"
            case Kind.INTEGER:
                return f"a whole number{self._range}"
            case Kind.NETWORKS:
                return 'a list of networks such as ["127.0.0.0/8", "fd00::/8"]'
            case Kind.NUMBER:
                return f"a number{self._range}"
            case Kind.SIZE:
                return f"a size such as 5MB or 500KiB{self._range}"
            case Kind.TEXT:
                return "text in quotes"
            case _:
                assert_never(self.kind)

    @property
    def _range(self) -> str:
        """The allowed range in words, with a comma before it; "" for none."""
        if self.above is not None:
            start, upto = f", above {self._bare(self.above)}", " and up to"
        elif self.least is not None:
            start, upto = f", from {self._bare(self.least)}", " to"
        else:
            return ""
        return start if self.most is None else f"{start}{upto} {self._bare(self.most)}"

    @property
    def note(self) -> str:
        """What a reader of the documentation must know beside kind and help; "" for nothing."""
        if self.kind is Kind.CHOICE:
            several = ", or a list of them" if self.may_be_list else ""
            return f"One of {', '.join(json.dumps(choice) for choice in self.choices)}{several}."
        words = self._range.removeprefix(", ")
        return f"{words[:1].upper()}{words[1:]}." if words else ""

    def _bare(self, value: float) -> str:
        return self.spell(value).strip('"')

    def read(self, raw: object) -> Any:
        """Return a value of a TOML file in the form it is held in; Unusable if it is not one."""
        try:
            value = self._converted(raw)
        except InputError as error:
            raise Unusable(error.message) from None
        if not self.exact_is_free:
            self.check(value)
        return value

    def _converted(self, raw: object) -> Any:
        if isinstance(raw, int) and raw.bit_length() > 63:
            raise Unusable(f"it does not fit in 64 bits; allowed is {self.allowed}")
        match self.kind, raw:
            case Kind.BOOLEAN, bool():
                return raw
            case ((Kind.CHOICE | Kind.TEXT), str()):
                return raw
            case Kind.CHOICE, list() if self.may_be_list and all(isinstance(x, str) for x in raw):
                return "+".join(raw)
            case Kind.INTEGER, int() if not isinstance(raw, bool):
                return raw
            case Kind.NUMBER, (int() | float()) if not isinstance(raw, bool):
                return float(raw)
            case Kind.DURATION, (str() | int() | float()) if not isinstance(raw, bool):
                return parse_duration(raw)
            case Kind.SIZE, (str() | int()) if not isinstance(raw, bool):
                return parse_size(raw)
            case Kind.NETWORKS, list():
                return tuple(_network(item) for item in raw)
            case _:
                raise Unusable(f"it is {_type_name(raw)}; allowed is {self.allowed}")

    def check(self, value: Any) -> None:
        """Raise Unusable if a value in the form it is held in is not allowed."""
        if self.kind is Kind.CHOICE:
            parts = value.split("+") if self.may_be_list else [value]
            if not set(parts) <= set(self.choices) or len(set(parts)) < len(parts):
                raise Unusable(f"allowed is {self.allowed}")
        is_outside = isinstance(value, int | float) and (
            not math.isfinite(value)
            or (self.least is not None and value < self.least)
            or (self.most is not None and value > self.most)
            or (self.above is not None and value <= self.above)
        )
        if is_outside:
            raise Unusable(f"allowed is {self.allowed}")
        if self.problem and (problem := self.problem(value)):
            raise Unusable(problem)

    def spell(self, value: Any) -> str:
        """Return a held value as it is written in a settings file."""
        match self.kind:
            case Kind.BOOLEAN:
                return "true" if value else "false"
            case Kind.DURATION:
                return f'"{spell_duration(value)}"'
            case Kind.SIZE:
                return f'"{spell_size(value)}"'
            case Kind.NETWORKS:
                return json.dumps(list(value))
            case Kind.INTEGER | Kind.NUMBER:
                return f"{value:g}" if isinstance(value, float) else str(value)
            case Kind.CHOICE if self.may_be_list and "+" in value:
                return json.dumps(value.split("+"))
            case Kind.TEXT | Kind.CHOICE:
                return json.dumps(value, ensure_ascii=False)
            case _:
                assert_never(self.kind)

    def from_text(self, text: str) -> Any:
        """Return the value of a command-line override, which carries no quotes."""
        match self.kind:
            case Kind.BOOLEAN:
                return self.read({"true": True, "false": False}.get(text.lower(), text))
            case Kind.INTEGER | Kind.NUMBER:
                return self.read(_number(text))
            case Kind.NETWORKS:
                return self.read([part.strip() for part in text.split(",") if part.strip()])
            case Kind.CHOICE | Kind.DURATION | Kind.SIZE | Kind.TEXT:
                return self.read(text)
            case _:
                assert_never(self.kind)


def _number(text: str) -> int | float | str:
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text


def _network(item: object) -> str:
    if not isinstance(item, str):
        raise Unusable(f"{item!r} is {_type_name(item)}; a network is text such as 127.0.0.0/8")
    try:
        network = ipaddress.ip_network(item, strict=False)
    except ValueError:
        raise Unusable(f"{item!r} is not a network; write it as 127.0.0.0/8 or fd00::/8") from None
    if ipaddress.ip_address(item.partition("/")[0]) != network.network_address:
        raise Unusable(f"{item!r} has bits beyond its prefix; did you mean {str(network)!r}?")
    return str(network)


def _type_name(raw: object) -> str:
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
    names |= {list: "a list", dict: "a table"}
    return names.get(type(raw), "a date or time")
