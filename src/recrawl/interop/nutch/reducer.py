"""The update of a CrawlDb: many records of a page in, one out.

Here is only what Nutch's CrawlDbReducer does around the update itself: which records count, and
what becomes of metadata.  The update is ``core.update.advance``, called once for a whole batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from recrawl.core.columns import NO_SCHEME, NO_TIME, SIGNATURE_BYTES
from recrawl.core.states import PageState, PageStates, PageStatus
from recrawl.core.timing import Schedule
from recrawl.core.update import UpdateRule, advance
from recrawl.core.visit import Outcome, Visits, is_usable
from recrawl.errors import InputError
from recrawl.interop.nutch.datum import (
    OUTCOMES,
    CrawlDatum,
    DatumStatus,
    fixed_interval_of,
    is_db,
    is_fetch,
)
from recrawl.interop.nutch.inlinks import choose_inlinks

__all__ = ["Reduced", "Reducer"]

_GENERATE_TIME = "_ngt_"
_SCHEME = NO_SCHEME + 1


@dataclass(frozen=True, slots=True)
class Reduced:
    """What became of the records of one page.

    Parameters
    ----------
    written : CrawlDatum or None
        The record to write.
    error : InputError or None
        Why the records could not be used; then nothing is written.
    is_initial, is_orphaned, is_updated : bool
        Which scoring steps apply: the page is new, nothing links to it, it was updated.
    inlink_scores : tuple of float or None
        Scores of the links for the update of the page's score, in their order.
    """

    written: CrawlDatum | None = None
    error: InputError | None = None
    is_initial: bool = False
    is_orphaned: bool = False
    is_updated: bool = False
    inlink_scores: tuple[float, ...] | None = None


@dataclass(slots=True)
class _Records:
    """The records of one page that count."""

    url: str
    old: CrawlDatum | None = None
    fetch: CrawlDatum | None = None
    signature: bytes | None = None
    parsed: dict[str, object] = field(default_factory=dict)
    links: list[CrawlDatum] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Reducer:
    """Reduces the records of pages to one each, as Nutch's CrawlDbReducer does.

    Parameters
    ----------
    schedule : Schedule
        A schedule in exact mode.
    rule : UpdateRule
        Settings of the update, in exact mode.
    additions_allowed : bool
        Write pages that were not there before.
    max_inlinks : int
        Links to a page that are looked at; see ``choose_inlinks``.

    Raises
    ------
    InputError
        If the rule is not exact.
    """

    schedule: Schedule
    rule: UpdateRule
    additions_allowed: bool = True
    max_inlinks: int = 10_000

    def __post_init__(self) -> None:
        if not self.rule.exact:
            raise InputError("reducing records of Nutch needs UpdateRule(exact=True)")

    def reduce(self, pages: Iterable[tuple[str, Sequence[CrawlDatum]]], now: int) -> list[Reduced]:
        """Return what becomes of each page, in the order given.

        Parameters
        ----------
        pages : iterable of (str, sequence of CrawlDatum)
            URL and records of each page, the records in the order they arrive.
        now : int
            When pages that were just found are due. [ms]
        """
        records = [self._collect(url, values) for url, values in pages]
        reduced: list[Reduced | None] = [self._settle_early(page, now) for page in records]
        open_rows = [i for i, done in enumerate(reduced) if done is None]
        for i, done in zip(open_rows, self._update([records[i] for i in open_rows]), strict=True):
            reduced[i] = done
        return [done for done in reduced if done is not None]

    def _collect(self, url: str, values: Sequence[CrawlDatum]) -> _Records:
        """Pick the records that count: the latest page and fetch, the last of the others."""
        found = _Records(url)
        links = []
        for datum in values:
            if is_db(datum.status):
                found.old = _latest(found.old, datum)
            elif is_fetch(datum.status):
                found.fetch = _latest(found.fetch, datum)
            elif datum.status == DatumStatus.LINKED:
                links.append(datum)
            elif datum.status == DatumStatus.SIGNATURE:
                found.signature = datum.signature
            elif datum.status == DatumStatus.PARSE_META:
                found.parsed = dict(datum.metadata)
        found.links = choose_inlinks(links, self.max_inlinks)
        return found

    def _settle_early(self, page: _Records, now: int) -> Reduced | None:
        """Return what becomes of a page without a usable fetch; None for all others."""
        if page.old is None and not self.additions_allowed:
            return Reduced()
        if page.fetch is not None:
            return self._refuse(page)
        scores = tuple(link.score for link in page.links)
        if page.old is not None:
            if not page.links:
                return Reduced(page.old, is_orphaned=True)
            return Reduced(_without_mark(page.old), is_updated=True, inlink_scores=scores)
        if not page.links:
            return Reduced()
        timing = self.schedule.first(PageStates.of(1), now)
        new = replace(
            page.links[0],
            status=int(PageStatus.UNFETCHED),
            fetch_time=int(timing.next_fetch_at[0]),
            interval=int(timing.interval[0]),
            retries=0,
        )
        return Reduced(_without_mark(new), is_initial=True, is_updated=True, inlink_scores=scores)

    def _refuse(self, page: _Records) -> Reduced | None:
        """Return an error for a fetch of unknown kind, or metadata of the wrong type."""
        assert page.fetch is not None
        if page.fetch.status not in OUTCOMES:
            status = page.fetch.status
            return Reduced(error=InputError(f"Unknown status: {status} {page.url}", value=status))
        try:
            fixed_interval_of(_metadata(page))
        except InputError as error:
            return Reduced(error=error)
        return None

    def _update(self, pages: list[_Records]) -> list[Reduced]:
        """Update pages that were fetched, all in one call."""
        pool = _SignaturePool()
        states = PageStates.from_rows([_state(page, pool) for page in pages])
        step = advance(states, _visits(pages, pool), schedule=self.schedule, rule=self.rule)
        return [
            Reduced(
                _written(page, state, pool),
                is_updated=True,
                inlink_scores=tuple(link.score for link in page.links),
            )
            for page, state in zip(pages, step.states.rows(), strict=True)
        ]


class _SignaturePool:
    """Signatures of any length as numbers: the kernel only asks whether two are equal."""

    def __init__(self) -> None:
        self._known: dict[bytes, int] = {}
        self._values: list[bytes] = []

    def put(self, signature: bytes | None) -> bytes:
        """Return the number of a signature, in the width of a signature."""
        if signature is None:
            return bytes(SIGNATURE_BYTES)
        if signature not in self._known:
            self._known[signature] = len(self._values)
            self._values.append(signature)
        return self._known[signature].to_bytes(SIGNATURE_BYTES, "little")

    def get(self, state: PageState) -> bytes | None:
        """Return the signature that a state stands for."""
        if state.signature_scheme == NO_SCHEME:
            return None
        return self._values[int.from_bytes(state.signature, "little")]


def _latest(kept: CrawlDatum | None, datum: CrawlDatum) -> CrawlDatum:
    """Return the one of the later fetch time, the first of equals."""
    return datum if kept is None or kept.fetch_time < datum.fetch_time else kept


def _outcome(page: _Records) -> Outcome:
    assert page.fetch is not None
    return OUTCOMES[page.fetch.status]


def _is_usable(page: _Records) -> bool:
    return bool(is_usable(np.array([_outcome(page)], dtype=np.int8))[0])


def _metadata(page: _Records) -> dict[str, object]:
    """Return the metadata of old and fetch, the fetch's first, and of the parse over both."""
    assert page.fetch is not None
    merged = dict(page.old.metadata) if page.old else {}
    merged |= page.fetch.metadata
    return merged | page.parsed if _is_usable(page) else merged


