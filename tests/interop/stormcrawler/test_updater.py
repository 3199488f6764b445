"""What StormCrawler does between a fetch and the store."""

from __future__ import annotations

from typing import Any

import pytest

from recrawl.core.columns import NEVER
from recrawl.errors import InputError
from recrawl.interop.stormcrawler.instants import parse_instant, spell_instant
from recrawl.interop.stormcrawler.updater import MetadataFilter, StatusUpdater, Updated
from recrawl.schedules.stormcrawler_minutes import CrawlStatus

NOW = "2024-08-01T10:15:57.123456789Z"
FETCHED, FETCH_ERROR, ERROR = CrawlStatus.FETCHED, CrawlStatus.FETCH_ERROR, CrawlStatus.ERROR


def updater(**config: Any) -> StatusUpdater:
    return StatusUpdater.of(
        {"scheduler.class": "DefaultScheduler", "status.updater.cache.spec": "x"}
        | {key.replace("__", "."): value for key, value in config.items()}
    )


def update(
    status: CrawlStatus,
    metadata: dict[str, list[str | None]],
    *,
    now: str = NOW,
    is_known: bool = False,
    **config: Any,
) -> Updated:
    return updater(**config).update(status, metadata, parse_instant(now), is_known=is_known)


def date_of(done: Updated) -> str:
    assert done.stored is not None
    return spell_instant(done.stored.next_fetch_at * 1_000_000)


def test_dates_have_the_full_precision() -> None:
    """A new page gets a date of discovery, any other one of its last visit."""
    new, old = update(CrawlStatus.DISCOVERED, {}), update(FETCHED, {})

    assert new.metadata == {"discoveryDate": [NOW]}
    assert old.metadata == {"lastProcessedDate": [NOW]}


@pytest.mark.parametrize(
    ("before", "most", "status", "count"),
    [
        ([], 3, FETCH_ERROR, ["1"]),
        (["1"], 3, FETCH_ERROR, ["2"]),
        (["2"], 3, ERROR, None),
        (["x"], 3, FETCH_ERROR, ["1"]),
        (["2147483647"], 3, FETCH_ERROR, ["-2147483648"]),
        ([], 1, ERROR, None),
        ([], 0, ERROR, None),
    ],
)
def test_errors_are_counted(
    before: list[str | None], most: int, status: CrawlStatus, count: list[str] | None
) -> None:
    """The count grows until it makes an ERROR; what cannot be read is 0, and int32 wraps."""
    done = update(FETCH_ERROR, {"fetch.error.count": before}, max__fetch__errors=most)

    assert done.stored is not None
    assert done.stored.status is status
    assert done.metadata.get("fetch.error.count") == count
    assert (done.metadata.get("error.cause") == ["maxFetchErrors"]) is (status is ERROR)


def test_success_clears_the_errors() -> None:
    """Count and description go after content, the count alone after an ERROR."""
    trouble: dict[str, list[str | None]] = {
        "fetch.error.count": ["2"], "error.cause": ["x"], "error.message": ["y"],
        "error.source": ["z"],
    }  # fmt: skip

    assert update(FETCHED, trouble).metadata.keys() == {"lastProcessedDate"}
    assert "error.source" in update(ERROR, trouble).metadata
    assert "fetch.error.count" not in update(ERROR, trouble).metadata


def test_an_error_is_a_deletion_event() -> None:
    """It has the metadata before the scheduler touched them; other statuses have none."""
    config = {"scheduler__class": "AdaptiveScheduler"}
    done = update(ERROR, {"signature": ["A"]}, **config)

    assert done.deleted == {"signature": ["A"], "lastProcessedDate": [NOW]}
    assert "signature" not in done.metadata
    assert update(FETCH_ERROR, {}, **config).deleted is None


