"""A site on loopback, a clock that stands still, and a fetcher between the two."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from recrawl.testing.rig import FetchRig
from recrawl.testing.site import LoopbackSite


@pytest.fixture
async def rig() -> AsyncIterator[FetchRig]:
    async with FetchRig() as rig:
        yield rig


@pytest.fixture
def site(rig: FetchRig) -> LoopbackSite:
    return rig.site
