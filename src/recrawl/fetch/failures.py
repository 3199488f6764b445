"""What went wrong, as one word: the drivers' errors mapped to reasons."""

from __future__ import annotations

import errno
import ssl

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from recrawl.fetch.address import AddressRefused

__all__ = ["LOCAL_REASONS", "PRIVATE_ADDRESS", "TRANSPORT_ERRORS", "reason_of"]

PRIVATE_ADDRESS = "private_address"

#: Every error that a request can end in. Anything else is a bug and is not caught.
TRANSPORT_ERRORS = (
    aiohttp.ClientError,
    HttpProcessingError,
    OSError,  # TimeoutError and ssl.SSLError are among them
    ValueError,  # a host or a header that a driver will not send
)

# Ours, not the host's: no more files or memory, no network.
_LOCAL_ERRNOS = frozenset(
    {
        errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.EADDRNOTAVAIL,
        errno.ENETDOWN, errno.ENETUNREACH,
    }
)  # fmt: skip

#: Reasons that say nothing about the host.
LOCAL_REASONS = frozenset({"local", "proxy", PRIVATE_ADDRESS, "bad_url"})


def reason_of(error: BaseException) -> str:
    """Return the reason for an error of ``TRANSPORT_ERRORS``.

    Returns
    -------
    str
        ``private_address``, ``dns``, ``tls``, ``proxy``, ``timeout``, ``truncated``,
        ``bad_http``, ``bad_url``, ``connection``, or ``local`` where this machine is at fault.
    """
    match error:
        case aiohttp.ClientConnectorDNSError(os_error=cause):
            return PRIVATE_ADDRESS if isinstance(cause, AddressRefused) else "dns"
        case aiohttp.ClientSSLError() | ssl.SSLError() | aiohttp.ServerFingerprintMismatch():
            return "tls"
        case aiohttp.ClientProxyConnectionError() | aiohttp.ClientHttpProxyError():
            return "proxy"
        case TimeoutError():
            return "timeout"
        case aiohttp.ClientPayloadError():
            return "truncated"
        case aiohttp.ClientResponseError() | HttpProcessingError():
            return "bad_http"
        case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError() | ValueError():
            return "bad_url"
        case OSError(errno=number) if number in _LOCAL_ERRNOS:
            return "local"
        case _:
            return "connection"
