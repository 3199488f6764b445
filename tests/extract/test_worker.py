"""The process that reads documents, here as a function."""

from __future__ import annotations

import signal
import socket

import pytest

from recrawl.extract import worker
from recrawl.extract._frames import FrameReader, pack_request, unpack_extracted

URL = "https://a.example/"


def served(*messages):
    """Return what a worker sends that gets the messages and then the end."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(b"".join(messages))
        ours.shutdown(socket.SHUT_WR)
        worker.serve(theirs, 10.0)
        theirs.close()
        stream = b""
        while data := ours.recv(1 << 16):
            stream += data
    return list(FrameReader().feed(stream))


def test_documents_are_answered_in_order():
    """A worker says that it is ready, answers each document, and ends with its socket."""
    ready, first, second = served(
        pack_request(5, b"<p>a", "text/html", URL), pack_request(6, b"b", None, URL)
    )

    assert ready == (worker.READY, [])
    assert [first[0], second[0]] == [5, 6]
    assert [unpack_extracted(found[1]).text for found in (first, second)] == ["a", "b"]
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_fault_of_ours_stops_one_document(monkeypatch, capsys):
    """An exception is told on standard error, and the next document is read."""

    def fail(body, **_):
        raise RuntimeError(f"fault in {body!r}")

    monkeypatch.setattr(worker, "extract_document", fail)

    _, first, second = served(pack_request(1, b"a", None, URL), pack_request(2, b"b", None, URL))

    assert unpack_extracted(first[1]).error == "crashed"
    assert unpack_extracted(second[1]).error == "crashed"
    assert "fault in b'b'" in capsys.readouterr().err


@pytest.mark.parametrize("url", [b"\xff", b""])
def test_a_strange_url_is_no_reason_to_end(url):
    """What is no text where text should be is an error of that document."""
    assert worker._extract(b"x", None, url).error in {"", "crashed"}
