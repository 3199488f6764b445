"""``recrawl due``."""

from __future__ import annotations

from typing import Any

import click

from recrawl.cli.options import format_option, opened, settings_options
from recrawl.cli.output import Format, print_rows
from recrawl.cli.rows import page_row
from recrawl.clocks import SystemClock
from recrawl.config import Config
from recrawl.core.duration import parse_duration

__all__ = ["command"]

_FIELDS = ("next_fetch_at", "status", "interval", "url")


def _duration(_context: click.Context, _parameter: click.Parameter, value: Any) -> float:
    return parse_duration(value)


@click.command("due")
@settings_options
@click.option(
    "--within",
    default="0s",
    show_default=True,
    callback=_duration,
    metavar="DURATION",
    help="Also pages that come due in this time, such as 12h.",
)
@click.option(
    "--limit", type=click.IntRange(1, 1_000_000), default=100, show_default=True, help="At most."
)
@format_option
def command(config: Config, within: float, limit: int, form: Format) -> None:
    """List the pages that are due, earliest first; they include pages in work just now."""
    now = SystemClock().now() + round(within * 1000)
    with opened(config) as store:
        rows = [page_row(page) for page in store.due(now, limit=limit)]
    print_rows(rows, _FIELDS, form, empty="Nothing is due.")
