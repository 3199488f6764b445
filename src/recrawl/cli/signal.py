"""``recrawl signal``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import islice

import click

from recrawl.app.pages import find_page
from recrawl.cli.options import opened, settings_options
from recrawl.cli.output import one_line
from recrawl.clocks import SystemClock
from recrawl.config import Config
from recrawl.core.duration import format_duration
from recrawl.errors import NotFound, UrlError
from recrawl.ports.store import Move, PageRow
from recrawl.wiring import learned_plan, make_policies

__all__ = ["command"]

_BATCH = 1000
_MISUSED = 2


@click.command("signal")
@settings_options
@click.argument("urls", nargs=-1, required=True, metavar="URL|-...")
def command(config: Config, urls: tuple[str, ...]) -> None:
    """Tell that pages may have changed: a notice, a line of a sitemap, an entry of a feed.

    URLs, or - for standard input with a URL a line.  How much a signal is worth is learned for
    each host from what fetches then find: a page comes forward only as far as that goes, so that
    a site that signals all its pages all the time causes few fetches.  A URL that is no page of
    the store is reported, the rest is done, and the exit code is 2.
    """
    moves: list[Move] = []
    n_signals = n_unknown = 0
    clock = SystemClock()
    with opened(config) as store:
        plan = learned_plan(config, store, make_policies(config))
        for batch in _batches(_urls(urls)):
            pages: dict[int, PageRow] = {}
            for url in batch:
                try:
                    page = find_page(store, url)
                except (NotFound, UrlError) as error:
                    n_unknown += 1
                    click.echo(f"recrawl: {one_line(error.message)}", err=True)
                else:
                    pages[page.state.page_key] = page
            n_signals += len(pages)
            moves += plan.hear(list(pages.values()), clock.now())
    told = "1 page was" if n_signals == 1 else f"{n_signals} pages were"
    wait = min((move.next_fetch_at for move in moves), default=0) - clock.now()
    first = f", the first in {format_duration(max(wait, 0) / 1000)}" if moves else ""
    forward = "1 of them comes" if len(moves) == 1 else f"{len(moves)} of them come"
    click.echo(f"{told} signalled; {forward} forward{first}")
    if n_unknown:
        raise click.exceptions.Exit(_MISUSED)


def _urls(given: Iterable[str]) -> Iterator[str]:
    """Yield the URLs, those of standard input where it is named; empty lines are left out."""
    for url in given:
        lines = sys.stdin if url == "-" else [url]
        yield from (line.strip() for line in lines if line.strip())


def _batches(urls: Iterator[str]) -> Iterator[list[str]]:
    """Yield the URLs in lists that one transaction takes."""
    while batch := list(islice(urls, _BATCH)):
        yield batch
