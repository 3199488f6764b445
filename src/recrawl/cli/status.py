"""``recrawl status``."""

from __future__ import annotations

import click

from recrawl.cli.options import format_option, opened, settings_options
from recrawl.cli.output import Format, Value, print_rows, rfc3339
from recrawl.clocks import SystemClock
from recrawl.config import Config
from recrawl.core.columns import NEVER
from recrawl.core.states import PageStatus
from recrawl.ports.store import StoreStatus

__all__ = ["command"]


@click.command("status")
@settings_options
@format_option
def command(config: Config, form: Format) -> None:
    """Show figures of the whole collection: pages by status, due, leased, oldest overdue."""
    now = SystemClock().now()
    with opened(config) as store:
        status = store.status(now)
    rows = _figures(status, now)
    if form is Format.TABLE:
        print_rows(({"figure": k, "value": v} for k, v in rows.items()), ["figure", "value"], form)
    else:
        print_rows([rows], list(rows), form)


def _figures(status: StoreStatus, now: int) -> dict[str, Value]:
    overdue = (now - status.oldest_due_at) / 1000 if status.oldest_due_at != NEVER else 0.0
    return {
        "pages": status.n_pages,
        "hosts": status.n_hosts,
        "due": status.n_due,
        "leased": status.n_leased,
        "visits": status.n_visits,
        "changes": status.n_changes,
        "next_fetch_at": rfc3339(status.oldest_due_at),
        "oldest_overdue_s": max(round(overdue, 3), 0.0),
        **{
            f"status_{name.name.lower()}": status.n_by_status.get(name.value, 0)
            for name in PageStatus
        },
    }
