"""Canonical URLs, page keys and host keys."""

from __future__ import annotations

__all__ = ["canonical_url", "host_key", "host_of", "origin_of", "page_key", "resolve"]


def canonical_url(text: str) -> str:
    """Return the one spelling of a URL; UrlError if it cannot name a page."""
    raise NotImplementedError


def page_key(url: str) -> int:
    """Return the 64-bit key of a canonical URL; never NO_KEY."""
    raise NotImplementedError


def host_of(url: str) -> str:
    """Return the canonical host name of a canonical URL, without port."""
    raise NotImplementedError


def host_key(host: str) -> int:
    """Return the 64-bit key of a canonical host name; never NO_KEY."""
    raise NotImplementedError


def origin_of(url: str) -> str:
    """Return ``scheme://host`` with the port where it is not the default."""
    raise NotImplementedError


def resolve(base: str, reference: str) -> str | None:
    """Return the canonical URL that ``reference`` means on ``base``; None if no page."""
    raise NotImplementedError
