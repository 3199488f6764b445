"""StormCrawler's schedulers on records: a status and metadata in, a date and metadata out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from recrawl.core.columns import NO_TIME
from recrawl.core.visit import Observation
from recrawl.errors import InputError
from recrawl.interop.stormcrawler.instants import spell_instant
from recrawl.interop.stormcrawler.intervals import (
    CustomInterval,
    custom_intervals,
    custom_minutes,
)
from recrawl.interop.stormcrawler.java import (
    Config,
    Metadata,
    first_value,
    parse_int,
    read_bool,
    read_float,
    read_int,
    refusal,
)
from recrawl.schedules.stormcrawler_minutes import NEVER_MINUTES, CrawlStatus, adapt, due_at

__all__ = ["AdaptiveScheduler", "DefaultScheduler", "Scheduled", "Scheduler", "scheduler_of"]

_DELAY = "scheduler.delay.mins"
_CODE = "fetch.statusCode"
_INTERVAL = "fetchInterval"
_CHANGE_DATE = "signatureChangeDate"
_SIGNATURE, _OLD_SIGNATURE = "signature", "signatureOld"
_LAST_MODIFIED = "last-modified"
_ADAPTIVE = "scheduler.adaptive."
_MILLISECOND = 1_000_000

_Written = dict[str, list[str | None]]


@dataclass(frozen=True, slots=True)
class Scheduled:
    """What a scheduler made of a record.

    Parameters
    ----------
    next_fetch_at : int
        When the page is due; NEVER for not again, NO_TIME after an error. [ms]
    metadata : dict
        The metadata afterwards, also after an error.
    error : InputError or None
        Why it could not be scheduled; its message starts with the original's exception.
    """

    next_fetch_at: int
    metadata: _Written
    error: InputError | None = None


class Scheduler(Protocol):
    """A scheduler of StormCrawler.

    - ``state`` names the metadata that have to be stored for the next call.
    """

    state: ClassVar[tuple[str, ...]]

    def schedule(self, status: CrawlStatus, metadata: Metadata, now: int) -> Scheduled:
        """Return when a page with this status and metadata is due. [ms]."""
        ...


@dataclass(frozen=True, slots=True)
class DefaultScheduler:
    """Intervals by status and metadata: DefaultScheduler.

    Parameters
    ----------
    default, fetch_error, error : int
        ``fetchInterval.default``, ``.fetch.error`` and ``.error``; -1 for never. [min]
    custom : tuple of CustomInterval
        Intervals by metadata; the first that fits decides.
    """

    state: ClassVar[tuple[str, ...]] = ()

    default: int = 1440
    fetch_error: int = 120
    error: int = 44_640
    custom: tuple[CustomInterval, ...] = ()

    @classmethod
    def of(cls, config: Config, *, as_hash_map: bool = False) -> DefaultScheduler:
        """Return the scheduler with these settings; see ``custom_intervals`` for their order.

        Raises
        ------
        InputError
            If a setting is not usable; the message starts with the original's exception.
        """
        return cls(
            default=read_int(config, "fetchInterval.default", cls().default),
            fetch_error=read_int(config, "fetchInterval.fetch.error", cls().fetch_error),
            error=read_int(config, "fetchInterval.error", cls().error),
            custom=custom_intervals(config, as_hash_map=as_hash_map),
        )

    def schedule(self, status: CrawlStatus, metadata: Metadata, now: int) -> Scheduled:
        """Return when a page with this status and metadata is due. [ms]."""
        return _schedule(lambda written: _due(self.minutes(status, written), now), metadata)

    def minutes(self, status: CrawlStatus, metadata: Metadata) -> int:
        """Return the minutes to wait, -1 for never.

        Raises
        ------
        InputError
            If the metadata cannot be used; the message starts with the original's exception.
        """
        delay = first_value(metadata, _DELAY)
        if delay is not None:
            return parse_int(delay, what=_DELAY)
        custom = custom_minutes(self.custom, status, metadata)
        if custom is not None:
            return custom
        match status:
            case CrawlStatus.DISCOVERED:
                return 0
            case CrawlStatus.FETCH_ERROR:
                return self.fetch_error
            case CrawlStatus.ERROR:
                return self.error
            case CrawlStatus.FETCHED | CrawlStatus.REDIRECTION:
                return self.default


@dataclass(frozen=True, slots=True)
class AdaptiveScheduler:
    """Intervals that follow the signature: AdaptiveScheduler.

    Parameters
    ----------
    base : DefaultScheduler
        Schedules what has no signatures to compare.
    least, most : int
        ``scheduler.adaptive.fetchInterval.min`` and ``.max``. [min]
    inc_rate, dec_rate : float
        ``scheduler.adaptive.fetchInterval.rate.incr`` and ``.decr``.
    set_last_modified : bool
        ``scheduler.adaptive.setLastModified``: whether ``last-modified`` is written.
    """

    state: ClassVar[tuple[str, ...]] = (_SIGNATURE, _INTERVAL)

    base: DefaultScheduler
    least: int = 60
    most: int = 20_160
    inc_rate: float = 0.5
    dec_rate: float = 0.5
    set_last_modified: bool = False

    @classmethod
    def of(cls, config: Config, *, as_hash_map: bool = False) -> AdaptiveScheduler:
        """Return the scheduler with these settings; see ``DefaultScheduler.of``."""
        given = _ADAPTIVE + "fetchInterval."
        return cls(
            DefaultScheduler.of(config, as_hash_map=as_hash_map),
            set_last_modified=read_bool(config, _ADAPTIVE + "setLastModified", default=False),
            least=read_int(config, given + "min", 60),
            most=read_int(config, given + "max", 20_160),
            inc_rate=read_float(config, given + "rate.incr", 0.5),
            dec_rate=read_float(config, given + "rate.decr", 0.5),
        )

    def schedule(self, status: CrawlStatus, metadata: Metadata, now: int) -> Scheduled:
        """Return when a page with this status and metadata is due. [ms]."""
        return _schedule(lambda written: self._next_fetch(status, written, now), metadata)

    def _next_fetch(self, status: CrawlStatus, metadata: _Written, now: int) -> int:
        """Return when the page is due, and write into its metadata."""
        if status is not CrawlStatus.FETCHED:
            for key in (_CHANGE_DATE, _INTERVAL, _SIGNATURE, _OLD_SIGNATURE):
                metadata.pop(key, None)
            if status is CrawlStatus.ERROR:
                metadata.pop(_LAST_MODIFIED, None)
            return _due(self.base.minutes(status, metadata), now)
        observation = _observe(metadata)
        if observation is Observation.UNKNOWN:
            return self._first(metadata, now)
        today = spell_instant(now * _MILLISECOND)
        if observation is Observation.CHANGED:
            if self.set_last_modified:
                metadata[_LAST_MODIFIED] = [today]
            minutes = self._adapt(metadata, observation)
            metadata[_CHANGE_DATE] = [today]
        else:
            minutes = self._adapt(metadata, observation)
            metadata.pop(_OLD_SIGNATURE, None)
            if first_value(metadata, _CHANGE_DATE) is None:
                metadata[_CHANGE_DATE] = [today]
        metadata[_INTERVAL] = [str(minutes)]
        # Here -1 is a number: a minute ago.
        return now + minutes * 60_000

    def _first(self, metadata: _Written, now: int) -> int:
        """Schedule a page without signatures to compare."""
        if self.set_last_modified and first_value(metadata, _SIGNATURE) is not None:
            metadata[_LAST_MODIFIED] = [spell_instant(now * _MILLISECOND)]
        minutes = self.base.minutes(CrawlStatus.FETCHED, metadata)
        if minutes != NEVER_MINUTES:
            metadata[_INTERVAL] = [str(minutes)]
        return _due(minutes, now)

    def _adapt(self, metadata: Metadata, observation: Observation) -> int:
        """Return the interval after the observation. [min]."""
        stored = first_value(metadata, _INTERVAL)
        if stored is not None:
            before = parse_int(stored, what=_INTERVAL)
        else:
            custom = custom_minutes(self.base.custom, CrawlStatus.FETCHED, metadata)
            before = self.base.default if custom is None else custom
        adapted = adapt(
            np.array([before], dtype=np.int32),
            np.array([observation], dtype=np.int8),
            inc_rate=self.inc_rate,
            dec_rate=self.dec_rate,
            least=self.least,
            most=self.most,
        )
        return int(adapted[0])


def scheduler_of(config: Config, *, as_hash_map: bool = False) -> Scheduler:
    """Return the scheduler that ``scheduler.class`` names.

    Raises
    ------
    InputError
        If it is missing or unknown (RuntimeException), or a setting is not usable.
    """
    name = str(config.get("scheduler.class") or "")
    match name.rpartition(".")[2]:
        case "DefaultScheduler":
            return DefaultScheduler.of(config, as_hash_map=as_hash_map)
        case "AdaptiveScheduler":
            return AdaptiveScheduler.of(config, as_hash_map=as_hash_map)
        case _:
            raise refusal(
                "RuntimeException",
                f"scheduler.class = {name!r}; there are DefaultScheduler and AdaptiveScheduler",
                name,
            )


def _schedule(work: Callable[[_Written], int], metadata: Metadata) -> Scheduled:
    """Return what a scheduler writes into a copy of the metadata, and when the page is due."""
    written = {key: list(values) for key, values in metadata.items()}
    try:
        return Scheduled(work(written), written)
    except InputError as error:
        return Scheduled(NO_TIME, written, error)


def _due(minutes: int, now: int) -> int:
    return int(due_at(np.array([minutes], dtype=np.int32), now)[0])


def _observe(metadata: Metadata) -> Observation:
    """Return what status code and signatures say about change."""
    code = first_value(metadata, _CODE)
    if code is None:
        raise refusal("NullPointerException", f"{_CODE} is missing; the fetcher writes it")
    if code == "304":
        return Observation.UNCHANGED
    signature, old = first_value(metadata, _SIGNATURE), first_value(metadata, _OLD_SIGNATURE)
    if signature is None or old is None:
        return Observation.UNKNOWN
    return Observation.UNCHANGED if signature == old else Observation.CHANGED
