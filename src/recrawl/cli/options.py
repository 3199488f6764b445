"""Options that many commands share, and what they lead to."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from recrawl.cli.output import Format
from recrawl.config import Config, find_file, load
from recrawl.ports.store import PageStore
from recrawl.wiring import open_store

__all__ = ["format_option", "opened", "settings_options"]

_SETTINGS_OPTIONS = (
    click.option(
        "--config",
        "config_file",
        metavar="FILE",
        help="Settings file; recrawl.toml in the working directory if there is one.",
    ),
    click.option("--store", "store_url", metavar="URL", help="Same as -s store.url=URL."),
    click.option(
        "-s",
        "overrides",
        metavar="SECTION.NAME=VALUE",
        multiple=True,
        help="A setting that goes before the file's; may be repeated.",
    ),
)


def settings_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --config, --store and -s; the command gets the ``Config`` as ``config``."""

    @functools.wraps(command)
    def with_config(
        *args: Any,
        config_file: str | None,
        store_url: str | None,
        overrides: tuple[str, ...],
        **rest: Any,
    ) -> Any:
        if store_url is not None:
            overrides = (*overrides, f"store.url={store_url}")
        config = load(find_file(config_file), overrides=overrides)
        return command(*args, config=config, **rest)

    for option in reversed(_SETTINGS_OPTIONS):
        with_config = option(with_config)
    return with_config


def format_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --format; the command gets a ``Format`` as ``form``."""
    return click.option(
        "--format",
        "form",
        type=click.Choice([form.value for form in Format]),
        default=Format.TABLE.value,
        show_default=True,
        callback=lambda _ctx, _param, value: Format(value),
        help="A table for people, JSON Lines or CSV for machines; the fields are the same.",
    )(command)


@contextmanager
def opened(config: Config, *, create: bool = False) -> Iterator[PageStore]:
    """Give the store of the settings and close it afterwards."""
    store = open_store(config, create=create)
    try:
        yield store
    finally:
        store.close()
