"""A small site on loopback whose pages change, vanish, move and dawdle on a timetable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate

from recrawl.ports.clock import Clock
from recrawl.testing.answers import Answer, Asked
from recrawl.testing.site import LoopbackSite

__all__ = ["HOSTS", "PAGES", "DemoPage", "DemoSite", "Served"]

HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4")

_ROBOTS = "User-agent: *\nDisallow: /private/\nCrawl-delay: 2\n"
_WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "knoll")


@dataclass(frozen=True, slots=True)
class DemoPage:
    """One page and its timetable.

    Parameters
    ----------
    host : str
        Address of its host.
    path : str
        Path.
    period : float or None
        The page changes each ``period`` [s]; never if None.
    validator : str
        ``etag``, ``last-modified`` or "" for none.
    delay : float
        The server takes this long to answer. [s]
    away : tuple of float
        From and until when it is answered by 404. [s]
    redirect_to : str
        Path it redirects to for good, "" for none.
    is_disallowed : bool
        Whether robots.txt forbids it.
    has_clock : bool
        Whether only a clock in its footer changes.
    note : str
        What is special about it.
    """

    host: str
    path: str
    period: float | None
    validator: str = ""
    delay: float = 0.0
    away: tuple[float, float] = (0.0, 0.0)
    redirect_to: str = ""
    is_disallowed: bool = False
    has_clock: bool = False
    note: str = ""

    def version_at(self, elapsed: float) -> int:
        """Return how often the page has changed until ``elapsed`` [s]."""
        return 0 if self.period is None else int(max(elapsed, 0.0) / self.period)

    def changed_at(self, version: int) -> float:
        """Return when ``version`` appeared, in seconds."""
        return version * (self.period or 0.0)


PAGES = (
    DemoPage(HOSTS[0], "/news", 2.5, "etag", note="changes often"),
    DemoPage(HOSTS[0], "/prices", 7.0, "last-modified", note="changes now and then"),
    DemoPage(HOSTS[0], "/terms", None, "etag", note="never changes"),
    DemoPage(HOSTS[1], "/clock", 1.0, has_clock=True, note="a clock in its footer"),
    DemoPage(HOSTS[1], "/event", None, away=(8.0, 16.0), note="404 from 8 s to 16 s"),
    DemoPage(HOSTS[1], "/story", 11.0, note="changes rarely"),
    DemoPage(HOSTS[2], "/slow", 9.0, "etag", delay=1.2, note="takes 1.2 s to answer"),
    DemoPage(HOSTS[2], "/old", None, redirect_to="/moved", note="redirects to /moved"),
    DemoPage(HOSTS[2], "/moved", 13.0, "last-modified", note="target of /old"),
    DemoPage(HOSTS[3], "/calm", 6.0, "etag", note="Crawl-delay: 2"),
    DemoPage(HOSTS[3], "/calm/two", None, "etag", note="Crawl-delay: 2"),
    DemoPage(HOSTS[3], "/private/x", 3.0, is_disallowed=True, note="robots.txt forbids it"),
)


@dataclass(frozen=True, slots=True)
class Served:
    """One answer of the site: when [ms], status, and the version it showed."""

    at: int
    status: int
    version: int


class DemoSite:
    """The pages on loopback, and a record of what was served.

    Parameters
    ----------
    clock : Clock
        Runs the timetable.
    port : int
        Port; 0 takes a free one.
    """

    def __init__(self, clock: Clock, port: int = 0) -> None:
        self._clock = clock
        self.site = LoopbackSite(HOSTS, port=port, clock=clock)
        self.started_at = clock.now()
        self.served: dict[DemoPage, list[Served]] = {page: [] for page in PAGES}
        for page in PAGES:
            self.site.route(page.path, self._route(page), host=page.host)
        robots = Answer(_ROBOTS, headers={"Content-Type": "text/plain"})
        self.site.route("/robots.txt", robots, host=HOSTS[3])

    def url(self, page: DemoPage) -> str:
        """Return the URL of a page."""
        return self.site.url(page.path, page.host)

    def elapsed(self, at: int) -> float:
        """Return the time from the start to ``at`` [ms], in seconds."""
        return (at - self.started_at) / 1000

    def _route(self, page: DemoPage) -> Callable[[Asked], Answer]:
        def route(asked: Asked) -> Answer:
            elapsed = self.elapsed(asked.at)
            version = page.version_at(elapsed)
            answer = self._answer(page, version, elapsed, asked)
            self.served[page].append(Served(asked.at, answer.status, version))
            return answer

        return route

    def _answer(self, page: DemoPage, version: int, elapsed: float, asked: Asked) -> Answer:
        if page.redirect_to:
            return Answer("", 301, {"Location": page.redirect_to})
        if page.away[0] <= elapsed < page.away[1]:
            return Answer("<p>not here", 404, delay=page.delay)
        headers: dict[str, str | bytes | None] = {}
        if page.validator == "etag":
            headers["ETag"] = f'"{version}"'
            is_known = asked.headers.get("if-none-match") == headers["ETag"]
        elif page.validator == "last-modified":
            # HTTP dates have whole seconds: each version gets a second of its own.
            changed_at = self.started_at // 1000 - 3600 + version
            headers["Last-Modified"] = formatdate(changed_at, usegmt=True)
            is_known = asked.headers.get("if-modified-since") == headers["Last-Modified"]
        else:
            is_known = False
        if is_known:
            return Answer(status=304, headers=headers, delay=page.delay)
        return Answer(self._html(page, version), headers=headers, delay=page.delay)

    def _html(self, page: DemoPage, version: int) -> str:
        head = f"<!doctype html><title>{page.path}</title><h1>{page.path}</h1>"
        if page.has_clock:
            return f"{head}<p>Always the same.</p><footer>Up for {version} s</footer>"
        words = " ".join(_WORDS[(version + i) % len(_WORDS)] for i in range(6))
        return f"{head}<p>Edition {version}: {words}.</p>"
