"""What a section of settings is: fields that know their kind, range and meaning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, dataclass, field, fields
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

from recrawl.config.values import Kind, Spec, Unusable
from recrawl.core.url import redact
from recrawl.errors import ConfigError

__all__ = ["Section", "SettingInfo", "describe", "refusal", "setting", "spec_of"]


class SettingInfo(NamedTuple):
    """One setting as documentation shows it; ``default`` is written as in a settings file."""

    section: str
    name: str
    type: str
    default: str
    unit: str
    help: str


def setting(default: Any, kind: Kind, help_line: str, **more: Any) -> Any:
    """Return a dataclass field that knows its ``Spec``."""
    spec = Spec(kind, help_line, **more)
    return field(default=default, repr=not spec.is_secret, metadata={"spec": spec})


def spec_of(item: Field[Any]) -> Spec:
    """Return the ``Spec`` of a field made by ``setting``."""
    spec: Spec = item.metadata["spec"]
    return spec


@dataclass(frozen=True)
class Section:
    """Settings that belong together; checks them when it is made."""

    title: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for item, error in self._refused():
            if not (self._is_exact and spec_of(item).exact_is_free):
                raise refusal(self.title, item, getattr(self, item.name), error.message) from None
        if problem := self._problem():
            raise ConfigError(f"[{self.title}]: {problem}")

    def taken_as_is(self) -> Iterator[str]:
        """Yield a sentence for each setting that exact mode alone takes."""
        for item, error in self._refused():
            yield f"{self.title}.{item.name} = {getattr(self, item.name):g}: {error.message}"
        if self._is_exact and (problem := self._contradiction()):
            yield f"[{self.title}]: {problem}"

    @property
    def _is_exact(self) -> bool:
        return bool(getattr(self, "exact", False))

    def _refused(self) -> Iterator[tuple[Field[Any], Unusable]]:
        """Yield the settings whose values are not allowed, each with its error."""
        for item in fields(self):
            value = getattr(self, item.name)
            if value is None:
                continue
            try:
                spec_of(item).check(value)
            except Unusable as error:
                yield item, error

    def _contradiction(self) -> str:
        """Return what is wrong between settings that exact mode takes all the same."""
        return ""

    def _problem(self) -> str:
        """Return what is wrong between several settings, "" for nothing."""
        return ""

    def _order_problem(self, *names: str) -> str:
        """Return "" if the named settings do not fall, in this order."""
        for small, large in pairwise(names):
            low, high = getattr(self, small), getattr(self, large)
            if low > high:
                spec = spec_of(next(f for f in fields(self) if f.name == small))
                return (
                    f"{small} = {spec.spell(low)} is larger than {large} = {spec.spell(high)};"
                    f" lower {small} or raise {large}"
                )
        return ""


def refusal(section: str, item: Field[Any], value: object, reason: str) -> ConfigError:
    """Return the error that a setting's value is not usable."""
    spec = spec_of(item)
    shown = _shown(value)
    known = "" if item.default is None else f" (default {spec.spell(item.default)})"
    return ConfigError(
        f"{section}.{item.name} = {shown} is not usable: {reason};"
        f" correct it or leave it out{known}",
        value=None if spec.is_secret else value,
    )


def _shown(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > 63:
        return "a whole number"  # Python refuses to write out the largest
    return repr(redact(value) if isinstance(value, str) else value)[:200]


def describe(sections: tuple[type[Section], ...]) -> Iterator[SettingInfo]:
    """Yield every setting of the sections, in their order."""
    for section in sections:
        for item in fields(section):
            spec = spec_of(item)
            default = "" if item.default is None else spec.spell(item.default)
            help_line = f"{spec.help} {spec.note}".rstrip()
            yield SettingInfo(
                section.title, item.name, spec.kind.value, default, spec.unit, help_line
            )
