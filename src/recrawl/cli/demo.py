"""``recrawl demo``."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from recrawl.app.report import VisitReport
from recrawl.cli.output import Format, Value, one_line, print_rows
from recrawl.core.duration import format_duration, parse_duration
from recrawl.demo.follow import Followed, follow_site

__all__ = ["command"]

_FIELDS = (
    "page",
    "fetches",
    "changes made",
    "detected",
    "delay",
    "304s",
    "interval",
    "status",
    "note",
)


@click.command("demo")
@click.option(
    "--for", "duration", default="30s", show_default=True, metavar="DURATION", help="How long."
)
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              help="Keep the store in this directory, to look at it afterwards.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port of the site.")
def command(duration: str, keep: Path | None, port: int) -> None:
    """Follow a small changing site on loopback and show what was learned.

    Exit code 1 if a change was missed that a fetch had seen, if a change was reported that was
    none, or if a page was fetched that robots.txt forbids.
    """
    seconds = parse_duration(duration)
    click.echo(
        f"A site of four hosts on loopback changes for {format_duration(seconds)} while recrawl "
        "follows it.\nIts events, as recrawl sees them:"
    )
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        followed = asyncio.run(follow_site(keep, seconds, _tell, port=port))
    else:
        with tempfile.TemporaryDirectory(prefix="recrawl-demo-") as directory:
            followed = asyncio.run(follow_site(Path(directory), seconds, _tell, port=port))
    _summary(followed)
    if keep is not None:
        click.echo(f"\nLook around: recrawl status --store sqlite:///{keep / 'recrawl.sqlite'}")
    faults = [fault for page in followed for fault in page.verdict.faults]
    for fault in faults:
        click.echo(f"FAULT: {fault}", err=True)
    if faults:
        raise click.exceptions.Exit(1)


def _tell(elapsed: float, report: VisitReport) -> None:
    click.echo(f"  {elapsed:5.1f} s  {report.change:8}  {one_line(report.url)}")


def _summary(followed: Sequence[Followed]) -> None:
    click.echo("\nWhat the site did and what recrawl made of it:")
    print_rows((_row(page) for page in followed), _FIELDS, Format.TABLE)
    n_made = sum(page.verdict.n_made for page in followed if not page.verdict.page.is_disallowed)
    n_detected = sum(page.verdict.n_detected for page in followed)
    n_fetches = sum(page.verdict.n_fetches for page in followed)
    n_saved = sum(page.verdict.n_notmodified for page in followed)
    click.echo(
        f"\n{n_made} changes made, {n_detected} detected (several between two fetches are seen as "
        f"one), {n_fetches} fetches, {n_saved} of them answered 304 without a body."
    )


def _row(page: Followed) -> dict[str, Value]:
    verdict = page.verdict
    delay = verdict.mean_delay
    return {
        "page": f"{verdict.page.host}{verdict.page.path}",
        "fetches": verdict.n_fetches,
        "changes made": verdict.n_made,
        "detected": verdict.n_detected,
        "delay": None if delay is None else f"{delay:.1f} s",
        "304s": verdict.n_notmodified,
        "interval": format_duration(page.interval),
        "status": page.status,
        "note": verdict.page.note,
    }
