"""The demo runs, and can fail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from recrawl.cli.main import main
from recrawl.core.visit import Observation, Outcome
from recrawl.demo.site import PAGES, DemoPage, DemoSite, Served
from recrawl.demo.verdict import PageVerdict, judge
from recrawl.ports.store import VisitRow
from recrawl.testing.background import CommandLine
from recrawl.testing.clock import ManualClock
from recrawl.testing.factories import page_row, visit_row

NEWS = PAGES[0]
(PRIVATE,) = (page for page in PAGES if page.is_disallowed)


def test_the_demo_succeeds(tmp_path: Path) -> None:
    """Six seconds are enough for events, a table with every page, and exit code 0."""
    with CommandLine(tmp_path) as command_line:
        code, out, err = command_line.run("demo", "--for", "6s", "--keep", "kept", timeout=60)
        status = command_line.run("status", "--store", "sqlite:///kept/recrawl.sqlite")

    assert (code, err) == (0, "")
    assert "s  new " in out
    assert "s  changed " in out
    for page in PAGES:
        assert f"\n{page.host}{page.path} " in out
    assert "of them answered 304 without a body." in out
    assert status[0] == 0


@pytest.fixture
def demo() -> DemoSite:
    """Give the demo site, not started, at its first instant."""
    return DemoSite(ManualClock())


def history(
    demo: DemoSite, page: DemoPage, seen: list[tuple[float, int, Observation]]
) -> PageVerdict:
    """Judge visits, each at a time, served a version, with what recrawl made of it."""
    row = page_row(demo.url(page))
    visits: list[VisitRow] = []
    for elapsed, version, observation in seen:
        at = demo.started_at + round(elapsed * 1000)
        demo.served[page].append(Served(at + 1, 200, version))
        visits.append(visit_row(row, at, observation=observation, elapsed=0.002))
    return judge(demo, page, visits, demo.started_at + 10_000)


UNKNOWN, CHANGED, UNCHANGED = Observation.UNKNOWN, Observation.CHANGED, Observation.UNCHANGED


def test_a_good_history_has_no_fault(demo: DemoSite) -> None:
    """What was served and what was seen agree; delays count from the change."""
    verdict = history(demo, NEWS, [(1, 0, UNKNOWN), (2, 0, UNCHANGED), (3, 1, CHANGED)])

    assert verdict.faults == []
    assert (verdict.n_fetches, verdict.n_detected, verdict.n_made) == (3, 1, 4)
    assert verdict.delays == [pytest.approx(0.5)]
    assert verdict.mean_delay == pytest.approx(0.5)


def test_a_missed_change_is_a_fault(demo: DemoSite) -> None:
    """A fetch was served another version and saw no change."""
    verdict = history(demo, NEWS, [(1, 0, UNKNOWN), (3, 1, UNCHANGED)])

    assert verdict.faults == ["/news: a fetch at 3.0 s missed a change"]
    assert verdict.mean_delay is None


def test_a_false_change_is_a_fault(demo: DemoSite) -> None:
    """A fetch was served the same version and saw a change."""
    verdict = history(demo, NEWS, [(1, 0, UNKNOWN), (2, 0, CHANGED)])

    assert verdict.faults == ["/news: a false change at 2.0 s"]


def test_a_disallowed_fetch_is_a_fault(demo: DemoSite) -> None:
    """The site was asked for a page that robots.txt forbids, whatever the visits say."""
    demo.served[PRIVATE].append(Served(demo.started_at, 200, 0))

    verdict = judge(demo, PRIVATE, [], demo.started_at)

    assert verdict.faults == ["/private/x was fetched although robots.txt forbids it"]


def test_visits_that_sent_nothing_are_not_counted(demo: DemoSite) -> None:
    """A denied visit is no fetch, and no fault."""
    row = page_row(demo.url(PRIVATE))
    denied = visit_row(row, demo.started_at, outcome=Outcome.DENIED, reason="robots")

    verdict = judge(demo, PRIVATE, [denied], demo.started_at + 1000)

    assert (verdict.n_fetches, verdict.faults) == (0, [])


def test_an_answer_in_the_same_millisecond_is_matched(demo: DemoSite) -> None:
    """Both sides cut instants to milliseconds: an answer may seem to come a little late."""
    row = page_row(demo.url(NEWS))
    visits = []
    for at, observation in ((1000, UNKNOWN), (3000, UNCHANGED)):
        start = demo.started_at + at
        demo.served[NEWS].append(Served(start + 1, 200, at // 2500))
        visits.append(visit_row(row, start, observation=observation, elapsed=0.0004))

    verdict = judge(demo, NEWS, visits, demo.started_at + 5000)

    assert verdict.n_fetches == 2
    assert verdict.faults == ["/news: a fetch at 3.0 s missed a change"]


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let the demo's judge find a fault in every page."""

    def harsh(demo: DemoSite, page: DemoPage, visits: object, ended_at: int) -> PageVerdict:
        return replace(judge(demo, page, [], ended_at), faults=["planted"])

    monkeypatch.setattr("recrawl.demo.follow.judge", harsh)
    return ["planted"]


def test_a_fault_fails_the_demo(followed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Each fault is named on standard error, and the exit code is 1."""
    with pytest.raises(SystemExit) as caught:
        main(["demo", "--for", "1s"])

    assert caught.value.code == 1
    assert capsys.readouterr().err.count("FAULT: planted\n") == len(PAGES)
