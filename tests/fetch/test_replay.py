from __future__ import annotations

import pytest

from recrawl.core.visit import Outcome
from recrawl.fetch.replay import ReplayFetcher
from recrawl.ports.fetcher import Fetched, PageRequest
from recrawl.ports.store import HostRow
from recrawl.testing.clock import ManualClock
from recrawl.testing.fetcher import FetcherContract, FetcherWorld

A = PageRequest("http://a.example/")
ROW = HostRow(1, "a.example")


async def test_answers_come_one_after_another_and_the_last_stays() -> None:
    """A list is worked off by URL; each answer gets the time of its fetch."""
    clock = ManualClock(1000)
    first, second = Fetched(Outcome.SUCCESS, 0, body=b"1"), Fetched(Outcome.EMPTY, 0)
    fetcher = ReplayFetcher({A.url: [first, second]}, clock, min_delay=2.0)
    row, answers = ROW, []

    for _ in range(3):
        fetched, row = await fetcher.fetch(A, row)
        answers.append((fetched.outcome, fetched.fetched_at))

    assert answers == [(Outcome.SUCCESS, 1000), (Outcome.EMPTY, 3000), (Outcome.EMPTY, 5000)]
    assert row.ready_at == 7000
    assert fetcher.requests == [(1000, A), (3000, A), (5000, A)]
    await fetcher.close()


async def test_one_answer_stays_and_an_unknown_url_is_gone() -> None:
    """A single answer is given for ever; what is not in the script is a 404."""
    fetcher = ReplayFetcher({A.url: Fetched(Outcome.SUCCESS, 0, body=b"1")}, ManualClock())

    known = [(await fetcher.fetch(A, ROW))[0].body for _ in range(2)]
    unknown, _ = await fetcher.fetch(PageRequest("http://a.example/b"), ROW)

    assert known == [b"1", b"1"]
    assert (unknown.outcome, unknown.status_code) == (Outcome.GONE, 404)


async def test_a_function_sees_request_and_time() -> None:
    """A script can be a site that changes with time."""
    fetcher = ReplayFetcher(
        lambda request, now: Fetched(Outcome.SUCCESS, 0, body=f"{request.url} {now}".encode()),
        ManualClock(5),
    )

    fetched, _ = await fetcher.fetch(A, ROW)

    assert fetched.body == b"http://a.example/ 5"


class TestReplayFetcher(FetcherContract):
    @pytest.fixture
    def world(self) -> FetcherWorld:
        def answer(request: PageRequest, now: int) -> Fetched:
            headers = {"etag": '"v1"'}
            match request:
                case PageRequest(url="http://a.example/gone"):
                    return Fetched(Outcome.GONE, now, status_code=404, reason="http_404")
                case PageRequest(url="http://c.example/"):
                    return Fetched(Outcome.RETRY, now, reason="connection")
                case PageRequest(etag='"v1"'):
                    return Fetched(Outcome.NOTMODIFIED, now, status_code=304, headers=headers)
                case _:
                    return Fetched(Outcome.SUCCESS, now, 200, headers, b"hello")

        clock = ManualClock()
        fetcher = ReplayFetcher(answer, clock, min_delay=2.0)
        return FetcherWorld(
            fetcher=fetcher,
            clock=clock,
            delay=2.0,
            good="http://a.example/",
            gone="http://a.example/gone",
            broken="http://c.example/",
            other="http://b.example/",
            departures=lambda: [at for at, _ in fetcher.requests],
        )
