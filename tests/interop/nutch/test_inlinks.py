"""Which links to a page the update looks at."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.interop.nutch.datum import CrawlDatum, DatumStatus
from recrawl.interop.nutch.inlinks import choose_inlinks


def chosen(scores: list[float], limit: int) -> list[float]:
    links = [CrawlDatum(DatumStatus.LINKED, score=score) for score in scores]
    return [link.score for link in choose_inlinks(links, limit)]


def test_the_lowest_scores_are_kept() -> None:
    """As the original does, although its settings promise the best."""
    assert chosen([0.07, 0.008, 0.641, 0.023, 0.148, 0.195], 1) == [0.008]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_of_nothing_keeps_nothing(limit: int) -> None:
    """Then no page is found by links."""
    assert chosen([0.5, 0.6], limit) == []


@given(st.lists(st.integers(0, 5), max_size=40), st.integers(0, 45))
def test_links_come_in_descending_order(scores: list[int], limit: int) -> None:
    """Whatever the order of arrival, the least scores remain, the best of them first."""
    assert chosen(scores, limit) == sorted(sorted(scores)[:limit], reverse=True)
