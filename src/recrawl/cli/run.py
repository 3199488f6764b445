"""``recrawl run``."""

from __future__ import annotations

import asyncio
import logging
import signal

import click

from recrawl.app.report import Totals
from recrawl.cli.options import opened, settings_options
from recrawl.cli.progress import JsonHandler, JsonLog, Progress, Reporter, VisitLines
from recrawl.clocks import SystemClock
from recrawl.config import Config
from recrawl.ports.store import PageStore
from recrawl.wiring import check_contact, make_plan, make_policies, open_crawler

__all__ = ["command"]

_CHANGED = 1


@click.command("run")
@settings_options
@click.option("--once", is_flag=True, help="End when nothing is due.")
@click.option("-v", "--verbose", is_flag=True, help="Print a line a visit.")
@click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="json: a JSON object a visit on standard error, and one with the totals.",
)
@click.option(
    "--exit-code", is_flag=True, help="With --once: 0 nothing changed, 1 something changed."
)
def command(
    config: Config, once: bool, verbose: bool, quiet: bool, log_format: str, exit_code: bool
) -> None:
    """Fetch pages as they come due, until interrupted.

    The first interrupt ends what is under way and gives back what is held; a second one ends at
    once.  Nothing is lost either way.
    """
    if exit_code and not once:
        raise click.UsageError("--exit-code goes with --once: a run without an end has no result")
    if verbose and quiet:
        raise click.UsageError("-v and -q exclude each other")
    if log_format == "json":
        logging.getLogger().handlers[:] = [JsonHandler()]
    with opened(config) as store:
        check_contact(config, store, SystemClock().now())
        reporter = _reporter(store, verbose=verbose, quiet=quiet, log_format=log_format)
        with reporter:
            totals = asyncio.run(_run(config, store, reporter, once=once))
        reporter.done(totals)
        is_told = once and not quiet and log_format == "text"
        if is_told and (n_left := _left_by_budget(config, store)):
            pages = "1 page stays" if n_left == 1 else f"{n_left} pages stay"
            click.echo(f"The budget of {config.schedule.budget} is spent: {pages} due.", err=True)
    if exit_code and totals.n_events:
        raise click.exceptions.Exit(_CHANGED)


def _left_by_budget(config: Config, store: PageStore) -> int:
    """Return how many pages are due that the budget does not allow."""
    plan, now = make_plan(config, store, make_policies(config)), SystemClock().now()
    return store.status(now).n_due if plan is not None and plan.is_spent(now) else 0


def _reporter(store: PageStore, *, verbose: bool, quiet: bool, log_format: str) -> Reporter:
    if quiet:
        return Reporter()
    if log_format == "json":
        return JsonLog()
    return VisitLines() if verbose else Progress(store, SystemClock())


async def _run(config: Config, store: PageStore, reporter: Reporter, *, once: bool) -> Totals:
    async with open_crawler(config, store, observer=reporter) as crawler:
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(crawler.run(once=once))

        def interrupt() -> None:
            if crawler.is_stopping:
                task.cancel()
            else:
                reporter.stopping()
                crawler.stop()

        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, interrupt)
        try:
            return await task
        except asyncio.CancelledError:
            return crawler.totals
        finally:
            for name in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(name)
