"""Finds a signature by its name."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from types import MappingProxyType

from recrawl.errors import NotFound
from recrawl.signatures.links import Links
from recrawl.signatures.md5 import MD5
from recrawl.signatures.text_md5 import TextMD5
from recrawl.signatures.text_profile import TextProfile

__all__ = ["SIGNATURES", "SignatureClass", "signature_class"]

SignatureClass = type[MD5] | type[TextMD5] | type[TextProfile] | type[Links]

SIGNATURES: Mapping[str, SignatureClass] = MappingProxyType(
    {"md5": MD5, "text-md5": TextMD5, "text-profile": TextProfile, "links": Links}
)


def signature_class(name: str) -> SignatureClass:
    """Return the class of the signature called ``name``; its fields are its settings.

    Raises
    ------
    NotFound
        No signature has that name; the message gives the nearest one.

    Examples
    --------
    >>> signature_class("text-profile")(quant_rate=0.05).scheme
    'text-profile/1 min_token_len=2 quant_rate=0.05 sec_sort_lex=true'
    """
    if name in SIGNATURES:
        return SIGNATURES[name]
    known = ", ".join(sorted(SIGNATURES))
    nearest = difflib.get_close_matches(name.lower().replace("_", "-"), SIGNATURES, n=1, cutoff=0.5)
    hint = f"; did you mean {nearest[0]!r}?" if nearest else "."
    raise NotFound(f"no signature is called {name!r}{hint} Known: {known}.", value=name)
