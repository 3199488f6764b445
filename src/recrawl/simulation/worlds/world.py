"""A world: when each of n pages changes, and all that a simulated server knows of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.core.states import Counts, Importances, Mask, Rates, Seconds, Times
from recrawl.errors import InputError

__all__ = ["Offsets", "World", "millis_after", "offsets_of", "ragged_rows", "seconds_at"]

#: Where the rows of a flat array begin, and the end of the last: shape ``(n + 1,)``.
Offsets: TypeAlias = NDArray[np.int64]

_RAGGED = {"change_time": "change_start", "signal_time": "signal_start"}
#: Columns with one entry a page: dtype, and the default of ``World.of``.
_COLUMNS: dict[str, tuple[str, float]] = {
    "importance": ("float32", 1),
    "host": ("int32", 0),
    "group": ("int32", 0),
    "true_rate": ("float64", 0),
    "has_last_modified": ("bool", False),
    "is_noisy": ("bool", False),
    "signal_precision": ("float32", np.nan),
    "signal_recall": ("float32", np.nan),
    "born_at": ("float64", 0),
    "gone_at": ("float64", np.inf),
}
#: Other columns that may be left out, and what they are then for n pages.
_FLAT: dict[str, Callable[[int], NDArray[Any]]] = {
    "signal_time": lambda _: np.zeros(0),
    "signal_start": lambda n: np.zeros(n + 1, dtype=np.int64),
    "switch_at": lambda n: np.zeros((n, 0)),
    "switch_rate": lambda n: np.zeros((n, 0)),
}


@dataclass(frozen=True, slots=True)
class World:
    """Pages that change; times are seconds since the world began.

    Parameters
    ----------
    horizon : float
        The world lasts from 0 to here. [s]
    change_time : ndarray of float64, shape (m,)
        When the pages changed, page after page, sorted within each. [s]
    change_start : ndarray of int64, shape (n + 1,)
        The changes of page ``i`` are ``change_time[change_start[i]:change_start[i + 1]]``.
    importance : ndarray of float32, shape (n,)
        Weight of each page.
    host, group : ndarray of int32, shape (n,)
        Number of the page's host, and of the group that is edited in bulk.
    true_rate : ndarray of float64, shape (n,)
        Mean change rate, for oracles; where it switches, the first one. [1/s]
    switch_at, switch_rate : ndarray of float64, shape (n, k)
        When the change rate of a page becomes another, and which; infinite for not. [s], [1/s]
    has_last_modified : ndarray of bool, shape (n,)
        The server tells when the page changed, and answers 304 where it did not.
    is_noisy : ndarray of bool, shape (n,)
        Every fetch differs from the one before, whether the page changed or not.
    signal_time : ndarray of float64, shape (s,)
        When side signals of a change came, page after page, sorted within each. [s]
    signal_start : ndarray of int64, shape (n + 1,)
        Where the signals of each page begin.
    signal_precision, signal_recall : ndarray of float32, shape (n,)
        Share of signals that are of a change, and of changes that are signalled; NaN for none.
    born_at, gone_at : ndarray of float64, shape (n,)
        The page is there from, to: 0 or less for from the start, infinite for without end. [s]
    """

    horizon: float
    change_time: Seconds
    change_start: Offsets
    importance: Importances
    host: Counts
    group: Counts
    true_rate: Rates
    switch_at: Seconds
    switch_rate: Rates
    has_last_modified: Mask
    is_noisy: Mask
    signal_time: Seconds
    signal_start: Offsets
    signal_precision: NDArray[np.float32]
    signal_recall: NDArray[np.float32]
    born_at: Seconds
    gone_at: Seconds

    def __len__(self) -> int:
        return int(self.change_start.shape[0]) - 1

    @classmethod
    def of(
        cls, horizon: float, n_changes: ArrayLike, change_time: ArrayLike, **columns: ArrayLike
    ) -> World:
        """Return the world with these changes, and defaults for the columns not given.

        Parameters
        ----------
        horizon : float
            Length of the world. [s]
        n_changes : array of int, shape (n,)
            Changes of each page.
        change_time : array of float, shape (m,)
            The changes, page after page, sorted within each. [s]
        **columns
            Other fields by name; scalars are repeated.

        Raises
        ------
        InputError
            If the counts do not add up, the changes of a page are not sorted or lie outside the
            world, or a column is unknown.
        """
        counts = np.asarray(n_changes, dtype=np.int64)
        n = len(counts)
        times = np.asarray(change_time, dtype=np.float64)
        start = offsets_of(counts)
        if start[-1] != len(times):
            raise InputError(f"{len(times)} change times, but n_changes adds up to {start[-1]}")
        if len(times) and not 0 <= times.min() <= times.max() < horizon:
            raise InputError(f"change times lie outside the world: 0 to {horizon:g} s")
        page = np.repeat(np.arange(n), counts)
        if ((np.diff(times) < 0) & (np.diff(page) == 0)).any():
            raise InputError("the change times of a page are not sorted")
        unknown = sorted(set(columns) - _COLUMNS.keys() - _FLAT.keys())
        if unknown:
            raise InputError(f"not columns of a world: {', '.join(unknown)}", value=unknown)
        arrays: dict[str, Any] = {
            name: np.asarray(columns.get(name, default(n))) for name, default in _FLAT.items()
        }
        defaults = {"true_rate": counts / horizon, "host": np.arange(n), "group": np.arange(n)}
        for name, (dtype, default) in _COLUMNS.items():
            arrays[name] = np.empty(n, dtype=dtype)
            arrays[name][:] = np.asarray(columns.get(name, defaults.get(name, default)))
        return cls(horizon=float(horizon), change_time=times, change_start=start, **arrays)

    @property
    def n_changes(self) -> NDArray[np.int64]:
        """Changes of each page, shape (n,)."""
        return np.diff(self.change_start)

    def rate_at(self, now: float) -> Rates:
        """Return the change rate of each page at an instant [s], shape (n,), in 1/s."""
        n_switches = (self.switch_at <= now).sum(axis=1)
        rates = np.column_stack([self.true_rate, self.switch_rate])
        return np.asarray(rates[np.arange(len(self)), n_switches])

    def take(self, index: ArrayLike) -> World:
        """Return the world of the pages at ``index``: integers or a mask."""
        chosen = np.arange(len(self))[np.asarray(index)]
        columns: dict[str, Any] = {}
        for field in fields(self):
            if field.name in _RAGGED:
                start = getattr(self, _RAGGED[field.name])
                rows, begin = ragged_rows(start, chosen)
                columns[field.name] = getattr(self, field.name)[rows]
                columns[_RAGGED[field.name]] = begin
            elif field.name not in columns and field.name not in _RAGGED.values():
                value = getattr(self, field.name)
                columns[field.name] = value if field.name == "horizon" else value[chosen]
        return World(**columns)

    @classmethod
    def concatenate(cls, parts: list[World]) -> World:
        """Return the pages of all parts, one part after another; they share the horizon."""
        columns: dict[str, Any] = {"horizon": parts[0].horizon}
        for field in fields(cls):
            values = [getattr(part, field.name) for part in parts]
            if field.name in _RAGGED.values():
                columns[field.name] = offsets_of(np.concatenate([np.diff(v) for v in values]))
            elif field.name != "horizon":
                columns[field.name] = np.concatenate(values)
        return cls(**columns)

    def with_columns(self, **columns: Any) -> World:
        """Return this world with some columns replaced."""
        return replace(self, **columns)


def offsets_of(counts: NDArray[np.int64]) -> Offsets:
    """Return where rows of these lengths begin, and the end of the last."""
    start = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=start[1:])
    return start


def ragged_rows(start: Offsets, chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], Offsets]:
    """Return the flat positions of the chosen rows, one row after another, and their offsets."""
    counts = start[chosen + 1] - start[chosen]
    begin = offsets_of(counts)
    shift = np.repeat(start[chosen] - begin[:-1], counts)
    return np.arange(begin[-1]) + shift, begin


def millis_after(seconds: Seconds) -> Times:
    """Return the first whole millisecond that is not before each time [s]."""
    return np.ceil(seconds * 1000).astype(np.int64)


def seconds_at(millis: Times) -> Seconds:
    """Return the times [s] of which ``millis_after`` makes these milliseconds again."""
    seconds = millis / 1000
    return np.where(seconds * 1000 > millis, np.nextafter(seconds, -np.inf), seconds)
