"""Names of charsets: labels as servers write them, names of the web, codecs of Python."""

from __future__ import annotations

import codecs
import re
from functools import cache

__all__ = ["CODECS", "SINGLE_BYTE", "charset_of_label"]

_SINGLE_BYTE_CODECS = {
    "ibm866": "cp866",
    "iso-8859-10": "iso8859-10",
    "iso-8859-13": "iso8859-13",
    "iso-8859-14": "iso8859-14",
    "iso-8859-15": "iso8859-15",
    "iso-8859-16": "iso8859-16",
    "iso-8859-2": "iso8859-2",
    "iso-8859-3": "iso8859-3",
    "iso-8859-4": "iso8859-4",
    "iso-8859-5": "iso8859-5",
    "iso-8859-6": "iso8859-6",
    "iso-8859-7": "iso8859-7",
    "iso-8859-8": "iso8859-8",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "macintosh": "mac-roman",
    "windows-1250": "cp1250",
    "windows-1251": "cp1251",
    "windows-1252": "cp1252",
    "windows-1253": "cp1253",
    "windows-1254": "cp1254",
    "windows-1255": "cp1255",
    "windows-1256": "cp1256",
    "windows-1257": "cp1257",
    "windows-1258": "cp1258",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac-cyrillic",
}

SINGLE_BYTE = frozenset(_SINGLE_BYTE_CODECS)

# Name on the web -> codec of Python.  Nothing else is ever decoded with: Python also has codecs
# for compression, escapes and UTF-7, which a label must not reach.
CODECS: dict[str, str] = {
    **_SINGLE_BYTE_CODECS,
    "big5": "big5hkscs",
    "euc-jp": "euc_jp",
    "euc-kr": "cp949",
    "gb18030": "gb18030",
    "hz-gb-2312": "hz",
    "iso-2022-jp": "iso2022_jp",
    "iso-2022-kr": "iso2022_kr",
    "shift_jis": "cp932",
    "utf-16be": "utf-16-be",
    "utf-16le": "utf-16-le",
    "utf-8": "utf-8",
}

# Codecs of Python for which the web takes a larger charset.
_WIDER = {
    "ascii": "windows-1252",
    "big5": "big5",
    "euc_kr": "euc-kr",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-1": "windows-1252",
    "iso8859-11": "windows-874",
    "iso8859-9": "windows-1254",
    "shift_jis": "shift_jis",
    "tis-620": "windows-874",
    "utf-16": "utf-16le",
}

# Labels of the WHATWG encoding standard that Python does not know or reads as something else.
_LABELS = {
    "866": "ibm866",
    "ansi_x3.4-1968": "windows-1252",
    "asmo-708": "iso-8859-6",
    "big5-hkscs": "big5",
    "cn-big5": "big5",
    "csgb2312": "gb18030",
    "cseucpkdfmtjapanese": "euc-jp",
    "cseuckr": "euc-kr",
    "csiso88596e": "iso-8859-6",
    "csiso88596i": "iso-8859-6",
    "csiso88598e": "iso-8859-8",
    "csiso88598i": "iso-8859-8",
    "csisolatin9": "iso-8859-15",
    "cskoi8r": "koi8-r",
    "csksc56011987": "euc-kr",
    "csmacintosh": "macintosh",
    "csunicode": "utf-16le",
    "dos-874": "windows-874",
    "gb_2312": "gb18030",
    "gb_2312-80": "gb18030",
    "iso-10646-ucs-2": "utf-16le",
    "iso-8859-6-e": "iso-8859-6",
    "iso-8859-6-i": "iso-8859-6",
    "iso-8859-8-e": "iso-8859-8",
    "iso-8859-8-i": "iso-8859-8",
    "iso-ir-149": "euc-kr",
    "koi": "koi8-r",
    "koi8": "koi8-r",
    "koi8-ru": "koi8-u",
    "ks_c_5601-1989": "euc-kr",
    "ksc_5601": "euc-kr",
    "logical": "iso-8859-8",
    "mac": "macintosh",
    "sun_eu_greek": "iso-8859-7",
    "ucs-2": "utf-16le",
    "unicode": "utf-16le",
    "unicode-1-1-utf-8": "utf-8",
    "unicode11utf8": "utf-8",
    "unicode20utf8": "utf-8",
    "unicodefeff": "utf-16le",
    "unicodefffe": "utf-16be",
    "visual": "iso-8859-8",
    "windows-31j": "shift_jis",
    "windows-949": "euc-kr",
    "x-euc-jp": "euc-jp",
    "x-gbk": "gb18030",
    "x-mac-cyrillic": "x-mac-cyrillic",
    "x-mac-roman": "macintosh",
    "x-mac-ukrainian": "x-mac-cyrillic",
    "x-sjis": "shift_jis",
    "x-unicode20utf8": "utf-8",
    # What a browser takes it for in markup.
    "x-user-defined": "windows-1252",
    "x-x-big5": "big5",
}

_LABEL = re.compile(r"[a-z0-9_.:-]{1,40}")
_WINDOWS = re.compile(r"x-cp(?=125[0-8]$)")
_ISO_8859 = re.compile(r"^iso8859(?=\d)")
_YEAR = re.compile(r":\d{4}$")


def charset_of_label(label: str) -> str | None:
    """Return the charset that a label means on the web; None if it means none we decode."""
    label = label.strip("\t\n\f\r \"'").lower()
    if label in CODECS:
        return label
    if label in _LABELS:
        return _LABELS[label]
    if not _LABEL.fullmatch(label):
        return None
    label = _WINDOWS.sub("windows-", _YEAR.sub("", label))
    label = _ISO_8859.sub("iso8859-", label)
    try:
        codec = codecs.lookup(label).name
    except LookupError:
        return None
    return _WIDER.get(codec) or _by_codec().get(codec)


@cache  # made when a label first asks for it: it loads forty modules
def _by_codec() -> dict[str, str]:
    return {codecs.lookup(codec).name: charset for charset, codec in CODECS.items()}
