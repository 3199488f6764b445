from __future__ import annotations

import asyncio

import pytest

from recrawl.app.changes import diff_of, follow, read, text_of
from recrawl.app.pages import force_pages
from recrawl.testing.clock import ManualClock

URL = "https://a.example/"


async def visits(world, *bodies) -> None:
    """Visit the page once for each body."""
    for body in bodies:
        world.site = {URL: body}
        force_pages(world.store, [world.page(URL)], now=world.clock.now())
        await world.run_once()
        world.clock.advance(60)


@pytest.fixture
async def changed(world):
    """Give a world whose page was new, then changed twice."""
    world.add(URL)
    await visits(world, b"one\ntwo\n", b"one\n2\n", b"one\nthree\n")
    return world


def test_reading_starts_after_a_sequence(changed):
    """Every event once, in order, from any place on."""
    assert [event.sequence for event in read(changed.store)] == [1, 2, 3]
    assert [event.sequence for event in read(changed.store, 2)] == [3]
    assert list(read(changed.store, 99)) == []


async def test_reading_goes_on_over_pages(world):
    """A feed longer than one request to the store has no hole."""
    urls = [f"{URL}{i}" for i in range(2500)]
    world.site = dict.fromkeys(urls, b"x")
    world.add(*urls)
    await world.run_once(pages_per_host=10_000, batch=10_000)

    assert [event.sequence for event in read(world.store)] == list(range(1, 2501))


def test_texts_of_the_last_two_versions_are_kept(changed):
    """An older event's text is None, not another version's."""
    new, second, third = read(changed.store)

    assert text_of(changed.store, new) is None
    assert text_of(changed.store, second) == "one\n2\n"
    assert text_of(changed.store, third) == "one\nthree\n"


def test_a_diff_leads_from_the_old_text_to_the_new(changed):
    """Unified, each side named by its signature; None where one side is gone."""
    new, second, third = read(changed.store)

    assert diff_of(changed.store, new) is None
    assert diff_of(changed.store, second) is None
    lines = diff_of(changed.store, third).splitlines()
    assert lines[0] == f"--- {URL} {second.new_signature[:4].hex()}"
    assert lines[1] == f"+++ {URL} {third.new_signature[:4].hex()}"
    assert lines[3:] == [" one", "-2", "+three"]


async def test_a_first_version_is_all_new(world):
    """The diff of a new page adds every line."""
    world.add(URL)
    await visits(world, b"one\ntwo")
    (event,) = read(world.store)

    assert diff_of(world.store, event).splitlines()[3:] == ["+one", "+two"]


async def test_events_without_a_change_of_text(world):
    """A gone page shows its last text, and an empty diff; so does one that came back the same."""
    world.add(URL)
    await visits(world, b"one", 404, b"one")
    _, gone, returned = read(world.store)

    assert (gone.kind, returned.kind) == ("gone", "returned")
    assert text_of(world.store, gone) == text_of(world.store, returned) == "one"
    assert diff_of(world.store, gone) == diff_of(world.store, returned) == ""


async def test_a_page_that_was_never_read_has_no_text(world):
    """An event without a signature has nothing to show."""
    world.add(URL)
    await visits(world, 404)
    (event,) = read(world.store)

    assert event.new_signature is None
    assert text_of(world.store, event) is None


async def test_following_gets_later_events(changed):
    """What comes after the first look is seen too, once and in order, until told to stop."""
    stop, seen = asyncio.Event(), []

    async for event in follow(changed.store, ManualClock(), 1, stop=stop):
        seen.append(event.sequence)
        if event.sequence == 3:
            await visits(changed, b"four")
        if event.sequence == 4:
            stop.set()

    assert seen == [2, 3, 4]


async def test_following_waits_without_events(world):
    """Without events it looks once a second and ends when stopped."""
    clock, stop = ManualClock(), asyncio.Event()

    async def stop_later() -> None:
        while clock.now() < ManualClock().now() + 10_000:
            await asyncio.sleep(0)
        stop.set()

    stopper = asyncio.create_task(stop_later())
    async with asyncio.timeout(10):
        events = [event async for event in follow(world.store, clock, stop=stop)]
    await stopper

    assert events == []
    assert clock.now() <= ManualClock().now() + 12_000


async def test_a_long_feed_can_be_stopped(changed):
    """A stop is seen between two events, and others run between two requests to the store."""
    stop = asyncio.Event()

    seen = []
    async for event in follow(changed.store, ManualClock(), stop=stop):
        seen.append(event.sequence)
        stop.set()

    assert seen == [1]
