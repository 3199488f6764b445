"""The `recrawl` command; each of its commands is imported only when it is called."""

from __future__ import annotations

import difflib
import importlib
import io
import logging
import os
import sys
from collections.abc import Sequence

import click

from recrawl import __version__
from recrawl.errors import (
    ConfigError,
    InputError,
    MissingExtra,
    NotAStore,
    NotFound,
    RecrawlError,
    StoreFull,
    StoreVersionError,
)

__all__ = ["COMMANDS", "cli", "main"]

#: Commands and what they do, in the order of ``recrawl --help``.
COMMANDS = {
    "init": "Write a recrawl.toml and an empty store.",
    "add": "Add pages: URLs, files of URLs, or - for standard input.",
    "run": "Fetch pages as they come due.",
    "status": "Show figures of the whole collection.",
    "plan": "Show how fresh the collection can be expected to be, by budget.",
    "due": "List the pages that are due.",
    "show": "Show all that is known of one page, and why it is due when it is.",
    "explain": "Explain what is known of one page and what a fetch of it is worth now.",
    "changes": "Print the change feed.",
    "force": "Fetch pages again now, whatever their schedule says.",
    "signal": "Tell that pages may have changed, as their site says.",
    "export": "Print all pages with all their columns.",
    "config": "Read settings files of Apache Nutch and StormCrawler.",
    "simulate": "Run one schedule on a world of changing pages and measure how fresh it is.",
    "compare": "Run several schedules on the same worlds and compare them.",
    "backtest": "Show what other schedules would have made of the pages of the store.",
    "demo": "Follow a small changing site on loopback and show what was learned.",
}

#: The user asked for something that cannot be; everything else that fails is exit code 1.
_MISUSED = (
    ConfigError, InputError, MissingExtra, NotAStore, NotFound, StoreFull, StoreVersionError,
)  # fmt: skip
_OUTPUT_CLOSED = 141


class _OutputClosed(Exception):
    """The reader of standard output went away."""


class _Commands(click.Group):
    """Finds a command by the name of its module."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; click would end it with exit code 1 where its reader went away."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _OutputClosed from error

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"recrawl.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the nearest command where there is none of the given name."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = difflib.get_close_matches(name, COMMANDS, n=1)
            hint = f"did you mean {near[0]}?" if near else "see recrawl --help"
            ctx.fail(f"No such command {name!r}; {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="recrawl")
def cli() -> None:
    """Keep a collection of web pages fresh with the fewest fetches.

    Start with: recrawl init, recrawl add https://example.org/, recrawl run.
    """


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 failed, 2 misused."""
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", level=logging.WARNING)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A character that the terminal's encoding lacks is shown as an escape.
            stream.reconfigure(errors="backslashreplace")
    try:
        code = cli.main(args=args, prog_name="recrawl", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except click.exceptions.Abort:
        code = 130
    except RecrawlError as error:
        click.echo(f"recrawl: {error}", err=True)
        code = 2 if isinstance(error, _MISUSED) else 1
    except _OutputClosed:
        _discard_output()
        code = _OUTPUT_CLOSED
    except OSError as error:
        _discard_output()
        click.echo(f"recrawl: {error.strerror or error}: {error.filename or 'output'}", err=True)
        code = 1
    sys.exit(code if isinstance(code, int) else 0)


def _discard_output() -> None:
    """Let what is still to be written go nowhere, quietly: its reader went away or is full."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
