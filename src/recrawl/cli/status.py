"""``recrawl status``."""

from __future__ import annotations

import math

import click

from recrawl.app.freshness import PartFreshness, freshness_by, total_freshness
from recrawl.cli.options import format_option, opened, settings_options
from recrawl.cli.output import Format, Value, print_rows, rfc3339
from recrawl.clocks import SystemClock
from recrawl.config import Config
from recrawl.core.columns import NEVER
from recrawl.core.states import PageStatus
from recrawl.ports.store import StoreStatus

__all__ = ["command"]


_PART_FIELDS = ("pages", "new", "freshness", "oldest_overdue_s")


@click.command("status")
@settings_options
@click.option(
    "--by", "part", type=click.Choice(["host", "pattern"]),
    help="How fresh each host, or each host with its first directories, is estimated to be.",
)  # fmt: skip
@click.option(
    "--limit", type=click.IntRange(1, 1_000_000), default=20, show_default=True,
    help="With --by: at most so many, those that hold the collection down first.",
)  # fmt: skip
@format_option
def command(config: Config, part: str | None, limit: int, form: Format) -> None:
    """Show figures of the whole collection: pages by status, due, overdue, freshness.

    The freshness is an estimate, from how often each page was seen to change; pages that were
    never fetched count as wrong.
    """
    now = SystemClock().now()
    with opened(config) as store:
        if part is not None:
            parts = freshness_by(store, now, part)[:limit]
            rows_by = [_part_row(each, part, now) for each in parts]
            print_rows(rows_by, [part, *_PART_FIELDS], form, empty="There are no pages.")
            return
        status, total = store.status(now), total_freshness(store, now)
    rows = _figures(status, total, now)
    if form is Format.TABLE:
        print_rows(({"figure": k, "value": v} for k, v in rows.items()), ["figure", "value"], form)
    else:
        print_rows([rows], list(rows), form)


def _part_row(part: PartFreshness, kind: str, now: int) -> dict[str, Value]:
    return {
        kind: part.part,
        "pages": part.n_pages,
        "new": part.n_new,
        "freshness": _share(part.freshness),
        "oldest_overdue_s": _overdue(part.oldest_due_at, now),
    }


def _share(freshness: float) -> Value:
    return None if math.isnan(freshness) else round(freshness, 4)


def _overdue(due_at: int, now: int) -> float:
    return 0.0 if due_at == NEVER else max(round((now - due_at) / 1000, 3), 0.0)


def _figures(status: StoreStatus, total: PartFreshness, now: int) -> dict[str, Value]:
    return {
        "pages": status.n_pages,
        "hosts": status.n_hosts,
        "due": status.n_due,
        "leased": status.n_leased,
        "visits": status.n_visits,
        "changes": status.n_changes,
        "next_fetch_at": rfc3339(status.oldest_due_at),
        "oldest_overdue_s": _overdue(status.oldest_due_at, now),
        "freshness": _share(total.freshness),
        **{
            f"status_{name.name.lower()}": status.n_by_status.get(name.value, 0)
            for name in PageStatus
        },
    }
