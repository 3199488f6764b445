from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from recrawl.app.pages import new_page
from recrawl.cli.rows import CHANGE_FIELDS, PAGE_FIELDS, VISIT_FIELDS
from recrawl.config import Config
from recrawl.core.columns import COLUMNS
from recrawl.testing.site import Answer
from recrawl.wiring import make_policies

_FORMATS = ("table", "jsonl", "csv")


def visited(recrawl, site, *paths: str) -> list[str]:
    """Add pages of the site and visit them; return their URLs."""
    urls = [site.url(path) for path in paths or ("/",)]
    assert recrawl("add", *urls).code == 0
    assert recrawl("run", "--once", "-q").code == 0
    return urls


def test_init_writes_settings_and_store(recrawl, folder):
    """A new folder holds a settings file that can be read and an empty store."""
    result = recrawl("init", "new/place")

    assert (result.code, result.err) == (0, "")
    assert "Wrote new/place/recrawl.toml" in result.out
    assert recrawl("status", "--config", "new/place/recrawl.toml",
                   "--store", "sqlite:///new/place/recrawl.sqlite").code == 0  # fmt: skip


def test_init_twice_leaves_all_as_it_is(recrawl, folder):
    """A second call keeps the settings and the pages."""
    recrawl("init")
    (folder / "recrawl.toml").write_text('[store]\nurl = "sqlite:///other.sqlite"\n')
    recrawl("add", "https://a.example/")
    before = (folder / "recrawl.toml").read_bytes()

    result = recrawl("init")

    assert result.code == 0
    assert "Kept recrawl.toml" in result.out
    assert "Kept the store other.sqlite" in result.out
    assert (folder / "recrawl.toml").read_bytes() == before
    assert "a.example" in recrawl("export").out


def test_init_takes_any_name_of_a_folder(recrawl, folder):
    """Signs that mean something in a URL are part of the name."""
    assert recrawl("init", "50% ?#x").code == 0
    assert (folder / "50% ?#x" / "recrawl.sqlite").exists()


def test_add_counts_what_it_did(recrawl, folder):
    """New pages and known ones are told apart."""
    first = recrawl("add", "https://a.example", "HTTPS://b.example/")
    second = recrawl("add", "https://a.example/", "--importance", "3")

    assert (first.code, first.out) == (0, "Added 2 pages\n")
    assert second.out == "Added 0 pages, 1 were there already\n"
    assert {row["importance"] for row in recrawl("export", "--format", "jsonl").rows} == {1.0}


def test_add_reads_files_and_standard_input(recrawl, folder):
    """Fields after TABs are taken; several sources are read one after another."""
    (folder / "list.txt").write_bytes(b"# pages\nhttps://a.example/\timportance=2\tinterval=1h\n")

    result = recrawl("add", "list.txt", "-", "https://c.example/", "--importance", "5",
                     stdin=b"https://b.example/\tfixed_interval=30d\n")  # fmt: skip

    assert (result.code, result.out) == (0, "Added 3 pages\n")
    rows = {row["url"]: row for row in recrawl("export", "--format", "jsonl").rows}
    assert rows["https://a.example/"]["importance"] == 2.0
    assert rows["https://a.example/"]["interval"] == 3600.0
    assert rows["https://b.example/"]["fixed_interval"] == 2_592_000.0
    assert rows["https://c.example/"]["importance"] == 5.0


def test_add_reports_bad_lines_and_adds_the_rest(recrawl, folder):
    """Each bad line is named with file and number; the exit code says that there were some."""
    (folder / "list.txt").write_bytes(b"https://a.example/\nnonsense\n\nhttps://b.example/,NLD\n")

    result = recrawl("add", "list.txt", "-", "http://[bad", stdin=b"\xff\nhttps://c.example/\n")

    assert (result.code, result.out) == (2, "Added 2 pages, 4 refused\n")
    lines = result.err.splitlines()
    assert [line.split(":")[:3] for line in lines[:3]] == [
        ["recrawl", " list.txt", " line 2"],
        ["recrawl", " list.txt", " line 4"],
        ["recrawl", " -", " line 1"],
    ]
    assert "recrawl: " in lines[3]
    assert len(recrawl("export", "--format", "jsonl").rows) == 2


@pytest.mark.parametrize("value", ["nan", "-1", "inf", "1e9", "much"])
def test_add_refuses_an_importance_that_is_none(recrawl, folder, value):
    """Importance is a number in its range."""
    result = recrawl("add", "https://a.example/", f"--importance={value}")

    assert result.code == 2
    assert "importance" in result.err
    assert not (folder / "recrawl.sqlite").exists()


