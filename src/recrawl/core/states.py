"""Page states as a struct of arrays, and the view of one row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.core.columns import COLUMNS
from recrawl.errors import InputError

__all__ = [
    "Announced",
    "Counts",
    "Importances",
    "Keys",
    "Mask",
    "PageState",
    "PageStates",
    "PageStatus",
    "Rates",
    "Seconds",
    "Signatures",
    "Small",
    "Times",
]

Times: TypeAlias = NDArray[np.int64]
Keys: TypeAlias = NDArray[np.int64]
Seconds: TypeAlias = NDArray[np.float64]
Rates: TypeAlias = NDArray[np.float64]
Importances: TypeAlias = NDArray[np.float32]
Mask: TypeAlias = NDArray[np.bool_]
Small: TypeAlias = NDArray[np.int8]
Counts: TypeAlias = NDArray[np.int32]
Signatures: TypeAlias = NDArray[np.void]


class PageStatus(IntEnum):
    """What the last visits made of a page; the codes are those of Nutch's CrawlDatum."""

    UNFETCHED = 1
    FETCHED = 2
    GONE = 3
    REDIR_TEMP = 4
    REDIR_PERM = 5
    NOTMODIFIED = 6
    DUPLICATE = 7
    ORPHAN = 8
    PARSE_FAILED = 9


class Announced(IntEnum):
    """What the change feed last said of a page."""

    NOTHING = 0
    PRESENT = 1
    GONE = 2
    MOVED = 3


@dataclass(frozen=True, slots=True)
class PageState:
    """State of one page: a row of ``PageStates`` as Python values."""

    page_key: int
    host_key: int
    status: int
    announced: int
    next_fetch_at: int
    interval: float
    fixed_interval: float
    importance: float
    group_key: int
    rate_shape: float
    rate_exposure: float
    bulk_shape: float
    bulk_exposure: float
    surprise: float
    n_signals: int
    retries: int
    n_visits: int
    n_changes: int
    fetched_at: int
    checked_at: int
    modified_at: int
    changed_at: int
    redirect_key: int
    signature: bytes
    signature_scheme: int
    mime_key: int
    moved_layers: int


@dataclass(frozen=True, slots=True)
class PageStates:
    """States of n pages: one array a column of ``COLUMNS``, each of shape ``(n,)``.

    The arrays are never written into: a change is a new value, made by ``replace``.
    """

    page_key: Keys
    host_key: Keys
    status: Small
    announced: Small
    next_fetch_at: Times
    interval: Seconds
    fixed_interval: NDArray[np.float32]
    importance: Importances
    group_key: Keys
    rate_shape: NDArray[np.float32]
    rate_exposure: NDArray[np.float32]
    bulk_shape: NDArray[np.float16]
    bulk_exposure: NDArray[np.float32]
    surprise: NDArray[np.float16]
    n_signals: NDArray[np.int16]
    retries: NDArray[np.int16]
    n_visits: Counts
    n_changes: Counts
    fetched_at: Times
    checked_at: Times
    modified_at: Times
    changed_at: Times
    redirect_key: Keys
    signature: Signatures
    signature_scheme: Keys
    mime_key: Keys
    moved_layers: Small

    def __len__(self) -> int:
        return int(self.page_key.shape[0])

    @classmethod
    def of(cls, n: int, **columns: ArrayLike) -> PageStates:
        """Return n states with the given columns, and defaults for those not given.

        Parameters
        ----------
        n : int
            Number of pages.
        **columns
            Values by column name; scalars are repeated, arrays have shape ``(n,)``.

        Raises
        ------
        InputError
            If a name is not a column, or a shape does not fit.
        """
        unknown = sorted(set(columns) - {column.name for column in COLUMNS})
        if unknown:
            raise InputError(f"not page-state columns: {', '.join(unknown)}", value=unknown)
        arrays: dict[str, Any] = {}
        for column in COLUMNS:
            given = columns.get(column.name, column.default)
            array = np.empty(n, dtype=column.dtype)
            try:
                array[:] = np.asarray(given, dtype=column.dtype)
            except ValueError as error:
                raise InputError(
                    f"column {column.name} does not have shape ({n},): {error}", value=given
                ) from error
            arrays[column.name] = array
        return cls(**arrays)

    @classmethod
    def from_rows(cls, rows: list[PageState]) -> PageStates:
        """Return the states of the given rows, in their order."""
        return cls.of(
            len(rows),
            **{
                column.name: np.array(
                    [getattr(row, column.name) for row in rows], dtype=column.dtype
                )
                for column in COLUMNS
            },
        )

    def take(self, index: ArrayLike) -> PageStates:
        """Return the rows at ``index``: integers, a mask or a slice's array."""
        chosen = np.asarray(index)
        return PageStates(**{f.name: getattr(self, f.name)[chosen] for f in fields(self)})

    def with_columns(self, columns: Mapping[str, NDArray[Any]]) -> PageStates:
        """Return these states with some columns replaced; each is cast to the column's dtype."""
        dtypes = {column.name: column.dtype for column in COLUMNS}
        return replace(
            self,
            **{name: values.astype(dtypes[name], copy=False) for name, values in columns.items()},
        )

    def row(self, i: int) -> PageState:
        """Return row ``i`` as Python values."""
        values = {f.name: getattr(self, f.name)[i].item() for f in fields(self)}
        values["signature"] = self.signature[i].tobytes()
        return PageState(**values)

    def rows(self) -> Iterator[PageState]:
        """Yield all rows as Python values, in order."""
        columns = [
            [value.tobytes() for value in self.signature]
            if f.name == "signature"
            else getattr(self, f.name).tolist()
            for f in fields(self)
        ]
        for values in zip(*columns, strict=True):
            yield PageState(*values)

    @classmethod
    def concatenate(cls, parts: list[PageStates]) -> PageStates:
        """Return the rows of all parts, one after another."""
        if not parts:
            return cls.of(0)
        return cls(
            **{f.name: np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(cls)}
        )
