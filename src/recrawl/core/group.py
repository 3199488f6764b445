"""Groups of pages that may be edited together: a release, a template, a reformatting.

A group is a host with at most the first two directories of the path.  Fewer would join what
different people write; more would leave too few pages a group to learn from.
"""

from __future__ import annotations

from recrawl.core.keys import stored_key
from recrawl.core.url import host_of, origin_of

__all__ = ["group_key", "group_of"]

_MOST_DIRECTORIES = 2


def group_of(url: str) -> str:
    """Return the group of a canonical URL, for people to read.

    Parameters
    ----------
    url : str
        Canonical URL.  Scheme, port and query make no difference, nor does what stands after
        the last ``/`` of the path.

    Raises
    ------
    UrlError
        If ``url`` is not canonical up to its path.

    Examples
    --------
    >>> group_of("https://example.org/docs/api/v2/x.html?q=/")
    'example.org/docs/api/'
    >>> group_of("https://example.org/a")
    'example.org/'
    """
    path = url[len(origin_of(url)) :].partition("?")[0]
    directories = path.split("/")[1:-1]
    return "/".join([host_of(url), *directories[:_MOST_DIRECTORIES], ""])


def group_key(url: str) -> int:
    """Return the 64-bit key of a canonical URL's group; never NO_KEY.

    Examples
    --------
    >>> group_key("https://example.org/docs/a") == group_key("https://example.org/docs/b")
    True
    """
    return stored_key(group_of(url).encode(), b"group")