def test_run_once_prints_totals(recrawl, site):
    """What was done, in a line."""
    recrawl("add", site.url("/"), site.url("/a"), site.url("/none"))

    result = recrawl("run", "--once")

    assert result.code == 0
    assert result.out == "3 visits, 2 new, 0 changed, 0 unchanged (0 by 304), 1 gone, 0 errors\n"
    assert recrawl("run", "--once").out.startswith("0 visits")


def test_run_verbose_prints_a_line_a_visit(recrawl, site):
    """Time, status, what was seen, URL, next fetch."""
    recrawl("add", site.url("/"), site.url("/none"))

    lines = recrawl("run", "--once", "-v").out.splitlines()

    assert len(lines) == 3
    time = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"
    seen = {match[2] for line in lines if (match := re.match(rf"{time} (\d+) (\S+)", line))}
    assert set(seen) == {"200", "404"}
    assert f" new {site.url('/')} next=" in "\n".join(lines)
    assert f" gone {site.url('/none')} next=" in "\n".join(lines)


def test_run_quiet_prints_nothing(recrawl, site):
    """Silence is success."""
    recrawl("add", site.url("/"))

    result = recrawl("run", "--once", "-q")

    assert (result.code, result.out, result.err) == (0, "", "")


def test_run_logs_json(recrawl, site):
    """Each line of standard error is an object: the visits, then the totals."""
    recrawl("add", site.url("/"), site.url("/none"))

    result = recrawl("run", "--once", "--log-format", "json")

    events = [json.loads(line) for line in result.err.splitlines()]
    assert [event["event"] for event in events] == ["visit", "visit", "done"]
    assert {event["outcome"] for event in events[:2]} == {"success", "gone"}
    assert events[0]["next_fetch_at"].endswith("Z")
    assert events[2]["n_fetched"] == 2
    assert result.out == ""


def test_run_logs_failures_of_ours_as_json(recrawl, site, monkeypatch):
    """A traceback is a field of an object, so that a log stays readable by machines."""
    monkeypatch.setattr("recrawl.signatures.text_md5.TextMD5.sign", lambda *_: 1 / 0)
    recrawl("add", site.url("/"))

    result = recrawl("run", "--once", "--log-format", "json")

    log, visit, done = [json.loads(line) for line in result.err.splitlines()]
    assert log["level"] == "error"
    assert "ZeroDivisionError" in log["traceback"]
    assert visit["reason"] == "internal_ZeroDivisionError"
    assert done["n_errors"] == 1
    assert result.code == 0


def test_exit_code_tells_whether_something_changed(recrawl, site):
    """1 with events, 0 without; for a run and for the feed."""
    recrawl("add", site.url("/"))

    assert recrawl("run", "--once", "--exit-code").code == 1
    assert recrawl("run", "--once", "--exit-code").code == 0
    assert recrawl("changes", "--exit-code").code == 1
    assert recrawl("changes", "--exit-code", "--after", "1").code == 0


def test_options_that_exclude_each_other(recrawl, folder):
    """A question without an answer is refused."""
    recrawl("init")

    assert recrawl("run", "--exit-code").code == 2
    assert recrawl("run", "--once", "-v", "-q").code == 2


def test_force_by_url_and_pattern(recrawl, site):
    """Forced pages are fetched in full, and report a change only where there is one."""
    visited(recrawl, site, "/", "/a")
    site.requests.clear()

    by_url = recrawl("force", site.url("/a"))
    assert (by_url.code, by_url.out) == (0, "1 page is due now\n")
    by_pattern = recrawl("force", site.url("/*"), site.url("/a"))
    assert by_pattern.out == "2 pages are due now\n"
    run = recrawl("run", "--once")

    assert "2 visits, 0 new, 0 changed, 2 unchanged (0 by 304)" in run.out
    (asked,) = site.asked("/a")
    assert "if-none-match" not in asked.headers


@pytest.mark.parametrize("target", ["https://x.example/", "https://x.example/*"])
def test_force_names_what_is_not_there(recrawl, folder, target):
    """An unknown page and a pattern without a page are misuse, and nothing is forced."""
    recrawl("add", "https://a.example/")

    result = recrawl("force", "https://a.example/", target)

    assert result.code == 2
    assert "x.example" in result.err


