"""What the settings say about one page, as values the cycle can use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from recrawl.core.document import Signature, scheme_id
from recrawl.core.interval import Bounds
from recrawl.core.timing import Schedule
from recrawl.core.update import UpdateRule

__all__ = ["PagePolicy", "PolicyOf"]


@dataclass(frozen=True, slots=True, eq=False)
class PagePolicy:
    """How one page is scheduled and compared; pages under the same rules share one object.

    Parameters
    ----------
    schedule : Schedule
        Decides when the page is fetched next.
    bounds : Bounds
        Least and greatest wait, and jitter.
    update : UpdateRule
        How failures are counted.
    signature : Signature
        What counts as the same content.
    interval : float
        First fetch interval of a page that brings none. [s]
    fixed_interval : float
        Interval that no schedule moves, from a rule; NaN for none. [s]
    importance : float
        Importance of a page that brings none.
    """

    schedule: Schedule
    bounds: Bounds
    update: UpdateRule
    signature: Signature
    interval: float
    fixed_interval: float = np.nan
    importance: float = 1.0
    #: Identity of the signature scheme, as kept beside each signature.
    scheme: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "scheme", scheme_id(self.signature.scheme))


#: Gives the policy of a page by its canonical URL.
PolicyOf: TypeAlias = Callable[[str], PagePolicy]
