"""The environment, for those parts that follow a convention of their own."""

from __future__ import annotations

import os
from collections.abc import Mapping

__all__ = ["proxy_environment"]

_NAMES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


def proxy_environment() -> Mapping[str, str]:
    """Return the variables that name proxies, in both spellings, and whether this is a CGI."""
    names = (*_NAMES, *(name.upper() for name in _NAMES), "REQUEST_METHOD")
    return {name: os.environ[name] for name in names if name in os.environ}
