"""What is handed out: no trace of one machine in it, locked requirements, a whole package."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import recrawl

ROOT = Path(__file__).parents[1]
FOLDERS = (".ci", "benchmarks", "docs", "requirements", "src", "tests", "tools")
LOCKED = ("build.txt", "dev.txt", "lowest.txt", "runtime.txt")
#: Written in pieces, so that this file does not name what it forbids.
HOSTS = ("pypi" + ".org", "python" + "hosted.org")
PATHS = tuple(f"/{name}/" for name in ("ro" + "ot", "wo" + "rk", "op" + "t", "ho" + "me"))


def texts() -> Iterator[tuple[Path, str]]:
    """Yield the text files of the repository."""
    files = [path for path in ROOT.iterdir() if path.is_file() and path.name != ".coverage"]
    for folder in FOLDERS:
        files += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    for path in files:
        if "__pycache__" not in path.parts:
            content = path.read_bytes()
            if b"\0" not in content[:8192]:
                yield path.relative_to(ROOT), content.decode("utf-8", errors="replace")


@pytest.mark.parametrize("host", HOSTS)
def test_no_file_names_a_registry(host: str):
    """No file names the host that packages are fetched from: users have mirrors."""
    assert [str(path) for path, text in texts() if host in text] == []


@pytest.mark.parametrize("place", [*PATHS, f"{ROOT}/", f"{sys.prefix}/"])
def test_no_file_names_a_path_of_a_machine(place: str):
    """No file names a folder that is on one machine only."""
    pattern = re.compile(r"(?<![\w./-])" + re.escape(place))

    assert [str(path) for path, text in texts() if pattern.search(text)] == []


@pytest.mark.parametrize("name", LOCKED)
def test_requirements_are_locked(name: str):
    """Every requirement has one version and at least one hash, and no option names a host."""
    lines = (ROOT / "requirements" / name).read_text(encoding="utf-8").replace("\\\n", "")
    entries = [line for line in lines.splitlines() if line.strip()]

    pinned = re.compile(r"[a-z0-9-]+(\[[a-z,]+\])?==\S+( ; .*?)?( +--hash=sha256:[0-9a-f]{64})+")

    assert len(entries) > 3 or name == "build.txt"
    assert [entry for entry in entries if not pinned.fullmatch(entry.strip())] == []


def test_requirements_hold_what_the_package_needs():
    """The locked run-time requirements cover every dependency, the others every tool as well."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    runtime, dev = (
        {
            line.partition("==")[0]
            for line in (ROOT / "requirements" / name).read_text(encoding="utf-8").splitlines()
            if "==" in line
        }
        for name in ("runtime.txt", "dev.txt")
    )

    def names(requirements: list[str]) -> set[str]:
        return {re.split(r"[\[<>=~! ]", requirement)[0] for requirement in requirements}

    assert names(project["dependencies"]) <= runtime
    assert names(project["dependencies"] + project["optional-dependencies"]["dev"]) <= dev


def test_version_has_one_source():
    """The version stands in the package alone, and the change log has a heading for it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    headings = re.findall(
        r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )

    assert "version" not in project
    assert "version" in project["dynamic"]
    assert {recrawl.__version__, "Unreleased"} & set(headings)


def test_licence_is_there():
    """The licence text goes with the code, and the project file names it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert project["license"] == "Apache-2.0"
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_wheel_holds_the_whole_package(tmp_path: Path):
    """A wheel builds, with every source file, the types' mark, the SQL and the licence."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )

    (wheel,) = tmp_path.glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    source = {
        str(path.relative_to(ROOT / "src"))
        for pattern in ("*.py", "*.sql", "py.typed")
        for path in (ROOT / "src").rglob(pattern)
    }
    assert source <= packed
    assert f"recrawl-{recrawl.__version__}.dist-info/licenses/LICENSE" in packed
    assert [name for name in packed if not name.startswith("recrawl")] == []
