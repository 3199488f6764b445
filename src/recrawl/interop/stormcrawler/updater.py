"""What StormCrawler does between a fetch and the store: AbstractStatusUpdaterBolt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from recrawl.core.columns import NEVER
from recrawl.errors import InputError
from recrawl.interop.stormcrawler.instants import parse_instant, spell_instant
from recrawl.interop.stormcrawler.java import (
    Config,
    Metadata,
    first_value,
    parse_int,
    read_bool,
    read_int,
    refusal,
)
from recrawl.interop.stormcrawler.schedulers import Scheduler, scheduler_of
from recrawl.schedules.stormcrawler_minutes import CrawlStatus

__all__ = ["MetadataFilter", "StatusUpdater", "Stored", "Updated"]

_AS_IS = "status.store.as.is.with.nextfetchdate"
_COUNT = "fetch.error.count"
_CAUSE = "error.cause"
_MILLISECOND = 1_000_000
_MOST_INT, _INTS = 2**31 - 1, 2**32
#: Units that the next fetch is rounded to, and how many of the next smaller unit they have. [ms]
_UNITS = {"SECOND": (1000, 1), "MINUTE": (60_000, 1000), "HOUR": (3_600_000, 60_000)}

_Written = dict[str, list[str | None]]


@dataclass(frozen=True, slots=True)
class MetadataFilter:
    """Which metadata are stored: MetadataTransfer.

    Parameters
    ----------
    keys : frozenset of str
        Keys that are kept.
    prefixes : tuple of str
        Keys that start so are kept as well.
    """

    keys: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()

    @classmethod
    def of(cls, config: Config) -> MetadataFilter:
        """Return the filter that ``metadata.persist``, ``.transfer`` and ``.track.*`` describe."""
        names = [*_list(config.get("metadata.persist")), *_list(config.get("metadata.transfer"))]
        names.append(_COUNT)
        if read_bool(config, "metadata.track.path", default=True):
            names.append("url.path")
        if read_bool(config, "metadata.track.depth", default=True):
            names += ["depth", "max.depth"]
        return cls(
            frozenset(name for name in names if not name.endswith("*")),
            tuple(name.removesuffix("*") for name in names if name.endswith("*")),
        )

    def apply(self, metadata: Metadata) -> _Written:
        """Return the metadata that are stored; keys without values are not."""
        return {
            key: list(values)
            for key, values in metadata.items()
            if values and (key in self.keys or key.startswith(self.prefixes))
        }


@dataclass(frozen=True, slots=True)
class Stored:
    """What is written to the status store.

    Parameters
    ----------
    status : CrawlStatus
        The status, after the count of errors.
    metadata : dict
        What the filter leaves.
    next_fetch_at : int
        When the page is due; NEVER for not again. [ms]
    """

    status: CrawlStatus
    metadata: _Written
    next_fetch_at: int


@dataclass(frozen=True, slots=True)
class Updated:
    """What became of one update.

    Parameters
    ----------
    metadata : dict
        All metadata afterwards.
    stored : Stored or None
        What to store; None for a page that is known, and after an error.
    deleted : dict or None
        Metadata of the deletion event, which goes out before the store is asked; None for none.
    error : InputError or None
        Why nothing is stored; its message starts with the original's exception.
    """

    metadata: _Written
    stored: Stored | None = None
    deleted: _Written | None = None
    error: InputError | None = None


@dataclass(frozen=True, slots=True)
class StatusUpdater:
    """Counts errors, schedules, filters and rounds, as AbstractStatusUpdaterBolt does.

    Parameters
    ----------
    scheduler : Scheduler
        Says when the page is due.
    kept : MetadataFilter
        Says what is stored of the metadata.
    max_fetch_errors : int
        Fetch errors in a row that make an ERROR (``max.fetch.errors``).
    unit : str
        What the next fetch is rounded to: SECOND, MINUTE or HOUR, in UTC
        (``status.updater.unit.round.date``).
    use_cache : bool
        Whether pages that are known need not be stored as discovered
        (``status.updater.use.cache``).
    """

    scheduler: Scheduler
    kept: MetadataFilter
    max_fetch_errors: int = 3
    unit: str = "SECOND"
    use_cache: bool = True

    @classmethod
    def of(cls, config: Config, *, as_hash_map: bool = False) -> StatusUpdater:
        """Return the updater with these settings; see ``custom_intervals`` for their order.

        Raises
        ------
        InputError
            If a setting is missing or not usable; the message starts with the original's exception.
        """
        use_cache = read_bool(config, "status.updater.use.cache", default=True)
        if use_cache and config.get("status.updater.cache.spec") is None:
            raise refusal(
                "NullPointerException",
                "status.updater.cache.spec is missing, and status.updater.use.cache is not false",
            )
        unit = str(config.get("status.updater.unit.round.date", "SECOND")).upper()
        return cls(
            scheduler=scheduler_of(config, as_hash_map=as_hash_map),
            kept=MetadataFilter.of(config),
            max_fetch_errors=read_int(config, "max.fetch.errors", 3),
            unit=unit if unit in _UNITS else "SECOND",
            use_cache=use_cache,
        )

    @property
    def lost_state(self) -> tuple[str, ...]:
        """What the scheduler needs to find again and the filter drops.

        Without its signature or its interval a page is scheduled as if it were fetched for the
        first time, again and again, and nothing says so (case sch-020): ask before a start.
        """
        needed = {key: [""] for key in self.scheduler.state}
        return tuple(key for key in needed if key not in self.kept.apply(needed))

    def update(
        self, status: CrawlStatus, metadata: Metadata, now: int, *, is_known: bool = False
    ) -> Updated:
        """Return what becomes of a page.

        Parameters
        ----------
        status : CrawlStatus
            Status after the fetch.
        metadata : mapping
            Its metadata.
        now : int
            The present. [ns]
        is_known : bool
            Whether it was stored before; the caller remembers that of pages whose store succeeded.
        """
        written = {key: list(values) for key, values in metadata.items()}
        if is_known and self.use_cache and status is CrawlStatus.DISCOVERED:
            return Updated(written)
        as_is = first_value(written, _AS_IS)
        if as_is is not None:
            return self._as_is(status, written, as_is)
        status = self._count(status, written, now)
        deleted = None
        if status is CrawlStatus.ERROR:
            deleted = {key: list(values) for key, values in written.items()}
        scheduled = self.scheduler.schedule(status, written, now // _MILLISECOND)
        if scheduled.error is not None:
            return Updated(scheduled.metadata, deleted=deleted, error=scheduled.error)
        stored = Stored(
            status, self.kept.apply(scheduled.metadata), _round(scheduled.next_fetch_at, self.unit)
        )
        return Updated(scheduled.metadata, stored, deleted)

    def _as_is(self, status: CrawlStatus, metadata: _Written, date: str) -> Updated:
        """Store with the date in the metadata: no count, no schedule, no event."""
        try:
            next_fetch_at = parse_instant(date) // _MILLISECOND
        except InputError as error:
            return Updated(metadata, error=error)
        return Updated(metadata, Stored(status, self.kept.apply(metadata), next_fetch_at))

    def _count(self, status: CrawlStatus, metadata: _Written, now: int) -> CrawlStatus:
        """Write dates and the count of errors, and return the status that the count makes."""
        is_new = status is CrawlStatus.DISCOVERED
        metadata["discoveryDate" if is_new else "lastProcessedDate"] = [spell_instant(now)]
        if status is CrawlStatus.FETCH_ERROR:
            count = _next_count(first_value(metadata, _COUNT))
            if count >= self.max_fetch_errors:
                status = CrawlStatus.ERROR
                metadata[_CAUSE] = ["maxFetchErrors"]
            else:
                metadata[_COUNT] = [str(count)]
        if status is not CrawlStatus.FETCH_ERROR:
            metadata.pop(_COUNT, None)
        if status in (CrawlStatus.FETCHED, CrawlStatus.REDIRECTION):
            for key in (_CAUSE, "error.message", "error.source"):
                metadata.pop(key, None)
        return status


def _next_count(text: str | None) -> int:
    """Return the count after one more error; what cannot be read is 0, and int32 wraps."""
    try:
        count = 0 if text is None else parse_int(text, what=_COUNT)
    except InputError:
        count = 0
    return count + 1 if count < _MOST_INT else count + 1 - _INTS


def _round(at: int, unit: str) -> int:
    """Return an instant [ms] rounded half up by the next smaller unit alone, in UTC."""
    if at == NEVER:
        return at
    size, part = _UNITS[unit]
    parts = at // part
    per_unit = size // part
    return (parts + per_unit // 2) // per_unit * size


def _list(value: Any) -> list[str]:
    """Return a setting that is a text, a list or missing as a list."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else [str(item) for item in value]