def _state(page: _Records, pool: _SignaturePool) -> PageState:
    """Return the page before the visit: interval and retries come with the fetch."""
    assert page.fetch is not None
    old, fetch = page.old, page.fetch
    modified = old.modified_time if old else 0
    signature = old.signature if old else None
    if not _is_usable(page) and not (modified > 0 and fetch.modified_time == 0):
        modified = fetch.modified_time
    if old is None and _outcome(page) is not Outcome.SUCCESS:
        signature = fetch.signature
    return replace(
        PageStates.of(1).row(0),
        interval=float(fetch.interval),
        fixed_interval=float(fixed_interval_of(_metadata(page))),
        retries=fetch.retries,
        modified_at=modified or NO_TIME,
        signature=pool.put(signature),
        signature_scheme=NO_SCHEME if signature is None else _SCHEME,
    )


def _visits(pages: list[_Records], pool: _SignaturePool) -> Visits:
    fetches = [page.fetch for page in pages if page.fetch is not None]
    signatures = [
        fetch.signature if page.signature is None else page.signature
        for page, fetch in zip(pages, fetches, strict=True)
    ]
    packed = b"".join(pool.put(signature) for signature in signatures)
    return Visits.of(
        len(pages),
        fetched_at=[fetch.fetch_time for fetch in fetches],
        outcome=[_outcome(page) for page in pages],
        modified_at=[fetch.modified_time or NO_TIME for fetch in fetches],
        signature=np.frombuffer(packed, dtype=f"V{SIGNATURE_BYTES}"),
        signature_scheme=[NO_SCHEME if s is None else _SCHEME for s in signatures],
    )


def _written(page: _Records, state: PageState, pool: _SignaturePool) -> CrawlDatum:
    """Return the updated state as a record; the score is the fetch's."""
    assert page.fetch is not None
    return _without_mark(
        replace(
            page.fetch,
            status=state.status,
            fetch_time=state.next_fetch_at,
            modified_time=0 if state.modified_at == NO_TIME else state.modified_at,
            interval=int(state.interval),
            retries=state.retries,
            signature=pool.get(state),
            metadata=_metadata(page),
        )
    )


def _without_mark(datum: CrawlDatum) -> CrawlDatum:
    """Return the record without the generator's mark."""
    kept = {name: value for name, value in datum.metadata.items() if name != _GENERATE_TIME}
    return replace(datum, metadata=kept)
