"""Rules: settings for some pages, by URL pattern or host."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, ClassVar

from recrawl.app.seeds import MAX_IMPORTANCE
from recrawl.config.glob import Glob
from recrawl.config.section import Section, setting, spec_of
from recrawl.config.settings import ScheduleSettings, SignatureSettings
from recrawl.config.values import Kind
from recrawl.core.host import canonical_host
from recrawl.errors import ConfigError, InputError

__all__ = ["Resolved", "Rule", "RuleSet"]

# More hosts than this are forgotten and looked up again.
_MAX_HOSTS = 65_536


def _pattern_problem(pattern: str) -> str:
    try:
        Glob(pattern)
    except InputError as error:
        return error.message
    return ""


def _host_problem(host: str) -> str:
    try:
        canonical_host(host.removeprefix("*."))
    except InputError as error:
        return f"{error.message}, or *.example.org for all hosts below it; without port"
    return ""


def _choices(section: type[Section]) -> tuple[str, ...]:
    return next(spec_of(item).choices for item in fields(section) if item.name == "name")


@dataclass(frozen=True)
class Rule(Section):
    """Settings for the pages that match; what is None is left to later rules.

    With both ``url`` and ``host``, a page must match both.
    """

    title: ClassVar[str] = "rule"

    url: str | None = setting(
        None,
        Kind.TEXT,
        "Pattern that covers the whole canonical URL; * stands for any run of characters.",
        problem=_pattern_problem,
    )
    host: str | None = setting(
        None,
        Kind.TEXT,
        "A host, however it is spelt, or *.example.org for every host below example.org.",
        problem=_host_problem,
    )
    interval: float | None = setting(
        None, Kind.DURATION, "First fetch interval of a new page.", unit="s", above=0
    )
    fixed_interval: float | None = setting(
        None, Kind.DURATION, "Interval that no schedule moves.", unit="s", above=0
    )
    min_interval: float | None = setting(
        None, Kind.DURATION, "Least time between two fetches of a page.", unit="s", above=0
    )
    max_interval: float | None = setting(
        None, Kind.DURATION, "Longest time between two fetches of a page.", unit="s", above=0
    )
    importance: float | None = setting(
        None,
        Kind.NUMBER,
        "Weight of the page's freshness against others'; 1 without a rule.",
        least=0,
        most=MAX_IMPORTANCE,
    )
    signature: str | None = setting(
        None,
        Kind.CHOICE,
        "How content is compared.",
        choices=_choices(SignatureSettings),
        may_be_list=True,
    )
    schedule: str | None = setting(
        None, Kind.CHOICE, "How the next fetch time is found.", choices=_choices(ScheduleSettings)
    )

    def _problem(self) -> str:
        if self.url is None and self.host is None:
            return "it matches no page; give it url, host or both"
        if not self.values():
            return "it sets nothing; give it one of interval, importance and the others"
        return ""

    def values(self) -> dict[str, Any]:
        """Return what the rule sets, by name."""
        named = {item.name: getattr(self, item.name) for item in fields(self)}
        return {
            name: value
            for name, value in named.items()
            if value is not None and name not in ("url", "host")
        }


@dataclass(frozen=True, slots=True)
class Resolved:
    """What the settings say about one page; pages under the same rules share one object.

    Intervals are in seconds; ``fixed_interval`` is None where the schedule decides.
    """

    interval: float
    min_interval: float
    max_interval: float
    signature: str
    schedule: str
    fixed_interval: float | None = None
    importance: float = 1.0


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A rule as it is looked up: a host, or the end of one, or None for every host."""

    index: int
    host: str | None
    suffix: str | None
    glob: Glob | None

    def may_match(self, host: str) -> bool:
        if self.host is not None and self.host != host:
            return False
        if self.glob and self.glob.host not in (None, host):
            return False
        return self.suffix is None or host.endswith(self.suffix)


