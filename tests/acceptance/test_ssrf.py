"""Through the whole crawler: nothing that only this machine can reach is fetched."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from recrawl.app.pages import find_page, new_page
from recrawl.config import Config, ExtractSettings, FetchSettings, PolitenessSettings
from recrawl.core.columns import NEVER
from recrawl.core.states import PageStatus
from recrawl.core.visit import Outcome
from recrawl.ports.store import PageRow, VisitRow
from recrawl.stores.sqlite import SqliteStore
from recrawl.testing.site import Answer, LoopbackSite
from recrawl.wiring import make_policies, open_crawler


@dataclass
class Crawl:
    """A store, settings, and a site on loopback."""

    store: SqliteStore
    site: LoopbackSite
    config: Config

    async def visit(self, *urls: str) -> None:
        """Add pages and visit all that is due."""
        policy_of = make_policies(self.config)
        self.store.add([new_page(url, policy_of(url), now=0) for url in urls])
        async with open_crawler(self.config, self.store) as crawler:
            await asyncio.wait_for(crawler.run(once=True), 60)

    def page(self, url: str) -> tuple[PageRow, VisitRow]:
        """Return a page and its last visit."""
        page = find_page(self.store, url)
        return page, self.store.visits(page.state.page_key)[0]


def settings(*networks: str) -> Config:
    return Config(
        fetch=FetchSettings(
            contact="https://crawler.example/",
            allow_networks=networks,
            proxy_from_environment=False,
            redirect_targets="any",
        ),
        politeness=PolitenessSettings(min_delay=0.0, backoff=0.1),
        extract=ExtractSettings(workers=1),
    )


@pytest.fixture
async def crawl(tmp_path: Path) -> AsyncIterator[Crawl]:
    """Give a crawl that may fetch from 127.0.0.1 only, though its site is on two addresses."""
    store = SqliteStore(tmp_path / "recrawl.sqlite")
    async with LoopbackSite(("127.0.0.1", "127.0.0.2")) as site:
        yield Crawl(store, site, settings("127.0.0.1/32"))
    store.close()


def check_denied(crawl: Crawl, url: str) -> None:
    """Check that a page is denied for its address, and will be looked at again."""
    page, visit = crawl.page(url)
    assert (visit.outcome, visit.reason) == (Outcome.DENIED, "private_address")
    assert visit.status_code is None
    assert page.reason == "private_address"
    assert visit.fetched_at < page.state.next_fetch_at < NEVER
    assert page.state.status == PageStatus.UNFETCHED


async def test_literal_addresses(crawl: Crawl) -> None:
    """Private, loopback, link-local and metadata addresses, in every spelling."""
    urls = [
        crawl.site.url("/", "127.0.0.2"),
        "http://2130706434:1/",  # 127.0.0.2
        "http://0x7f.2/",
        "http://10.0.0.1/",
        "http://192.168.1.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://[fd00::1]/",
        "http://0.0.0.0/",
    ]

    await crawl.visit(*urls)

    for url in urls:
        check_denied(crawl, url)
    assert crawl.site.n_connections == 0
    assert crawl.store.changes() == []
    assert crawl.store.status(0).n_leased == 0


async def test_a_name_that_leads_inside(crawl: Crawl) -> None:
    """The address is checked where the connection is made, whatever the name."""
    crawl.config = settings("10.0.0.0/8")
    url = crawl.site.url("/", "localhost")

    await crawl.visit(url)

    check_denied(crawl, url)
    assert crawl.site.n_connections == 0


@pytest.mark.parametrize("status", [301, 302, 307])
async def test_a_redirect_inside_is_recorded_and_not_followed(crawl: Crawl, status: int) -> None:
    """The page counts as moved, its target becomes a page of its own and is denied as such."""
    inside = crawl.site.url("/secret", "127.0.0.2")
    crawl.site.route("/", Answer("go", status, {"Location": inside}))
    crawl.site.route("/secret", Answer("secret"), host="127.0.0.2")
    url = crawl.site.url("/")

    await crawl.visit(url)

    page, visit = crawl.page(url)
    assert visit.outcome == (Outcome.REDIR_PERM if status == 301 else Outcome.REDIR_TEMP)
    assert visit.reason == "private_address"
    assert f'"{inside}"' in visit.hops
    assert page.redirect_to == inside
    check_denied(crawl, inside)
    assert crawl.site.asked(host="127.0.0.2") == []
    assert [event.kind for event in crawl.store.changes()] == ["moved"]


async def test_metadata_by_redirect(crawl: Crawl) -> None:
    """The address of cloud metadata is as private by redirect as it is by name."""
    metadata = "http://169.254.169.254/latest/meta-data/"
    crawl.site.route("/", Answer("go", 302, {"Location": metadata}))

    await crawl.visit(crawl.site.url("/"))

    check_denied(crawl, metadata)


async def test_allowed_networks_are_fetched(crawl: Crawl) -> None:
    """What the settings allow is fetched: the refusals above are theirs."""
    crawl.config = settings("127.0.0.0/8")
    url = crawl.site.url("/secret", "127.0.0.2")
    crawl.site.route("/secret", Answer("secret"), host="127.0.0.2")

    await crawl.visit(url)

    _, visit = crawl.page(url)
    assert visit.outcome == Outcome.SUCCESS
