"""Commands as real processes: signals, pipes, and what one leaves for the next."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import threading
from typing import Any

import pytest

from recrawl.testing.site import Answer


def line_of(process: subprocess.Popen[str], stream: Any = None) -> str:
    """Return the next line that a process prints, waiting ten seconds at most."""
    stream = stream or process.stdout
    ready, _, _ = select.select([stream], [], [], 20)
    assert ready, "nothing was printed"
    return str(stream.readline())


def figures(command_line) -> dict[str, Any]:
    """Return what `recrawl status` says."""
    code, out, _ = command_line.run("status", "--format", "jsonl")
    assert code == 0
    return dict(json.loads(out))


class Gate:
    """An answer that is held back until it is opened."""

    def __init__(self) -> None:
        self.is_asked = threading.Event()

    def __call__(self, _asked: Any) -> Answer:
        self.is_asked.set()
        return Answer("slow", delay=1.0)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_run_stops_cleanly(command_line, recrawl, site, name):
    """A signal lets the request under way end, commits it, and gives the rest back."""
    gate = Gate()
    site.route("/slow", gate)
    urls = [site.url("/slow"), *(site.url(f"/slow?{i}") for i in range(5))]
    for i in range(5):
        site.route(f"/slow?{i}", gate)
    recrawl("add", *urls)

    process = command_line.start("run", "-v")
    assert gate.is_asked.wait(20)
    process.send_signal(getattr(signal, name))
    out, err = process.communicate(timeout=20)

    assert process.returncode == 0
    assert "Stopping" in err
    assert "Traceback" not in err
    status = figures(command_line)
    assert (status["leased"], status["visits"], status["due"]) == (0, 1, 5)
    assert out.splitlines()[-1].startswith("1 visit, 1 new")


def test_a_second_interrupt_ends_at_once(command_line, recrawl, site):
    """What hangs is cut; its page is given back and stays due."""
    asked = threading.Event()

    def hang(_asked: Any) -> Answer:
        asked.set()
        return Answer(hang=True)

    site.route("/hang", hang)
    recrawl("add", site.url("/hang"))

    process = command_line.start("run", "-q")
    assert asked.wait(20)
    process.send_signal(signal.SIGINT)
    assert "Stopping" in line_of(process, process.stderr)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=5)

    assert process.returncode == 0
    assert "Traceback" not in err
    status = figures(command_line)
    assert (status["leased"], status["visits"], status["due"]) == (0, 0, 1)


def test_an_interrupt_is_an_object_in_a_json_log(command_line, recrawl, site):
    """Every line of a JSON log can be read, also the last ones."""
    gate = Gate()
    site.route("/slow", gate)
    recrawl("add", site.url("/slow"))

    process = command_line.start("run", "--log-format", "json")
    assert gate.is_asked.wait(20)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)

    events = [json.loads(line)["event"] for line in err.splitlines()]
    assert events == ["stopping", "visit", "done"]


def test_run_waits_for_what_comes_due(command_line, recrawl, site):
    """Pages added by another process are visited without a restart, and again when due."""
    settings = command_line.folder / "recrawl.toml"
    settings.write_text(
        settings.read_text()
        + '\n[schedule]\nname = "fixed"\ninterval = "1s"\nmin_interval = "1s"\njitter = 0.0\n'
    )
    recrawl("init")
    process = command_line.start("run", "-v")
    recrawl("add", site.url("/"))

    lines = [line_of(process) for _ in range(3)]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)

    assert [f" {site.url('/')} " in line for line in lines] == [True] * 3
    assert process.returncode == 0


def test_a_pipe_that_closes_early(command_line, tmp_path):
    """A reader that has seen enough ends the command quietly."""
    urls = "".join(f"https://a.example/{i}\n" for i in range(3000))
    assert command_line.run("add", "-", text=urls)[0] == 0

    for args in (("export", "--format", "jsonl"), ("export", "--format", "csv"), ("export",)):
        process = command_line.start(*args)
        assert line_of(process)
        process.stdout.close()
        process.stdout = None
        _, err = process.communicate(timeout=20)
        assert (process.returncode, err) == (141, "")


def test_a_run_whose_reader_goes_away(command_line, site):
    """The lines go nowhere, the run ends, and nothing stays leased."""
    for i in range(300):
        site.route(f"/{i}", Answer("x" * i))
    command_line.run("add", "-", text="".join(site.url(f"/{i}\n") for i in range(300)))

    process = command_line.start("run", "--once", "-v", "-s", "crawl.batch=4")
    assert line_of(process)
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=20)

    assert (process.returncode, err) == (141, "")
    assert figures(command_line)["leased"] == 0


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_changes_follow(command_line, recrawl, site, name):
    """Later events come as they happen; a signal ends it with exit code 0."""
    recrawl("add", site.url("/"))
    recrawl("run", "--once")
    process = command_line.start("changes", "--follow", "--format", "jsonl")
    assert json.loads(line_of(process))["kind"] == "new"

    site.route("/", Answer("two"))
    recrawl("force", site.url("/"))
    recrawl("run", "--once")
    later = json.loads(line_of(process))
    process.send_signal(getattr(signal, name))
    out, err = process.communicate(timeout=10)

    assert (later["sequence"], later["kind"]) == (2, "changed")
    assert (process.returncode, out, err) == (0, "", "")


def test_changes_follow_with_a_limit(command_line, recrawl, site):
    """It ends by itself once it has printed as many as wanted."""
    recrawl("add", site.url("/"), site.url("/a"))
    recrawl("run", "--once")

    code, out, _ = command_line.run(
        "changes", "--follow", "--limit", "2", "--format", "csv", timeout=20
    )

    assert code == 0
    assert len(out.splitlines()) == 3


def test_texts_in_an_encoding_that_lacks_a_character(command_line, recrawl, site, monkeypatch):
    """People see an escape; machines get UTF-8."""
    site.route("/", Answer("<title>日本 ü</title>x"))
    recrawl("add", site.url("/"))
    recrawl("run", "--once")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")

    code, table, err = command_line.run("show", site.url("/"))
    assert (code, err) == (0, "")
    assert r"\u65e5\u672c \xfc" in table
    for form in ("jsonl", "csv"):
        code, out, _ = command_line.run("export", "--format", form)
        assert code == 0
        assert "日本 ü" in out


def test_progress_is_drawn_on_a_terminal(command_line, recrawl, site):
    """A live line on standard error, the totals on standard output."""
    recrawl("add", site.url("/"))
    primary, secondary = os.openpty()

    process = command_line.start("run", "--once", stderr=secondary)
    out, _ = process.communicate(timeout=20)
    os.close(secondary)
    drawn = b""
    with contextlib.suppress(OSError):
        while part := os.read(primary, 4096):
            drawn += part
    os.close(primary)

    assert out.startswith("1 visit, 1 new")
    assert "1 fetched · 0 changed".encode() in drawn
