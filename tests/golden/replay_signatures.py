"""Replays Nutch's signatures."""

from __future__ import annotations

import base64
from typing import Any

from recrawl.core.document import Document
from recrawl.signatures.md5 import MD5
from recrawl.signatures.text_md5 import TextMD5
from recrawl.signatures.text_profile import TextProfile

SAME = "same"
HASH_ORDER = "left out: order of a hash table"


def signature_of(line: dict[str, Any]) -> MD5 | TextMD5 | TextProfile:
    if line["algo"] == "MD5Signature":
        return MD5()
    if line["algo"] == "TextMD5Signature":
        return TextMD5()
    settings: dict[str, Any] = {}
    for name, read in (
        ("min_token_len", int), ("quant_rate", float), ("sec_sort_lex", "true".__eq__)
    ):  # fmt: skip
        if line.get(name) is not None:
            settings[name] = read(line[name])
    return TextProfile(**settings)


def verdict(line: dict[str, Any]) -> str:
    if line.get("order") == "hashmap":
        return HASH_ORDER
    content = base64.b64decode(line.get("content_b64") or "")
    ours = signature_of(line).sign(Document(line["url"], content, line.get("text"))).hex()
    return SAME if ours == line["hex"] else f"{line['id']}: {ours} is not {line['hex']}"


def replay(lines: list[dict[str, Any]]) -> list[str]:
    return [verdict(line) for line in lines]


REPLAYERS = {"nutch/signatures": replay, "nutch/signatures_bmp": replay}
