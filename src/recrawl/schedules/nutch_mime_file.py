"""Nutch's file of rates by MIME type, ``adaptive-mimetypes.txt``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recrawl.core import document
from recrawl.core.numeric import parse_float
from recrawl.core.states import Keys
from recrawl.errors import InputError

__all__ = ["MimeFile", "MimeRates", "content_type_mime", "parse_mimes"]


@dataclass(frozen=True, slots=True, eq=False)
class MimeRates:
    """Rates by MIME type, in the order of the keys.

    Parameters
    ----------
    mime_key : ndarray of int64, shape (k,)
        MIME types, ascending; see ``core.document.mime_key``.
    inc_rate, dec_rate : ndarray of float32, shape (k,)
        Their rates.
    """

    mime_key: Keys
    inc_rate: NDArray[np.float32]
    dec_rate: NDArray[np.float32]

    @classmethod
    def of(
        cls, rates: Mapping[str, tuple[float, float]], key: Callable[[str], int] = document.mime_key
    ) -> MimeRates:
        """Return the table of a mapping from MIME type to rate of increase and of decrease."""
        rows = sorted((key(mime), inc, dec) for mime, (inc, dec) in rates.items())
        return cls(
            np.array([row[0] for row in rows], dtype=np.int64),
            np.array([row[1] for row in rows], dtype=np.float32),
            np.array([row[2] for row in rows], dtype=np.float32),
        )

    def lookup(self, keys: Keys) -> NDArray[np.intp]:
        """Return each page's row in the table, counted from 1; 0 for a type that is not in it.

        Parameters
        ----------
        keys : ndarray of int64, shape (n,)
            Keys of the MIME types of the pages.
        """
        if not len(self.mime_key):
            return np.zeros(len(keys), dtype=np.intp)
        at = np.searchsorted(self.mime_key, keys)
        at[at == len(self.mime_key)] = 0
        return np.where(self.mime_key[at] == keys, at + 1, 0)


@dataclass(frozen=True, slots=True)
class MimeFile:
    """What a file of rates by MIME type says.

    Parameters
    ----------
    rates : dict of str to tuple
        Rate of increase and of decrease by MIME type, in lower case.
    problems : tuple of str
        One sentence for each line that was left out, with its number.
    """

    rates: dict[str, tuple[float, float]]
    problems: tuple[str, ...]


def parse_mimes(text: str, *, exact: bool = False) -> MimeFile:
    """Read lines of MIME type, rate of increase and rate of decrease, as Nutch does.

    Parameters
    ----------
    text : str
        Lines of three parts with tabs between; ``#`` at the start of a line makes a comment.
    exact : bool
        Take every rate that is a number, and stop where one is not, as the original does.

    Returns
    -------
    MimeFile
        A line that cannot be used is reported and leaves an earlier one for its type in force.

    Raises
    ------
    InputError
        In exact mode, if a rate is not a number (the original ends in a NumberFormatException).
    """
    rates: dict[str, tuple[float, float]] = {}
    problems = []
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        if line.startswith("#") or not line.strip():
            continue
        parts = line.rstrip("\t").split("\t")
        if len(parts) != 3:
            problems.append(
                f"line {number}: {len(parts)} parts; write MIME type, rate of increase and rate"
                f" of decrease with tabs between: {line!r}"
            )
            continue
        try:
            inc, dec = (float(parse_float(part)) for part in parts[1:])
            if not exact:
                _check_rates(inc, dec)
        except InputError as error:
            message = f"line {number}: {error.message}: {line!r}"
            if exact:
                raise InputError(message, value=line) from None
            problems.append(message)
        else:
            rates[parts[0].lower()] = (inc, dec)
    return MimeFile(rates, tuple(problems))


def _check_rates(inc: float, dec: float) -> None:
    if not 0 < inc <= 1:
        raise InputError(
            f"the rate of increase is {inc:g}, allowed is above 0 and up to 1", value=inc
        )
    if not 0 < dec < 1:
        raise InputError(
            f"the rate of decrease is {dec:g}, allowed is above 0 to below 1", value=dec
        )


def content_type_mime(content_type: str) -> str:
    """Return the MIME type that Nutch looks up for the value of a Content-Type header.

    The original splits at ``;`` and drops empty parts at the end, so ``text/html;`` is looked up
    with its semicolon; it neither trims nor lowers the case.

    Parameters
    ----------
    content_type : str
        Any text.

    Examples
    --------
    >>> content_type_mime("text/html; charset=utf-8"), content_type_mime("text/html;")
    ('text/html', 'text/html;')
    """
    parts = content_type.rstrip(";").split(";")
    return parts[0] if len(parts) > 1 else content_type
