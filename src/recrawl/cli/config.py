"""``recrawl config``."""

from __future__ import annotations

from pathlib import Path

import click

from recrawl.config.importing import import_file

__all__ = ["command"]


@click.group("config")
def command() -> None:
    """Work on settings files."""


@command.command("import")
@click.argument("file", type=click.Path(path_type=Path))
def import_(file: Path) -> None:
    """Print the recrawl.toml that matches FILE, settings of another crawler.

    FILE is a nutch-site.xml of Apache Nutch or a crawler-conf.yaml of Apache StormCrawler.
    What has no counterpart is said on standard error.
    """
    imported = import_file(file)
    click.echo(imported.toml, nl=False)
    for note in imported.notes:
        click.echo(note, err=True)
