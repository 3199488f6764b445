"""Text of an HTML page as a reader sees it, its title and the links in it.

The tree is made flat until its text nodes are the lines: what is not shown is taken out, what
runs within a line is unwrapped, text nodes that then touch are merged.  All of it runs in the
parser's C loops, which are iterative: depth costs time, never stack.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode, create_tag

from recrawl.extract.clean import clean_line, clean_text

__all__ = ["TITLE_LIMIT", "HtmlPage", "read_html"]

# Longest title kept; an unclosed <title> holds the rest of the page. [characters]
TITLE_LIMIT = 1000

# Elements that begin and end a line.  All others, also unknown ones, run within a line.
_BLOCK = """
    address article aside blockquote body br button caption center dd details dialog dir div dl dt
    fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend
    li listing main menu nav ol optgroup option p plaintext pre search section select summary
    table tbody tfoot thead tr ul xmp
""".split()  # noqa: SIM905 - a list of words is easier to read and to sort

# Elements that a browser with scripts does not show, or shows as something else than text.
_DROPPED = """
    annotation-xml audio canvas datalist frame head iframe noembed noframes noscript
    object rp script style svg template textarea title video
""".split()  # noqa: SIM905 - as above

_HIDDEN = '[hidden], [style*="none" i], dialog:not([open]), annotation'
_DISPLAY_NONE = re.compile(r"display\s*:\s*none", re.IGNORECASE)
# A page in which none of these words occurs hides nothing; looking takes a fifth of the query.
_HIDING = (b"hidden", b"none", b"<dialog", b"<annotation")

# Stand-ins while white space is folded; no such character is left in the source.
_CELL, _LINE, _SPACE, _TAB = "\x01", "\x02", "\x03", "\x04"
_PREFORMATTED = str.maketrans({"\n": _LINE, " ": _SPACE, "\xa0": _SPACE, "\t": _TAB, "\r": None})
_SHOWN = {_LINE: "\n", _SPACE: " ", _TAB: "\t"}

# With events on, moving a node costs as much as all that is in it: 41 s for 200 KB of nested <b>.
_OPTIONS = LexborDocumentOptions.WO_EVENTS.value

# What is deleted from the source: C0 controls but white space, and DEL.
_CONTROLS = bytes(byte for byte in range(0x20) if byte not in b"\t\n\f\r") + b"\x7f"
_BLANKS = bytes.maketrans(b"\f", b" ")

# Where unseen characters may come from beyond those: numeric references, C1 controls, U+FFFE and
# U+FFFF in UTF-8.  Most pages hold none of these bytes, and cleaning costs as much as parsing.
_C1 = re.compile(b"\xc2[\x80-\x9f]")

# White space that is folded beside the blank itself; a form feed marks the end of a line.
_FOLDED = "\n\t\xa0"
_FOLD = re.compile("  +")


def _ids(tags: list[str]) -> frozenset[int]:
    """Return the numbers that this version of the parser gives to tags."""
    return frozenset(create_tag(tag).tag_id for tag in tags)


_BLOCK_IDS, _DROPPED_IDS = _ids(_BLOCK), _ids(_DROPPED)
_LINK_IDS, _CELL_IDS = _ids(["a", "area"]), _ids(["td", "th"])
_PRE_ID, _ROW_ID, _TEXT_ID = (create_tag(tag).tag_id for tag in ("pre", "tr", "#text"))


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """What an HTML page says.

    Parameters
    ----------
    text : str
        Shown text, one block a line, white space folded outside ``<pre>``, cells of a row
        separated by TAB.
    title : str or None
        Title, white space folded, at most ``TITLE_LIMIT`` characters; None without one.
    references : tuple of str
        ``href`` of each ``<a>`` and ``<area>``, as written, in document order, also of those
        not shown.
    base : str or None
        ``href`` of the first ``<base>`` that has one.
    """

    text: str
    title: str | None
    references: tuple[str, ...]
    base: str | None


def read_html(html: str) -> HtmlPage:
    """Return what a page says.

    Parameters
    ----------
    html : str
        Source of the page, however broken.
    """
    source = html.encode("utf-8", "replace").translate(_BLANKS, _CONTROLS)
    lowered = source.lower()
    tree = LexborHTMLParser(source, options=_OPTIONS)
    title = _title(tree)
    base = tree.css_first("base[href]") if b"<base" in lowered else None
    root = tree.body or tree.root
    assert root is not None  # the parser makes <html> of anything
    references = _flatten(root, may_hide=any(word in lowered for word in _HIDING))
    # No form feed is left in the source, so it can mark the end of a line.
    text = _lines(root.text(separator="\f", skip_empty=True))
    return HtmlPage(
        clean_text(text) if _may_hold_unseen(source) else text.strip(),
        title,
        tuple(references),
        None if base is None else base.attributes["href"],
    )


def _may_hold_unseen(source: bytes) -> bool:
    """Return whether the text may hold control characters after all."""
    # One byte is found many times quicker than two, and most pages have none of these.
    return (
        (b"&" in source and b"&#" in source)
        or (b"\xef" in source and b"\xef\xbf" in source)
        or (b"\xc2" in source and _C1.search(source) is not None)
    )


def _title(tree: LexborHTMLParser) -> str | None:
    """Return the text of the first title that is not one of a drawing."""
    node = tree.css_first("title")
    if node is not None and _is_of_drawing(node):
        node = next((node for node in tree.css("title") if not _is_of_drawing(node)), None)
    return None if node is None else clean_line(node.text(), TITLE_LIMIT) or None


def _is_of_drawing(title: LexborNode) -> bool:
    return title.parent is not None and title.parent.tag == "svg"


def _flatten(root: LexborNode, *, may_hide: bool) -> list[str]:
    """Leave one text node a line below the root; return the links there were."""
    inline: list[LexborNode] = []
    dropped: list[LexborNode] = []
    pre: list[LexborNode] = []
    cells: list[LexborNode | None] = []  # None where a row starts
    references: list[str] = []
    for node in root.traverse():
        tag_id = node.tag_id
        if tag_id in _BLOCK_IDS:
            if tag_id == _PRE_ID:
                pre.append(node)
            elif tag_id == _ROW_ID:
                cells.append(None)
        elif tag_id in _DROPPED_IDS:
            dropped.append(node)
        else:
            inline.append(node)
            if tag_id in _CELL_IDS:
                cells.append(node)
            elif tag_id in _LINK_IDS and (href := node.attributes.get("href")) is not None:
                references.append(href)
    if may_hide:
        dropped.extend(node for node in root.css(_HIDDEN) if _is_hidden(node))
    # A node that is gone keeps its memory until the tree goes, so the order plays no part.
    for node in dropped:
        node.decompose()
    _keep_white_space(pre)
    _separate(cells)
    for node in inline:
        node.unwrap(delete_empty=True)
    root.merge_text_nodes()
    return references


def _is_hidden(node: LexborNode) -> bool:
    """Return whether a node that may be hidden is."""
    if "hidden" in node.attributes or node.tag in {"dialog", "annotation"}:
        return True
    return bool(_DISPLAY_NONE.search(node.attributes.get("style") or ""))


def _keep_white_space(pre: list[LexborNode]) -> None:
    """Put stand-ins for the white space of preformatted text; outer elements come first."""
    done: set[int] = set()
    for outer in pre:
        if outer.mem_id in done:
            continue
        texts = []
        for node in outer.traverse(include_text=True):
            if node.tag_id == _TEXT_ID:
                texts.append(node)
            elif node.tag_id == _PRE_ID:
                done.add(node.mem_id)
        for node in texts:
            node.replace_with((node.text_content or "").translate(_PREFORMATTED))


def _separate(cells: list[LexborNode | None]) -> None:
    """Put a mark before each cell that has another one before it in its row."""
    is_first = True
    for cell in cells:
        if cell is None:
            is_first = True
        elif cell.parent is not None:  # else it is hidden, and gone
            if not is_first:
                cell.insert_before(_CELL)
            is_first = False


def _lines(text: str) -> str:
    """Return the text nodes, separated by form feeds, as lines with white space folded."""
    for blank in _FOLDED:
        text = text.replace(blank, " ")
    # Most lines hold no two blanks in a row, and looking is quicker than folding.
    runs = [_FOLD.sub(" ", run) if "  " in run else run for run in text.split("\f")]
    folded = "\n".join([line for run in runs if (line := run.strip(" "))])
    if _CELL in folded:
        folded = folded.replace(" " + _CELL, "\t").replace(_CELL, "\t").replace("\t ", "\t")
        if "\t\n" in folded:
            folded = "\n".join(filter(None, (line.rstrip("\t") for line in folded.split("\n"))))
    for stand_in, shown in _SHOWN.items():
        if stand_in in folded:
            folded = folded.replace(stand_in, shown)
    return folded