@pytest.mark.parametrize(
    ("unit", "now", "expected"),
    [
        ("SECOND", "2024-08-01T10:15:57.499Z", "2024-08-02T10:15:57Z"),
        ("second", "2024-08-01T10:15:57.500Z", "2024-08-02T10:15:58Z"),
        ("MINUTE", "2024-08-01T10:15:29.999Z", "2024-08-02T10:15:00Z"),
        ("minute", "2024-08-01T10:15:30Z", "2024-08-02T10:16:00Z"),
        ("Hour", "2024-08-01T10:29:59.999Z", "2024-08-02T10:00:00Z"),
        ("HOUR", "2024-08-01T23:30:00Z", "2024-08-03T00:00:00Z"),
        ("DAY", "2024-08-01T10:15:57.499Z", "2024-08-02T10:15:57Z"),
        ("HOUR", "1969-12-30T23:29:00Z", "1969-12-31T23:00:00Z"),
    ],
)
def test_the_next_fetch_is_rounded(unit: str, now: str, expected: str) -> None:
    """Half up by the next smaller unit alone; an unknown unit is the second."""
    assert (
        date_of(update(FETCHED, {}, now=now, status__updater__unit__round__date=unit)) == expected
    )


def test_never_is_not_rounded() -> None:
    """A page that is not fetched again has no date."""
    done = update(FETCHED, {}, fetchInterval__default=-1)

    assert done.stored is not None
    assert done.stored.next_fetch_at == NEVER


def test_a_date_in_the_metadata_is_stored_as_it_is() -> None:
    """No count, no dates, no event, no rounding."""
    date = "2024-05-01T10:00:00.123456789Z"
    metadata: dict[str, list[str | None]] = {"status.store.as.is.with.nextfetchdate": [date]}
    done = update(ERROR, metadata)

    assert date_of(done) == "2024-05-01T10:00:00.123Z"
    assert (done.metadata, done.deleted) == (metadata, None)


def test_a_date_that_cannot_be_read_is_an_error() -> None:
    """Then nothing is stored."""
    done = update(FETCHED, {"status.store.as.is.with.nextfetchdate": ["2024-05-01"]})

    assert done.stored is None
    assert done.error is not None
    assert done.error.message.startswith("DateTimeParseException")


def test_a_scheduler_s_error_is_handed_on() -> None:
    """The metadata are those that the scheduler left."""
    done = update(FETCHED, {"x": ["y"]}, scheduler__class="AdaptiveScheduler")

    assert done.stored is None
    assert done.error is not None
    assert done.metadata == {"x": ["y"], "lastProcessedDate": [NOW]}


def test_known_pages_are_not_discovered_again() -> None:
    """With a cache; whatever else is known is updated."""
    known = update(CrawlStatus.DISCOVERED, {"a": ["b"]}, is_known=True)
    uncached = update(CrawlStatus.DISCOVERED, {}, is_known=True, status__updater__use__cache=False)

    assert known == Updated({"a": ["b"]})
    assert uncached.stored is not None
    assert update(FETCHED, {}, is_known=True).stored is not None


def test_only_metadata_that_are_named_are_stored() -> None:
    """Keys, prefixes and what is tracked; keys without values are not."""
    config = {"metadata.persist": ["a", "e"], "metadata.transfer": "p.*"}
    metadata: dict[str, list[str | None]] = {
        "a": ["1"], "b": ["1"], "e": [], "p.x": [None], "depth": ["1"], "url.path": ["x"],
        "fetch.error.count": ["1"],
    }  # fmt: skip

    tracked = MetadataFilter.of(config).apply(metadata)
    untracked = MetadataFilter.of(
        config | {"metadata.track.path": False, "metadata.track.depth": False}
    ).apply(metadata)

    assert tracked.keys() == {"a", "p.x", "depth", "url.path", "fetch.error.count"}
    assert untracked.keys() == {"a", "p.x", "fetch.error.count"}


def test_a_cache_needs_its_specification() -> None:
    """It has no default in the original's code."""
    with pytest.raises(InputError, match=r"^NullPointerException: status.updater.cache.spec"):
        StatusUpdater.of({"scheduler.class": "DefaultScheduler"})


@pytest.mark.parametrize(
    ("persist", "lost"),
    [
        (["signature", "fetchInterval"], ()),
        (["signature"], ("fetchInterval",)),
        ("fetch*", ("signature",)),
        ([], ("signature", "fetchInterval")),
    ],
)
def test_sch_020_state_that_is_not_stored_is_named(persist: Any, lost: tuple[str, ...]) -> None:
    """The adaptive scheduler says which of its state the settings drop."""
    adaptive = updater(scheduler__class="AdaptiveScheduler", metadata__persist=persist)

    assert adaptive.lost_state == lost
    assert updater(metadata__persist=persist).lost_state == ()
