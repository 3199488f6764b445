"""What is known of hosts and groups as bytes, one record each, for a store to keep by key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recrawl.core.states import Keys, Rates
from recrawl.estimation.bulk_edits import EXTENTS, N_SPANS, BulkEdits
from recrawl.estimation.gamma_poisson import ChangeRate
from recrawl.estimation.prior import HostPrior
from recrawl.estimation.signals import HostSignals

__all__ = [
    "group_size",
    "pack_groups",
    "pack_hosts",
    "pack_signals",
    "signals_key",
    "unpack_groups",
    "unpack_hosts",
    "unpack_signals",
]

#: The first byte of a record says what it is; another layout gets another number.
_HOST, _CALM, _GROUP, _SIGNAL = 1, 2, 3, 4
#: What the key of a host is changed by for its signals.
_SIGNALS_KEY = np.int64(0x7369676E616C73)
_COUNTS = ("true", "false", "hidden", "heard_at", "gap")
_SIGNALS = np.dtype([("kind", "u1"), *((name, "<f8") for name in _COUNTS)])
_HOSTS = np.dtype([("kind", "u1"), ("shape", "<f8"), ("exposure", "<f8")])
#: A group of which no edit is suspected needs no spans.
_CALMS = np.dtype([("kind", "u1"), ("n_pages", "<i8"), ("watched_from", "<i8"), ("until", "<i8")])
_GROUPS = np.dtype(
    [
        ("kind", "u1"),
        ("n_pages", "<i8"),
        ("watched_from", "<i8"),
        ("edge", "<i8", (N_SPANS + 1,)),
        ("probability", "<f4", (N_SPANS, len(EXTENTS))),
        ("counted", "<f4", (len(EXTENTS),)),
    ]
)  # fmt: skip


def pack_hosts(prior: HostPrior) -> dict[int, bytes]:
    """Return a record of each host that has a prior of its own."""
    rows = np.zeros(len(prior.host_key), dtype=_HOSTS)
    rows["kind"] = _HOST
    rows["shape"], rows["exposure"] = prior.hosts.shape, prior.hosts.exposure
    return _by_key(prior.host_key, rows)


def unpack_hosts(records: Mapping[int, bytes], overall: ChangeRate) -> HostPrior:
    """Return the priors of hosts.

    Parameters
    ----------
    records : mapping of int to bytes
        Records by key; those of groups are passed over.
    overall : ChangeRate
        The prior of all other hosts: one row.
    """
    key, rows = _of_kind(records, _HOST, _HOSTS)
    return HostPrior(key, ChangeRate(rows["shape"], rows["exposure"]), overall)


def signals_key(host_key: Keys) -> Keys:
    """Return the keys under which the signals of hosts are kept, beside their priors."""
    return host_key ^ _SIGNALS_KEY


def pack_signals(signals: HostSignals) -> dict[int, bytes]:
    """Return a record of each host that sends signals."""
    rows = np.zeros(len(signals), dtype=_SIGNALS)
    rows["kind"] = _SIGNAL
    for name in _COUNTS:
        rows[name] = getattr(signals, name)
    return _by_key(signals_key(signals.host_key), rows)


def unpack_signals(records: Mapping[int, bytes]) -> HostSignals:
    """Return what is known of the signals of hosts; other records are passed over."""
    key, rows = _of_kind(records, _SIGNAL, _SIGNALS)
    host_key = signals_key(key)
    order = np.argsort(host_key)
    return HostSignals(host_key[order], *(rows[name][order] for name in _COUNTS))


def pack_groups(bulk: BulkEdits) -> dict[int, bytes]:
    """Return a record of each group with more than one page."""
    is_group = bulk.n_pages > 1
    is_calm = ~(bulk.probability.any(axis=(1, 2)) | bulk.counted.any(axis=1))
    calm, busy = np.flatnonzero(is_group & is_calm), np.flatnonzero(is_group & ~is_calm)
    calms, groups = np.zeros(len(calm), dtype=_CALMS), np.zeros(len(busy), dtype=_GROUPS)
    calms["kind"], groups["kind"] = _CALM, _GROUP
    calms["until"] = bulk.edge[calm, -1]
    for name in ("n_pages", "watched_from"):
        calms[name], groups[name] = getattr(bulk, name)[calm], getattr(bulk, name)[busy]
    for name in ("edge", "probability", "counted"):
        groups[name] = getattr(bulk, name)[busy]
    return {**_by_key(bulk.group_key[calm], calms), **_by_key(bulk.group_key[busy], groups)}


def unpack_groups(records: Mapping[int, bytes], now: int, overall: Rates) -> BulkEdits:
    """Return what is known of the groups that have records.

    Parameters
    ----------
    records : mapping of int to bytes
        Records by key; those of hosts are passed over.
    now : int
        The present: the rates are those that the groups have by now. [ms]
    overall : ndarray of float64, shape (k,)
        Edits of each class of any group. [1/s]
    """
    calm_key, calms = _of_kind(records, _CALM, _CALMS)
    busy_key, groups = _of_kind(records, _GROUP, _GROUPS)
    known = np.concatenate([calm_key, busy_key])
    order = np.argsort(known)
    bulk = BulkEdits.of(known[order], np.ones(len(known), dtype=np.int64), now, overall)
    calm, busy = bulk.rows(calm_key), bulk.rows(busy_key)
    for name in ("n_pages", "watched_from"):
        getattr(bulk, name)[calm], getattr(bulk, name)[busy] = calms[name], groups[name]
    for name in ("edge", "probability", "counted"):
        getattr(bulk, name)[busy] = groups[name]
    bulk.edge[calm] = calms["until"][:, np.newaxis]
    bulk.relearn(now, overall)
    return bulk


def group_size(record: bytes) -> int:
    """Return how many pages the group of a record has, 1 without a record."""
    if not record or record[0] not in (_CALM, _GROUP):
        return 1
    layout = _CALMS if record[0] == _CALM else _GROUPS
    return int(np.frombuffer(record, dtype=layout)["n_pages"][0])


def _by_key(key: Keys, rows: NDArray[Any]) -> dict[int, bytes]:
    return {int(k): row.tobytes() for k, row in zip(key, rows, strict=True)}


def _of_kind(
    records: Mapping[int, bytes], kind: int, layout: np.dtype[Any]
) -> tuple[Keys, NDArray[Any]]:
    """Return the keys, in order, and rows of the records of a kind."""
    chosen = sorted(key for key, record in records.items() if record[0] == kind)
    rows = np.frombuffer(b"".join(records[key] for key in chosen), dtype=layout)
    return np.array(chosen, dtype=np.int64), rows
