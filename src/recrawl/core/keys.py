"""The one hash behind all keys that stores keep."""

from __future__ import annotations

import hashlib

from recrawl.core.columns import NO_KEY

__all__ = ["stored_key"]


def stored_key(data: bytes, kind: bytes) -> int:
    """Return a 64-bit key as a signed number; never NO_KEY.

    Parameters
    ----------
    data : bytes
        What the key stands for.
    kind : bytes
        Keeps keys of different things apart, at most 16 bytes.
    """
    # Stored in every store: neither the hash nor its parameters may change.
    digest = hashlib.blake2b(data, digest_size=8, person=kind).digest()
    return int.from_bytes(digest, "little", signed=True) or NO_KEY + 1
