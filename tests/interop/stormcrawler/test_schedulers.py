"""StormCrawler's schedulers on records: the worked examples of the original."""

from __future__ import annotations

from typing import Any

import pytest

from recrawl.core.columns import NEVER, NO_TIME
from recrawl.errors import InputError
from recrawl.interop.stormcrawler.schedulers import (
    AdaptiveScheduler,
    DefaultScheduler,
    Scheduled,
    scheduler_of,
)
from recrawl.schedules.stormcrawler_minutes import CrawlStatus
from recrawl.testing.factories import NOW

TODAY = "2023-11-14T22:13:20Z"


def adaptive(
    metadata: dict[str, Any], status: CrawlStatus = CrawlStatus.FETCHED, **config: Any
) -> Scheduled:
    given = {key: [value] for key, value in metadata.items()}
    return AdaptiveScheduler.of(config).schedule(status, given, NOW)


def minutes_of(done: Scheduled) -> int:
    return (done.next_fetch_at - NOW) // 60_000


@pytest.mark.parametrize(
    ("metadata", "minutes", "after"),
    [
        (
            {"signature": "A", "fetch.statusCode": "200"},
            1440,
            {"signature": "A", "fetchInterval": "1440"},
        ),
        (
            {
                "signature": "A", "signatureOld": "A", "fetch.statusCode": "200",
                "fetchInterval": "1440",
            },
            2160,
            {"signature": "A", "fetchInterval": "2160", "signatureChangeDate": TODAY},
        ),
        (
            {
                "signature": "A", "signatureOld": "B", "fetch.statusCode": "200",
                "fetchInterval": "2160",
            },
            1110,
            {
                "signature": "A", "signatureOld": "B", "fetchInterval": "1110",
                "signatureChangeDate": TODAY,
            },
        ),
        (
            {"fetch.statusCode": "304", "fetchInterval": "20160"},
            20_160,
            {"fetchInterval": "20160", "signatureChangeDate": TODAY},
        ),
        (
            {"fetch.statusCode": "304"},
            2160,
            {"fetchInterval": "2160", "signatureChangeDate": TODAY},
        ),
    ],
)  # fmt: skip
def test_worked_examples(metadata: dict[str, str], minutes: int, after: dict[str, str]) -> None:
    """Content, change and 304 do what the original's table says."""
    done = adaptive(metadata)

    code = {"fetch.statusCode": [metadata["fetch.statusCode"]]}
    assert done.error is None
    assert minutes_of(done) == minutes
    assert done.metadata == code | {key: [value] for key, value in after.items()}


def test_a_failure_forgets_what_was_learned() -> None:
    """Interval and signature go; the date of the content stays, except after an ERROR."""
    metadata = {"fetchInterval": "5000", "signature": "A", "last-modified": TODAY}

    failed = adaptive(metadata, CrawlStatus.FETCH_ERROR)
    lost = adaptive(metadata, CrawlStatus.ERROR)

    assert (minutes_of(failed), failed.metadata) == (120, {"last-modified": [TODAY]})
    assert (minutes_of(lost), lost.metadata) == (44_640, {})


def test_without_a_status_code_nothing_is_scheduled() -> None:
    """The original ends in an exception, before it changed anything."""
    done = adaptive({"signature": "A"})

    assert done.error is not None
    assert done.error.message.startswith("NullPointerException: fetch.statusCode is missing")
    assert (done.next_fetch_at, done.metadata) == (NO_TIME, {"signature": ["A"]})


def test_a_stored_interval_that_cannot_be_read_is_an_error() -> None:
    """The date of the content is written all the same."""
    done = adaptive(
        {"signature": "A", "signatureOld": "B", "fetch.statusCode": "200", "fetchInterval": "x"},
        **{"scheduler.adaptive.setLastModified": True},
    )

    assert done.error is not None
    assert done.error.message.startswith("NumberFormatException")
    assert done.metadata["last-modified"] == [TODAY]
    assert "signatureChangeDate" not in done.metadata


def test_dates_are_kept_and_written() -> None:
    """An unchanged page keeps the date of its change; a first one gets a date if asked."""
    first = adaptive(
        {"signature": "A", "fetch.statusCode": "200"},
        **{"scheduler.adaptive.setLastModified": True},
    )
    same = adaptive({"fetch.statusCode": "304", "signatureChangeDate": "x"})

    assert first.metadata["last-modified"] == [TODAY]
    assert same.metadata["signatureChangeDate"] == ["x"]


def test_a_custom_interval_goes_before_that_of_the_status() -> None:
    """For every status, where it names none."""
    scheduler = DefaultScheduler.of({"fetchInterval.isFeed=true": 10})

    for status in CrawlStatus:
        assert minutes_of(scheduler.schedule(status, {"isFeed": ["true"]}, NOW)) == 10


def test_a_custom_interval_is_where_adaptation_starts() -> None:
    """A 304 without stored interval grows from the custom one."""
    done = adaptive(
        {"fetch.statusCode": "304", "isFeed": "true"}, **{"fetchInterval.isFeed=true": 10}
    )

    assert minutes_of(done) == 15


def test_never_is_a_number_once_there_is_something_to_compare() -> None:
    """Case sch-018: a minute ago; where there is nothing to compare it is never."""
    never = {"fetchInterval.default": -1}

    first = adaptive({"fetch.statusCode": "200", "fetchInterval": "7"}, **never)
    same = adaptive({"fetch.statusCode": "304"}, **never)

    assert (first.next_fetch_at, first.metadata["fetchInterval"]) == (NEVER, ["7"])
    assert minutes_of(same) == -1


@pytest.mark.parametrize(
    ("status", "minutes"),
    [
        (CrawlStatus.DISCOVERED, 0),
        (CrawlStatus.FETCHED, 1440),
        (CrawlStatus.REDIRECTION, 1440),
        (CrawlStatus.FETCH_ERROR, 120),
        (CrawlStatus.ERROR, 44_640),
    ],
)
def test_the_default_scheduler_goes_by_status(status: CrawlStatus, minutes: int) -> None:
    """Each status has its wait, and a delay in the metadata goes before it."""
    scheduler = DefaultScheduler()

    assert minutes_of(scheduler.schedule(status, {}, NOW)) == minutes
    assert minutes_of(scheduler.schedule(status, {"scheduler.delay.mins": ["7"]}, NOW)) == 7


def test_metadata_that_were_given_are_left_alone() -> None:
    """The scheduler writes into a copy."""
    given = {"fetch.statusCode": ["304"], "signatureOld": ["A"]}

    AdaptiveScheduler.of({}).schedule(CrawlStatus.FETCHED, given, NOW)

    assert given == {"fetch.statusCode": ["304"], "signatureOld": ["A"]}


def test_the_class_is_chosen_by_its_name() -> None:
    """A package before it does not matter; an unknown class is refused."""
    package = "org.apache.stormcrawler.persistence."

    assert isinstance(scheduler_of({"scheduler.class": package + "DefaultScheduler"}),
                      DefaultScheduler)  # fmt: skip
    assert isinstance(scheduler_of({"scheduler.class": "AdaptiveScheduler"}), AdaptiveScheduler)
    for config in ({}, {"scheduler.class": "a.B"}):
        with pytest.raises(InputError, match=r"^RuntimeException: scheduler.class"):
            scheduler_of(config)
