"""One block of a world's pages, drawn by generators of its own."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from recrawl.core.states import Mask, Rates, Seconds
from recrawl.errors import InputError
from recrawl.simulation.seeds import generator
from recrawl.simulation.worlds import importance, processes
from recrawl.simulation.worlds.grammar import Part, Recipe
from recrawl.simulation.worlds.processes import Changes
from recrawl.simulation.worlds.rates import LAWS
from recrawl.simulation.worlds.signals import HostSignals, draw_host_signals, draw_signals
from recrawl.simulation.worlds.world import Offsets, World, offsets_of

__all__ = ["N_HOSTS", "Shared", "draw_block", "draw_shared"]

#: Hosts of a drawn world; the pages of a host are a group.
N_HOSTS = 400
#: Rates of a page that switches, one after another.
_N_RATES = 4
#: More expected changes than this in one block are taken for a slip of the pen.
_MOST_CHANGES = 100_000_000


class _Stream(IntEnum):
    """What a generator is for: drawing more of one thing does not move another."""

    HOST_RATE = 0
    HOST_SIGNAL = 1
    EDIT = 2
    HOST = 3
    RATE = 4
    CHANGE = 5
    PART = 6
    IMPORTANCE = 7
    NOISE = 8
    LAST_MODIFIED = 9
    SIGNAL = 10
    BULK = 11
    SWITCH = 12


@dataclass(frozen=True, slots=True)
class Shared:
    """What the blocks of a world have in common.

    Parameters
    ----------
    recipe : Recipe
        The world's text in parts.
    horizon : float
        Length. [s]
    seed : int
        The seed.
    importance : str
        A kind of importance.
    host_rate : ndarray, shape (N_HOSTS,)
        Standard normal numbers; they move the rates of a host's pages together.
    host_signals : HostSignals
        Signals of each host.
    edits : tuple of ndarray, shape (N_HOSTS,)
        When each group was edited in bulk. [s]
    """

    recipe: Recipe
    horizon: float
    seed: int
    importance: str
    host_rate: Seconds
    host_signals: HostSignals
    edits: tuple[Seconds, ...]


def draw_shared(recipe: Recipe, *, horizon: float, seed: int, importance: str) -> Shared:
    """Return what the blocks of a world have in common."""
    overlays = recipe.overlays
    signals = draw_host_signals(
        generator(seed, _Stream.HOST_SIGNAL),
        N_HOSTS,
        overlays.signals,
        overlays.precision,
        overlays.recall,
    )
    rate = np.full(N_HOSTS, 1 / overlays.bulk_gap)
    group, time = processes.poisson(generator(seed, _Stream.EDIT), rate, horizon)
    edits = np.split(time, np.searchsorted(group, np.arange(1, N_HOSTS)))
    host_rate = generator(seed, _Stream.HOST_RATE).standard_normal(N_HOSTS)
    return Shared(recipe, horizon, seed, importance, host_rate, signals, tuple(edits))


@dataclass(frozen=True, slots=True)
class _Base:
    """The change processes of a block's pages."""

    changes: list[Changes]
    true_rate: Rates
    is_noisy: Mask
    switch_at: Seconds
    switch_rate: Rates


def draw_block(shared: Shared, number: int, n: int) -> World:
    """Return the n pages of a block; the same whatever other blocks are drawn."""

    def rng(stream: _Stream) -> np.random.Generator:
        return generator(shared.seed, stream, number)

    overlays, horizon = shared.recipe.overlays, shared.horizon
    host = rng(_Stream.HOST).integers(0, N_HOSTS, n)
    base = _draw_base(shared, number, host)
    edits = processes.bulk(rng(_Stream.BULK), host, shared.edits, overlays.bulk_share)
    page, time = (np.concatenate(flat) for flat in zip(*base.changes, edits, strict=True))
    precision, recall = shared.host_signals.precision[host], shared.host_signals.recall[host]
    signals = draw_signals(rng(_Stream.SIGNAL), (page, time), precision, recall, horizon)
    change_time, change_start = _by_page((page, time), n)
    signal_time, signal_start = _by_page(signals, n)
    kind = shared.importance
    return World(
        horizon=float(horizon),
        change_time=change_time,
        change_start=change_start,
        importance=importance.draw(rng(_Stream.IMPORTANCE), n, kind),
        host=host.astype(np.int32),
        group=host.astype(np.int32),
        true_rate=base.true_rate + overlays.bulk_share / overlays.bulk_gap,
        switch_at=base.switch_at,
        switch_rate=base.switch_rate + overlays.bulk_share / overlays.bulk_gap,
        has_last_modified=rng(_Stream.LAST_MODIFIED).random(n) < overlays.last_modified,
        is_noisy=base.is_noisy | (rng(_Stream.NOISE).random(n) < overlays.noisy),
        signal_time=signal_time,
        signal_start=signal_start,
        signal_precision=precision.astype(np.float32),
        signal_recall=recall.astype(np.float32),
        born_at=np.zeros(n),
        gone_at=np.full(n, np.inf),
    )


