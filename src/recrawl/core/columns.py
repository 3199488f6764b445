"""The table of page-state columns: the single source of name, type, unit and meaning.

``PageStates`` has these fields, the stores persist them under these names, and the
documentation lists them from here.  It needs no NumPy: who only wants a constant, such as an
extraction worker, starts in half the time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = [
    "COLUMNS",
    "MOST_SIGNALS",
    "NEVER",
    "NO_KEY",
    "NO_SCHEME",
    "NO_TIME",
    "SIGNATURE_BYTES",
    "Column",
]

#: An instant that is unknown.  int64 has no NaN; the least value plays its part, as in NumPy's NaT.
NO_TIME = -(2**63)
#: The next fetch of a page that is not to be fetched again.  Not a number to calculate with.
NEVER = 2**63 - 1
#: No page, host, group or MIME type.  The functions that make keys never return it.
NO_KEY = 0
#: No signature is known.  ``scheme_id`` never returns it.
NO_SCHEME = 0
#: More signals of a page since its last visit are not counted.
MOST_SIGNALS = 2**15 - 1
#: Width of a signature in bytes.
SIGNATURE_BYTES = 16


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the page state.

    Parameters
    ----------
    name : str
        Name of the field, of the database column and of the exported field.
    dtype : str
        NumPy dtype at the border.
    unit : str
        Unit, or "" for none.
    default : object
        Value of a page that was just added.
    meaning : str
        One sentence.
    null : str
        How "unknown" is written, or "" if the column always has a value.
    """

    name: str
    dtype: str
    unit: str
    default: object
    meaning: str
    null: str = ""


COLUMNS: tuple[Column, ...] = (
    Column("page_key", "int64", "", NO_KEY, "64-bit hash of the canonical URL."),
    Column("host_key", "int64", "", NO_KEY, "64-bit hash of the canonical host name."),
    Column("status", "int8", "", 1, "PageStatus after the last visit."),
    Column(
        "announced", "int8", "", 0, "Announced state: what the change feed last said of the page."
    ),
    Column(
        "next_fetch_at", "int64", "ms", NO_TIME, "When the page is due.", "NEVER: not fetched again"
    ),
    Column(
        "interval", "float64", "s", math.nan, "Fetch interval, as the schedule last set it.", "NaN"
    ),
    Column(
        "fixed_interval", "float32", "s", math.nan, "Interval set by hand; no schedule moves it.",
        "NaN",
    ),
    Column("importance", "float32", "", 1.0, "Weight of the page's freshness against others'."),
    Column(
        "group_key", "int64", "", NO_KEY,
        "64-bit hash of the group whose pages may be edited together.", "0",
    ),
    Column(
        "rate_shape", "float32", "", 0.0,
        "What visits added to the shape of the Gamma distribution of the page's change rate.",
    ),
    Column(
        "rate_exposure", "float32", "s", 0.0, "What visits added to the exposure of the same."
    ),
    Column(
        "bulk_shape", "float16", "", 0.0,
        "How strongly the page takes part in edits of its group: what visits added to the shape.",
    ),
    Column("bulk_exposure", "float32", "", 0.0, "What visits added to the exposure of the same."),
    Column(
        "surprise", "float16", "", 0.0,
        "How surprising it is that every visit saw a change; negative once one saw none.",
    ),
    Column("n_signals", "int16", "", 0, "Signals of a change since the last visit."),
    Column("retries", "int16", "", 0, "Temporary failures since the last usable answer."),
    Column("n_visits", "int32", "", 0, "Visits so far."),
    Column("n_changes", "int32", "", 0, "Visits that saw a change, the first not counted."),
    Column("fetched_at", "int64", "ms", NO_TIME, "Start of the last visit.", "NO_TIME"),
    Column(
        "checked_at", "int64", "ms", NO_TIME,
        "Start of the last visit that showed the content or that it had not changed.", "NO_TIME",
    ),
    Column(
        "modified_at", "int64", "ms", NO_TIME, "When the content is taken to have changed last.",
        "NO_TIME",
    ),
    Column("changed_at", "int64", "ms", NO_TIME, "Last visit that saw new content.", "NO_TIME"),
    Column("redirect_key", "int64", "", NO_KEY, "Page key of the redirect's target.", "0"),
    Column(
        "signature", f"V{SIGNATURE_BYTES}", "", b"\0" * SIGNATURE_BYTES,
        "Signature of the last good content.", "signature_scheme is 0",
    ),
    Column(
        "signature_scheme", "int64", "", NO_SCHEME,
        "Hash of the signature's name, settings and version.", "0",
    ),
    Column(
        "mime_key", "int64", "", NO_KEY, "64-bit hash of the MIME type of the last good content.",
        "0",
    ),
    Column(
        "moved_layers", "int8", "", 0,
        "Layers that moved at the last change: bits of Layer, 0 before the first change.",
    ),
)  # fmt: skip
