"""Messages between the pool and its workers."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.extract._frames import (
    FrameReader,
    pack,
    pack_extracted,
    pack_request,
    unpack_extracted,
)
from recrawl.ports.extractor import Extracted

FIELDS = st.lists(st.one_of(st.none(), st.binary(max_size=20)), max_size=5)
TEXT = st.text(max_size=20)


@given(st.lists(st.tuples(st.integers(0, 2**32 - 1), FIELDS), max_size=6), st.integers(1, 9))
def test_messages_come_out_as_they_went_in(messages, n_bytes):
    """However the stream is cut, each message comes out once, whole and in order."""
    stream = b"".join(pack(number, fields) for number, fields in messages)
    reader = FrameReader()

    got = []
    for start in range(0, len(stream), n_bytes):
        got.extend(reader.feed(stream[start : start + n_bytes]))

    assert got == messages


def test_what_is_no_message_is_refused():
    """A table of lengths longer than the message raises, and so does a length beyond reason."""
    with pytest.raises(struct.error):
        list(FrameReader().feed(struct.pack("<III", 0, 1, 5)))
    with pytest.raises(ValueError, match="a message of 2021161080 bytes"):
        list(FrameReader().feed(b"x" * 12))


@given(
    TEXT,
    st.one_of(st.none(), TEXT),
    st.lists(st.text("abc/:", min_size=1, max_size=9), max_size=3).map(tuple),
    st.sampled_from(["", "crashed"]),
)
def test_results_survive_the_way(text, title, links, error):
    """An answer is the same on the other side."""
    result = Extracted(text, title, links, "utf-8", "meta", error, "text/html", "header")

    [(number, fields)] = FrameReader().feed(pack_extracted(7, result))

    assert number == 7
    assert unpack_extracted(fields) == result


@pytest.mark.parametrize("fields", [[], [b"x"] * 7, [b"\xff"] * 8])
def test_what_is_no_answer_is_refused(fields):
    """Another count of fields or broken UTF-8 raises."""
    with pytest.raises(ValueError, match=r"unpack|utf-8|expected"):
        unpack_extracted(fields)


def test_a_missing_type_is_not_an_empty_one():
    """None and "" stay apart."""
    stream = pack_request(1, b"", None, "u") + pack_request(2, b"", "", "u")

    assert [fields[1] for _, fields in FrameReader().feed(stream)] == [None, b""]
