"""What tests of signatures share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from recrawl.core.document import Document


@pytest.fixture(scope="session")
def text_document() -> Callable[[str | None], Document]:
    """Return the function that makes a document of a text."""
    return lambda text: Document("http://a.example/", b"content", text)
