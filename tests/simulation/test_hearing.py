"""What a crawl hears of the signals of a world."""

from __future__ import annotations

import numpy as np

from recrawl.core.update import UpdateRule
from recrawl.schedules.fixed import Fixed
from recrawl.simulation.crawl import Crawl
from recrawl.simulation.hearing import Hearing
from recrawl.simulation.worlds import World


def signalled() -> World:
    """Return three pages: two signals of the first, three of the second, one of the third."""
    return World.of(
        100.0, [0, 0, 0], [], signal_time=[5, 20, 1, 2, 30, 7], signal_start=[0, 2, 5, 6],
        born_at=[0, 0, 10], gone_at=[np.inf, 25, np.inf],
    )  # fmt: skip


def test_signals_are_heard_once_and_in_time():
    """Each look brings what came since the last one, an instant included."""
    hearing = Hearing.of(signalled())

    looks = [hearing.until(now) for now in (0, 5_000, 5_001, 100_000)]

    assert [(page.tolist(), n.tolist()) for page, n in looks] == [
        ([], []),
        ([0, 1], [1, 2]),
        ([], []),
        ([0], [1]),
    ]


def test_pages_that_are_not_there_send_no_signals():
    """Neither before they are born nor after they are gone."""
    hearing = Hearing.of(signalled())

    assert hearing.page.tolist() == [1, 1, 0, 0]


def test_a_crawl_counts_signals_up_to_a_limit():
    """A page that is signalled all the time stays within its column."""
    made = World.of(
        100.0, [0, 0], [], signal_time=np.linspace(0, 50, 60_001), signal_start=[0, 60_000, 60_001]
    )
    crawl = Crawl.of(
        made, Fixed(), rule=UpdateRule(), bounds=None, seed=0, start_at=0, is_first_change=False,
        n_parts=1,
    )  # fmt: skip

    counted = []
    for now in (1, 25_000, 60_000):
        crawl.hear(now)
        counted.append(crawl.states.n_signals.tolist())

    assert counted == [[2, 0], [10_000, 0], [10_000, 1]]
