"""``recrawl init``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from recrawl.cli.options import opened
from recrawl.config import StoreSettings, default_toml, load
from recrawl.errors import ConfigError
from recrawl.wiring import store_path, store_url

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
    # The store that the file names for whoever works in DIRECTORY.
    store = directory / store_path(config := load(file))
    is_new = not store.exists()
    with opened(replace(config, store=StoreSettings(url=store_url(store))), create=True):
        pass
    click.echo(f"{'Made' if is_new else 'Kept'} the store {store}")
    click.echo("Set fetch.contact in recrawl.toml, then: recrawl add URL ..., recrawl run")
