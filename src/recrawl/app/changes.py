"""The change feed as users read it: events, followed, with text or difference."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import AsyncIterator, Iterator

from recrawl.ports.clock import Clock
from recrawl.ports.store import Change, PageStore, TextVersion

__all__ = ["diff_of", "follow", "read", "text_of"]

_PAGE = 1000
_POLL = 1_000


def read(store: PageStore, after: int = 0) -> Iterator[Change]:
    """Yield the events with ``sequence > after`` that are there now, in their order."""
    while events := store.changes(after, limit=_PAGE):
        yield from events
        after = events[-1].sequence


async def follow(
    store: PageStore, clock: Clock, after: int = 0, *, stop: asyncio.Event
) -> AsyncIterator[Change]:
    """Yield events as they come, until ``stop`` is set; looks once a second."""
    while not stop.is_set():
        events = store.changes(after, limit=_PAGE)
        for event in events:
            yield event
            if stop.is_set():
                return
        if events:
            after = events[-1].sequence
            await asyncio.sleep(0)  # a long feed must not keep a signal from being seen
        else:
            await clock.sleep_until(clock.now() + _POLL, stop)


def _version(store: PageStore, page_key: int, signature: bytes | None) -> TextVersion | None:
    if signature is None:
        return None
    for version in store.texts(page_key):
        if version.signature == signature:
            return version
    return None


def text_of(store: PageStore, event: Change) -> str | None:
    """Return the text the event reports, or None if it is not kept any more."""
    version = _version(store, event.page_key, event.new_signature)
    return None if version is None else version.text


def _name(event: Change, version: TextVersion) -> str:
    return f"{event.url} {version.signature[:4].hex()}"


def diff_of(store: PageStore, event: Change) -> str | None:
    """Return a unified diff from the text before the event to the text after it.

    The two sides are named by the start of their signatures, as the event names them.  None if
    either is not kept any more; "" for an event that changed no text.
    """
    if event.old_signature == event.new_signature:
        return ""
    new = _version(store, event.page_key, event.new_signature)
    old = _version(store, event.page_key, event.old_signature)
    if new is None or (old is None and event.old_signature is not None):
        return None
    lines = difflib.unified_diff(
        [] if old is None else old.text.splitlines(),
        new.text.splitlines(),
        fromfile="" if old is None else _name(event, old),
        tofile=_name(event, new),
        lineterm="",
        n=2,
    )
    return "\n".join(lines)
