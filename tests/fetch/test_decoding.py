from __future__ import annotations

import gzip
import tracemalloc
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from recrawl.fetch.decoding import ACCEPT_ENCODING, decode

LIMIT = 100_000


def _raw_deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(content) + packer.flush()


PACKERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "raw deflate": _raw_deflate,
    "zstd": zstandard.ZstdCompressor().compress,
    "br": lambda content: brotli.compress(content, quality=5),
    "identity": bytes,
}
COMPRESSED = [name for name in PACKERS if name != "identity"]


def coding(name: str) -> str:
    return name.split()[-1]


@pytest.mark.parametrize("name", PACKERS)
@given(content=st.binary(min_size=1, max_size=2000))
def test_every_coding_is_undone(name: str, content: bytes) -> None:
    """What a server packed comes out as it was."""
    assert decode(PACKERS[name](content), coding(name), LIMIT) == (content, "")


def test_what_is_offered_is_understood() -> None:
    """Each coding named in Accept-Encoding is one of those tested here."""
    assert set(ACCEPT_ENCODING.split(", ")) <= set(PACKERS)


@pytest.mark.parametrize("name", COMPRESSED)
def test_a_cut_body_is_truncated(name: str) -> None:
    """A body that ends early is told from a whole one, wherever it was cut."""
    packed = PACKERS[name](bytes(range(256)) * 20)

    for end in (len(packed) // 2, len(packed) - 1):
        content, reason = decode(packed[:end], coding(name), LIMIT)
        assert reason == "truncated"
        assert (bytes(range(256)) * 20).startswith(content)


@pytest.mark.parametrize("name", COMPRESSED)
@pytest.mark.parametrize(("size", "reason"), [(LIMIT, ""), (LIMIT + 1, "too_large")])
def test_the_limit_is_exact(name: str, size: int, reason: str) -> None:
    """A body of just the limit is whole; one byte more is too large, and cut there."""
    content, found = decode(PACKERS[name](b"x" * size), coding(name), LIMIT)

    assert (len(content), found) == (LIMIT, reason)


@pytest.mark.parametrize("name", COMPRESSED)
def test_a_bomb_takes_no_more_memory_than_the_limit(name: str) -> None:
    """16 MiB of zeros in a small body cost a few times the limit."""
    bomb = PACKERS[name](bytes(16 << 20))

    tracemalloc.start()
    content, reason = decode(bomb, coding(name), LIMIT)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert (len(content), reason) == (LIMIT, "too_large")
    assert peak < 20 * LIMIT


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_members_follow_each_other(name: str) -> None:
    """Several members make one body; too many are an attack."""
    member = PACKERS[name](b"ab")

    assert decode(member * 3, name, LIMIT) == (b"ababab", "")
    assert decode(member * 1000, name, LIMIT)[1] == "bad_encoding"


def test_bytes_after_a_gzip_member_are_left_alone() -> None:
    """Padding that some servers append does no harm."""
    assert decode(gzip.compress(b"ab") + b"\0\0\0", "gzip", LIMIT) == (b"ab", "")


def test_codings_on_top_of_each_other_are_undone_in_turn() -> None:
    """The last one applied is the first one undone; white space and empty parts do not count."""
    packed = gzip.compress(zlib.compress(b"ab"))

    assert decode(packed, "Deflate, , GZIP", LIMIT) == (b"ab", "")


@pytest.mark.parametrize(
    ("body", "encoding", "reason"),
    [
        (b"plain text", "gzip", "bad_encoding"),
        (b"plain text", "deflate", "bad_encoding"),
        (b"plain text", "zstd", "bad_encoding"),
        (b"plain text is no brotli", "br", "bad_encoding"),
        (b"plain text", "rot13", "unknown_encoding"),
        (gzip.compress(b"a"), "gzip, gzip, gzip, gzip", "bad_encoding"),
        (b"", "gzip", ""),
        (b"", "rot13", ""),
    ],
)
def test_what_is_not_what_it_says_has_a_reason(body: bytes, encoding: str, reason: str) -> None:
    """Wrong bytes, an unknown coding, too many codings; an empty body needs no decoding."""
    assert decode(body, encoding, LIMIT) == (b"", reason)


@given(st.binary(max_size=300), st.sampled_from([*COMPRESSED, "deflate,gzip", ",", "nonsense"]))
def test_any_bytes_are_decoded_without_an_error(body: bytes, name: str) -> None:
    """Whatever a server sends, the answer is at most the limit and a known reason."""
    content, reason = decode(body, coding(name), 1000)

    assert len(content) <= 1000
    assert reason in ("", "too_large", "truncated", "bad_encoding", "unknown_encoding")
