"""The learned schedule in a crawl: who is fetched, what it may cost, who moves."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recrawl.app.learned import Learned, Lesson
from recrawl.app.policy import PagePolicy, PolicyOf
from recrawl.app.price import Price, PriceTag
from recrawl.core.budget import Budget
from recrawl.core.columns import MOST_SIGNALS, NEVER, NO_TIME
from recrawl.core.states import PageStates, Seconds, Times
from recrawl.core.timing import Schedule
from recrawl.core.visit import Visits
from recrawl.planning.forecast import Forecast, forecast
from recrawl.planning.knowledge import Knowledge
from recrawl.planning.market import appraise, follow, moved
from recrawl.planning.records import group_size
from recrawl.ports.store import Move, PageRow, PageStore
from recrawl.schedules.optimal import Optimal

__all__ = ["Plan", "Worth"]

#: All pages are looked at this often, and after a round of them, but not more often. [ms]
_SURVEY_EVERY, _SURVEY_LEAST = 86_400_000, 3_600_000
#: A price that falls below this part of itself lets pages come earlier that have their turn.
_MUCH_LESS = 0.8
_CHUNK = 10_000
#: How many due pages are asked for each that may be fetched, and how many at least.
_CANDIDATES, _LEAST_CANDIDATES = 8, 32
#: How often in a row the queue is asked while all that it gives is worth less than a fetch.
_ROUNDS = 16
#: Siblings asked again for each visit that saw a change, on average: groups of more pages are
#: asked after several changes.
_ASKED_A_CHANGE = 2000
#: Where no page may come yet, none is asked for at least so long. [ms]
_LEAST_PAUSE = 1000


@dataclass(frozen=True, slots=True)
class Worth:
    """What a fetch of one page is worth.

    Parameters
    ----------
    value : float
        Importance times stale time that it saves. [s]
    price : float
        What it must be worth; 0 where no crawl has found that yet. [s]
    due_at : int
        When it will be worth that. [ms]
    """

    value: float
    price: float
    due_at: int


class Plan:
    """Decides which due pages are fetched, and lets others move when a sibling changed.

    Pages whose policy has another schedule are fetched when they are due, and count like others.

    Parameters
    ----------
    store : PageStore
        What is known, the price and the budget are kept in it, so that several crawlers share
        them and a restart goes on.
    schedule : Optimal
        Its settings.
    policy_of : callable
        Gives the policy of a page by its URL.
    budget : Budget, optional
        What may be fetched; without one the schedule's target decides.
    """

    def __init__(
        self,
        store: PageStore,
        schedule: Optimal,
        *,
        policy_of: PolicyOf,
        budget: Budget | None = None,
    ) -> None:
        self._store = store
        self._schedule = schedule
        self._policy_of = policy_of
        self.learned = Learned(store)
        self._tag = PriceTag(store, schedule, self.learned, budget)
        self._credit: dict[int, int] = {}
        self._n_leased = 0
        #: No page may come before it is due until then. [ms]
        self._ahead_from = NO_TIME

    def wants_survey(self, now: int) -> bool:
        """Return whether all pages are to be looked at: daily, and after a round of them."""
        if self._is_old(now):
            # Another crawler of the store may have looked at them.
            self.learned.reload()
        return self._is_old(now) or self._tag.at(now).made_for != self._tag.made_for

    def _is_old(self, now: int) -> bool:
        """Return whether the last survey known here is too old."""
        surveyed = self.learned.surveyed
        is_round = self._n_leased > surveyed.n_pages
        return not 0 <= now - surveyed.at < (_SURVEY_LEAST if is_round else _SURVEY_EVERY)

    async def survey(self, now: int) -> None:
        """Look at all pages, and find a price; if it fell by much, pages come forward."""
        survey = await self.learned.survey(now)
        self._n_leased = 0
        before = self._tag.at(now).price
        self._tag.change(now, lambda price: self._tag.after_survey(price, survey))
        if self._tag.at(now).price < _MUCH_LESS * before:
            await self._ask_all(now)

    async def _ask_all(self, now: int) -> None:
        """Let every page be due earlier that is worth it at a price that fell."""
        after: int | None = None
        while pages := self._store.scan(after=after, limit=_CHUNK):
            after = pages[-1].state.page_key
            states = PageStates.from_rows([page.state for page in pages])
            _, due, _ = self._appraise(pages, states, now)
            earlier = np.flatnonzero(moved(states, due) & (due < states.next_fetch_at))
            moves = [Move(int(states.page_key[k]), int(due[k])) for k in earlier]
            self._store.release("", [], moves)
            await asyncio.sleep(0)

    async def outlook(self, now: int, wanted: Sequence[float] = ()) -> tuple[int, list[Forecast]]:
        """Return the number of pages, and what is to be expected of this plan and of others.

        Others are parts and multiples of its budget, and the budgets for a wanted freshness.
        Nothing is written.

        Parameters
        ----------
        now : int
            The present. [ms]
        wanted : sequence of float
            Freshnesses, each above 0 and below 1.
        """
        survey = await self.learned.look(now)
        if not survey.n_pages:
            return 0, []
        factor, budget = self._tag.at(now).calibration.factor, self._tag.budget_of(survey.n_pages)
        rate = None if budget is None else budget.rate
        return survey.n_pages, forecast(self._schedule, survey, rate, factor, wanted)

    def schedule_of(self, policy: PagePolicy, knowledge: Knowledge, now: int) -> Schedule:
        """Return the schedule of a policy; if it is the learned one, with what is known now."""
        if not isinstance(policy.schedule, Optimal):
            return policy.schedule
        price = self._tag.at(now)
        longest = max(policy.schedule.max_interval, price.longest)
        return replace(
            policy.schedule, price=price.price, max_interval=longest, knowledge=knowledge
        )

    def worth(self, page: PageRow, now: int) -> Worth | None:
        """Return what a fetch of a page is worth at ``now`` [ms]; None under another schedule."""
        states = PageStates.from_rows([page.state])
        knowledge = self.learned.knowledge(states, now)
        schedule = self.schedule_of(self._policy_of(page.url), knowledge, now)
        if not isinstance(schedule, Optimal):
            return None
        changes, outlook = knowledge.belief(states, now)
        value = schedule.value(states, changes, outlook)
        due = schedule.due(states, changes, outlook, now)
        return Worth(float(value[0]), schedule.price, int(due[0]))

    def hear(self, pages: Sequence[PageRow], now: int) -> list[Move]:
        """Take note of signals that pages changed, and return those that come forward.

        A page comes forward only as far as signals of its host have proved to be worth.
        """
        if not pages:
            return []
        heard = [
            replace(p.state, n_signals=min(p.state.n_signals + 1, MOST_SIGNALS)) for p in pages
        ]
        states = PageStates.from_rows(heard)
        self.learned.hear(states, now)
        _, due, _ = self._appraise(pages, states, now)
        sooner = np.flatnonzero(due < states.next_fetch_at)
        moves = [Move(int(states.page_key[k]), int(due[k])) for k in sooner]
        self._store.add_signals(states.page_key.tolist(), moves)
        return moves

    def lease(
        self,
        owner: str,
        now: int,
        *,
        ttl: float,
        limit: int,
        per_host: int,
        due_by: int | None = None,
    ) -> list[PageRow]:
        """Take pages that are worth a fetch, as ``PageStore.lease`` takes those that are due.

        With a budget to spare and nothing due, those that are due next are taken.
        """
        spending, budget = self._tag.at(now).spending, self._tag.budget
        n, chosen = limit if budget is None else min(limit, spending.allowed), list[PageRow]()

        def take(most: int, by: int | None) -> list[PageRow]:
            size = min(limit, max(_CANDIDATES * most, _LEAST_CANDIDATES))
            return self._store.lease(owner, now, ttl=ttl, limit=size, per_host=per_host, due_by=by)

        for _ in range(_ROUNDS):
            left = n - len(chosen)
            pages = take(left, due_by) if left > 0 else []
            if not pages:
                break
            taken = self._choose(owner, pages, now, left)
            chosen += taken
            if len(taken) == len(pages):
                break  # none was given back, in whose place another could come
        n_ahead = 0 if budget is None else min(spending.ahead(budget), n) - len(chosen)
        if due_by is None and n_ahead > 0 and (pages := take(n_ahead, NEVER - 1)):
            chosen += self._choose(owner, pages, now, n_ahead, is_ahead=True)
        return chosen

    def _choose(
        self, owner: str, pages: list[PageRow], now: int, n: int, *, is_ahead: bool = False
    ) -> list[PageRow]:
        """Return at most n of the leased pages, those worth most; the rest is given back."""
        states = PageStates.from_rows([page.state for page in pages])
        value, due, soonest = self._appraise(pages, states, now)
        order = np.argsort(-value, kind="stable")
        # Before they are due, pages are worth less than the price, but not nothing.
        is_open = value[order] > 0 if is_ahead else due[order] <= now
        best = order[is_open][:n]
        is_bound = bool(is_open.sum() > n)
        rest = np.setdiff1d(np.arange(len(pages)), best)
        if is_ahead and not best.size:
            self._ahead_from = max(int(soonest.min()), now + _LEAST_PAUSE)
        keys = [pages[k].state.page_key for k in rest]
        moves = [Move(int(states.page_key[k]), int(due[k])) for k in rest if due[k] > now]
        if keys:
            self._store.release(owner, keys, moves)
        self._n_leased += len(best)
        last = float(value[best[-1]]) if len(best) and (is_ahead or is_bound) else 0.0
        self._tag.change(now, lambda price: self._spent(price, len(best), last))
        return [pages[k] for k in best]

    def _appraise(
        self, pages: Sequence[PageRow], states: PageStates, now: int
    ) -> tuple[Seconds, Times, Times]:
        """Return what the pages are worth, when they are due, and from when on they may come.

        Pages of other schedules come when they are due, and not before; no page comes before its
        least interval has passed.
        """
        value, due = np.full(len(pages), np.inf), states.next_fetch_at.copy()
        value[due > now] = 0.0
        soonest = due.copy()
        knowledge = self.learned.knowledge(states, now)
        for policy, rows in _by_policy(pages, self._policy_of):
            schedule = self.schedule_of(policy, knowledge, now)
            if not isinstance(schedule, Optimal):
                continue
            some = states.take(rows)
            found = appraise(schedule, knowledge, some, now)
            open_at = np.where(schedule.is_set(some), found.due, _soonest(some, policy))
            due[rows] = np.maximum(found.due, open_at)
            value[rows] = np.where(open_at > now, 0.0, found.value)
            soonest[rows] = open_at
        return value, due, soonest

    def _spent(self, price: Price, n: int, last: float) -> Price:
        """Return the price after n fetches, of which the last was worth so much."""
        budget = self._tag.budget
        if budget is None:
            return price
        share = n / max(self.learned.surveyed.n_pages, 1)
        followed = follow(replace(self._schedule, price=price.price), last, share)
        return replace(price, price=followed.price, spending=price.spending.spend(n, budget))

    def refund(self, n: int, now: int) -> None:
        """Give back the budget of n pages that were not fetched after all."""
        self._tag.change(now, lambda price: self._spent(price, -n, 0.0))

    def is_spent(self, now: int) -> bool:
        """Return whether the budget allows no fetch at ``now`` [ms]."""
        return self._tag.budget is not None and not self._tag.at(now).spending.allowed

    def next_due(self, now: int, *, due_by: int | None = None) -> int:
        """Return when ``lease`` could give a page, as ``PageStore.next_due``.

        NEVER where the budget is spent and only pages due by an instant are wanted.
        """
        at, budget = self._store.next_due(now, due_by=due_by), self._tag.budget
        if at == NEVER or budget is None:
            return at
        spending = self._tag.at(now).spending
        if due_by is not None:
            return at if spending.allowed else NEVER
        ahead = max(spending.next_ahead_at(budget), self._ahead_from)
        return min(max(at, spending.next_at(budget)), ahead)

    def calibrate(
        self, knowledge: Knowledge, visited: Sequence[tuple[PageStates, Visits]], now: int
    ) -> None:
        """Compare what visits found with what was expected."""

        def changed(price: Price) -> Price:
            calibration = price.calibration
            for before, visits in visited:
                calibration = knowledge.calibrated(calibration, before, visits)
            return replace(price, calibration=calibration)

        self._tag.change(now, changed)

    def moves(
        self, lesson: Lesson, policies: Mapping[int, PagePolicy], now: int, *, visited: set[int]
    ) -> list[Move]:
        """Return whose turn moves as a sibling was seen to change.

        Parameters
        ----------
        lesson : Lesson
            What the visits taught.
        policies : mapping of int to PagePolicy
            Policy of a page of each group, by the key of the group.
        now : int
            The present. [ms]
        visited : set of int
            Keys of pages that were just visited and stay where they are.
        """
        wanted = [key for key in lesson.changed if self._may_ask(key, lesson)]
        if not wanted:
            return []
        states = self._store.grouped(wanted)
        knowledge = self.learned.knowledge(states, now, newer=lesson.records)
        moves: list[Move] = []
        for key in wanted:
            schedule = self.schedule_of(policies[key], knowledge, now)
            if not isinstance(schedule, Optimal):
                continue
            pages = states.take(states.group_key == key)
            due = appraise(schedule, knowledge, pages, now).due
            due = np.maximum(due, _soonest(pages, policies[key]))
            chosen = np.flatnonzero(moved(pages, due) & (pages.next_fetch_at > now))
            moves += [Move(int(pages.page_key[k]), int(due[k])) for k in chosen]
        return [move for move in moves if move.page_key not in visited]

    def _may_ask(self, key: int, lesson: Lesson) -> bool:
        """Return whether the pages of a group are asked after this change, or a later one."""
        n_pages = group_size(lesson.records.get(key, b""))
        if n_pages <= _ASKED_A_CHANGE:
            return n_pages > 1
        credit = self._credit.get(key, n_pages) + _ASKED_A_CHANGE
        is_asked = n_pages <= credit
        self._credit[key] = 0 if is_asked else credit
        return is_asked


def _by_policy(
    pages: Sequence[PageRow], policy_of: PolicyOf
) -> Iterator[tuple[PagePolicy, NDArray[np.int64]]]:
    """Yield each policy with the rows of its pages."""
    rows: dict[int, list[int]] = {}
    policies = [policy_of(page.url) for page in pages]
    for k, policy in enumerate(policies):
        rows.setdefault(id(policy), []).append(k)
    for found in rows.values():
        yield policies[found[0]], np.array(found)


def _soonest(states: PageStates, policy: PagePolicy) -> Times:
    """Return when the least interval of each page has passed; new pages may come at once."""
    least = round(float(policy.bounds.min_interval) * 1000)
    was_there = states.fetched_at != NO_TIME
    soonest: Times = np.where(was_there, states.fetched_at + least, states.next_fetch_at)
    return soonest