def test_changes_show_text_and_diff(recrawl, site):
    """With the event comes its text, or the difference to the version before."""
    (url,) = visited(recrawl, site)
    site.route("/", Answer("<title>Home</title><p>two"))
    recrawl("force", url)
    recrawl("run", "--once", "-q")

    rows = recrawl("changes", "--text", "--diff", "--format", "jsonl").rows
    table = recrawl("changes", "--diff").out

    assert [row["kind"] for row in rows] == ["new", "changed"]
    assert [row["text"] for row in rows] == ["one", "two"]
    assert "-one\n+two" in rows[1]["diff"]
    assert rows[1]["old_signature"] == rows[0]["new_signature"] != rows[1]["new_signature"]
    assert "  -one\n  +two\n" in table
    assert recrawl("changes", "--after", "1", "--format", "jsonl").rows[0]["sequence"] == 2
    assert len(recrawl("changes", "--limit", "1", "--format", "jsonl").rows) == 1


def test_changes_say_what_is_not_kept(recrawl, site):
    """A text of long ago is null for machines, and said to be gone for people."""
    (url,) = visited(recrawl, site)
    for body in ("two", "three"):
        site.route("/", Answer(body))
        recrawl("force", url)
        recrawl("run", "--once", "-q")

    assert recrawl("changes", "--text", "--format", "jsonl").rows[0]["text"] is None
    assert "(text: not kept)" in recrawl("changes", "--text").out


def test_show_tells_all_of_a_page(recrawl, site):
    """State, reasons and visits, in every format."""
    (url,) = visited(recrawl, site)

    table = recrawl("show", url).out
    (row,) = recrawl("show", url, "--format", "jsonl").rows
    (cells,) = recrawl("show", url, "--format", "csv").cells

    assert re.search(r"title +Home\n", table)
    assert "Why it is due when it is\n  It is due in" in table
    assert "Last visits (1 of 1 kept)" in table
    assert list(row) == list(cells) == [*PAGE_FIELDS, "why", "visits"]
    assert [visit["outcome"] for visit in row["visits"]] == ["success"]
    assert list(row["visits"][0]) == list(VISIT_FIELDS)
    assert json.loads(cells["visits"]) == row["visits"]
    assert any("could not tell" in reason for reason in row["why"])
    assert recrawl("show", url, "--visits", "0", "--format", "jsonl").rows[0]["visits"] == []


def test_show_of_an_unknown_page(recrawl, folder):
    """It is misuse, with the next step."""
    recrawl("init")

    result = recrawl("show", "https://a.example")

    assert (result.code, result.out) == (2, "")
    assert "no page https://a.example/ in the store: add it" in result.err


def test_due_lists_the_earliest_first(recrawl, folder, store):
    """Due pages, and with --within those that come due."""
    recrawl("add", "https://a.example/")
    page = next(iter(store))
    store.update([replace(page, state=replace(page.state, next_fetch_at=2**60))])
    recrawl("add", "https://c.example/")
    recrawl("add", "https://b.example/")

    rows = recrawl("due", "--format", "jsonl").rows

    assert {row["url"] for row in rows} == {"https://b.example/", "https://c.example/"}
    assert [row["next_fetch_at"] for row in rows] == sorted(row["next_fetch_at"] for row in rows)
    assert len(recrawl("due", "--within", "365250d", "--format", "jsonl").rows) == 2
    assert len(recrawl("due", "--limit", "1", "--format", "jsonl").rows) == 1


def test_status_counts(recrawl, site):
    """Figures of the whole store; what is due is overdue by now."""
    visited(recrawl, site, "/", "/none")
    recrawl("add", "https://a.example/")

    (row,) = recrawl("status", "--format", "jsonl").rows

    figures = {"pages": 3, "hosts": 2, "due": 1, "leased": 0, "visits": 2, "changes": 2}
    assert {name: row[name] for name in figures} == figures
    assert (row["status_fetched"], row["status_gone"], row["status_unfetched"]) == (1, 1, 1)
    assert row["oldest_overdue_s"] > 0
    assert recrawl("status").out.splitlines()[0].split() == ["figure", "value"]


def test_export_has_every_column(recrawl, site):
    """All pages with all that is known of them, as documented."""
    urls = visited(recrawl, site, "/", "/a")

    rows = recrawl("export", "--format", "jsonl").rows
    cells = recrawl("export", "--format", "csv").cells

    assert {column.name for column in COLUMNS} < set(rows[0])
    assert {row["url"] for row in rows} == set(urls)
    for row, cell in zip(rows, cells, strict=True):
        assert {name: "" if value is None else str(value) for name, value in row.items()} == cell


