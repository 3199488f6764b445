"""``recrawl backtest``: real visits, tables, machine formats, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recrawl.core.visit import Observation
from recrawl.stores.sqlite import SqliteStore
from recrawl.testing.factories import DAY, NOW, commit_of, page_row
from recrawl.testing.site import Answer, LoopbackSite

URLS = [f"https://h{k}.example/" for k in range(8)]


@pytest.fixture
def visited(recrawl: Callable[..., Any], folder: Path) -> Callable[..., Any]:
    """Give the command line over a store with a page never visited and eight visited daily."""
    recrawl("init")
    rng = np.random.default_rng(1)
    store = SqliteStore(folder / "recrawl.sqlite")
    store.add([page_row(url) for url in URLS])
    for k in range(12):
        now = NOW + k * DAY
        pages = store.lease("me", now, ttl=60, limit=100, per_host=9)
        commits = [commit_of(page, now) for page in pages]
        seen = [Observation.CHANGED if rng.random() < 0.4 else Observation.UNCHANGED for _ in pages]
        store.commit(
            "me",
            [
                replace(commit, visit=replace(commit.visit, observation=int(observation)))
                for commit, observation in zip(commits, seen, strict=True)
            ],
            now,
        )
    store.add([page_row("https://new.example/", next_fetch_at=NOW + 99 * DAY)])
    store.close()
    return recrawl


def test_a_real_crawl_is_replayed(recrawl: Callable[..., Any], site: LoopbackSite):
    """What a crawl of a site kept is a history, of seconds as of months."""
    recrawl("add", site.url("/a"), site.url("/"))
    for text in ("one", "two", "three"):
        site.route("/", Answer(f"<p>{text} is new"))
        recrawl("force", site.url("/"), site.url("/a"))
        recrawl("run", "--once")

    result = recrawl("backtest", "--draws", "2", "--format", "jsonl")

    names = [row["schedule"] for row in result.rows]
    assert names == [
        "as it was", "own (optimal)", "uniform", "stormcrawler", "nutch-adaptive", "aronsson",
    ]  # fmt: skip
    assert {row["fetches"] for row in result.rows} == {4}
    assert {row["changes"] >= 2 for row in result.rows} == {True}
    assert "2 of 4 times it had changed" in result.err
    assert "warning: the history is short, 3 visits" in result.err


def test_the_table_is_for_people(visited: Callable[..., Any]):
    """What it rests on, then a row a schedule in percent and days, with standard errors."""
    result = visited("backtest", "--schedule", "uniform", "--schedule", "fixed", "--draws", "3")

    about, others, head, real, uniform, fixed = result.out.splitlines()
    assert about.startswith("8 pages from 2023-11-14T22:13:20Z to 2023-11-25T22:13:20Z, a page")
    assert "watched for 11 d by 12 visits" in about
    assert others.startswith("1 page is left out")
    assert head.split() == [
        "schedule", "budget", "fetches", "fresh", "fresh_weighted", "age", "delay", "against_real",
    ]  # fmt: skip
    assert real.startswith("as it was  as spent  88")
    assert real.endswith("  -")
    assert " ± " in uniform
    assert fixed.split()[:3] == ["fixed", "as", "spent"]


def test_budgets_and_the_own_schedule(visited: Callable[..., Any], folder: Path):
    """Budgets of each page and of all pages, the settings' schedule by name, and a figure."""
    result = visited(
        "backtest", "--schedule", "own", "--budget", "0.5/page/day", "--budget", "18/day",
        "-s", "schedule.name=nutch-adaptive", "--draws", "1", "--format", "jsonl",
        "--plot", "out.svg",
    )  # fmt: skip

    real, half, double = result.rows
    assert [row["budget"] for row in result.rows] == ["as spent", "0.5/page/day", "18/day"]
    assert half["schedule"] == double["schedule"] == "own (nutch-adaptive)"
    # Eight pages over eleven days.
    assert half["fetches"] == pytest.approx(44, abs=2)
    assert double["fetches"] == pytest.approx(176, abs=3)
    assert double["stale"] < real["stale"] < half["stale"]
    assert real["stale_se"] is None
    assert "own (nutch-adaptive)" in (folder / "out.svg").read_text(encoding="utf-8")


def test_the_same_seed_gives_the_same_figures(visited: Callable[..., Any]):
    """A backtest can be repeated to the last digit, and another seed draws other histories."""
    runs = [
        visited("backtest", "--schedule", "uniform", "--seed", seed, "--format", "csv",
                "--draws", "2").out
        for seed in ("3", "3", "4")
    ]  # fmt: skip

    assert runs[0] == runs[1] != runs[2]


def test_rules_are_left_out_and_that_is_said(visited: Callable[..., Any], folder: Path):
    """The own schedule is that of the settings; who has rules is told of it."""
    with (folder / "recrawl.toml").open("a", encoding="utf-8") as file:
        file.write('[[rule]]\nhost = "h1.example"\nschedule = "fixed"\n')

    result = visited("backtest", "--schedule", "own", "--draws", "1")

    assert "their rules are left out" in result.err


def test_exact_settings_are_taken(visited: Callable[..., Any]):
    """The own schedule in exact mode has no bounds."""
    result = visited(
        "backtest", "--schedule", "own", "-s", "schedule.name=nutch-adaptive",
        "-s", "schedule.exact=true", "--draws", "1", "--format", "jsonl",
    )  # fmt: skip

    assert result.rows[1]["fetches"] == 88


def test_a_history_that_was_cut_is_said_to_be(visited: Callable[..., Any], folder: Path):
    """With the visits that are kept by default, pages of more are known in part."""
    store = SqliteStore(folder / "recrawl.sqlite")
    page = store.get(page_row(URLS[0]).state.page_key)
    store.update([replace(page, state=replace(page.state, n_visits=40))])
    store.close()

    result = visited("backtest", "--schedule", "uniform", "--draws", "1")

    assert "of 1 page only the last visits are kept" in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--schedule", "uniforn"), "did you mean uniform?"),
        (("--budget", "0.1"), "not a budget: '0.1'"),
        (("--budget", "0.01/page/day"), "a first visit of each comes to"),
        (("--step", "0s"), "--step is 0"),
        (("--step", "30d"), "the step is 30 d; allowed"),
        (("--from", "30d"), "begin before its end"),
        (("--draws", "0"), "0 is not in the range x>=1"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_is_refused(
    visited: Callable[..., Any], arguments: tuple[str, ...], message: str
):
    """Each mistake ends with exit code 2 and says what is wrong and what is allowed."""
    result = visited("backtest", *arguments)

    assert result.code == 2
    assert message in result.err


@pytest.mark.parametrize("urls", [(), ("https://a.example/",)], ids=["empty", "unvisited"])
def test_a_store_without_history_is_refused(recrawl: Callable[..., Any], urls: tuple[str, ...]):
    """There is nothing to replay, and what would help is said."""
    recrawl("init")
    if urls:
        recrawl("add", *urls)

    result = recrawl("backtest")

    assert result.code == 2
    assert "there is no history to go by: no page has two visits that tell" in result.err
