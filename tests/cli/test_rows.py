"""Pages as people and other programs get them."""

from __future__ import annotations

import pytest

from recrawl.cli.rows import page_row
from recrawl.core.columns import COLUMNS, NO_KEY
from recrawl.testing import factories


@pytest.mark.parametrize("name", [c.name for c in COLUMNS if c.null and c.name != "next_fetch_at"])
def test_what_is_unknown_is_none(name: str) -> None:
    """Keys, numbers and instants that are not known are empty in every format."""
    page = factories.page_row(group_key=NO_KEY)

    assert page_row(page)[name] is None


def test_what_was_learned_is_shown() -> None:
    """Group and knowledge stand under the names of their columns."""
    page = factories.page_row(group_key=5, rate_shape=0.5, bulk_exposure=2.0)

    row = page_row(page)

    assert (row["group_key"], row["rate_shape"], row["bulk_exposure"]) == (5, 0.5, 2.0)
