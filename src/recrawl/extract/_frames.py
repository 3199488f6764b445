"""Messages between the pool and its workers: a number and some byte strings.

Not pickle: a worker reads hostile pages, so the pool must not run what a worker sends.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from recrawl.ports.extractor import Extracted

__all__ = ["FrameReader", "pack", "pack_extracted", "pack_request", "unpack_extracted"]

_HEAD = struct.Struct("<III")  # bytes that follow, number of the message, count of fields
_NONE = 0xFFFFFFFF

# Longest message; what claims to be longer is none.
_MAX_SIZE = 1 << 30


def pack(number: int, fields: Sequence[bytes | None]) -> bytes:
    """Return a message as bytes; None stays apart from an empty field."""
    lengths = [_NONE if field is None else len(field) for field in fields]
    table = struct.pack(f"<{len(fields)}I", *lengths)
    payload = b"".join([table, *(field for field in fields if field is not None)])
    return _HEAD.pack(len(payload), number, len(fields)) + payload


class FrameReader:
    """Cuts a stream of bytes into messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[int, list[bytes | None]]]:
        """Yield number and fields of each message that is complete with ``data``.

        Raises
        ------
        ValueError, struct.error
            The stream holds no messages.
        """
        self._buffer += data
        start = 0
        try:
            while len(self._buffer) - start >= _HEAD.size:
                size, number, n_fields = _HEAD.unpack_from(self._buffer, start)
                if size > _MAX_SIZE:
                    raise ValueError(f"a message of {size} bytes; at most {_MAX_SIZE} are allowed")
                if len(self._buffer) - start - _HEAD.size < size:
                    return
                fields = self._fields(start + _HEAD.size, n_fields)
                start += _HEAD.size + size
                yield number, fields
        finally:
            del self._buffer[:start]

    def _fields(self, start: int, n_fields: int) -> list[bytes | None]:
        lengths = struct.unpack_from(f"<{n_fields}I", self._buffer, start)
        start += 4 * n_fields
        fields: list[bytes | None] = []
        for length in lengths:
            if length == _NONE:
                fields.append(None)
                continue
            fields.append(bytes(memoryview(self._buffer)[start : start + length]))
            start += length
        return fields


def _encode(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "replace")


def pack_request(number: int, body: bytes, content_type: str | None, url: str | None) -> bytes:
    """Return the message that asks a worker for a document."""
    return pack(number, [body, _encode(content_type), _encode(url)])


def pack_extracted(number: int, result: Extracted) -> bytes:
    """Return the message that answers."""
    texts = [
        result.text,
        result.title,
        "\n".join(result.links),  # a canonical URL holds no line end
        result.charset,
        result.charset_source,
        result.error,
        result.mime,
        result.mime_source,
    ]
    return pack(number, [_encode(text) for text in texts])


def unpack_extracted(fields: Sequence[bytes | None]) -> Extracted:
    """Return what a worker answered.

    Raises
    ------
    ValueError
        The message is no answer.
    """
    text, title, links, charset, source, error, mime, mime_source = (
        None if field is None else field.decode() for field in fields
    )
    return Extracted(
        text or "",
        title=title,
        links=tuple(links.split("\n")) if links else (),
        charset=charset or "",
        charset_source=source or "",
        error=error or "",
        mime=mime or "",
        mime_source=mime_source or "",
    )
