"""Which links to a page the update of a CrawlDb looks at, and in which order."""

from __future__ import annotations

from collections.abc import Iterable

from recrawl.interop.nutch.datum import CrawlDatum

__all__ = ["choose_inlinks"]


def choose_inlinks(links: Iterable[CrawlDatum], limit: int) -> list[CrawlDatum]:
    """Return at most ``limit`` links, highest score first.

    Notes
    -----
    As Nutch does it, which keeps the links of the *lowest* scores when there are too many: its
    queue holds the best on top and replaces the top.  The order of equal scores is that of
    the binary heap, so the heap is spelt out: ``heapq`` moves equal items differently.
    """
    heap: list[CrawlDatum] = []
    for link in links:
        if len(heap) < limit:
            heap.append(link)
            _rise(heap)
        elif heap and not link.score > heap[0].score:
            heap[0] = link
            _sink(heap)
    chosen = []
    while heap:
        chosen.append(heap[0])
        last = heap.pop()
        if heap:
            heap[0] = last
            _sink(heap)
    return chosen


def _rise(heap: list[CrawlDatum]) -> None:
    """Move the last item up past those of lower score."""
    i = len(heap) - 1
    item = heap[i]
    while i > 0 and item.score > heap[(i - 1) // 2].score:
        heap[i] = heap[(i - 1) // 2]
        i = (i - 1) // 2
    heap[i] = item


def _sink(heap: list[CrawlDatum]) -> None:
    """Move the first item down past those of higher score."""
    i = 0
    item = heap[i]
    while (child := 2 * i + 1) < len(heap):
        if child + 1 < len(heap) and heap[child + 1].score > heap[child].score:
            child += 1
        if not heap[child].score > item.score:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = item