@pytest.mark.parametrize(
    ("command", "fields"),
    [
        (("export",), PAGE_FIELDS),
        (("due",), ("next_fetch_at", "status", "interval", "url")),
        (("changes",), CHANGE_FIELDS),
        (("changes", "--text"), (*CHANGE_FIELDS, "text")),
    ],
)
def test_empty_stores_print_no_rows(recrawl, folder, command, fields):
    """Machines get no rows, with a header in CSV; people get a sentence on standard error."""
    recrawl("init")

    jsonl, csv = (recrawl(*command, "--format", form) for form in ("jsonl", "csv"))
    table = recrawl(*command)

    assert (jsonl.code, jsonl.out) == (0, "")
    assert (csv.code, csv.out) == (0, ",".join(fields) + "\r\n")
    assert (table.code, table.out) == (0, "")
    if command != ("changes", "--text"):
        assert table.err.strip()


def test_the_fields_are_the_same_in_every_format(recrawl, site):
    """A table's head, the keys of an object and a CSV's first line name the same."""
    visited(recrawl, site)

    for command in (("export",), ("changes",), ("due", "--within", "30d")):
        table, jsonl, csv = (recrawl(*command, "--format", form) for form in _FORMATS)
        assert table.out.splitlines()[0].split() == list(jsonl.rows[0]) == list(csv.cells[0])


def test_what_pages_say_is_never_obeyed(recrawl, folder, store):
    """Terminal escapes and bidi overrides in titles and targets are shown, in every format."""
    evil = "\x1b]0;x\x07 \x9b31m \u202egnp.exe\u2066 Ünï \U000e0041"
    policy = make_policies(Config())("https://a.example/")
    page = new_page("https://a.example/", policy, now=0)
    store.add([replace(page, title=evil, redirect_to=f"http://x/{evil}", reason="\x1b[2J")])

    outputs = [
        recrawl(*command, "--format", form).out
        for command in (("export",), ("show", "https://a.example/"))
        for form in _FORMATS
    ]

    for out in outputs:
        assert not set(out) & set("\x1b\x07\x9b\u202e\u2066\U000e0041")
        assert "Ünï" in out
    (row,) = recrawl("export", "--format", "jsonl").rows
    assert row["title"] == evil


def test_settings_come_from_four_places(recrawl, folder, monkeypatch):
    """-s and --store before RECRAWL_STORE, that before the file, that before the default."""

    def used() -> set[str]:
        recrawl("add", "https://a.example/")
        files = {path.name for path in folder.glob("*.sqlite")}
        for path in folder.glob("*.sqlite*"):
            path.unlink()
        return files

    assert used() == {"recrawl.sqlite"}
    (folder / "recrawl.toml").write_text('[store]\nurl = "sqlite:///file.sqlite"\n')
    assert used() == {"file.sqlite"}
    (folder / "other.toml").write_text('[store]\nurl = "sqlite:///other.sqlite"\n')
    monkeypatch.setenv("RECRAWL_CONFIG", "other.toml")
    assert used() == {"other.sqlite"}
    monkeypatch.setenv("RECRAWL_STORE", "sqlite:///environment.sqlite")
    assert used() == {"environment.sqlite"}
    recrawl("add", "https://a.example/", "-s", "store.url=sqlite:///option.sqlite")
    recrawl("add", "https://a.example/", "--store", "sqlite:///named.sqlite")
    assert used() == {"environment.sqlite", "option.sqlite", "named.sqlite"}


def test_help_lists_every_command(recrawl, folder):
    """Each command with its line, and the version."""
    result = recrawl("--help")

    assert result.code == 0
    for name in ("init", "add", "run", "status", "due", "show", "changes", "force", "export"):
        assert f"  {name}" in result.out
    assert re.match(r"recrawl, version \d", recrawl("--version").out)


def test_config_import_prints_settings_and_says_what_is_lost(recrawl, folder):
    """The settings go to standard output, so that they can be a file; the rest to the other."""
    (folder / "nutch-site.xml").write_text(
        "<configuration><property><name>db.fetch.interval.default</name><value>86400</value>"
        "</property><property><name>db.ignore.external.links</name><value>true</value></property>"
        "</configuration>"
    )

    result = recrawl("config", "import", "nutch-site.xml")
    (folder / "recrawl.toml").write_text(result.out)

    assert result.code == 0
    assert 'interval = "1d"  # db.fetch.interval.default\n' in result.out
    assert result.err == "no counterpart: db.ignore.external.links = true\n"
    assert recrawl("init").code == 0


def test_config_import_refuses_what_it_cannot_read(recrawl, folder):
    """A file that is not there is a misuse, and an unknown command of the group too."""
    missing = recrawl("config", "import", "none.xml")

    assert (missing.code, missing.out) == (2, "")
    assert "none.xml: cannot be read: No such file" in missing.err
    assert recrawl("config", "export").code == 2
    assert "import" in recrawl("config", "--help").out
