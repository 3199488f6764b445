"""Cases from the field, by id."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_CASES: dict[str, dict[str, Any]] = {}
for _line in Path(__file__).with_name("cases.jsonl").read_text(encoding="utf-8").splitlines():
    _case = json.loads(_line)
    _CASES[_case["id"]] = _case


@pytest.fixture
def case() -> Callable[[str], dict[str, Any]]:
    """Return the function that gives the case with an id: ``case("url-001")["input"]``."""
    return _CASES.__getitem__
