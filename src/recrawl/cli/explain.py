"""``recrawl explain``."""

from __future__ import annotations

import click

from recrawl.app.explain import what_is_known, why_due
from recrawl.app.pages import look_up
from recrawl.cli.options import format_option, opened, settings_options
from recrawl.cli.output import Format, Value, print_rows
from recrawl.cli.rows import visit_row
from recrawl.clocks import SystemClock
from recrawl.config import Config
from recrawl.core.states import PageStates
from recrawl.core.url import host_of
from recrawl.wiring import learned_plan, make_policies

__all__ = ["command"]

_SHOWN_VISIT_FIELDS = ("fetched_at", "outcome", "observation", "reason")


@click.command("explain")
@settings_options
@click.argument("url")
@click.option(
    "--visits", "n_visits", type=click.IntRange(0), default=5, show_default=True,
    help="How many of the last visits.",
)  # fmt: skip
@format_option
def command(config: Config, url: str, n_visits: int, form: Format) -> None:
    """Explain what is known of one page: how often it changes, what a fetch is worth, why it waits.

    Sentences for people; jsonl and csv have the same sentences in one row.
    """
    now = SystemClock().now()
    policy_of = make_policies(config)
    with opened(config) as store:
        page, visits, host = look_up(store, url)
        plan = learned_plan(config, store, policy_of)
        knowledge = plan.learned.knowledge(PageStates.from_rows([page.state]), now)
        known = what_is_known(page, knowledge, plan.worth(page, now), now=now)
    why = [
        *why_due(page, visits, host, policy_of(page.url), now=now),
        *_rules(config, page.url),
    ]
    shown = [visit_row(visit) for visit in visits[:n_visits]]
    if form is not Format.TABLE:
        row: dict[str, Value] = {"url": page.url, "known": known, "why": why, "visits": shown}
        print_rows([row], list(row), form)
        return
    for title, sentences in (("What is known", known), ("Why it is due when it is", why)):
        click.echo(title)
        for sentence in sentences:
            click.echo(f"  {sentence}")
        click.echo()
    click.echo(f"Last visits ({len(shown)} of {len(visits)} kept)")
    print_rows(shown, _SHOWN_VISIT_FIELDS, form, empty="  none")


def _rules(config: Config, url: str) -> list[str]:
    """Return which rules of the settings a page has."""
    matching = config.rule_set().matching(url, host_of(url))
    if not config.rules:
        return []
    if not matching:
        return ["No rule of the settings matches it."]
    numbers = ", ".join(str(index + 1) for index in matching)
    return [f"Of the rules in the settings it has number {numbers}."]
