"""Content-Encoding, undone with a limit on what comes out.

The body is at hand as a whole, no longer than the limit, so one call a coding does. Each call
stops one byte beyond the limit: a small body that would fill the memory costs no more than that.
"""

from __future__ import annotations

import zlib
from typing import Any

import zstandard

try:
    import brotli  # type: ignore[import-untyped, import-not-found, unused-ignore] # no types
except ImportError:  # only an option: servers fall back to gzip
    brotli = None

__all__ = ["ACCEPT_ENCODING", "decode"]

# More codings on top of each other, or more members in one file, are an attack.
_MAX_CODINGS = 3
_MAX_MEMBERS = 64
# RFC 9659: what a zstd decoder for HTTP must be able to keep, and need not exceed.
_ZSTD_WINDOW = 8 << 20

# Older releases cannot limit what comes out.
_HAS_BROTLI = brotli is not None and hasattr(brotli.Decompressor, "can_accept_more_data")
#: What is offered to servers.
ACCEPT_ENCODING = "gzip, deflate, br, zstd" if _HAS_BROTLI else "gzip, deflate, zstd"


def decode(body: bytes, encoding: str, max_size: int) -> tuple[bytes, str]:
    """Return a body without its Content-Encoding.

    Parameters
    ----------
    body : bytes
        As it came over the wire.
    encoding : str
        Value of Content-Encoding; "" for none.
    max_size : int
        Most bytes that may come out.

    Returns
    -------
    content : bytes
        What could be decoded, at most ``max_size``.
    reason : str
        "" if that is all of it; ``too_large``, ``truncated``, ``bad_encoding`` (the bytes are
        not what the header says) or ``unknown_encoding``.
    """
    codings = [name for part in encoding.lower().split(",") if (name := part.strip())]
    if len(codings) > _MAX_CODINGS:
        return b"", "bad_encoding"
    content, reason = body, ""
    for coding in reversed(codings):
        if not content:
            break
        content, reason = _decode_one(content, coding, max_size)
        if reason:
            break
    if len(content) > max_size:
        return content[:max_size], "too_large"
    return content, reason


def _decode_one(body: bytes, coding: str, max_size: int) -> tuple[bytes, str]:
    try:
        match coding:
            case "identity":
                return body, ""
            case "gzip" | "x-gzip":
                return _gunzip(body, max_size + 1)
            case "deflate":
                return _inflate(body, max_size + 1)
            case "zstd":
                return _unzstd(body, max_size + 1)
            case "br" if _HAS_BROTLI:
                return _unbrotli(body, max_size + 1)
            case _:
                return b"", "unknown_encoding"
    except (zlib.error, zstandard.ZstdError):
        return b"", "bad_encoding"


def _gunzip(body: bytes, limit: int) -> tuple[bytes, str]:
    """Decode all members; bytes after the last that are no member are left alone."""
    parts: list[bytes] = []
    for _ in range(_MAX_MEMBERS):
        decoder = zlib.decompressobj(wbits=31)
        parts.append(decoder.decompress(body, limit))
        limit -= len(parts[-1])
        if limit <= 0:
            break
        if not decoder.eof:
            return b"".join(parts), "truncated"
        body = decoder.unused_data
        if not body.startswith(b"\x1f\x8b"):
            break
    else:
        return b"".join(parts), "bad_encoding"
    return b"".join(parts), ""


def _inflate(body: bytes, limit: int) -> tuple[bytes, str]:
    """Decode zlib's format, which is meant by "deflate", or bare deflate, which some send."""
    decoder = zlib.decompressobj()
    try:
        content = decoder.decompress(body, limit)
    except zlib.error:
        decoder = zlib.decompressobj(wbits=-15)
        content = decoder.decompress(body, limit)
    return content, "" if decoder.eof or len(content) >= limit else "truncated"


def _unzstd(body: bytes, limit: int) -> tuple[bytes, str]:
    decoder = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
    with decoder.stream_reader(body, read_across_frames=True) as reader:
        content = reader.read(limit)
    if len(content) >= limit:
        return content, ""
    # The reader does not tell a cut frame from a whole one. Now that the size is known to be
    # small, frame after frame can be decoded without a limit.
    for _ in range(_MAX_MEMBERS):
        frame = decoder.decompressobj()
        frame.decompress(body)
        if not frame.eof:
            return content, "truncated"
        body = frame.unused_data
        if not body:
            return content, ""
    return content, "bad_encoding"


def _unbrotli(body: bytes, limit: int) -> tuple[bytes, str]:
    decoder: Any = brotli.Decompressor()
    parts: list[bytes] = []
    size = 0
    try:
        while size < limit and not decoder.is_finished():
            part = decoder.process(body, output_buffer_limit=limit - size)
            if not part and decoder.can_accept_more_data():
                return b"".join(parts), "truncated"
            parts.append(part)
            size += len(part)
            body = b""
    except brotli.error:
        return b"", "bad_encoding"
    return b"".join(parts), ""
