"""Laws of the change rates of pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from recrawl.core.states import Rates, Seconds

__all__ = ["LAWS", "gamma", "lognormal", "pareto"]

_DAY = 86_400.0
#: No page changes more often than each hour.
_MOST = 24 / _DAY


def lognormal(rng: np.random.Generator, host: Seconds) -> Rates:
    """Return rates with median 1/40 a day and sigma 2, half the log-variance between hosts.

    Parameters
    ----------
    rng : Generator
        Chance.
    host : ndarray, shape (n,)
        Standard normal number of each page's host.
    """
    spread = np.sqrt(2) * (host + rng.standard_normal(len(host)))
    rate: Rates = np.exp(spread) / (40 * _DAY)
    return rate.clip(max=_MOST)


def gamma(rng: np.random.Generator, host: Seconds) -> Rates:
    """Return rates of a gamma law of shape 0.4 and mean 0.15 a day, times a factor a host.

    The factor is log-normal with mean 1 and sigma 1; see ``lognormal`` for the parameters.
    """
    rate = rng.gamma(0.4, 0.15 / 0.4, len(host)) * np.exp(host - 0.5) / _DAY
    return rate.clip(max=_MOST)


def pareto(rng: np.random.Generator, host: Seconds) -> Rates:
    """Return rates of at least 1/120 a day with P(rate > x) ~ x**-1.1, hosts alike."""
    return ((1 + rng.pareto(1.1, len(host))) / (120 * _DAY)).clip(max=_MOST)


#: Laws by name.
LAWS: Final[dict[str, Callable[[np.random.Generator, Seconds], Rates]]] = {
    law.__name__: law for law in (gamma, lognormal, pareto)
}
