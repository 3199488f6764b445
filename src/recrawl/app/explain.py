"""Why a page is due when it is, in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from recrawl.app.crash import CRASH_PREFIX
from recrawl.app.plan import Worth
from recrawl.app.policy import PagePolicy
from recrawl.core.columns import NEVER, NO_SCHEME, NO_TIME
from recrawl.core.duration import format_duration
from recrawl.core.group import group_of
from recrawl.core.states import PageStates, PageStatus
from recrawl.core.visit import Observation, Outcome
from recrawl.estimation.false_change import is_noise
from recrawl.estimation.gamma_poisson import credible_interval
from recrawl.planning.knowledge import Knowledge
from recrawl.ports.store import HostRow, PageRow, VisitRow

__all__ = ["what_is_known", "why_due"]

#: Slower than once in a hundred thousand years is never. [1/s]
_NEVER = 3e-13
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


def what_is_known(
    page: PageRow, knowledge: Knowledge, worth: Worth | None, *, now: int
) -> list[str]:
    """Return what is known of how a page changes and what a fetch of it is worth, in sentences.

    Parameters
    ----------
    page : PageRow
        The page.
    knowledge : Knowledge
        What is known of it, its host and its group.
    worth : Worth or None
        What the learned schedule makes of that; None if the page has another schedule.
    now : int
        Present instant. [ms]
    """
    states = PageStates.from_rows([page.state])
    own, prior = knowledge.own(states), knowledge.prior.of(states.host_key)
    low, high = credible_interval(own)
    said = [
        (
            f"By itself it is taken to change {_often(float(own.mean[0]))}; 95 % sure between"
            f" {_often(float(low[0]))} and {_often(float(high[0]))}."
        ),
        f"A new page of its host is taken to change {_often(float(prior.mean[0]))}.",
        *_from_group(page, knowledge, states),
        *_from_signals(page),
    ]
    if page.state.checked_at == NO_TIME:
        said.append("Its content was never seen.")
    else:
        changes, _ = knowledge.belief(states, now)
        since = format_duration((now - page.state.checked_at) / 1000)
        said.append(
            f"Its copy is {since} old and right with a probability of {np.exp(-changes[0]):.0%}."
        )
    return said + _from_worth(page, worth, now)


def _often(rate: float) -> str:
    return f"once in {format_duration(1 / rate)}" if rate > _NEVER else "never"


def _from_group(page: PageRow, knowledge: Knowledge, states: PageStates) -> list[str]:
    row = knowledge.bulk.rows(states.group_key)
    n_pages = int(knowledge.bulk.n_pages[row[0]])
    if n_pages < 2:
        return []
    hazard = float((knowledge.change_rate(states) - knowledge.own(states).mean)[0])
    return [
        (
            f"Edits of its group, the {n_pages} pages of {group_of(page.url)}, change it"
            f" {_often(hazard)}."
        )
    ]


def _from_signals(page: PageRow) -> list[str]:
    state = page.state
    said = []
    if state.n_signals:
        signals = "1 signal" if state.n_signals == 1 else f"{state.n_signals} signals"
        said.append(f"{signals} of a change came since its last visit.")
    if is_noise(np.array([state.surprise]))[0]:
        said.append(
            "Its every fetch differs, so that a difference is taken to say nothing: it is"
            " fetched as a new page of its host. A signature that leaves the noise out would help."
        )
    return said


def _from_worth(page: PageRow, worth: Worth | None, now: int) -> list[str]:
    if worth is None:
        return []
    if worth.price == 0:
        return ["No crawl with the schedule optimal has found yet what a fetch must be worth."]
    value, price = format_duration(worth.value), format_duration(worth.price)
    said = f"A fetch now is worth {value} of stale time; it must be worth {price}"
    weight = f" at importance {page.state.importance:g}" if page.state.importance != 1 else ""
    if worth.due_at == NEVER:
        return [f"{said}{weight}."]
    wait = (worth.due_at - now) / 1000
    when = f"which it will be in {format_duration(wait)}" if wait > 0 else "so it is worth it now"
    return [f"{said}{weight}, {when}."]


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
    jitter = float(policy.bounds.jitter)
    spread = f"; up to {jitter:.0%} of it is jitter" if jitter else ""
    reasons.append(
        f"No wait is shorter than {format_duration(least)} or longer than "
        f"{format_duration(most)}{spread}."
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
