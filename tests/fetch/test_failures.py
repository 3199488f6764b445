from __future__ import annotations

import errno
import socket
import ssl
from unittest.mock import Mock

import aiohttp
import pytest
from aiohttp import http_exceptions

from recrawl.fetch.address import AddressRefused
from recrawl.fetch.failures import TRANSPORT_ERRORS, reason_of

KEY, INFO = Mock(), Mock()

REASONS = [
    (aiohttp.ClientConnectorDNSError(KEY, socket.gaierror(-2, "unknown")), "dns"),
    (aiohttp.ClientConnectorDNSError(KEY, AddressRefused("a.example", ["::1"])), "private_address"),
    (aiohttp.ClientConnectorError(KEY, ConnectionRefusedError(111, "refused")), "connection"),
    (aiohttp.ClientConnectorError(KEY, OSError(errno.EMFILE, "too many files")), "local"),
    (aiohttp.ClientConnectorError(KEY, OSError(errno.ENETUNREACH, "no network")), "local"),
    (aiohttp.ClientProxyConnectionError(KEY, OSError(111, "refused")), "proxy"),
    (aiohttp.ClientHttpProxyError(INFO, ()), "proxy"),
    (aiohttp.ClientConnectorSSLError(KEY, ssl.SSLError(1, "handshake")), "tls"),
    (aiohttp.ClientConnectorCertificateError(KEY, ssl.CertificateError("expired")), "tls"),
    (aiohttp.ServerFingerprintMismatch(b"a", b"b", "a.example", 443), "tls"),
    (ssl.SSLError(1, "record"), "tls"),
    (aiohttp.ConnectionTimeoutError(), "timeout"),
    (aiohttp.SocketTimeoutError(), "timeout"),
    (aiohttp.ServerTimeoutError(), "timeout"),
    (TimeoutError(), "timeout"),
    (aiohttp.ClientPayloadError(), "truncated"),
    (aiohttp.ClientResponseError(INFO, ()), "bad_http"),
    (http_exceptions.BadStatusLine("x"), "bad_http"),
    (http_exceptions.TransferEncodingError("x"), "bad_http"),
    (aiohttp.InvalidURL("http://a b/"), "bad_url"),
    (aiohttp.NonHttpUrlClientError("ftp://a/"), "bad_url"),
    (UnicodeError("label too long"), "bad_url"),
    (aiohttp.ServerDisconnectedError(), "connection"),
    (aiohttp.ClientOSError(104, "reset"), "connection"),
    (ConnectionResetError(104, "reset"), "connection"),
    (OSError(errno.ENFILE, "too many files"), "local"),
]


@pytest.mark.parametrize(("error", "reason"), REASONS, ids=lambda value: type(value).__name__)
def test_every_error_has_its_reason(error: Exception, reason: str) -> None:
    """What the driver raises is caught and said in one word."""
    assert isinstance(error, TRANSPORT_ERRORS)
    assert reason_of(error) == reason


def test_no_error_of_the_driver_is_left_out() -> None:
    """Each exception class that aiohttp's client exports is caught."""
    errors = [
        value
        for name in aiohttp.client.__all__
        if isinstance(value := getattr(aiohttp.client, name), type)
        and issubclass(value, Exception)
        and not issubclass(value, Warning)
    ]

    assert len(errors) > 10
    assert [error for error in errors if not issubclass(error, TRANSPORT_ERRORS)] in (
        [],
        [aiohttp.WSMessageTypeError],  # of web sockets
    )
