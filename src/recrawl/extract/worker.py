"""The process that reads documents for an ``ExtractPool``.

Started as ``python -m recrawl.extract.worker TIME_LIMIT MEMORY_LIMIT`` with a socket as its
standard input.  It ends when that socket does, so it never outlives its pool; stuck in a
document, it is ended by its own timer.
"""

from __future__ import annotations

import contextlib
import resource
import signal
import socket
import sys
import traceback

from recrawl.extract._frames import FrameReader, pack, pack_extracted
from recrawl.extract.document import extract_document
from recrawl.ports.extractor import Extracted

__all__ = ["READY", "main", "serve"]

#: Number of the message that a worker sends once it can take documents.
READY = 0

_CHUNK = 1 << 18


def serve(connection: socket.socket, time_limit: float) -> None:
    """Answer documents, one after another, until the other side closes."""
    reader = FrameReader()
    connection.sendall(pack(READY, []))
    while data := connection.recv(_CHUNK):
        for number, (body, content_type, url) in reader.feed(data):
            # The pool ends a worker at the limit; this is for a pool that is gone itself.
            signal.setitimer(signal.ITIMER_REAL, 2 * time_limit + 1)
            result = _extract(body or b"", content_type, url)
            signal.setitimer(signal.ITIMER_REAL, 0)
            connection.sendall(pack_extracted(number, result))


def _extract(body: bytes, content_type: bytes | None, url: bytes | None) -> Extracted:
    """Return what a document says, or ``crashed``."""
    try:
        return extract_document(
            body,
            content_type=None if content_type is None else content_type.decode(),
            url=None if url is None else url.decode(),
        )
    except Exception:  # this is the outermost loop: one bad document stops itself alone
        traceback.print_exc()
        return Extracted("", error="crashed")


def main() -> None:
    """Serve the pool on standard input."""
    time_limit, memory_limit = float(sys.argv[1]), int(sys.argv[2])
    # Ctrl-C and a service manager's stop reach the whole group: the pool decides when to end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    with contextlib.suppress(OSError, ValueError):  # not every system can limit memory
        resource.setrlimit(resource.RLIMIT_AS, (memory_limit, memory_limit))
    with (
        socket.socket(fileno=sys.stdin.fileno()) as connection,
        contextlib.suppress(ConnectionError),
    ):
        serve(connection, time_limit)


if __name__ == "__main__":
    main()
