"""The status of an HTTP status code."""

from __future__ import annotations

import pytest

from recrawl.interop.stormcrawler.status import status_of_code
from recrawl.schedules.stormcrawler_minutes import CrawlStatus


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (200, CrawlStatus.FETCHED),
        (304, CrawlStatus.FETCHED),
        (300, CrawlStatus.REDIRECTION),
        (399, CrawlStatus.REDIRECTION),
        (204, CrawlStatus.FETCH_ERROR),
        (299, CrawlStatus.FETCH_ERROR),
        (404, CrawlStatus.FETCH_ERROR),
        (503, CrawlStatus.FETCH_ERROR),
    ],
)
def test_only_200_and_304_are_content(code: int, status: CrawlStatus) -> None:
    """Other 3xx are redirects, and no single code is an ERROR."""
    assert status_of_code(code) is status
