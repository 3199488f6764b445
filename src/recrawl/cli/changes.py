"""``recrawl changes``."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

import click

from recrawl.app.changes import diff_of, follow, read, text_of
from recrawl.cli.options import format_option, opened, settings_options
from recrawl.cli.output import Format, Value, one_line, print_rows, printable
from recrawl.cli.rows import CHANGE_FIELDS, change_row
from recrawl.clocks import SystemClock
from recrawl.config import Config
from recrawl.ports.store import Change, PageStore

__all__ = ["command"]

_CHANGED = 1


@click.command("changes")
@settings_options
@click.option(
    "--after",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Events with a greater sequence number.",
)
@click.option("--follow", "is_following", is_flag=True, help="Go on with events as they come.")
@click.option("--limit", type=click.IntRange(1), help="At most so many events.")
@click.option("--text", "with_text", is_flag=True, help="With the text after the event.")
@click.option("--diff", "with_diff", is_flag=True, help="With a unified diff of the text.")
@click.option("--exit-code", is_flag=True, help="0 no event was printed, 1 some were.")
@format_option
def command(
    config: Config,
    after: int,
    is_following: bool,
    limit: int | None,
    with_text: bool,
    with_diff: bool,
    exit_code: bool,
    form: Format,
) -> None:
    """Print the change feed: what was new, changed, moved, gone or returned, in order.

    Remember the last sequence number and give it as --after the next time: no event is lost
    and none comes twice.  Texts of the last two versions of a page are kept.
    """
    printer = _Printer(form, with_text=with_text, with_diff=with_diff)
    with opened(config) as store:
        if is_following:
            asyncio.run(_follow(store, after, limit, printer))
        else:
            printer.emit(store, islice(read(store, after), limit), empty="No events.")
    if exit_code and printer.n_printed:
        raise click.exceptions.Exit(_CHANGED)


class _Printer:
    """Prints events in the chosen format and counts them."""

    def __init__(self, form: Format, *, with_text: bool, with_diff: bool) -> None:
        self.n_printed = 0
        self._form = form
        self._extras = {
            name: make
            for name, make, is_wanted in (
                ("text", text_of, with_text),
                ("diff", diff_of, with_diff),
            )
            if is_wanted
        }

    def emit(self, store: PageStore, events: Iterable[Change], *, empty: str = "") -> None:
        """Print events; a table without events says ``empty`` to standard error."""
        has_header = self.n_printed == 0
        rows = self._rows(store, events)
        if self._form is Format.TABLE and self._extras:
            for row in rows:
                self._print_long(row)
        else:
            columns = (*CHANGE_FIELDS, *self._extras)
            print_rows(rows, columns, self._form, empty=empty, has_header=has_header)

    def _rows(self, store: PageStore, events: Iterable[Change]) -> Iterator[dict[str, Value]]:
        for event in events:
            self.n_printed += 1
            extras = {name: make(store, event) for name, make in self._extras.items()}
            yield {**change_row(event), **extras}

    def _print_long(self, row: Mapping[str, Value]) -> None:
        head = "  ".join(one_line(str(row[name])) for name in ("sequence", "at", "kind", "url"))
        click.echo(
            head + (f"  -> {one_line(str(row['redirect_to']))}" if row["redirect_to"] else "")
        )
        for name in self._extras:
            text = row[name]
            if text is None:
                click.echo(f"  ({name}: not kept)")
            for line in printable(str(text or "")).splitlines():
                click.echo(f"  {line}")


async def _follow(store: PageStore, after: int, limit: int | None, printer: _Printer) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
    async for event in follow(store, SystemClock(), after, stop=stop):
        printer.emit(store, [event])
        if limit is not None and printer.n_printed >= limit:
            break
