"""The layers of the house, and the habits that keep them apart, read from the source itself."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src"

#: Height of each package and module directly under recrawl; imports point down.
HEIGHT = {
    "errors": 0,
    "core": 1,
    "signatures": 2,
    "estimation": 2,
    "schedules": 2,
    "planning": 3,
    "simulation": 4,
    "ports": 5,
    "app": 6,
    "stores": 6,
    "fetch": 6,
    "extract": 6,
    "engines": 6,
    "interop": 6,
    "plots": 6,
    "clocks": 6,
    "config": 7,
    "testing": 7,
    "wiring": 8,
    "demo": 9,
    "cli": 10,
    "api": 10,
    "__main__": 11,
}
#: The package itself offers the pure ring and nothing else.
PUBLIC = {"errors", "core", "signatures", "estimation", "schedules", "planning", "simulation"}
PURE = PUBLIC - {"errors"}
#: What the pure ring may import beside itself: no I/O, clock, logging, environment or chance.
PURE_IMPORTS = {
    "__future__", "abc", "bisect", "collections", "contextlib", "dataclasses", "decimal",
    "difflib", "enum", "fractions", "functools", "hashlib", "heapq", "ipaddress", "itertools",
    "math", "numbers", "numpy", "operator", "re", "statistics", "string", "struct", "types",
    "typing", "unicodedata", "urllib.parse", "warnings",
}  # fmt: skip
#: Where generators are made: from a seed that is an argument, so the same numbers each time.
SEEDED = {"seeds.py": {"np.random.default_rng", "np.random.SeedSequence"}}
#: Modules that may import inside functions: what they import is heavy or an optional extra.
LATE_IMPORTERS = {"wiring", "cli"}
TIME_READERS = {
    "time.time", "time.time_ns", "time.monotonic", "time.monotonic_ns", "time.perf_counter",
    "time.perf_counter_ns", "time.process_time", "time.localtime", "time.gmtime",
    "datetime.now", "datetime.utcnow", "datetime.today", "date.today",
    "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today",
    "datetime.date.today",
}  # fmt: skip
ENVIRONMENT_READERS = {"os.environ", "os.environb", "os.getenv"}
#: Third-party modules that `recrawl --help` may load.
HELP_LOADS = {"click", "recrawl"}
LONGEST_FUNCTION = 60
LONGEST_FILE = 500

FILES = sorted(SRC.glob("recrawl/**/*.py"))
IDS = [str(path.relative_to(SRC / "recrawl")) for path in FILES]


def place(path: Path) -> str:
    """Return the package or module directly under recrawl that a file belongs to."""
    return path.relative_to(SRC / "recrawl").parts[0].removesuffix(".py")


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imported(node: ast.AST) -> Iterator[str]:
    """Yield the dotted names that the import statements in a tree name."""
    for child in ast.walk(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and child.module == "recrawl":
            yield from (
                f"recrawl.{alias.name}" for alias in child.names if alias.name != "__version__"
            )
        elif isinstance(child, ast.ImportFrom):
            yield child.module or ""


def used(path: Path) -> set[str]:
    """Return what a file names with dots, and what it imports by name, with its module."""
    tree = parse(path)
    dotted = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    named = {
        f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return dotted | named


def code_length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of a function without its docstring."""
    first = function.body[0]
    is_documented = ast.get_docstring(function, clean=False) is not None
    docstring = first.end_lineno - first.lineno + 1 if is_documented else 0
    return function.end_lineno - function.lineno + 1 - docstring


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def loaded_by(code: str) -> set[str]:
    """Return the top-level modules outside the standard library that a piece of code loads."""
    report = (
        "import json, sys\nbefore = set(sys.modules)\n"
        f"{code}\n"
        # What has no spec was made by an extension, not loaded from anywhere.
        "spec = {name: getattr(module, '__spec__', None) for name, module in sys.modules.items()}\n"
        "loaded = [name for name in spec if name not in before and spec[name]]\n"
        "print('\\n' + json.dumps(loaded))"
    )
    run = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    names = {name.partition(".")[0] for name in json.loads(run.stdout.splitlines()[-1])}
    return {name for name in names - set(sys.stdlib_module_names) if not name.startswith("_")}


