"""Files beside the settings file: intervals by host and rates by MIME type, as Nutch has them."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from recrawl.config.settings import ScheduleSettings
from recrawl.core.host import canonical_host
from recrawl.core.url import host_key
from recrawl.errors import ConfigError, InputError
from recrawl.schedules.nutch_hosts import HostIntervals, parse_hosts
from recrawl.schedules.nutch_mime_file import MimeRates, parse_mimes

__all__ = ["ScheduleTables", "read_tables"]

_LOG = logging.getLogger("recrawl.config")


@dataclass(frozen=True, slots=True)
class ScheduleTables:
    """What such files say; None where none is named.

    Parameters
    ----------
    hosts : HostIntervals or None
        Least and greatest interval of some hosts.
    mimes : MimeRates or None
        Rates of some MIME types.
    """

    hosts: HostIntervals | None = None
    mimes: MimeRates | None = None


def read_tables(settings: ScheduleSettings) -> ScheduleTables:
    """Read the files that the settings name.

    Raises
    ------
    ConfigError
        If a file cannot be read, or a line not be used.  In exact mode a line that the original
        leaves out with a warning is left out with a warning.
    """
    hosts = mimes = None
    if settings.host_file:
        host_file = parse_hosts(
            _text_of("schedule.host_file", settings.host_file),
            min_interval=settings.min_interval,
            max_interval=settings.max_interval,
        )
        _report(settings.host_file, host_file.problems, exact=settings.exact)
        # The original looks a host up as the URL spells it; canonical URLs have one spelling.
        hosts = HostIntervals.of(host_file.intervals, key=_canonical_key)
    if settings.mime_file:
        text = _text_of("schedule.mime_file", settings.mime_file)
        try:
            mime_file = parse_mimes(text, exact=settings.exact)
        except InputError as error:
            raise ConfigError(f"{settings.mime_file}, {error.message}", value=error.value) from None
        _report(settings.mime_file, mime_file.problems, exact=settings.exact)
        mimes = MimeRates.of(mime_file.rates)
    return ScheduleTables(hosts, mimes)


def _canonical_key(host: str) -> int:
    try:
        return host_key(canonical_host(host))
    except InputError:
        return host_key(host)  # a host that no URL has


def _report(path: str, problems: tuple[str, ...], *, exact: bool) -> None:
    """Refuse lines that cannot be used, or in exact mode say which are left out."""
    if problems and not exact:
        more = f"; {len(problems) - 1} more lines cannot be used" if len(problems) > 1 else ""
        raise ConfigError(
            f"{path}, {problems[0]}{more}; correct the line or begin it with #", value=path
        )
    for problem in problems:
        _LOG.warning("line_left_out file=%s problem=%s", path, problem)


def _text_of(setting: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{setting}: {path} is not UTF-8 text (byte {error.start + 1}); save it as UTF-8",
            value=path,
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"{setting}: {path} cannot be read: {reason}; name a file that is there, or leave the"
            " setting out",
            value=path,
        ) from error
