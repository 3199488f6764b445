"""A crawler in a world without network: a site that a test scripts, a clock that a test moves."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

import pytest

from recrawl.app.crawler import Crawler, CrawlLimits
from recrawl.app.pages import new_page
from recrawl.app.policy import PagePolicy
from recrawl.app.report import VisitReport
from recrawl.core.interval import Bounds
from recrawl.core.update import UpdateRule
from recrawl.core.visit import Outcome
from recrawl.fetch.replay import ReplayFetcher
from recrawl.ports.extractor import Extracted
from recrawl.ports.fetcher import Fetched, Hop, PageRequest
from recrawl.ports.store import PageRow
from recrawl.schedules.nutch import NutchAdaptive
from recrawl.signatures.text_md5 import TextMD5
from recrawl.stores.memory import MemoryStore
from recrawl.testing.clock import ManualClock


class PlainExtractor:
    """Takes the body for the text; ``error:x`` fails with x, ``raise`` raises."""

    def __init__(self) -> None:
        self.is_closed = False

    async def extract(self, body: bytes, *, content_type: str | None, url: str) -> Extracted:
        text = body.decode()
        if text == "raise":
            raise ZeroDivisionError("extractor")
        if text.startswith("error:"):
            return Extracted("", error=text.removeprefix("error:"))
        return Extracted(text, title=text[:10])

    async def close(self) -> None:
        self.is_closed = True


class World:
    """Store, clock, site and settings of a crawl.

    ``site`` gives the answer of a URL: bytes for 200, an int for a status, a str for the target
    of a 301, a ``Fetched`` as it is, a callable of request and time, or an exception to raise.
    """

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = MemoryStore()
        self.site: dict[str, Any] = {}
        self.fetcher = ReplayFetcher(self._answer, self.clock)
        self.extractor = PlainExtractor()
        self.policy = self.policy_with()
        self.policies: dict[str, PagePolicy] = {}
        self.reports: list[VisitReport] = []
        self.idle_until: list[int] = []

    @staticmethod
    def policy_with(**values: Any) -> PagePolicy:
        """Return a policy: adaptive from a day, without jitter, ``values`` over it."""
        return PagePolicy(
            **{
                "schedule": NutchAdaptive(default_interval=86_400.0, sync_delta=False),
                "bounds": Bounds(60.0, 90 * 86_400.0, 0.0),
                "update": UpdateRule(),
                "signature": TextMD5(),
                "interval": 86_400.0,
                "fixed_interval": math.nan,
                **values,
            }
        )

    def policy_of(self, url: str) -> PagePolicy:
        return self.policies.get(url, self.policy)

    def add(self, *urls: str, **values: Any) -> list[PageRow]:
        """Add pages that are due now."""
        pages = [new_page(url, self.policy_of(url), now=self.clock.now(), **values) for url in urls]
        self.store.add(pages)
        return pages

    def page(self, url: str) -> PageRow:
        """Return a page as the store has it."""
        (page,) = [page for page in self.store if page.url == url]
        return page

    def visits(self, url: str) -> list[tuple[str, str]]:
        """Return outcome and reason of a page's visits, oldest first."""
        visits = self.store.visits(self.page(url).state.page_key)
        return [(Outcome(visit.outcome).name, visit.reason) for visit in reversed(visits)]

    def kinds(self) -> list[str]:
        """Return the kinds of all events."""
        return [event.kind.value for event in self.store.changes()]

    def asked(self) -> list[str]:
        """Return the URLs asked for, in order."""
        return [request.url for _, request in self.fetcher.requests]

    def crawler(self, **values: Any) -> Crawler:
        """Return a crawler; ``values`` are its arguments or those of its limits."""
        names = CrawlLimits.__dataclass_fields__
        limits = {"pause": 0.0, "poll": 1e6}
        limits |= {name: values.pop(name) for name in list(values) if name in names}
        return Crawler(
            values.pop("store", self.store),
            values.pop("fetcher", self.fetcher),
            values.pop("extractor", self.extractor),
            values.pop("clock", self.clock),
            **{
                "policy_of": self.policy_of,
                "owner": "me",
                "limits": CrawlLimits(**limits),
                "observer": self,
                **values,
            },
        )

    async def run_once(self, **values: Any) -> Any:
        """Run over what is due; return the totals."""
        return await asyncio.wait_for(self.crawler(**values).run(once=True), 20)

    def visit(self, report: VisitReport) -> None:
        self.reports.append(report)

    def idle(self, next_due_at: int) -> None:
        self.idle_until.append(next_due_at)

    def _answer(self, request: PageRequest, now: int) -> Fetched:
        return fetched_of(self.site.get(request.url, 404), request, now)


def fetched_of(answer: Any, request: PageRequest, now: int) -> Fetched:
    """Return what comes of a request, from the short form of ``World.site``."""
    match answer:
        case Fetched():
            return answer
        case bytes():
            return Fetched(Outcome.SUCCESS, now, status_code=200, body=answer)
        case 404 | 410:
            return Fetched(Outcome.GONE, now, status_code=answer, reason=f"http_{answer}")
        case int():
            return Fetched(Outcome.RETRY, now, status_code=answer, reason=f"http_{answer}")
        case str():
            return redirect(request.url, answer, now)
        case Exception():
            raise answer
        case _:
            assert isinstance(answer, Callable)
            return fetched_of(answer(request, now), request, now)


def redirect(source: str, target: str, now: int = 0, status: int = 301) -> Fetched:
    """Return a redirect from one URL to another."""
    outcome = Outcome.REDIR_PERM if status == 301 else Outcome.REDIR_TEMP
    return Fetched(outcome, now, status_code=status, hops=(Hop(source, status, target),))


@pytest.fixture
def world() -> World:
    """Give a world of its own to each test."""
    return World()
