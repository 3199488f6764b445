"""``recrawl simulate`` and ``recrawl compare``: figures, tables, pictures, and what is refused."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DAY = 86_400
SMALL = ("--pages", "40", "--days", "20", "--step", "12h")


@pytest.fixture
def trace(folder: Path) -> Path:
    """Write the histories of two pages over 100 days."""
    histories = [
        {"page": name, "group": 0, "first": 0, "last": 100 * DAY, "end": "alive",
         "changes": [day * DAY for day in days]}
        for name, days in (("a", range(1, 100, 3)), ("b", [50]))
    ]  # fmt: skip
    path = folder / "trace.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, histories)).encode()))
    return path


def test_the_harness_of_nutch_comes_to_its_totals(recrawl: Callable[..., Any]):
    """The shipped settings give the totals that AdaptiveFetchSchedule.main prints."""
    result = recrawl(
        "simulate", "--schedule", "nutch-adaptive", "--world", "fixed:31d", "--step", "1d",
        "--steps", "10000", "--json",
    )  # fmt: skip

    assert result.rows == [
        {
            "schedule": "nutch-adaptive",
            "total_missed": 2958,
            "max_miss": 27,
            "changed": 322,
            "fetched": 527,
        }
    ]


def test_compare_gives_a_row_a_schedule_with_all_figures(recrawl: Callable[..., Any]):
    """JSON has each figure with pages equal and weighted, and differences from the first."""
    result = recrawl(
        "compare", *SMALL, "--schedule", "uniform", "--schedule", "nutch-tuned", "--json",
        "--seeds", "1,2",
    )  # fmt: skip

    assert [row["schedule"] for row in result.rows] == ["uniform", "nutch-tuned"]
    figures = {"stale", "age", "delay_mean", "delay_p95", "fetches", "wasted", "missed", "changes"}
    wanted = figures | {f"{name}_weighted" for name in figures}
    assert wanted | {"budget", "stale_difference", "stale_difference_se"} <= set(result.rows[0])
    assert result.rows[0]["fetches"] == result.rows[1]["fetches"]


def test_compare_takes_the_best_known_by_default(recrawl: Callable[..., Any]):
    """Without names there are uniform, the schedules of the field and the known optimum."""
    rows = recrawl("compare", *SMALL, "--json").rows

    names = [row["schedule"] for row in rows]
    assert names[0] == "uniform"
    assert {"nutch-shipped", "stormcrawler", "aronsson", "optimal-known"} <= set(names)


def test_table_is_in_percent_and_days(recrawl: Callable[..., Any]):
    """People read shares in percent and times in days."""
    result = recrawl("compare", *SMALL, "--schedule", "uniform", "--schedule", "azar")

    head, first, _ = result.out.splitlines()
    assert head.split()[:5] == ["schedule", "budget", "stale", "stale_weighted", "age"]
    assert first.split()[:2] == ["uniform", "0.1/page/day"]
    assert " % " in first
    assert " d " in first


def test_simulate_measures_one_schedule(recrawl: Callable[..., Any]):
    """Without a budget each due page is fetched: every five days of 20 on 40 pages."""
    result = recrawl("simulate", *SMALL, "--schedule", "fixed:default_interval=5d", "--json")

    assert result.rows[0]["fetches"] == 160
    assert result.rows[0]["budget"] == "none"


def test_the_same_seed_gives_the_same_figures(recrawl: Callable[..., Any]):
    """A run can be repeated to the last digit, and another seed is another world."""
    runs = [
        recrawl("simulate", *SMALL, "--seed", seed, "--budget", "8/day", "--json").out
        for seed in ("3", "3", "4")
    ]

    assert runs[0] == runs[1] != runs[2]


def test_what_is_unknown_is_null_and_a_dash(recrawl: Callable[..., Any]):
    """A world without changes has no detection delay."""
    still = ("simulate", "--world", "never", "--pages", "3", "--days", "5", "--step", "1d",
             "--budget", "3/day")  # fmt: skip

    assert recrawl(*still, "--json").rows[0]["delay_mean"] is None
    assert " - " in recrawl(*still).out


def test_traces_are_worlds(recrawl: Callable[..., Any], trace: Path):
    """Real histories are read from a file, and their last part is measured."""
    result = recrawl(
        "compare", "--world", f"trace:{trace}", "--window", "60d", "--budget", "0.2/page/day",
        "--from", "10d", "--schedule", "uniform", "--schedule", "optimal-known", "--json",
        "--importance", "pareto",
    )  # fmt: skip

    assert [row["changes"] for row in result.rows] == [17, 17]
    assert result.rows[1]["stale"] <= result.rows[0]["stale"]


@pytest.mark.parametrize("budgets", [("8/day",), ("4/day", "8/day")], ids=["time", "budget"])
def test_compare_draws(recrawl: Callable[..., Any], folder: Path, budgets: tuple[str, ...]):
    """One budget gives freshness over time, several freshness against the budget."""
    given = [part for budget in budgets for part in ("--budget", budget)]

    result = recrawl("compare", *SMALL, "--schedule", "uniform", *given, "--plot", "out.svg")

    text = (folder / "out.svg").read_text(encoding="utf-8")
    assert result.code == 0
    assert "<svg" in text


@pytest.mark.parametrize("page", [(), ("--page", "1")], ids=["all", "one"])
def test_simulate_draws(recrawl: Callable[..., Any], folder: Path, page: tuple[str, ...]):
    """The figure shows the freshness of all pages or the interval of one."""
    result = recrawl("simulate", *SMALL, *page, "--plot", "out.png")

    assert result.code == 0
    assert (folder / "out.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_the_extra_is_named(
    recrawl: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
):
    """Who lacks the optional part learns how to install it, before anything is run."""
    for name in [n for n in sys.modules if n.startswith(("matplotlib", "recrawl.plots"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)

    result = recrawl("simulate", *SMALL, "--plot", "out.svg")

    assert result.code == 2
    assert "pip install 'recrawl[plots]'" in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("compare", "--schedule", "uniforn"), "did you mean uniform?"),
        (("compare", "--budget", "0.1"), "not a budget: '0.1'"),
        (("compare", "--seeds", "a"), "--seeds is 'a'; write numbers"),
        (("compare", "--schedule", "fixed", "--plot", "out.xyz"), "cannot write 'out.xyz'"),
        (("simulate", "--world", "S99"), "S99"),
        (("simulate", "--window", "3d"), "--window is for worlds of traces"),
        (("simulate", "--step", "0s"), "--step is 0"),
        (("simulate", "--from", "30d"), "from day 30 to day 20 cannot be had of a world of 20"),
        (("simulate", "--schedule", "uniform"), "shares out a budget and none was given"),
        (("simulate", "--steps", "3", "--budget", "1/day"), "--steps runs without a budget"),
        (("simulate", "--page", "40", "--plot", "out.svg"), "rows 0 to 39"),
        (("simulate", "--world", "trace:no.gz"), "no.gz: cannot be read: No such file"),
        (("simulate", "--schedule", "aronsson:inc_rate=2"), "inc_rate is 2, allowed is above 0"),
        (
            ("compare", "--schedule", "nutch-adaptive:min_interval=30d,max_interval=1d"),
            "min_interval is 2592000, allowed is up to max_interval, 86400;",
        ),
        (("simulate", "--world", "trace:no.gz", "--pages", "4"), "leave --pages and --days out"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_is_refused(
    recrawl: Callable[..., Any], arguments: tuple[str, ...], message: str
):
    """Each mistake ends with exit code 2 and says what is wrong and what is allowed."""
    name, *rest = arguments
    size = () if any("trace:" in part for part in rest) else SMALL

    result = recrawl(name, *(size if "--step" not in rest else SMALL[:4]), *rest)

    assert result.code == 2
    assert message in result.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("simulate", *SMALL, "--schedule", "nutch-adaptive:exact=true,inc_rate=1.5"),
        ("compare", *SMALL, "--schedule", "nutch-adaptive:exact=true,inc_rate=1.5"),
        ("simulate", "--steps", "9", "--schedule", "nutch-adaptive:inc_rate=1.5"),
    ],
    ids=["simulate", "compare", "harness"],
)
def test_exact_mode_says_what_only_the_original_takes(
    recrawl: Callable[..., Any], arguments: tuple[str, ...]
):
    """A setting that guarded mode refuses is taken in exact mode, and named."""
    result = recrawl(*arguments)

    assert result.code == 0
    assert "taken as the original takes it" in result.err
    assert "inc_rate is 1.5, allowed is above 0 and up to 1" in result.err


def test_a_wrong_name_ends_a_comparison_before_the_first_run(
    recrawl: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
):
    """All names are read first: nothing is run for a minute and then thrown away."""
    monkeypatch.setattr("recrawl.simulation.compare.simulate", None)

    result = recrawl("compare", *SMALL, "--schedule", "uniform", "--schedule", "unknown")

    assert result.code == 2
    assert "no schedule is named 'unknown'" in result.err
