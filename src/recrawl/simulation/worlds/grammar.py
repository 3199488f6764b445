"""The text that names a world, read into parts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from recrawl.core.duration import parse_duration
from recrawl.errors import InputError
from recrawl.simulation.worlds.rates import LAWS

__all__ = ["MIXES", "PROCESSES", "Overlays", "Part", "Recipe", "parse_recipe"]

#: The worlds of the comparison, by name.
MIXES: Final[dict[str, str]] = {
    "S1": "poisson:lognormal",
    "S2": "poisson:gamma",
    "S3": "poisson:pareto",
    "S4": "periodic:lognormal",
    "S5": "weekly:lognormal",
    "S6": "switching:lognormal",
    "S7": "mix:0.7*poisson:lognormal,0.3*never",
    "S8": "poisson:lognormal+noisy:0.15",
    "S9": "poisson:lognormal+last-modified:0.5",
    "S10": "poisson:lognormal+signals:0.5",
    "S11": "mix:0.35*poisson:lognormal,0.1*periodic:lognormal,0.15*weekly:lognormal,"
    "0.1*switching:lognormal,0.2*never,0.1*noisy:lognormal+last-modified:0.3+signals:0.3",
}
#: Change processes, and whether a rate follows the colon.
PROCESSES: Final[dict[str, bool]] = {
    "always": False,
    "diurnal": True,
    "fixed": True,
    "never": False,
    "noisy": True,
    "periodic": True,
    "poisson": True,
    "switching": True,
    "weekly": True,
}
_OVERLAYS = ("bulk", "last-modified", "noisy", "signals")
_EXAMPLES = "write S1 to S11, fixed:31d, poisson:lognormal or mix:0.7*poisson:40d,0.3*never"


@dataclass(frozen=True, slots=True)
class Part:
    """One change process, and the share of the pages that follow it.

    Parameters
    ----------
    process : str
        A name of ``PROCESSES``.
    law : str
        Name of the law of the rates, "" for a gap.
    gap : float
        Mean time between changes where there is no law. [s]
    share : float
        Share of the pages.
    """

    process: str
    law: str = ""
    gap: float = math.inf
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Overlays:
    """What lies on top of the changes.

    Parameters
    ----------
    noisy, last_modified : float
        Share of pages that differ at every fetch, and that tell when they changed.
    signals : float
        Share of hosts that send signals.
    precision, recall : float
        Of their signals; NaN to draw them for each host.
    bulk_gap : float
        Mean time between edits of a group. [s]
    bulk_share : float
        Share of a group's pages that an edit changes.
    """

    noisy: float = 0.0
    last_modified: float = 0.0
    signals: float = 0.0
    precision: float = math.nan
    recall: float = math.nan
    bulk_gap: float = math.inf
    bulk_share: float = 0.5


@dataclass(frozen=True, slots=True)
class Recipe:
    """A world's text in parts."""

    parts: tuple[Part, ...]
    overlays: Overlays = field(default_factory=Overlays)


def parse_recipe(spec: str) -> Recipe:
    """Return the parts of a world's text.

    ::

        world    name | base [+overlay ...]
        base     process | mix:SHARE*process,SHARE*process,...
        process  never | always | fixed:GAP
                 | poisson:RATE | periodic:RATE | diurnal:RATE | weekly:RATE | switching:RATE
                 | noisy:RATE
        RATE     lognormal | gamma | pareto | GAP
        overlay  noisy:SHARE | last-modified:SHARE | signals:SHARE[:PRECISION:RECALL]
                 | bulk:GAP[:SHARE]

    Raises
    ------
    InputError
        If it is not such a text; the message says what is allowed.

    Examples
    --------
    >>> parse_recipe("poisson:40d").parts[0].gap
    3456000.0
    """
    base, *overlays = MIXES.get(spec, spec).split("+")
    if base.startswith("mix:"):
        parts = tuple(_mixed(text, spec) for text in base.removeprefix("mix:").split(","))
        total = math.fsum(part.share for part in parts)
        if not math.isclose(total, 1):
            raise InputError(
                f"world {spec!r}: the shares add up to {total:g}, not to 1", value=spec
            )
    else:
        parts = (_process(base, spec, 1.0),)
    return Recipe(parts, _overlays(overlays, spec))


def _mixed(text: str, spec: str) -> Part:
    share, star, process = text.partition("*")
    if not star:
        raise InputError(
            f"world {spec!r}: {text!r} has no share; write SHARE*PROCESS such as 0.3*never",
            value=spec,
        )
    return _process(process, spec, _share(share, spec))


def _process(text: str, spec: str, share: float) -> Part:
    name, colon, rate = text.partition(":")
    if name not in PROCESSES:
        near = get_close_matches(name, [*PROCESSES, *MIXES], n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise InputError(
            f"world {spec!r}: no change process is named {name!r}; {hint}{_EXAMPLES};"
            f" processes: {', '.join(PROCESSES)}",
            value=spec,
        )
    if not PROCESSES[name]:
        if colon:
            raise InputError(f"world {spec!r}: {name} takes no rate: {rate!r}", value=spec)
        return Part(name, share=share)
    if rate in LAWS and name != "fixed":
        return Part(name, law=rate, share=share)
    allowed = "a duration" if name == "fixed" else f"{', '.join(LAWS)} or a duration"
    return Part(name, gap=_gap(rate, spec, f"after {name}: comes {allowed}"), share=share)


def _overlays(texts: list[str], spec: str) -> Overlays:
    values: dict[str, float] = {}
    for text in texts:
        name, *arguments = text.split(":")
        match name, len(arguments):
            case "noisy" | "last-modified", 1:
                values[name.replace("-", "_")] = _share(arguments[0], spec)
            case "signals", 1 | 3:
                names = ("signals", "precision", "recall")
                values |= {
                    key: _share(value, spec) for key, value in zip(names, arguments, strict=False)
                }
            case "bulk", 1 | 2:
                values["bulk_gap"] = _gap(arguments[0], spec, "after bulk: comes a duration")
                if arguments[1:]:
                    values["bulk_share"] = _share(arguments[1], spec)
            case _:
                raise InputError(
                    f"world {spec!r}: not an overlay: {text!r}; there are: "
                    f"{', '.join(_OVERLAYS)}, such as noisy:0.15, last-modified:0.5,"
                    " signals:0.5:0.9:0.8 (hosts, precision, recall) or bulk:30d:0.5",
                    value=spec,
                )
    if values.get("precision") == 0:
        raise InputError(f"world {spec!r}: signals of precision 0 never end; raise it", value=spec)
    return Overlays(**values)


def _gap(text: str, spec: str, allowed: str) -> float:
    """Return the length of a gap [s]; not 0."""
    try:
        gap = parse_duration(text)
    except InputError as error:
        raise InputError(f"world {spec!r}: {allowed}: {error}", value=spec) from error
    if gap == 0:
        raise InputError(f"world {spec!r}: {allowed}, and not 0", value=spec)
    return gap


def _share(text: str, spec: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise InputError(f"world {spec!r}: {text!r} is not a share from 0 to 1", value=spec)
    return share
