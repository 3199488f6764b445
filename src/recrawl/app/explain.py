"""Why a page is due when it is, in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence

from recrawl.app.crash import CRASH_PREFIX
from recrawl.app.policy import PagePolicy
from recrawl.core.columns import NEVER, NO_SCHEME, NO_TIME
from recrawl.core.duration import format_duration
from recrawl.core.states import PageStatus
from recrawl.core.visit import Observation, Outcome
from recrawl.ports.store import HostRow, PageRow, VisitRow

__all__ = ["why_due"]

_SAW = {
    Observation.CHANGED: "saw a change",
    Observation.UNCHANGED: "saw no change",
    Observation.UNKNOWN: "could not tell whether the page changed",
}


def why_due(
    page: PageRow,
    visits: Sequence[VisitRow],
    host: HostRow | None,
    policy: PagePolicy,
    *,
    now: int,
) -> list[str]:
    """Return why the page is due when it is, a sentence a reason.

    Parameters
    ----------
    page : PageRow
        The page.
    visits : sequence of VisitRow
        Its kept visits, newest first.
    host : HostRow or None
        Its host.
    policy : PagePolicy
        What the settings say about it.
    now : int
        Present instant. [ms]
    """
    reasons = [_when(page, now), *_from_last_visit(page, visits)]
    reasons += _from_schedule(page, policy)
    reasons += _from_host(host, now)
    if page.state.signature_scheme not in (NO_SCHEME, policy.scheme):
        reasons.append(
            "The signature settings changed since the last good fetch: the next fetch is "
            "unconditional and sets a new baseline without an event."
        )
    return reasons


def _when(page: PageRow, now: int) -> str:
    due = page.state.next_fetch_at
    if due == NEVER:
        return "It is not fetched again: nothing is due."
    wait = (due - now) / 1000
    if wait > 0:
        return f"It is due in {format_duration(wait)}."
    return f"It is due now, since {format_duration(-wait)}."


def _from_last_visit(page: PageRow, visits: Sequence[VisitRow]) -> list[str]:
    state = page.state
    if state.fetched_at == NO_TIME:
        return ["It was never fetched: new pages are due at once."]
    if not visits:
        return []
    last = visits[0]
    outcome = Outcome(last.outcome)
    reason = f" ({last.reason})" if last.reason else ""
    sentence = f"The last visit was {outcome.name.lower()}{reason}"
    if outcome in (Outcome.SUCCESS, Outcome.NOTMODIFIED):
        sentence += f" and {_SAW[Observation(last.observation)]}"
    reasons = [sentence + "."]
    if last.reason.startswith(CRASH_PREFIX):
        reasons.append("A fault of recrawl ended it: the log has it, and nothing else was changed.")
    elif outcome is Outcome.RETRY:
        sentence = f"It was failure number {state.retries} in a row"
        if state.status == PageStatus.GONE:
            sentence += ", so the page counts as gone"
        reasons.append(f"{sentence}.")
    return reasons


def _from_schedule(page: PageRow, policy: PagePolicy) -> list[str]:
    name = getattr(policy.schedule, "name", type(policy.schedule).__name__)
    fixed = page.state.fixed_interval
    if math.isnan(fixed):
        fixed = policy.fixed_interval
    if not math.isnan(fixed):
        return [f"Its interval is fixed at {format_duration(fixed)}; no schedule moves it."]
    reasons = []
    if not math.isnan(page.state.interval):
        reasons.append(
            f"Schedule {name} set its interval to {format_duration(page.state.interval)}."
        )
    least, most = float(policy.bounds.min_interval), float(policy.bounds.max_interval)
    reasons.append(
        f"No wait is shorter than {format_duration(least)} or longer than "
        f"{format_duration(most)}; up to {float(policy.bounds.jitter):.0%} of it is jitter."
    )
    return reasons


def _from_host(host: HostRow | None, now: int) -> list[str]:
    if host is None:
        return []
    reasons = []
    if host.ready_at > now:
        reasons.append(
            f"Its host {host.host} may not be asked for another "
            f"{format_duration((host.ready_at - now) / 1000)}."
        )
    if host.n_errors:
        reasons.append(f"Its host failed {host.n_errors} times in a row.")
    if host.crawl_delay is not None:
        reasons.append(f"robots.txt asks for {format_duration(host.crawl_delay)} between requests.")
    return reasons
