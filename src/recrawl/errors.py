"""Every exception that recrawl raises on purpose.

::

    RecrawlError
    ├── InputError      (ValueError)    a value from outside is not usable
    │   ├── UrlError                    a URL
    │   └── DurationError               a duration such as ``12h``
    ├── ConfigError                     a settings file or a setting
    ├── NotFound        (LookupError)   a page, a schedule, a name that is not there
    ├── StoreError                      the store failed
    │   ├── StoreFull                   no room left; nothing was written
    │   ├── KeyClash                    two URLs have one page key
    │   ├── StoreVersionError           written by a newer recrawl
    │   └── NotAStore                   the file is something else
    ├── FetcherError                    the fetcher cannot work at all
    ├── MissingExtra    (ImportError)   an optional part is not installed
    └── UsageError      (RuntimeError)  called in the wrong order or state

A page that cannot be fetched is an outcome, never an exception.
"""

from __future__ import annotations

__all__ = [
    "ConfigError",
    "DurationError",
    "FetcherError",
    "InputError",
    "KeyClash",
    "MissingExtra",
    "NotAStore",
    "NotFound",
    "RecrawlError",
    "StoreError",
    "StoreFull",
    "StoreVersionError",
    "UrlError",
    "UsageError",
]


class RecrawlError(Exception):
    """Root of all errors of recrawl.

    Parameters
    ----------
    message : str
        What was wrong, the value, what is allowed, what to do next.
    value : object, optional
        The value that was refused.
    """

    def __init__(self, message: str, *, value: object = None) -> None:
        super().__init__(message)
        self.message = message
        self.value = value


class InputError(RecrawlError, ValueError):
    """A value from outside is not usable."""


class UrlError(InputError):
    """A URL cannot name a page."""


class DurationError(InputError):
    """A duration cannot be read."""


class ConfigError(RecrawlError):
    """A settings file or one of its settings is not usable."""


class NotFound(RecrawlError, LookupError):
    """What was asked for by name is not there."""


class StoreError(RecrawlError):
    """The store failed; what was not committed is unchanged."""


class StoreFull(StoreError):
    """The store has no room left; the transaction was rolled back."""


class KeyClash(StoreError):
    """Two URLs have one page key; nothing of the call was written."""

    @classmethod
    def of(cls, page_key: int, there: str, url: str) -> KeyClash:
        """Return the error for ``url``, whose key belongs to the page ``there``."""
        return cls(
            f"two URLs have the page key {page_key}: {there} is in the store, {url} is not;"
            " leave the second out",
            value=(there, url),
        )


class StoreVersionError(StoreError):
    """The store was written by a newer recrawl."""


class NotAStore(StoreError):
    """The place holds something that is not a recrawl store."""


class FetcherError(RecrawlError):
    """The fetcher cannot work at all, whatever the page."""


class MissingExtra(RecrawlError, ImportError):
    """An optional part of recrawl is not installed."""


class UsageError(RecrawlError, RuntimeError):
    """A call came in the wrong order or state."""
