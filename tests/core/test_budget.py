"""Budgets as people write them."""

from __future__ import annotations

import pytest

from recrawl.core.budget import parse_budget
from recrawl.errors import InputError


@pytest.mark.parametrize(
    ("text", "a_day"),
    [("0.1/page/day", 5.0), ("1000/day", 1000.0), (".5/hour", 12.0), (" 7/page/week ", 50.0)],
)
def test_budget_is_read(text: str, a_day: float):
    """A budget of each page is multiplied by the pages, one of all is not."""
    assert parse_budget(text).of(50).rate * 86_400 == pytest.approx(a_day)


@pytest.mark.parametrize("text", ["", "1", "1/month", "0/day", "-1/day", "1/page", "1e3/day"])
def test_what_is_no_budget_is_refused(text: str):
    """Anything else is refused with an example of what is read."""
    with pytest.raises(InputError, match=r"such as 0.1/page/day or 1000/day"):
        parse_budget(text)
