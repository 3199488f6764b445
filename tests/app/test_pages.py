from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from recrawl.app.pages import add_seeds, find_page, force_pages, match_pages, new_page
from recrawl.app.seeds import Seed
from recrawl.core.group import group_key
from recrawl.core.states import PageStatus
from recrawl.core.url import host_key, page_key
from recrawl.errors import NotFound, UrlError
from recrawl.ports.store import AddResult
from recrawl.stores.memory import MemoryStore
from recrawl.testing.factories import NOW, commit_of

URL = "https://a.example/"


def test_a_new_page_is_due_at_once(world):
    """It has the policy's interval and importance, and nothing is known of its content."""
    policy = world.policy_with(interval=3600.0, importance=2.0)

    page = new_page("HTTPS://A.example#x", policy, now=NOW)

    assert (page.url, page.added_at, page.depth) == (URL, NOW, 0)
    assert (page.state.next_fetch_at, page.state.interval) == (NOW, 3600.0)
    assert (page.state.importance, page.state.status) == (2.0, PageStatus.UNFETCHED)
    assert math.isnan(page.state.fixed_interval)
    assert page.etag is page.last_modified is page.title is page.redirect_to is None


def test_a_new_page_has_the_keys_of_its_canonical_url(world):
    """Page, host and group, whatever way the URL is spelt."""
    url = "https://a.example/docs/api/x?q=1"

    state = new_page("HTTPS://A.example:443/docs/./api/x?q=1#top", world.policy, now=NOW).state

    keys = (state.page_key, state.host_key, state.group_key)
    assert keys == (page_key(url), host_key("a.example"), group_key(url))


def test_what_is_given_by_hand_goes_first(world):
    """Interval, fixed interval and importance of the caller beat the policy's."""
    fixed = new_page(URL, world.policy, now=NOW, fixed_interval=7200.0)
    page = new_page(URL, world.policy, now=NOW, depth=3, importance=0.0, interval=60.0)

    assert (page.depth, page.state.importance, page.state.interval) == (3, 0.0, 60.0)
    assert fixed.state.fixed_interval == np.float32(7200.0)


@pytest.mark.parametrize("url", ["", "a.example", "mailto:x@a.example", "http://", "http://[x/"])
def test_a_bad_url_names_no_page(world, url):
    """What cannot be fetched is refused where it comes in."""
    with pytest.raises(UrlError):
        new_page(url, world.policy, now=NOW)


def test_seeds_are_added_in_batches(world):
    """Any number of seeds goes in, a thousand a transaction; known pages keep their state."""
    sizes = []

    class Store(MemoryStore):
        def add(self, pages):
            sizes.append(len(pages))
            return super().add(pages)

    world.store = Store()
    world.add(URL, interval=60.0)
    seeds = [Seed(URL, interval=3600.0)] + [Seed(f"{URL}{i}") for i in range(2000)]

    result = add_seeds(world.store, iter(seeds), policy_of=world.policy_of, now=NOW)

    assert result == AddResult(n_added=2000, n_known=1)
    assert sizes == [1, 1000, 1000, 1]
    assert world.page(URL).state.interval == 60.0


def test_no_seeds_are_no_transaction(world):
    """An empty list adds nothing."""
    assert add_seeds(world.store, [], policy_of=world.policy_of, now=NOW) == AddResult(0, 0)


def test_a_page_is_found_by_any_spelling(world):
    """The URL is made canonical first."""
    (page,) = world.add(URL)

    assert find_page(world.store, "HTTPS://A.EXAMPLE:443/") == page


def test_an_unknown_page_is_named(world):
    """The message says what to do next."""
    with pytest.raises(NotFound, match=r"no page https://a\.example/ .*recrawl add"):
        find_page(world.store, "https://A.example")


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("https://a.example/*", "x ?q=1 [1]"),
        ("*", "x ?q=1 [1] other"),
        ("https://a.example/?q=*", "?q=1"),
        ("https://a.example/[[]1]*", ""),
        ("https://a.example/[1]*", "[1]"),
        ("https://a.example/X*", ""),
        ("a.example*", ""),
    ],
)
def test_patterns_have_only_stars(world, pattern, names):
    """``*`` stands for any run of characters; ``?`` and brackets are those of URLs."""
    urls = {"x": f"{URL}x", "?q=1": f"{URL}?q=1", "other": "https://b.example/"}
    world.add(*urls.values())
    urls["[1]"] = f"{URL}[1]"
    (page,) = world.add(urls["[1]"])
    urls["[1]"] = page.url

    found = match_pages(world.store, pattern.replace("[1]", page.url.removeprefix(URL)))

    assert {page.url for page in found} == {urls[name] for name in names.split()}


def test_forced_pages_are_due_and_asked_in_full(world):
    """Due before the last visit, which no schedule puts off, and without validators.

    The baseline stays, so that no change is made up.
    """
    world.site = {URL: b"a"}
    world.add(URL)
    (page,) = world.store.lease("x", NOW, ttl=9.0, limit=1, per_host=1)
    learned = {"rate_shape": 0.5, "rate_exposure": 7.0, "bulk_shape": 2.0, "bulk_exposure": 0.25}
    done = commit_of(page, NOW, signature=b"1" * 16, signature_scheme=7, **learned)
    done = replace(
        done, page=replace(done.page, etag='"1"', last_modified="x", content_digest=b"d" * 16)
    )
    world.store.commit("x", [done], NOW)

    n_forced = force_pages(world.store, [page, page], now=NOW + 5)

    after = world.page(URL)
    assert n_forced == 1
    assert after.state == replace(done.page.state, next_fetch_at=NOW)
    assert (after.etag, after.last_modified, after.content_digest) == (None, None, None)


def test_forcing_keeps_what_a_crawler_wrote_meanwhile(world):
    """The rows given may be old: the page is read again before it is written."""
    (old,) = world.add(URL)
    world.site = {URL: b"a"}
    (leased,) = world.store.lease("x", NOW, ttl=9.0, limit=1, per_host=1)
    world.store.commit("x", [commit_of(leased, NOW)], NOW)

    force_pages(world.store, [old], now=NOW + 5)

    assert world.page(URL).state.n_visits == 1


def test_pages_that_went_away_are_not_counted(world):
    """Only what is there can be forced."""
    page = new_page(URL, world.policy, now=NOW)

    assert force_pages(world.store, [page], now=NOW) == 0


async def test_a_forced_fetch_reports_a_change_only_where_there_is_one(world):
    """The same content again is unchanged, other content is changed."""
    world.site = {URL: b"a"}
    world.add(URL)
    await world.run_once()

    for body in (b"a", b"b"):
        world.site = {URL: body}
        force_pages(world.store, [world.page(URL)], now=world.clock.now())
        world.clock.advance(1)
        await world.run_once()

    assert world.kinds() == ["new", "changed"]
    assert [request.etag for _, request in world.fetcher.requests] == [None] * 3
