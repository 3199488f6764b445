"""Fixed rates by MIME type: Nutch's MimeAdaptiveFetchSchedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recrawl.core.states import Keys, Small
from recrawl.schedules import lifecycle
from recrawl.schedules.nutch import Float32s, NutchAdaptive, clip_code, rate_factors
from recrawl.schedules.nutch_mime_file import MimeRates

__all__ = ["NutchMime"]


@dataclass(frozen=True, slots=True)
class NutchMime(NutchAdaptive):
    """Works as nutch-adaptive, with rates of its own for pages of some MIME types.

    Parameters
    ----------
    mimes : MimeRates, optional
        Rates by MIME type; pages of other types, and of none, have ``inc_rate`` and ``dec_rate``.

    Raises
    ------
    InputError
        If a setting, also one of ``NutchAdaptive``, is out of range and the mode is not exact.

    Notes
    -----
    Columns read: those of ``NutchAdaptive``, and mime_key, which is the type of the last good
    content: an answer without content, such as 304, tells none.  The original keeps the rates in
    fields that each call overwrites; here they are looked up row by row.

    References
    ----------
    Nutch, MimeAdaptiveFetchSchedule.setFetchSchedule.
    """

    name: ClassVar[str] = "nutch-mime"

    mimes: MimeRates | None = None

    def __post_init__(self) -> None:
        NutchAdaptive.__post_init__(self)
        if self.exact or self.mimes is None:
            return
        for setting in ("inc_rate", "dec_rate"):
            for rate in getattr(self.mimes, setting).tolist():
                lifecycle.require_rate(self.name, f"mimes.{setting}", rate)

    def _factor(self, mime_key: Keys, observation: Small) -> Float32s:
        """Return the factor of each page's interval."""
        mimes = self.mimes or MimeRates.of({})
        factors = rate_factors(
            np.append(np.float32(self.inc_rate), mimes.inc_rate),
            np.append(np.float32(self.dec_rate), mimes.dec_rate),
        )
        at = mimes.lookup(mime_key)
        at *= 3
        at += clip_code(observation)
        factor: Float32s = factors[at]
        return factor
