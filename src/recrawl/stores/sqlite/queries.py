"""The named statements of ``queries.sql``."""

from __future__ import annotations

import re
from importlib.resources import files

__all__ = ["QUERIES"]


def _load(text: str) -> dict[str, str]:
    """Return the statements by name; ``{page_columns}`` is filled in."""
    parts = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)[1:]
    bodies = {
        name: re.sub(r"^--.*\n", "", body, flags=re.MULTILINE).strip().removesuffix(";")
        for name, body in zip(parts[::2], parts[1::2], strict=True)
    }
    page_columns = bodies.pop("page_columns")
    return {name: body.replace("{page_columns}", page_columns) for name, body in bodies.items()}


#: Statements by name.
QUERIES: dict[str, str] = _load(
    files("recrawl.stores.sqlite").joinpath("queries.sql").read_text(encoding="utf-8")
)
