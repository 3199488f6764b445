"""``recrawl init``."""

from __future__ import annotations

from pathlib import Path

import click

from recrawl.cli.options import opened
from recrawl.config import default_toml, load
from recrawl.errors import ConfigError

__all__ = ["command"]


@click.command("init")
@click.argument("directory", default=".", type=click.Path(file_okay=False, path_type=Path))
def command(directory: Path) -> None:
    """Write a recrawl.toml with every setting explained, and an empty store, into DIRECTORY.

    What is there already is left alone.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        file = directory / "recrawl.toml"
        is_new = not file.exists()
        if is_new:
            file.write_text(default_toml(), encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"cannot write to {directory}: {error.strerror}; name a directory of your own",
            value=str(directory),
        ) from error
    click.echo(f"{'Wrote' if is_new else 'Kept'} {file}")
    store = directory / "recrawl.sqlite"
    is_new = not store.exists()
    config = (
        load(file)
        if directory == Path()
        else load(file, overrides=[f"store.url=sqlite:///{store}"])
    )
    with opened(config, create=True):
        pass
    click.echo(f"{'Made' if is_new else 'Kept'} the store {store}")
    click.echo("Set fetch.contact in recrawl.toml, then: recrawl add URL ..., recrawl run")
