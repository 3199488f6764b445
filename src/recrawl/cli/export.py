"""``recrawl export``."""

from __future__ import annotations

import click

from recrawl.cli.options import format_option, opened, settings_options
from recrawl.cli.output import Format, print_rows
from recrawl.cli.rows import PAGE_FIELDS, page_row
from recrawl.config import Config

__all__ = ["command"]


@click.command("export")
@settings_options
@format_option
def command(config: Config, form: Format) -> None:
    """Print all pages with all their columns, in the order of their keys."""
    with opened(config) as store:
        rows = (page_row(page) for page in store)
        print_rows(rows, PAGE_FIELDS, form, empty="No pages: add some with `recrawl add`.")
