"""``recrawl show``."""

from __future__ import annotations

import click

from recrawl.app.explain import why_due
from recrawl.app.pages import look_up
from recrawl.cli.options import format_option, opened, settings_options
from recrawl.cli.output import Format, Value, print_rows
from recrawl.cli.rows import PAGE_FIELDS, VISIT_FIELDS, page_row, visit_row
from recrawl.clocks import SystemClock
from recrawl.config import Config
from recrawl.wiring import make_policies

__all__ = ["command"]

_SHOWN_VISIT_FIELDS = tuple(f for f in VISIT_FIELDS if f not in ("modified_at", "signature"))


@click.command("show")
@settings_options
@click.argument("url")
@click.option(
    "--visits", "n_visits", type=click.IntRange(0), default=10, show_default=True,
    help="How many of the last visits.",
)  # fmt: skip
@format_option
def command(config: Config, url: str, n_visits: int, form: Format) -> None:
    """Show all that is known of one page, its last visits, and why it is due when it is.

    jsonl prints one object with all of it; csv one row, the visits and reasons as JSON in a cell.
    """
    with opened(config) as store:
        page, visits, host = look_up(store, url)
    shown = [visit_row(visit) for visit in visits[:n_visits]]
    reasons = why_due(page, visits, host, make_policies(config)(page.url), now=SystemClock().now())
    row = page_row(page)
    if form is not Format.TABLE:
        print_rows(
            [{**row, "why": reasons, "visits": shown}], (*PAGE_FIELDS, "why", "visits"), form
        )
        return
    known: list[dict[str, Value]] = [
        {"field": name, "value": str(row[name])}
        for name in PAGE_FIELDS
        if row[name] not in (None, "")
    ]
    print_rows(known, ("field", "value"), form)
    click.echo("\nWhy it is due when it is")
    for reason in reasons:
        click.echo(f"  {reason}")
    click.echo(f"\nLast visits ({len(shown)} of {len(visits)} kept)")
    print_rows(shown, _SHOWN_VISIT_FIELDS, form, empty="  none")
