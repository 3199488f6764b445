"""What the settings of Nutch mean here: one table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from recrawl.errors import InputError
from recrawl.interop.imported import Imported, shown
from recrawl.interop.nutch.site import expand, read_bool, read_float, read_int, read_site

__all__ = ["SETTINGS", "import_nutch"]

_SCHEDULES: Final = {
    "org.apache.nutch.crawl.DefaultFetchSchedule": "fixed",
    "org.apache.nutch.crawl.AdaptiveFetchSchedule": "nutch-adaptive",
    "org.apache.nutch.crawl.MimeAdaptiveFetchSchedule": "nutch-mime",
}
_SIGNATURES: Final = {
    "org.apache.nutch.crawl.MD5Signature": "md5",
    "org.apache.nutch.crawl.TextMD5Signature": "text-md5",
    "org.apache.nutch.crawl.TextProfileSignature": "text-profile",
}


def _one_of(names: Mapping[str, str]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in names:
            raise InputError("a class of your own")
        return names[text]

    return read


def _milliseconds(text: str) -> float:
    return read_int(text) / 1000


class _Setting(NamedTuple):
    """A setting of Nutch: ours, how it is read, and what nutch-default.xml says."""

    place: str
    read: Callable[[str], bool | int | float | str]
    #: Written also where the file does not set it, since ours has another default; None: not.
    default: str | None = None


_ADAPTIVE = "db.fetch.schedule.adaptive."
_PROFILE = "db.signature.text_profile."
SETTINGS: Final[dict[str, _Setting]] = {
    "db.fetch.schedule.class": _Setting(
        "schedule.name", _one_of(_SCHEDULES), "org.apache.nutch.crawl.DefaultFetchSchedule"
    ),
    "db.fetch.interval.default": _Setting("schedule.interval", read_int, "2592000"),
    "db.fetch.interval.max": _Setting("schedule.max_interval", read_int, "7776000"),
    _ADAPTIVE + "inc_rate": _Setting("schedule.inc_rate", read_float, "0.4"),
    _ADAPTIVE + "dec_rate": _Setting("schedule.dec_rate", read_float, "0.2"),
    _ADAPTIVE + "min_interval": _Setting("schedule.min_interval", read_float, "60.0"),
    _ADAPTIVE + "max_interval": _Setting("schedule.max_interval", read_float, "31536000.0"),
    _ADAPTIVE + "sync_delta": _Setting(
        "schedule.sync_delta", lambda text: read_bool(text, True), "true"
    ),
    _ADAPTIVE + "sync_delta_rate": _Setting("schedule.sync_delta_rate", read_float, "0.3"),
    "db.fetch.schedule.mime.file": _Setting("schedule.mime_file", str, "adaptive-mimetypes.txt"),
    "db.fetch.retry.max": _Setting("schedule.retry_max", read_int, "3"),
    "db.signature.class": _Setting(
        "signature.name", _one_of(_SIGNATURES), "org.apache.nutch.crawl.MD5Signature"
    ),
    _PROFILE + "min_token_len": _Setting("signature.min_token_len", read_int),
    _PROFILE + "quant_rate": _Setting("signature.quant_rate", read_float),
    _PROFILE + "sec_sort_lex": _Setting(
        "signature.sec_sort_lex", lambda text: read_bool(text, True)
    ),
    "http.timeout": _Setting("fetch.timeout", _milliseconds),
    "http.content.limit": _Setting("fetch.max_size", read_int),
    "http.redirect.max": _Setting("fetch.max_redirects", read_int),
    "http.agent.url": _Setting("fetch.contact", str),
    "fetcher.server.delay": _Setting("politeness.min_delay", read_float),
    "fetcher.threads.per.queue": _Setting("politeness.requests_per_host", read_int),
    "fetcher.threads.fetch": _Setting("crawl.hosts", read_int),
}
_ADAPTIVE_ONLY = ("inc_rate", "dec_rate", "min_interval", "sync_delta", "sync_delta_rate")
#: Read together with others, or the same in every crawl.
_HANDLED: Final = {"http.agent.name", "http.agent.version", "http.agent.email"}


def import_nutch(content: bytes) -> Imported:
    """Return what a ``nutch-site.xml`` means here.

    Parameters
    ----------
    content : bytes
        The file.  What it does not set is as in the nutch-default.xml of Nutch 1.23.

    Raises
    ------
    InputError
        If it cannot be read at all; a single value that cannot is a note.
    """
    values, n_includes = read_site(content)
    imported = Imported("Nutch")
    read: dict[str, bool | int | float | str] = {}
    for name, setting in SETTINGS.items():
        text = _expanded(values, name, imported)
        given = text if text is not None else setting.default
        if given is not None:
            _read(imported, read, name, given, is_given=text is not None)
    _bounds(imported, read)
    _agent(imported, values)
    for name in sorted(values.keys() - SETTINGS.keys() - _HANDLED):
        imported.notes.append(f"no counterpart: {name} = {shown(values[name])}")
    if n_includes:
        imported.notes.append("not read: files that are included by xi:include")
    imported.put("schedule.jitter", 0.0, "Nutch has none")
    return imported


def _expanded(values: Mapping[str, str], name: str, imported: Imported) -> str | None:
    try:
        return expand(values, name)
    except InputError as error:
        imported.notes.append(f"not read: {error.message}")
        return None


def _read(
    imported: Imported,
    read: dict[str, bool | int | float | str],
    name: str,
    text: str,
    *,
    is_given: bool,
) -> None:
    setting = SETTINGS[name]
    try:
        value = setting.read(text)
    except InputError as error:
        imported.notes.append(
            f"no counterpart: {name} = {shown(text)} ({error.message});"
            f" {setting.place} is left as it is here"
        )
        return
    if isinstance(value, float) and not math.isfinite(value):
        imported.notes.append(f"no counterpart: {name} = {shown(text)} is not finite")
        return
    read[name] = value
    imported.put(setting.place, value, name if is_given else f"{name}, default of Nutch")


def _bounds(imported: Imported, read: Mapping[str, bool | int | float | str]) -> None:
    """Keep of the settings of the schedule those that the schedule has."""
    schedule = imported.settings["schedule"]
    name = schedule["name"].value if "name" in schedule else ""
    most = read.get("db.fetch.interval.max")
    longest = read.get(_ADAPTIVE + "max_interval")
    if name == "fixed":
        for setting in _ADAPTIVE_ONLY:
            schedule.pop(setting, None)
        if isinstance(most, int):
            imported.put("schedule.max_interval", most, "db.fetch.interval.max")
    elif isinstance(most, int) and isinstance(longest, int | float) and most < longest:
        imported.put("schedule.max_interval", most, "db.fetch.interval.max")
        imported.notes.append(
            f"another meaning: {_ADAPTIVE}max_interval = {longest:.15g} is above"
            f" db.fetch.interval.max = {most}, beyond which Nutch fetches by force and forgets"
            " the signature; here the smaller one bounds the wait, and nothing is forgotten"
        )
    if name != "nutch-mime":
        schedule.pop("mime_file", None)
    if name in ("nutch-adaptive", "nutch-mime"):
        imported.notes.append(
            "by hand: if there is an adaptive-host-specific-intervals.txt, name it in"
            " schedule.host_file"
        )


def _agent(imported: Imported, values: Mapping[str, str]) -> None:
    """Put the parts of the User-Agent together; limits that mean "none" have no counterpart."""
    contact = imported.get("fetch.contact")
    email = _expanded(values, "http.agent.email", imported)
    if email and (contact is None or not contact.value):
        imported.put("fetch.contact", email, "http.agent.email")
    name = _expanded(values, "http.agent.name", imported)
    contact = imported.get("fetch.contact")
    if name and contact and contact.value:
        version = _expanded(values, "http.agent.version", imported)
        agent = f"{name}/{version}" if version else name
        imported.put("fetch.user_agent", f"{agent} (+{contact.value})", "http.agent.name")
    elif name:
        imported.notes.append(
            f"no counterpart: http.agent.name = {shown(name)} without http.agent.url or"
            " http.agent.email; set fetch.contact"
        )
