"""Outgoing links of a page as absolute URLs."""

from __future__ import annotations

from collections.abc import Iterable

from recrawl.core.url import resolve

__all__ = ["outgoing_links"]


def outgoing_links(
    references: Iterable[str], *, url: str, base: str | None = None
) -> tuple[str, ...]:
    """Return the pages that references name, in their order, each once.

    Parameters
    ----------
    references : iterable of str
        References as written in the page.
    url : str
        URL of the page.
    base : str, optional
        Reference in the page's ``<base>``; ignored if it names no page.
    """
    base_url = url if base is None else resolve(url, base) or url
    distinct = dict.fromkeys(references)
    targets = dict.fromkeys(resolve(base_url, reference) for reference in distinct)
    return tuple(target for target in targets if target is not None)
