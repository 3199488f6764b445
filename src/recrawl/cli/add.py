"""``recrawl add``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import click

from recrawl.app.pages import add_seeds
from recrawl.app.seeds import MAX_IMPORTANCE, Seed, SeedProblem, parse_seeds
from recrawl.cli.options import opened, settings_options
from recrawl.cli.output import one_line
from recrawl.clocks import SystemClock
from recrawl.config import Config
from recrawl.core.url import canonical_url, redact
from recrawl.errors import InputError, UrlError
from recrawl.wiring import make_policies

__all__ = ["command"]

_MISUSED = 2


def _importance(
    _context: click.Context, _parameter: click.Parameter, value: float | None
) -> float | None:
    # Not click.FloatRange: NaN is in every range.
    if value is not None and not 0 <= value <= MAX_IMPORTANCE:
        raise click.BadParameter(f"{value} is not a number from 0 to {MAX_IMPORTANCE}.")
    return value


@click.command("add")
@settings_options
@click.argument("sources", nargs=-1, required=True, metavar="URL|FILE|-...")
@click.option("--importance", callback=_importance, type=float, help="For URLs given as arguments.")
def command(config: Config, sources: tuple[str, ...], importance: float | None) -> None:
    """Add pages: URLs, files with a URL a line, or - for standard input.

    A line may carry TAB-separated importance=, interval= and fixed_interval=.  A line that
    cannot be used is reported with its number, the rest is added, and the exit code is 2.
    Pages already there keep their state.
    """
    problems = 0

    def seeds(opened_files: dict[str, BinaryIO]) -> Iterator[Seed]:
        nonlocal problems
        for source in sources:
            for item in _read(source, opened_files, importance):
                if isinstance(item, SeedProblem):
                    problems += 1
                    where = "" if source not in opened_files else f"{source}: line {item.line}: "
                    click.echo(f"recrawl: {where}{one_line(item.message)}", err=True)
                else:
                    yield item

    with ExitStack() as stack:
        files = {
            source: stack.enter_context(_open(source)) for source in sources if not _is_url(source)
        }
        store = stack.enter_context(opened(config, create=True))
        result = add_seeds(
            store, seeds(files), policy_of=make_policies(config), now=SystemClock().now()
        )
    known = f", {result.n_known} were there already" if result.n_known else ""
    refused = f", {problems} refused" if problems else ""
    pages = "page" if result.n_added == 1 else "pages"
    click.echo(f"Added {result.n_added} {pages}{known}{refused}")
    if problems:
        raise click.exceptions.Exit(_MISUSED)


def _is_url(source: str) -> bool:
    return "://" in source


def _open(source: str) -> BinaryIO:
    if source == "-":
        return sys.stdin.buffer
    path = Path(source)
    try:
        return path.open("rb")
    except FileNotFoundError as error:
        raise InputError(
            f"{source!r} is neither a URL nor a file: write URLs in full, as "
            f"https://{source}, or name a file with a URL a line",
            value=source,
        ) from error
    except OSError as error:
        raise InputError(
            f"cannot read {source}: {error.strerror}; name a readable file with a URL a line",
            value=source,
        ) from error


def _read(
    source: str, files: dict[str, BinaryIO], importance: float | None
) -> Iterator[Seed | SeedProblem]:
    if source in files:
        yield from parse_seeds(files[source])
        return
    try:
        yield Seed(url=canonical_url(source), importance=importance)
    except UrlError as error:
        yield SeedProblem(line=0, text=redact(source), message=error.message)
