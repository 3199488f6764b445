"""The records of a page are reduced to one.  Most of it is held by the recorded reductions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from recrawl.core.states import PageStatus
from recrawl.core.update import UpdateRule
from recrawl.errors import InputError
from recrawl.interop.nutch.datum import CrawlDatum, DatumStatus
from recrawl.interop.nutch.reducer import Reduced, Reducer
from recrawl.schedules.fixed import Fixed
from recrawl.testing.factories import DAY, NOW

URL = "http://www.example.com/"
RULE = UpdateRule(exact=True)
OLD = CrawlDatum(PageStatus.FETCHED, fetch_time=NOW - DAY, interval=86_400, signature=b"old")
FETCH = CrawlDatum(DatumStatus.FETCH_SUCCESS, fetch_time=NOW, interval=86_400, signature=b"new")


def reduced(*values: CrawlDatum, **settings: Any) -> Reduced:
    return reduced_all([(URL, values)], **settings)[0]


def reduced_all(
    pages: Sequence[tuple[str, Sequence[CrawlDatum]]], **settings: Any
) -> list[Reduced]:
    return Reducer(schedule=Fixed(exact=True), rule=RULE, **settings).reduce(pages, now=NOW)


def test_a_fetch_updates_the_page() -> None:
    """The page is due an interval after the fetch, with the new signature."""
    written = reduced(OLD, FETCH).written

    assert written is not None
    assert (written.status, written.fetch_time) == (PageStatus.FETCHED, NOW + DAY)
    assert written.signature == b"new"


@pytest.mark.parametrize("length", [0, 1, 16, 100])
def test_signatures_may_have_any_length(length: int) -> None:
    """Equal ones are equal and others are not, the empty one included."""
    same = CrawlDatum(**{**_fields(FETCH), "signature": bytes(length)})
    old = CrawlDatum(**{**_fields(OLD), "signature": bytes(length)})

    assert reduced(old, same).written.status == PageStatus.NOTMODIFIED
    assert reduced(old, FETCH).written.status == PageStatus.FETCHED
    assert reduced(old, same).written.signature == bytes(length)


def _fields(datum: CrawlDatum) -> dict[str, Any]:
    return {name: getattr(datum, name) for name in CrawlDatum.__dataclass_fields__}


def test_one_bad_page_does_not_stop_the_others() -> None:
    """An error takes the place of the record, in the order of the pages."""
    unknown = CrawlDatum(39, fetch_time=NOW)
    untyped = CrawlDatum(DatumStatus.FETCH_SUCCESS, metadata={"fixedInterval": "1"})

    results = reduced_all([(URL, [OLD, FETCH]), (URL, [unknown]), (URL, [untyped]), (URL, [OLD])])

    assert [type(result.error) for result in results] == [
        type(None),
        InputError,
        InputError,
        type(None),
    ]
    assert [result.written is None for result in results] == [False, True, True, False]
    assert results[3].is_orphaned


def test_no_pages_reduce_to_none() -> None:
    """An empty batch is answered by an empty one."""
    assert reduced_all([]) == []


def test_a_guarded_rule_is_refused() -> None:
    """The reducer is the original's or nothing."""
    with pytest.raises(InputError, match="needs UpdateRule\\(exact=True\\)"):
        Reducer(schedule=Fixed(exact=True), rule=UpdateRule())
