"""Commands of the learned schedule: plan, explain, status by parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from recrawl.core.url import host_of
from recrawl.testing.site import Answer, LoopbackSite


@pytest.fixture
def crawled(recrawl: Callable[..., Any], site: LoopbackSite) -> Callable[..., Any]:
    """Give the command line over a store with two pages that were visited, and one that was not."""
    for path in ("/a", "/b", "/c"):
        site.route(path, Answer(path))
    recrawl("add", site.url("/a"), site.url("/b"))
    recrawl("run", "--once")
    recrawl("add", site.url("/c"))
    return recrawl


def test_a_plan_tells_what_budgets_come_to(crawled):
    """The present first, then others and the wishes by their budgets, which rise with freshness."""
    rows = crawled("plan", "--freshness", "0.5", "--format", "jsonl").rows

    assert rows[0]["what"] == "present"
    assert rows[0]["freshness"] == pytest.approx(0.9, abs=0.01)
    others = rows[1:]
    assert {row["what"] for row in others} == {
        "0.25 x present", "0.5 x present", "2 x present", "4 x present", "0.5 fresh",
    }  # fmt: skip
    budgets = [row["fetches_per_day"] for row in others]
    assert budgets == sorted(budgets)
    assert rows[0]["fetches_per_page_per_day"] == pytest.approx(rows[0]["fetches_per_day"] / 3)


def test_a_plan_of_a_budget(crawled):
    """The present is the budget of the settings, of all pages or of each."""
    for budget in ("30/day", "10/page/day"):
        (row, *_) = crawled("plan", "-s", f"schedule.budget={budget}", "--format", "jsonl").rows
        assert row["fetches_per_day"] == pytest.approx(30, rel=0.01)

    table = crawled("plan", "-s", "schedule.budget=30/day").out
    assert table.startswith("3 pages; the present is with the budget 30/day.\n")
    assert "%" in table


def test_a_plan_is_drawn(crawled, folder):
    """Freshness against budget, with the present and the wishes."""
    crawled("plan", "--plot", "plan.svg")

    assert "wanted" in (folder / "plan.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("share", ["0", "1", "95"])
def test_a_wish_that_cannot_be_is_refused(crawled, share):
    """A share, not percent; nothing and all are no aims."""
    result = crawled("plan", "--freshness", share)

    assert result.code == 2
    assert "such as 0.95" in result.err


def test_a_plan_of_nothing(recrawl):
    """A store without pages is said to be one."""
    recrawl("init")

    result = recrawl("plan")

    assert result.code == 2
    assert "there is no page to plan for" in result.err


def test_a_page_is_explained(crawled, site):
    """What is known, what a fetch is worth, which rule, why it waits, the last visits."""
    text = crawled("explain", site.url("/a")).out

    for part in (
        "95 % sure between once in",
        "A new page of its host is taken to change once in 40 d.",
        "right with a probability of 100%",
        "A fetch now is worth",
        "which it will be in",
        "The last visit was success",
        "Last visits (1 of 1 kept)",
    ):
        assert part in text
    assert "rule" not in text


def test_an_explanation_names_rules_and_other_schedules(crawled, site, folder):
    """Numbers of the rules in the file; nothing is worth anything to a fixed schedule."""
    with (folder / "recrawl.toml").open("a", encoding="utf-8") as file:
        file.write(f'[[rule]]\nurl = "{site.url("/a")}"\nschedule = "fixed"\n')

    first = crawled("explain", site.url("/a")).out
    second = crawled("explain", site.url("/b")).out
    (row,) = crawled("explain", site.url("/c"), "--format", "jsonl").rows

    assert "Of the rules in the settings it has number 1." in first
    assert "is worth" not in first
    assert "No rule of the settings matches it." in second
    assert "Its content was never seen." in row["known"]
    assert row["visits"] == []


def test_the_status_by_host_and_pattern(crawled, site):
    """The parts with their pages, and the collection with its freshness."""
    host = host_of(site.url("/"))
    (by_host,) = crawled("status", "--by", "host", "--format", "jsonl").rows
    (by_pattern,) = crawled("status", "--by", "pattern", "--format", "jsonl").rows
    (whole,) = crawled("status", "--format", "jsonl").rows

    assert (by_host["host"], by_host["pages"], by_host["new"]) == (host, 3, 1)
    assert by_pattern["pattern"] == f"{host}/"
    assert whole["freshness"] == by_host["freshness"] == pytest.approx(2 / 3, abs=0.01)


def test_a_signal_is_counted_and_moves_a_page_as_far_as_it_is_worth(crawled, site):
    """Pages of the store, each once; the others are reported and the rest is done."""
    lines = f"{site.url('/b')}\n\n{site.url('/b')}\nhttps://unknown.example/\nno url\n"

    one = crawled("signal", site.url("/a"))
    many = crawled("signal", "-", stdin=lines.encode())

    assert (one.code, many.code) == (0, 2)
    assert one.out.startswith("1 page was signalled; ")
    assert many.out.startswith("1 page was signalled; ")
    assert many.err.count("recrawl: ") == 2
    rows = {row["url"]: row["n_signals"] for row in crawled("export", "--format", "jsonl").rows}
    assert list(rows.values()).count(1) == 2
    assert "1 signal of a change" in crawled("explain", site.url("/a")).out


def test_a_run_says_what_the_budget_left(crawled):
    """With --once pages stay due when the budget is spent, and nobody has to wonder why."""
    run = ("run", "--once", "-s", "schedule.budget=1/day")
    crawled("force", "http://127.0.0.1*/*")

    first, again, rich = crawled(*run), crawled(*run), crawled(*run[:3], "schedule.budget=9/day")

    assert "The budget of 1/day is spent: 2 pages stay due." in first.err
    assert "2 pages stay due." in again.err
    assert "spent" not in rich.err
    assert "2 visits" in rich.out