def _draw_base(shared: Shared, number: int, host: NDArray[np.int64]) -> _Base:
    """Return the processes of a block's pages, each page following one part of the recipe."""
    n, horizon, parts = len(host), shared.horizon, shared.recipe.parts
    host_rate = shared.host_rate[host]
    place = generator(shared.seed, _Stream.PART, number).random(n)
    # The last part ends at 1, also where the shares add up to a little less.
    ends = np.cumsum([part.share for part in parts])[:-1]
    which = np.searchsorted(ends, place, side="right")
    k = _N_RATES - 1 if any(part.process == "switching" for part in parts) else 0
    base = _Base([], np.zeros(n), np.zeros(n, bool), np.full((n, k), np.inf), np.zeros((n, k)))
    for i, part in enumerate(parts):
        is_here = which == i
        # One stream for all parts: a page has its rate whatever process it follows.
        rate = _rates(generator(shared.seed, _Stream.RATE, number), part, host_rate)
        rate[~is_here] = 0
        base.true_rate[is_here] = rate[is_here]
        base.is_noisy[is_here] = part.process in {"always", "noisy"}
        if part.process == "switching":
            rng = generator(shared.seed, _Stream.SWITCH, number)
            at = np.sort(rng.random((n, k)), axis=1) * horizon
            base.switch_at[is_here] = at[is_here]
            # Whatever makes a page change its habits, its host has no say in it.
            later = np.column_stack([_rates(rng, part, rng.standard_normal(n)) for _ in range(k)])
            base.switch_rate[is_here] = later[is_here]
        _check_size(rate, horizon)
        rng = generator(shared.seed, _Stream.CHANGE, number, i)
        base.changes.append(_changes(rng, part, rate, base, horizon))
    return base


def _rates(rng: np.random.Generator, part: Part, host_rate: Seconds) -> Rates:
    """Return the change rates of a part's pages."""
    return LAWS[part.law](rng, host_rate) if part.law else np.full(len(host_rate), 1 / part.gap)


def _changes(
    rng: np.random.Generator, part: Part, rate: Rates, base: _Base, horizon: float
) -> Changes:
    """Return the changes of a part's pages; pages of other parts have rate 0."""
    match part.process:
        case "fixed":
            period = np.where(rate > 0, part.gap, np.inf)
            return processes.every(period, period, horizon)
        case "periodic":
            return processes.periodic(rng, rate, horizon)
        case "diurnal" | "weekly":
            is_weekly = part.process == "weekly"
            return processes.rhythmic(rng, rate, horizon, is_weekly=is_weekly)
        case "switching":
            return processes.switching(rng, rate, base.switch_at, base.switch_rate, horizon)
        case _:
            return processes.poisson(rng, rate, horizon)


def _check_size(rate: Rates, horizon: float) -> None:
    expected = rate.sum() * horizon
    if expected > _MOST_CHANGES:
        raise InputError(
            f"{len(rate)} pages would change about {expected:.2g} times, and at most"
            f" {_MOST_CHANGES:.2g} are drawn: take longer gaps or a nearer horizon",
            value=float(expected),
        )


def _by_page(changes: Changes, n: int) -> tuple[Seconds, Offsets]:
    """Return times sorted by page and time, and where each page begins."""
    page, time = changes
    order = np.lexsort((time, page))
    return time[order], offsets_of(np.bincount(page, minlength=n))
