"""Nutch's file of intervals by host, ``adaptive-host-specific-intervals.txt``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recrawl.core import url as urls
from recrawl.core.numeric import parse_float
from recrawl.core.states import Keys
from recrawl.errors import InputError, UrlError

__all__ = ["HostFile", "HostIntervals", "parse_hosts", "uri_host"]

Float32s = NDArray[np.float32]

_BLANKS = "".join(map(chr, range(0x21)))
#: What Java's ``Character.isWhitespace`` does not count as blank, though Python does.
_NO_BREAK = frozenset("\x85\u00a0\u2007\u202f")


@dataclass(frozen=True, slots=True, eq=False)
class HostIntervals:
    """Least and greatest interval by host, in the order of the keys.

    Parameters
    ----------
    host_key : ndarray of int64, shape (k,)
        Hosts, ascending.
    min_interval, max_interval : ndarray of float32, shape (k,)
        Their intervals. [s]
    """

    host_key: Keys
    min_interval: Float32s
    max_interval: Float32s

    @classmethod
    def of(
        cls, intervals: Mapping[str, tuple[float, float]], key: Callable[[str], int] = urls.host_key
    ) -> HostIntervals:
        """Return the table of a mapping from host name to least and greatest interval."""
        rows = sorted((key(host), low, high) for host, (low, high) in intervals.items())
        return cls(
            np.array([row[0] for row in rows], dtype=np.int64),
            np.array([row[1] for row in rows], dtype=np.float32),
            np.array([row[2] for row in rows], dtype=np.float32),
        )

    def lookup(
        self, keys: Keys, min_interval: np.float32, max_interval: np.float32
    ) -> tuple[Float32s, Float32s]:
        """Return each page's least and greatest interval, the given ones for other hosts.

        Parameters
        ----------
        keys : ndarray of int64, shape (n,)
            Host keys of the pages.
        min_interval, max_interval : float32
            Intervals of a host that is not in the table. [s]
        """
        low = np.full(len(keys), min_interval)
        high = np.full(len(keys), max_interval)
        at = np.searchsorted(self.host_key, keys)
        at[at == len(self.host_key)] = 0
        if len(self.host_key):
            is_there = self.host_key[at] == keys
            low[is_there] = self.min_interval[at[is_there]]
            high[is_there] = self.max_interval[at[is_there]]
        return low, high


@dataclass(frozen=True, slots=True)
class HostFile:
    """What a file of intervals by host says.

    Parameters
    ----------
    intervals : dict of str to tuple
        Least and greatest interval by host name, in lower case. [s]
    problems : tuple of str
        One sentence for each line that was left out, with its number.
    """

    intervals: dict[str, tuple[float, float]]
    problems: tuple[str, ...]


def parse_hosts(text: str, *, min_interval: float, max_interval: float) -> HostFile:
    """Read lines of host, least and greatest interval, as Nutch does.

    Parameters
    ----------
    text : str
        Lines of three parts; ``default`` or 0 stands for the default; ``#`` starts a comment.
    min_interval, max_interval : float
        The defaults, and the bounds of what a line may say. [s]

    Returns
    -------
    HostFile
        A line that cannot be used is reported and leaves an earlier one for its host in force.

    Notes
    -----
    NaN passes every test and makes its bound ineffective, as in the original.
    """
    low, high = np.float32(min_interval), np.float32(max_interval)
    intervals: dict[str, tuple[float, float]] = {}
    problems = []
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        if line.startswith("#") or all(map(_is_blank, line)):
            continue
        try:
            host, least, greatest = _parse_line(line, low, high)
        except InputError as error:
            problems.append(f"line {number}: {error.message}")
        else:
            intervals[host] = (least, greatest)
    return HostFile(intervals, tuple(problems))


def _parse_line(line: str, low: np.float32, high: np.float32) -> tuple[str, float, float]:
    """Return the host and its intervals; InputError says why the line is left out."""
    parts = re.split(r"[ \t\n\v\f\r]+", line.strip(_BLANKS))
    if len(parts) != 3:
        raise InputError(
            f"{len(parts)} parts; write host, least and greatest interval: {line!r}", value=line
        )
    least, greatest = (
        parse_float("0" if part.lower() == "default" else part) for part in parts[1:]
    )
    if least == 0 and greatest == 0:
        raise InputError(f"both intervals are the default; leave it out: {line!r}", value=line)
    if least == 0:
        least = low
    elif greatest == 0:
        greatest = high
    if least < 0 or greatest < 0:
        raise InputError(f"an interval is negative: {line!r}", value=line)
    if least > greatest:
        raise InputError(f"the least interval is above the greatest: {line!r}", value=line)
    if least < low:
        raise InputError(f"the least interval is below {low:g} s: {line!r}", value=line)
    if greatest > high:
        raise InputError(f"the greatest interval is above {high:g} s: {line!r}", value=line)
    return parts[0].lower(), float(least), float(greatest)


def _is_blank(character: str) -> bool:
    """Return whether Java's ``Character.isWhitespace`` holds."""
    return character.isspace() and character not in _NO_BREAK


_ESCAPED = r"%[0-9A-Fa-f]{2}"
#: Non-ASCII that is neither a control nor a blank is allowed everywhere but in the host.
_OTHER = r"[^\x00-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
_PATH = rf"(?:[A-Za-z0-9_.!~*'();/:@&=+$,-]|{_ESCAPED}|{_OTHER})*"
_QUERY = rf"(?:[A-Za-z0-9_.!~*'();/?:@&=+$,\[\]-]|{_ESCAPED}|{_OTHER})*"
_AUTHORITY = rf"(?:[A-Za-z0-9_.!~*'();:@&=+$,\[\]-]|{_ESCAPED}|{_OTHER})*"
_URI = re.compile(
    rf"(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://({_AUTHORITY}))?{_PATH}(?:\?{_QUERY})?(?:#{_QUERY})?"
)
_SERVER = re.compile(
    r"(?:[^@]*@)?"
    r"(\[[0-9A-Fa-f:.]+\]"
    r"|(?:[0-9]{1,3}\.){3}[0-9]{1,3}"
    r"|(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)*[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.?)"
    r"(?::[0-9]*)?"
)


def uri_host(url: str) -> str | None:
    """Return the host that Java's ``URI.getHost`` gives, which Nutch looks intervals up by.

    Parameters
    ----------
    url : str
        Any text.

    Returns
    -------
    str or None
        The host as it is spelt, capitals included; None where the URI has none that Java
        understands, such as one with an underscore.

    Raises
    ------
    UrlError
        If Java does not take the text for a URI.
    """
    match = _URI.fullmatch(url)
    if match is None:
        raise UrlError(f"not a URI as Java reads it: {url!r}", value=url)
    server = _SERVER.fullmatch(match[1] or "")
    return server[1] if server else None
