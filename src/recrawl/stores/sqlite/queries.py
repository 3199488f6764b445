"""The named statements of ``queries.sql``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from operator import itemgetter
from typing import Any

__all__ = ["QUERIES", "Query"]


@dataclass(frozen=True, slots=True)
class Query:
    """One statement as the driver takes it.

    Parameters
    ----------
    text : str
        The statement; its parameters are numbered, which the driver binds faster than names.
    names : tuple of str
        The parameters' names, in the order of their numbers.
    bind : callable
        Returns the parameters' values in that order, out of values by name.
    """

    text: str
    names: tuple[str, ...]
    bind: Callable[[Mapping[str, Any]], tuple[Any, ...]]

    @classmethod
    def of(cls, text: str) -> Query:
        """Return the statement of a text with named parameters."""
        names = tuple(dict.fromkeys(re.findall(r":(\w+)", text)))
        numbered = re.sub(r":(\w+)", lambda name: f"?{names.index(name[1]) + 1}", text)
        # For one name or none itemgetter returns no tuple.
        if len(names) > 1:
            return cls(numbered, names, itemgetter(*names))
        return cls(numbered, names, lambda values: tuple(values[name] for name in names))


def _load(text: str) -> dict[str, Query]:
    """Return the statements by name; lists of columns in braces are filled in."""
    parts = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)[1:]
    bodies = {
        name: re.sub(r"^--.*\n", "", body, flags=re.MULTILINE).strip().removesuffix(";")
        for name, body in zip(parts[::2], parts[1::2], strict=True)
    }
    columns = {name: bodies.pop(name) for name in ("page_columns", "planned_columns")}
    return {
        name: Query.of(re.sub(r"\{(\w+)\}", lambda part: columns[part[1]], body))
        for name, body in bodies.items()
    }


#: Statements by name.
QUERIES: dict[str, Query] = _load(
    files("recrawl.stores.sqlite").joinpath("queries.sql").read_text(encoding="utf-8")
)
