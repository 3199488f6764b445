"""What visits teach of pages, hosts and groups: loaded with a batch, written with its visits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from recrawl.core.columns import NO_TIME
from recrawl.core.states import PageStates
from recrawl.core.visit import Observation, Visits
from recrawl.estimation.bulk_edits import FIRST_RATES, BulkEdits, EditTotals
from recrawl.estimation.gamma_poisson import ChangeRate
from recrawl.estimation.prior import HostPrior
from recrawl.estimation.signals import HostSignals
from recrawl.planning.knowledge import FIRST_PRIOR, Knowledge, fit_prior
from recrawl.planning.records import (
    pack_groups,
    pack_hosts,
    pack_signals,
    signals_key,
    unpack_groups,
    unpack_hosts,
    unpack_signals,
)
from recrawl.planning.survey import GroupSizes, Survey
from recrawl.ports.store import PageStore

__all__ = ["Learned", "Lesson", "Surveyed"]

_SURVEY = "survey"
#: Rows read at once in a pass over all pages. The loop of the crawler goes on in between.
_CHUNK = 10_000


@dataclass(frozen=True, slots=True)
class Surveyed:
    """What the last survey of all pages found, for hosts and groups that have no record.

    Parameters
    ----------
    at : int
        When it was made; NO_TIME for never. [ms]
    n_pages : int
        Pages that are to be fetched again.
    shape, exposure : float
        Prior of the change rate of a page of any host. [1], [s]
    edits : list of float
        Bulk edits of each extent of any group. [1/s]
    """

    at: int = NO_TIME
    n_pages: int = 0
    shape: float = float(FIRST_PRIOR.overall.shape[0])
    exposure: float = float(FIRST_PRIOR.overall.exposure[0])
    edits: list[float] = field(default_factory=FIRST_RATES.tolist)

    @property
    def prior(self) -> ChangeRate:
        """The prior of hosts that have none of their own."""
        return ChangeRate(np.array([self.shape]), np.array([self.exposure]))


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a batch of visits taught.

    Parameters
    ----------
    records : dict of int to bytes
        What is known of groups and of signals now, by key.
    changed : list of int
        Groups of which a page was seen to change.
    """

    records: dict[int, bytes]
    changed: list[int]


class Learned:
    """What is known, in a store.

    Parameters
    ----------
    store : PageStore
        The store.
    """

    def __init__(self, store: PageStore) -> None:
        self._store = store
        self.reload()

    def reload(self) -> None:
        """Read the last survey, which another process may have made."""
        text = self._store.get_meta(_SURVEY)
        self.surveyed = Surveyed() if text is None else Surveyed(**json.loads(text))

    def knowledge(
        self, states: PageStates, now: int, *, newer: Mapping[int, bytes] | None = None
    ) -> Knowledge:
        """Return what is known of some pages, their hosts and their groups by ``now`` [ms].

        ``newer`` are records that are not written yet.
        """
        hosts = np.unique(states.host_key)
        keys = np.concatenate([hosts, signals_key(hosts), np.unique(states.group_key)])
        records = {**self._store.learned(keys.tolist()), **(newer or {})}
        bulk = unpack_groups(records, now, np.array(self.surveyed.edits))
        prior = unpack_hosts(records, self.surveyed.prior)
        return Knowledge(prior, bulk.select(states.group_key, now), unpack_signals(records))

    def absorb(self, knowledge: Knowledge, visited: Sequence[tuple[PageStates, Visits]]) -> Lesson:
        """Learn of groups what visits teach.

        Parameters
        ----------
        knowledge : Knowledge
            Of the pages visited, before.
        visited : sequence of (PageStates, Visits)
            Pages before their visits, and the visits as observed.
        """
        changed: set[int] = set()
        for before, visits in visited:
            knowledge.absorb(before, visits)
            is_changed = visits.observation == Observation.CHANGED
            changed.update(before.group_key[is_changed].tolist())
        records = {**pack_groups(knowledge.bulk), **pack_signals(knowledge.signals)}
        return Lesson(records, sorted(changed))

    def hear(self, states: PageStates, now: int) -> Knowledge:
        """Take note that signals of some pages came, and return what is known of these now."""
        knowledge = self.knowledge(states, now)
        knowledge.hear(states, now)
        self._store.save_learned(pack_signals(knowledge.signals))
        return knowledge

    async def survey(self, now: int) -> Survey:
        """Look at all pages, write what that says of hosts and groups, and return the sums."""
        before, edits = await self._everything(now)
        survey = await self._look(before, now)
        prior = fit_prior(survey.rates)
        for start in range(0, len(prior.host_key), _CHUNK):
            self._store.save_learned(pack_hosts(prior.take(slice(start, start + _CHUNK))))
        self._save_sizes(survey.sizes, before.bulk, now)
        self.surveyed = Surveyed(
            now,
            survey.n_pages,
            float(prior.overall.shape[0]),
            float(prior.overall.exposure[0]),
            edits.rates.tolist(),
        )
        self._store.set_meta(_SURVEY, json.dumps(asdict(self.surveyed)))
        return survey

    async def look(self, now: int) -> Survey:
        """Look at all pages and return the sums; nothing is written."""
        before, _ = await self._everything(now)
        return await self._look(before, now)

    async def _look(self, before: Knowledge, now: int) -> Survey:
        survey, after = Survey.nothing(), None
        while len(states := self._store.scan_planned(after=after, limit=_CHUNK)):
            after = int(states.page_key[-1])
            bulk = before.bulk.select(states.group_key, now)
            knowledge = Knowledge(before.prior, bulk, before.signals)
            survey += Survey.of(states, knowledge)
            await asyncio.sleep(0)
        return survey

    async def _everything(self, now: int) -> tuple[Knowledge, EditTotals]:
        """Return what is known of all hosts and groups, but for when the groups were edited."""
        overall, none = np.array(self.surveyed.edits), np.empty(0, dtype=np.int64)
        edits = EditTotals(np.zeros(len(overall)), 0.0)
        hosts = [unpack_hosts({}, self.surveyed.prior)]
        signals = [unpack_signals({})]
        groups = [BulkEdits.of(none, none, now, overall).without_spans()]
        after: int | None = None
        while records := self._store.scan_learned(after=after, limit=_CHUNK):
            after = max(records)
            bulk = unpack_groups(records, now, overall)
            edits += bulk.totals(now)
            groups.append(bulk.without_spans())
            hosts.append(unpack_hosts(records, self.surveyed.prior))
            signals.append(unpack_signals(records))
            await asyncio.sleep(0)
        knowledge = Knowledge(
            HostPrior.concatenate(hosts),
            BulkEdits.concatenate(groups),
            HostSignals.concatenate(signals),
        )
        return knowledge, edits

    def _save_sizes(self, sizes: GroupSizes, known: BulkEdits, now: int) -> None:
        """Write the groups that are new or have another number of pages."""
        is_known = np.isin(sizes.group_key, known.group_key)
        there = np.ones(len(sizes.group_key), dtype=np.int64)
        there[is_known] = known.n_pages[known.rows(sizes.group_key[is_known])]
        differs = sizes.n_pages != there
        keys, n_pages = sizes.group_key[differs], sizes.n_pages[differs]
        overall = np.array(self.surveyed.edits)
        for start in range(0, len(keys), _CHUNK):
            part = slice(start, start + _CHUNK)
            bulk = unpack_groups(self._store.learned(keys[part].tolist()), now, overall)
            grown = bulk.with_groups(keys[part], n_pages[part], now)
            self._store.save_learned(pack_groups(grown))
