"""The signature of a page in StormCrawler's metadata: MD5SignatureParseFilter."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from recrawl.interop.stormcrawler.java import Config, Metadata, first_value, is_blank

__all__ = ["SignatureFilter"]

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class SignatureFilter:
    """Writes the MD5 of a page's content or text into its metadata.

    Parameters
    ----------
    key : str
        Key of the signature (``keyName``).
    copy_key : str or None
        Key that the signature of before is copied to (``keyNameCopy``).
    use_text : bool
        Whether the text is signed instead of the content (``useText``).

    Notes
    -----
    Without content the URL is signed, and so it is for text that is blank.  Content of length 0 is
    signed as it is, whatever the original's documentation says: all empty pages share one
    signature (case sig-005; our ``md5`` signs their URLs).
    """

    key: str = "signature"
    copy_key: str | None = None
    use_text: bool = False

    @classmethod
    def of(cls, params: Config) -> SignatureFilter:
        """Return the filter with these parameters; those that cannot be used are ignored."""
        key, copy_key = params.get("keyName"), params.get("keyNameCopy")
        return cls(
            key=key if isinstance(key, str) else cls().key,
            copy_key=copy_key if isinstance(copy_key, str) and not is_blank(copy_key) else None,
            use_text=_is_true(params.get("useText")),
        )

    def apply(
        self, url: str, content: bytes | None, text: str | None, metadata: Metadata
    ) -> dict[str, list[str | None]]:
        """Return the metadata with the signature of this content."""
        written = {key: list(values) for key, values in metadata.items()}
        before = first_value(metadata, self.key)
        if self.copy_key is not None and before is not None:
            written[self.copy_key] = [before]
        if self.use_text:
            content = None if text is None or is_blank(text) else _utf8(text)
        signed = _utf8(url) if content is None else content
        written[self.key] = [hashlib.md5(signed, usedforsecurity=False).hexdigest()]
        return written


def _is_true(value: object) -> bool:
    """Return whether Jackson's ``asBoolean`` holds."""
    match value:
        case str():
            return value.strip("".join(map(chr, range(0x21)))) == "true"
        case bool() | int() | float():
            return value != 0
        case _:
            return False


def _utf8(text: str) -> bytes:
    """Return the text in UTF-8, lone surrogates as ``?``, as Java writes them."""
    return _LONE_SURROGATE.sub("?", text).encode()
