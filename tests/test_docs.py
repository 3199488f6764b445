"""The documentation is complete, its tables are those of the code, and its examples run."""

from __future__ import annotations

import asyncio
import doctest
import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import click
import pytest

from recrawl.cli.main import COMMANDS, cli
from recrawl.config import load, settings
from recrawl.core.columns import COLUMNS
from recrawl.core.states import Announced, PageStatus
from recrawl.core.visit import Observation, Outcome
from recrawl.ports.store import ChangeKind
from recrawl.schedules.registry import SCHEDULES
from recrawl.signatures.registry import SIGNATURES
from recrawl.testing.site import Answer, LoopbackSite

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
IDS = [str(page.relative_to(ROOT)) for page in PAGES]
#: A code block: its language and its lines.
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
#: Longest time that one command of an example may take. [s]
PATIENCE = 60


def blocks(page: Path, language: str) -> list[str]:
    """Return the code blocks of a page that are in a language."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [lines for name, lines in found if name == language]


def having(language: str) -> list[object]:
    """Return the pages that have blocks in a language."""
    return [
        pytest.param(page, id=name)
        for page, name in zip(PAGES, IDS, strict=True)
        if blocks(page, language)
    ]


def commands_in(block: str) -> Iterator[str]:
    """Yield the commands of a console block; lines that a command prints have no prompt."""
    lines = block.replace("\\\n", "").splitlines()
    yield from (line.removeprefix("$ ") for line in lines if line.startswith("$ "))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def modules_with_examples() -> Iterator[str]:
    """Yield the modules that have examples in their docstrings."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        if ">>> " in path.read_text(encoding="utf-8"):
            parts = path.relative_to(ROOT / "src").with_suffix("").parts
            yield ".".join(parts).removesuffix(".__init__")


def test_tables_are_those_of_the_code():
    """The generated tables of the reference say what the code says."""
    run = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "docs.py"), "--check"], capture_output=True, text=True
    )

    assert (run.stdout, run.stderr, run.returncode) == ("", "", 0)


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_is_documented(name: str):
    """Each command has a section with all its options, and a line in the front page."""
    section = (
        (REFERENCE / "commands.md")
        .read_text(encoding="utf-8")
        .partition(f"\n## {name}\n")[2]
        .partition("\n## ")[0]
    )
    command = cli.get_command(click.Context(cli), name)
    options = [
        option
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
        for option in parameter.opts
    ]

    assert section
    assert [option for option in options if option not in section] == []
    assert f"| `{name}` |" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [f"{section}.{name}" for section, name, *_ in settings()])
def test_every_setting_is_documented(name: str):
    """Each setting has a line in the section of its own."""
    section, _, key = name.partition(".")
    text = (REFERENCE / "settings.md").read_text(encoding="utf-8")

    table = re.search(rf"^### `\[+{section}\]+`\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)

    assert f"| `{key}` |" in table[1]


@pytest.mark.parametrize("name", [column.name for column in COLUMNS])
def test_every_column_is_documented(name: str):
    """Each column of the page state has a line."""
    assert f"| `{name}` |" in (REFERENCE / "columns.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("page", "name"),
    [("schedules.md", name) for name in SCHEDULES]
    + [("signatures.md", name) for name in SIGNATURES],
)
def test_every_model_is_documented(page: str, name: str):
    """Each schedule and each signature has a section."""
    assert f"\n## {name}\n" in (REFERENCE / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", [Outcome, Observation, PageStatus, Announced])
def test_every_code_is_documented(kind: type[Enum]):
    """Each outcome, observation, status and announced state has a line with its code."""
    text = (REFERENCE / "outcomes.md").read_text(encoding="utf-8")

    assert [m.name for m in kind if f"| `{m.name.lower()}` | {m.value} |" not in text] == []


def test_every_kind_of_change_is_documented():
    """Each kind of change event has a line."""
    text = (REFERENCE / "change-feed.md").read_text(encoding="utf-8")

    assert [kind for kind in ChangeKind if f"| `{kind}` |" not in text] == []


def test_every_page_can_be_found():
    """The index of the documentation leads to every page of it."""
    index = DOCS / "README.md"
    linked = {(DOCS / target).resolve() for target in LINK.findall(index.read_text("utf-8"))}

    assert set(DOCS.rglob("*.md")) - linked == {index}


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_links_lead_somewhere(page: Path):
    """Links between pages name a file that is there, and a heading in it."""
    broken = []
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if "://" not in link and (
            not target.exists() or (anchor and anchor not in anchors(target))
        ):
            broken.append(link)

    assert broken == []


@pytest.mark.parametrize("name", list(modules_with_examples()))
def test_docstring_examples_run(name: str):
    """The examples in the docstrings of a module give what they say."""
    result = doctest.testmod(importlib.import_module(name))

    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("page", having("python"))
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The Python blocks of a page run one after another, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    exec(compile("\n".join(blocks(page, "python")), str(page), "exec"), {})


@pytest.mark.parametrize("page", having("toml"))
def test_toml_blocks_are_settings(page: Path, tmp_path: Path):
    """Each TOML block is a settings file that can be read."""
    for number, block in enumerate(blocks(page, "toml")):
        path = tmp_path / f"{number}.toml"
        path.write_text(block, encoding="utf-8")

        assert load(path) != load(None)


@pytest.mark.parametrize("page", having("console"))
async def test_console_blocks_run(page: Path, tmp_path: Path):
    """The commands of a page succeed one after another, in an empty folder.

    A site on loopback plays the proxy and answers for every host, so that the examples name
    real-looking URLs and no request leaves the machine.
    """
    kept = {name: value for name, value in os.environ.items() if "RECRAWL" not in name}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    async with LoopbackSite() as site:
        for name in ("/", "/about", "/news", "/terms"):
            target = f"http://example.org{name}"
            site.route(target, Answer(f"<p>This is {name}"), host="example.org")
        environment = kept | {"PATH": path, "HTTP_PROXY": site.url(), "http_proxy": site.url()}
        environment |= {"NO_PROXY": "", "no_proxy": ""}
        for command in commands_in("".join(blocks(page, "console"))):
            await succeed(command.replace("https://example.org", "http://example.org"),
                          tmp_path, environment)  # fmt: skip


async def succeed(command: str, folder: Path, environment: dict[str, str]) -> None:
    """Run a shell command and check that it succeeds."""
    process = await asyncio.create_subprocess_shell(
        command,
        cwd=folder,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await asyncio.wait_for(process.communicate(), PATIENCE)

    assert process.returncode == 0, f"{command}\n{output.decode()}"
