"""Bad input: a clear message on standard error, exit code 2, and nothing lost."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
from contextlib import contextmanager
from pathlib import Path

import pytest

from recrawl.errors import StoreFull
from recrawl.stores.sqlite import SqliteStore
from recrawl.stores.sqlite.schema import SCHEMA_VERSION
from recrawl.testing.site import Answer

URL = "https://a.example/"
NOBODY = 65534


def refused(result, *words: str) -> None:
    """Check that a command was refused with a message that holds some words."""
    assert (result.code, result.out) == (2, "")
    assert "Traceback" not in result.err
    for word in words:
        assert word in result.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[politeness]\nmin_dely = 1", ["line 2", "politeness.min_dely", "min_delay"]),
        ("[polite]\nmin_delay = 1", ["line 1", "[polite]", "politeness"]),
        ("[politeness]\nmin_delay = '1 fortnight'", ["line 2", "1 fortnight", "12h"]),
        ("[schedule]\ninterval = '-1d'", ["schedule.interval"]),
        ("[fetch]\nallow_networks = ['300.0.0.0/8']", ["300.0.0.0/8"]),
        ("[[rule]]\nurl = 'a.example'", ["rule"]),
        ("[store\nurl = 1", ["TOML"]),
        ("[store]\nurl = 'x.sqlite'", ["sqlite:///"]),
        ("[store]\nurl = 'mysql://x/y'", ["mysql://x/y", "sqlite:///"]),
        ("[store]\nurl = 'sqlite:///'", ["names no file"]),
        ("[signature]\nname = 'md6'", ["md6", "md5"]),
    ],
)
def test_settings_that_cannot_be_used(recrawl, folder, text, words):
    """The file, the line, the setting, and what is allowed are named; no store is made."""
    (folder / "recrawl.toml").write_text(text)

    refused(recrawl("add", URL), *words)

    assert list(folder.iterdir()) == [folder / "recrawl.toml"]


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("politeness.min_dely=1", ["min_delay"]),
        ("polite.min_delay=1", ["politeness"]),
        ("politeness.min_delay=soon", ["'soon'", "12h"]),
        ("nonsense", ["section.name=VALUE"]),
    ],
)
def test_overrides_that_cannot_be_used(recrawl, folder, override, words):
    """The same holds for settings on the command line."""
    refused(recrawl("status", "-s", override), *words)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("stauts",), ["stauts", "status"]),
        (("xyzzy",), ["xyzzy", "--help"]),
        (("status", "--fromat", "csv"), ["--format"]),
        (("status", "--format", "xml"), ["xml", "jsonl"]),
        (("show",), ["URL"]),
        (("due", "--limit", "0"), ["--limit"]),
        (("due", "--within", "soon"), ["'soon'", "12h"]),
        (("changes", "--after", "x"), ["--after"]),
        (("demo", "--for", "ever"), ["'ever'"]),
    ],
)
def test_commands_that_are_none(recrawl, folder, args, words):
    """Unknown commands and options are named, with the nearest known one."""
    refused(recrawl(*args), *words)


@pytest.mark.parametrize("command", ["status", "due", "changes", "export", "run", "show", "force"])
def test_a_store_that_is_not_there(recrawl, folder, command):
    """Only init and add make a store; the others say how to make one."""
    args = (URL,) if command in ("show", "force") else ()

    refused(recrawl(command, *args), "no store at recrawl.sqlite", "recrawl init")

    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [b"x", b"not a store at all, but text that someone needs\n" * 200, b"\0" * 5000],
    ids=["byte", "text", "zeros"],
)
@pytest.mark.parametrize("command", [("status",), ("add", URL), ("run", "--once")])
def test_a_file_that_is_no_store(recrawl, folder, content, command):
    """It stays byte for byte what it was, and nothing lies beside it."""
    path = folder / "precious.txt"
    path.write_bytes(content)

    refused(recrawl(*command, "--store", f"sqlite:///{path.name}"), "precious.txt", "not")

    assert path.read_bytes() == content
    assert list(folder.iterdir()) == [path]


def test_another_programs_database(recrawl, folder):
    """An SQLite file of something else is left alone."""
    path = folder / "other.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE precious (x)")
    connection.close()
    before = path.read_bytes()

    refused(recrawl("add", URL, "--store", "sqlite:///other.sqlite"), "something else")

    assert path.read_bytes() == before


@pytest.mark.parametrize("command", [("status",), ("add", URL), ("run", "--once")])
def test_a_store_of_a_newer_version(recrawl, folder, command):
    """The version found and the one known are named; the store is not touched."""
    recrawl("add", URL)
    path = folder / "recrawl.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    before = path.read_bytes()

    refused(recrawl(*command), f"version {SCHEMA_VERSION + 1}", f"up to {SCHEMA_VERSION}")

    assert path.read_bytes() == before


@pytest.mark.parametrize("url", ["sqlite:///.", "sqlite:////", "sqlite:///none/such.sqlite"])
@pytest.mark.parametrize("command", [("status",), ("add", URL)])
def test_places_where_no_store_can_be(recrawl, folder, url, command):
    """A directory, and a directory that is not there, are misuse."""
    refused(recrawl(*command, "--store", url), "store")


@pytest.mark.parametrize("source", ["none.txt", ".", "a.example"])
def test_lists_that_cannot_be_read(recrawl, folder, source):
    """The file is named, and what to write in its place; nothing is added."""
    refused(recrawl("add", URL, source), source, "URL")

    assert not (folder / "recrawl.sqlite").exists()


@contextmanager
def without_rights():
    """Run a block as nobody where the tests run as root, whom no permission stops."""
    if os.geteuid() != 0:
        yield
        return
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


@pytest.mark.parametrize(
    "command", [("add", "list.txt"), ("status", "--store", "sqlite:///list.txt")]
)
def test_files_without_permission(recrawl, folder, command):
    """A file that may not be read is named."""
    # Once with rights, so that everything is imported: nobody may not read the interpreter.
    recrawl("add", URL, "--store", "sqlite:///warm.sqlite")
    recrawl("status", "--store", "sqlite:///warm.sqlite")
    folder.chmod(0o777)
    path = folder / "list.txt"
    path.write_text(URL)
    path.chmod(0)

    with without_rights():
        result = recrawl(*command)

    refused(result, "list.txt")


@pytest.mark.parametrize("name", ["none.toml", "."])
def test_settings_files_that_cannot_be_read(recrawl, folder, name):
    """A settings file that is named must be there, and be a file."""
    refused(recrawl("status", "--config", name), name, "settings file")


@pytest.mark.parametrize(
    "url", ["http://", "nonsense://x", "http://[x/", "http://a.example:99999/", "https://a b/"]
)
def test_urls_that_are_none(recrawl, folder, url):
    """A bad URL is refused by every command that takes one; add adds the others."""
    recrawl("init")

    added = recrawl("add", url, URL)
    assert (added.code, added.out) == (2, "Added 1 page, 1 refused\n")
    for command in ("show", "force"):
        refused(recrawl(command, url), "recrawl: ")


def test_no_request_leaves_without_a_contact(recrawl, settings, site, monkeypatch):
    """A page outside loopback needs a contact: the run is refused before anything is asked."""

    def no_resolver(*_args, **_more):
        raise AssertionError("a name was resolved")

    monkeypatch.setattr("socket.getaddrinfo", no_resolver)
    recrawl("add", "http://host.invalid/", site.url("/"))

    refused(recrawl("run", "--once"), "fetch.contact", "host.invalid")

    assert site.requests == []
    assert all(row["n_visits"] == 0 for row in recrawl("export", "--format", "jsonl").rows)


def test_a_page_not_due_yet_needs_a_contact_when_it_is(recrawl, settings, store, monkeypatch):
    """The fetcher refuses what the check at the start did not see; the page is denied."""
    monkeypatch.setattr("recrawl.cli.run.check_contact", lambda *_: None)
    recrawl("add", "http://host.invalid/")

    assert recrawl("run", "--once").code == 0

    (row,) = recrawl("export", "--format", "jsonl").rows
    assert row["reason"] == "contact_missing"
    assert row["next_fetch_at"].endswith("Z")


def limited_to(n_bytes: int):
    """Return what lets no file of a process grow beyond a size, as a full disk would."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))

    return limit


