"""What holds for every acceptance test."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the environment, which processes inherit, name no settings."""
    for name in list(os.environ):
        if "RECRAWL" in name:
            monkeypatch.delenv(name)
