"""``recrawl force``."""

from __future__ import annotations

import click

from recrawl.app.pages import find_page, force_pages, match_pages
from recrawl.cli.options import opened, settings_options
from recrawl.clocks import SystemClock
from recrawl.config import Config
from recrawl.errors import NotFound

__all__ = ["command"]


@click.command("force")
@settings_options
@click.argument("targets", nargs=-1, required=True, metavar="URL|PATTERN...")
def command(config: Config, targets: tuple[str, ...]) -> None:
    """Make pages due now and fetch them in full, whatever their schedule says.

    A target with a * is a pattern over canonical URLs, such as "https://www.example.org/news/*".
    What is known of a page stays, so a forced fetch reports a change only where there is one.
    """
    with opened(config) as store:
        pages = []
        for target in targets:
            if "*" in target:
                found = match_pages(store, target)
                if not found:
                    raise NotFound(
                        f"no page matches {target!r}: a pattern covers whole canonical URLs, "
                        "as `recrawl export` lists them"
                    )
                pages.extend(found)
            else:
                pages.append(find_page(store, target))
        n_forced = force_pages(store, pages, now=SystemClock().now())
    click.echo("1 page is due now" if n_forced == 1 else f"{n_forced} pages are due now")
