"""The status that StormCrawler gives an HTTP status code."""

from __future__ import annotations

from recrawl.schedules.stormcrawler_minutes import CrawlStatus

__all__ = ["status_of_code"]


def status_of_code(code: int) -> CrawlStatus:
    """Return the status after an answer with this HTTP status code.

    Everything but 200, 304 and other 3xx is a FETCH_ERROR, also 204 and 404: only the count of
    errors makes an ERROR.  StormCrawler, Status.fromHTTPCode.
    """
    if code in (200, 304):
        return CrawlStatus.FETCHED
    return CrawlStatus.REDIRECTION if 300 <= code < 400 else CrawlStatus.FETCH_ERROR
