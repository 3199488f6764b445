"""One record of a CrawlDb."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from recrawl.core.visit import Outcome
from recrawl.errors import InputError

__all__ = ["OUTCOMES", "CrawlDatum", "DatumStatus", "fixed_interval_of", "is_db", "is_fetch"]


class DatumStatus(IntEnum):
    """Statuses of records other than pages, whose codes are those of ``PageStatus``."""

    FETCH_SUCCESS = 0x21
    FETCH_RETRY = 0x22
    FETCH_REDIR_TEMP = 0x23
    FETCH_REDIR_PERM = 0x24
    FETCH_GONE = 0x25
    FETCH_NOTMODIFIED = 0x26
    SIGNATURE = 0x41
    INJECTED = 0x42
    LINKED = 0x43
    PARSE_META = 0x44
    PARSE_FAILED = 0x45


#: What the status of a fetch record means here.
OUTCOMES: dict[int, Outcome] = {
    DatumStatus.FETCH_SUCCESS: Outcome.SUCCESS,
    DatumStatus.FETCH_RETRY: Outcome.RETRY,
    DatumStatus.FETCH_REDIR_TEMP: Outcome.REDIR_TEMP,
    DatumStatus.FETCH_REDIR_PERM: Outcome.REDIR_PERM,
    DatumStatus.FETCH_GONE: Outcome.GONE,
    DatumStatus.FETCH_NOTMODIFIED: Outcome.NOTMODIFIED,
    DatumStatus.PARSE_FAILED: Outcome.PARSE_FAILED,
}

_FIXED_INTERVAL = "fixedInterval"
_LAST_DB = 0x1F
_FIRST_FETCH, _LAST_FETCH = 0x20, 0x3F


@dataclass(frozen=True, slots=True)
class CrawlDatum:
    """One record: a page, or what a fetch, a parse or a link says of it.

    Parameters
    ----------
    status : int
        ``PageStatus`` or ``DatumStatus``; any other byte is kept as it is.
    fetch_time : int
        Of a page when it is due, of a fetch when it was made. [ms]
    modified_time : int
        When the content changed last; 0 for unknown. [ms]
    interval : int
        Fetch interval. [s]
    retries : int
        Temporary failures, a signed byte.
    score : float
        Importance.
    signature : bytes or None
        Signature of the content.
    metadata : mapping of str to object
        Whatever else; a ``FloatWritable`` is a NumPy float32.
    """

    status: int
    fetch_time: int = 0
    modified_time: int = 0
    interval: int = 0
    retries: int = 0
    score: float = 0.0
    signature: bytes | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)


def is_db(status: int) -> bool:
    """Return whether a record is a page of the CrawlDb; unknown low codes and negative ones are."""
    return status <= _LAST_DB


def is_fetch(status: int) -> bool:
    """Return whether a record is a fetch, also one whose code is not known."""
    return _FIRST_FETCH <= status <= _LAST_FETCH or status == DatumStatus.PARSE_FAILED


def fixed_interval_of(metadata: Mapping[str, object]) -> np.float32:
    """Return the interval set by hand, NaN for none. [s].

    A NaN that was set is returned as 0, which has the same effect in the original: due at once.

    Raises
    ------
    InputError
        If the value is not a float32 (the original ends in a ClassCastException).
    """
    value = metadata.get(_FIXED_INTERVAL, np.float32(np.nan))
    if not isinstance(value, np.float32):
        raise InputError(f"{_FIXED_INTERVAL} is not a float32: {value!r}", value=value)
    return np.float32(0) if np.isnan(value) and _FIXED_INTERVAL in metadata else value
