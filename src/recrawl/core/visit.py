"""Visits: one fetch of one page with its outcome, as columns."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from recrawl.core.columns import NO_KEY, NO_SCHEME, NO_TIME, SIGNATURE_BYTES
from recrawl.core.states import Keys, Mask, Signatures, Small, Times

__all__ = ["Observation", "Outcome", "Visits", "is_redirect", "is_usable"]


class Outcome(IntEnum):
    """What a visit came to."""

    #: The server sent content and it could be read.
    SUCCESS = 1
    #: 304 to a conditional request.
    NOTMODIFIED = 2
    #: A temporary redirect (302, 303, 307).
    REDIR_TEMP = 3
    #: A permanent redirect (301, 308).
    REDIR_PERM = 4
    #: A failure that may pass: time-out, DNS, 5xx, 429, 403, a cut-off body.
    RETRY = 5
    #: The server says that there is no such page (404, 410).
    GONE = 6
    #: Content came and could not be read: too large, time limit, not a kind that has text.
    PARSE_FAILED = 7
    #: robots.txt or the address rules forbid the fetch; no request for the page was sent.
    DENIED = 8
    #: 2xx without content.
    EMPTY = 9


class Observation(IntEnum):
    """What a visit says about change; the codes are those of Nutch's FetchSchedule."""

    UNKNOWN = 0
    CHANGED = 1
    UNCHANGED = 2


@dataclass(frozen=True, slots=True)
class Visits:
    """Visits of n pages, one a page, as columns of shape ``(n,)``.

    Parameters
    ----------
    page_key : ndarray of int64
        The pages.
    fetched_at : ndarray of int64
        When the request left. [ms]
    outcome : ndarray of int8
        ``Outcome``.
    observation : ndarray of int8
        ``Observation``; UNKNOWN until ``observe`` filled it in.
    modified_at : ndarray of int64
        The server's Last-Modified; NO_TIME where there is none. [ms]
    redirect_key : ndarray of int64
        Page key of the redirect's target; 0 where there is none.
    signature : ndarray of V16
        Signature of what was fetched.
    signature_scheme : ndarray of int64
        Its scheme; 0 where there is no signature.
    mime_key : ndarray of int64
        Key of the MIME type of what was fetched, ``core.document.mime_key``; 0 where unknown.
    """

    page_key: Keys
    fetched_at: Times
    outcome: Small
    observation: Small
    modified_at: Times
    redirect_key: Keys
    signature: Signatures
    signature_scheme: Keys
    mime_key: Keys

    def __len__(self) -> int:
        return int(self.page_key.shape[0])

    @classmethod
    def of(cls, n: int, **columns: ArrayLike) -> Visits:
        """Return n visits with the given columns; what is not given is unknown.

        ``fetched_at`` and ``outcome`` have no default.
        """
        defaults: dict[str, tuple[str, Any]] = {
            "page_key": ("int64", NO_KEY),
            "fetched_at": ("int64", None),
            "outcome": ("int8", None),
            "observation": ("int8", Observation.UNKNOWN),
            "modified_at": ("int64", NO_TIME),
            "redirect_key": ("int64", NO_KEY),
            "signature": (f"V{SIGNATURE_BYTES}", b"\0" * SIGNATURE_BYTES),
            "signature_scheme": ("int64", NO_SCHEME),
            "mime_key": ("int64", NO_KEY),
        }
        arrays: dict[str, Any] = {}
        for name, (dtype, default) in defaults.items():
            array = np.empty(n, dtype=dtype)
            array[:] = np.asarray(columns.pop(name) if name in columns else default, dtype=dtype)
            arrays[name] = array
        if columns:
            raise TypeError(f"not visit columns: {', '.join(sorted(columns))}")
        return cls(**arrays)

    def take(self, index: ArrayLike) -> Visits:
        """Return the rows at ``index``."""
        chosen = np.asarray(index)
        return Visits(**{f.name: getattr(self, f.name)[chosen] for f in fields(self)})


def is_redirect(outcome: Small) -> Mask:
    """Return where the server pointed elsewhere, for now or for good."""
    redirects: Mask = (outcome == Outcome.REDIR_TEMP) | (outcome == Outcome.REDIR_PERM)
    return redirects


def is_usable(outcome: Small) -> Mask:
    """Return where the server gave an answer to go by: content, 304 or a redirect."""
    # These are the first four codes; one comparison costs a fifth of a table.
    usable: Mask = outcome <= Outcome.REDIR_PERM
    return usable