class RuleSet:
    """Finds what the settings say about a page.

    Each setting comes from the first rule that matches the page and sets it, else from the
    sections ``[schedule]`` and ``[signature]``.

    Parameters
    ----------
    rules : sequence of Rule
        In the order of the file.
    schedule, signature : ScheduleSettings, SignatureSettings
        What holds without a rule.

    Raises
    ------
    ConfigError
        If a rule's intervals contradict each other or the section they fall back on.
    """

    def __init__(
        self,
        rules: Sequence[Rule] = (),
        *,
        schedule: ScheduleSettings | None = None,
        signature: SignatureSettings | None = None,
    ) -> None:
        schedule = schedule or ScheduleSettings()
        signature = signature or SignatureSettings()
        self._rules = tuple(rules)
        self._default = Resolved(
            schedule.interval,
            schedule.min_interval,
            schedule.max_interval,
            signature.name,
            schedule.name,
        )
        for number, rule in enumerate(self._rules, start=1):
            _check_intervals(number, rule, self._default)
        self._candidates = [_candidate(index, rule) for index, rule in enumerate(self._rules)]
        self._by_host: dict[str, tuple[_Candidate, ...]] = {}
        self._merged: dict[tuple[int, ...], Resolved] = {(): self._default}

    @property
    def default(self) -> Resolved:
        """What holds for a page that no rule matches."""
        return self._default

    def resolve(self, url: str, host: str) -> Resolved:
        """Return the settings of a page.

        Parameters
        ----------
        url : str
            Canonical URL.
        host : str
            Its canonical host.
        """
        matched = self.matching(url, host)
        resolved = self._merged.get(matched)
        if resolved is None:
            resolved = _merge([self._rules[index] for index in matched], self._default)
            self._merged[matched] = resolved
        return resolved

    def matching(self, url: str, host: str) -> tuple[int, ...]:
        """Return the places of the rules that match a page, from 0, in the order of the file.

        Parameters are those of ``resolve``.
        """
        if not self._candidates:
            return ()
        candidates = self._by_host.get(host)
        if candidates is None:
            if len(self._by_host) >= _MAX_HOSTS:
                self._by_host.clear()
            candidates = tuple(c for c in self._candidates if c.may_match(host))
            self._by_host[host] = candidates
        return tuple([c.index for c in candidates if c.glob is None or c.glob.matches(url)])


def _candidate(index: int, rule: Rule) -> _Candidate:
    host = suffix = None
    if rule.host is not None and rule.host.startswith("*."):
        suffix = "." + canonical_host(rule.host.removeprefix("*."))
    elif rule.host is not None:
        host = canonical_host(rule.host)
    return _Candidate(index, host, suffix, Glob(rule.url) if rule.url is not None else None)


def _merge(rules: Iterable[Rule], default: Resolved) -> Resolved:
    values = {item.name: getattr(default, item.name) for item in fields(Resolved)}
    for rule in reversed(list(rules)):
        values |= rule.values()
        # Two rules may give a pair of bounds that cross; the one that counts more is kept.
        if rule.max_interval is not None and rule.min_interval is None:
            values["min_interval"] = min(values["min_interval"], rule.max_interval)
        values["max_interval"] = max(values["max_interval"], values["min_interval"])
    values["interval"] = min(
        max(values["interval"], values["min_interval"]), values["max_interval"]
    )
    return Resolved(**values)


def _check_intervals(number: int, rule: Rule, default: Resolved) -> None:
    values = {item.name: getattr(default, item.name) for item in fields(Resolved)}
    values |= rule.values()
    names = ["min_interval", "interval", "max_interval"]
    if rule.interval is None:
        names.remove("interval")
    for small, large in pairwise(names):
        if values[small] > values[large]:
            spec = spec_of(next(item for item in fields(rule) if item.name == small))
            raise ConfigError(
                f"rule {number}: {small} = {spec.spell(values[small])} is larger than"
                f" {large} = {spec.spell(values[large])}; give this rule a fitting"
                f" {small if getattr(rule, small) is None else large} too",
                value=rule,
            )