def test_height_names_every_part():
    """Every package and module under recrawl has its place in the layers."""
    assert {place(path) for path in FILES} - {"__init__"} <= set(HEIGHT)


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_imports_point_down(path: Path):
    """A module imports its own package and lower layers; neighbours never import each other."""
    here = place(path)
    targets = {name.split(".")[1] for name in imported(parse(path)) if name.startswith("recrawl.")}

    if here == "__init__":
        wrong = targets - PUBLIC
    else:
        wrong = {name for name in targets - {here} if HEIGHT[name] >= HEIGHT[here]}

    assert not wrong, f"{here} must not import {sorted(wrong)}"


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_imports_stand_at_the_top(path: Path):
    """Only the wiring and the commands import inside functions."""
    late = {name for function in functions(parse(path)) for name in imported(function)}

    assert place(path) in LATE_IMPORTERS or not late


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_only_the_clock_reads_the_time(path: Path):
    """No module but clocks.py asks what time it is."""
    assert place(path) == "clocks" or not used(path) & TIME_READERS


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_only_the_configuration_reads_the_environment(path: Path):
    """No module but config.py looks at environment variables."""
    assert place(path) == "config" or not used(path) & ENVIRONMENT_READERS


@pytest.mark.parametrize(
    "path", [path for path in FILES if place(path) in PURE], ids=lambda path: path.stem
)
def test_pure_ring_imports_numbers_only(path: Path):
    """The pure ring imports NumPy and pure parts of the standard library."""
    outside = {name for name in imported(parse(path)) if not name.startswith("recrawl.")}
    allowed = {name for name in outside if {name, name.partition(".")[0]} & PURE_IMPORTS}
    chance = {name for name in used(path) if name.startswith(("np.random.", "numpy.random."))}

    assert outside == allowed
    assert chance <= {"np.random.Generator", "numpy.random.Generator"} | SEEDED.get(
        path.name, set()
    )


def test_pure_ring_loads_numpy_only():
    """Importing recrawl and every module of the pure ring loads NumPy and nothing else."""
    pure = [path for path in FILES if place(path) in PURE | {"errors", "__init__"}]
    names = [".".join(path.relative_to(SRC).with_suffix("").parts) for path in pure]

    loaded = loaded_by("import " + ", ".join(name.removesuffix(".__init__") for name in names))

    assert loaded == {"recrawl", "numpy"}


def test_an_extraction_worker_loads_no_numpy():
    """A worker process starts without NumPy, which takes longer to load than all else it needs."""
    assert "numpy" not in loaded_by("import recrawl.extract.worker")


def test_help_loads_little():
    """`recrawl --help` answers without loading what only some commands need."""
    loaded = loaded_by("from recrawl.cli.main import cli\ncli(['--help'], standalone_mode=False)")

    assert loaded <= HELP_LOADS


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_exports_are_sorted_and_there(path: Path):
    """__all__ of every module is sorted and names what the module has."""
    lists = [
        ast.literal_eval(node.value)
        for node in parse(path).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    is_empty = all(isinstance(node, ast.Expr) for node in parse(path).body)
    if is_empty or (path.name.startswith("_") and path.name != "__init__.py"):
        return

    assert len(lists) == 1, "one __all__ a module"
    assert lists[0] == sorted(set(lists[0]), key=lambda name: (not name.isupper(), name))
    module = importlib.import_module(
        ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__")
    )
    assert [name for name in lists[0] if not hasattr(module, name)] == []


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_code_fits_on_a_screen(path: Path):
    """No function is longer than 60 lines of code, no file longer than 500."""
    long = [
        f"{function.name}: {length}"
        for function in functions(parse(path))
        if (length := code_length(function)) > LONGEST_FUNCTION
    ]

    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE
    assert long == []


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_no_error_is_swallowed(path: Path):
    """No except clause does nothing, and none catches everything without a name."""
    silent = [
        node.lineno
        for node in ast.walk(parse(path))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or all(isinstance(line, ast.Pass) for line in node.body))
    ]

    assert silent == []