def test_a_full_disk_while_adding(command_line, recrawl, tmp_path):
    """What was added before stays, the rest is refused as a whole; with room it goes in."""
    assert recrawl("add", URL).code == 0
    many = "".join(f"https://{i}.example/{'x' * 500}\n" for i in range(3000))

    code, out, err = command_line.run("add", "-", text=many, preexec_fn=limited_to(500_000))

    assert (code, out) == (2, "")
    assert "recrawl.sqlite" in err
    assert "nothing of this call was written" in err
    assert "Traceback" not in err
    assert check_store(tmp_path) in (1, 1001, 2001)
    assert command_line.run("add", "-", text=many)[0] == 0
    assert check_store(tmp_path) == 3001


def test_a_full_disk_while_running(command_line, recrawl, tmp_path, site):
    """The run ends with a message; pages and feed are whole, and the next run takes them all."""
    words = " ".join(map(str, range(20_000)))
    urls = [site.url(f"/{i}") for i in range(40)]
    for i in range(40):
        site.route(f"/{i}", Answer(f"{i}<p>" + words[i : i + 90_000]))
    assert recrawl("add", *urls).code == 0

    args = ("run", "--once", "-s", "crawl.lease=2s")
    code, _, err = command_line.run(*args, preexec_fn=limited_to(700_000))

    assert code == 2
    assert "nothing of this call was written" in err
    assert "Traceback" not in err
    assert check_store(tmp_path) == 40
    store = SqliteStore(tmp_path / "recrawl.sqlite")
    n_visits = store.status(0).n_visits
    assert n_visits == len(store.changes()) < 40
    assert command_line.run(*args)[0] == 0
    assert store.status(0).n_visits == len(store.changes()) == 40
    store.close()


def check_store(folder: Path) -> int:
    """Check that a store is sound; return the number of its pages."""
    connection = sqlite3.connect(folder / "recrawl.sqlite")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    (n_pages,) = connection.execute("SELECT count(*) FROM pages").fetchone()
    connection.close()
    return n_pages


@pytest.mark.parametrize("command", [("export",), ("export", "--format", "jsonl"), ("status",)])
def test_a_full_disk_for_the_output(command_line, recrawl, command):
    """An output that cannot be written is a failure with a message."""
    recrawl("add", URL)
    with Path("/dev/full").open("w") as full:
        code, _, err = command_line.run(*command, stdout=full)

    assert code == 1
    assert err.count("\n") == 1
    assert "No space left" in err


def test_a_store_without_room_is_misuse(recrawl, folder, monkeypatch):
    """StoreFull has exit code 2, wherever it comes from."""
    recrawl("add", URL)

    def full(*_args, **_more):
        raise StoreFull("x.sqlite has no room left: free some disk space")

    monkeypatch.setattr(SqliteStore, "add", full)

    refused(recrawl("add", "https://b.example/"), "free some disk space")
