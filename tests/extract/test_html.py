"""Text, title and links of HTML pages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.extract.html import TITLE_LIMIT, read_html


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("plain", "plain"),
        ("<p>a</p><p>b</p>", "a\nb"),
        ("<p>a<p>b", "a\nb"),
        ("a<div>b</div>c", "a\nb\nc"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("a<b>b</b><i>c</i> <u>d</u>", "abc d"),
        ("a<x-tag>b</x-tag>c", "abc"),
        ("a<!-- x -->b", "ab"),
        ("a <img src=x alt=y>b", "a b"),
        ("wo<wbr>rd", "word"),
        ("<ul><li>a<li>b</ul>c", "a\nb\nc"),
        ("<h1>a</h1>b", "a\nb"),
        ("<p>  a \n\t b  </p>", "a b"),
        ("<p>a&nbsp;&nbsp;b", "a b"),
        ("<p>\n</p>\n<p> </p>", ""),
        ("<select><option>a<option>b</select>", "a\nb"),
        ("<button>a</button><button>b</button>", "a\nb"),
        ("<details><summary>a</summary>b</details>", "a\nb"),
        ("<a href=x><div>a</div>b</a>", "a\nb"),
        ("<b>a<p>b</b>c", "a\nbc"),
        ("&lt;p&gt; &amp; &eacute;", "<p> & é"),
        ("<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby>", "漢かん"),
        ("<math><mi>x</mi><mo>=</mo><annotation>tex</annotation></math>", "x="),
    ],
)
def test_text_is_what_a_reader_sees(html, text):
    """Blocks break lines, what runs within a line does not, white space is folded."""
    assert read_html(html).text == text


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>x</script>", "<style>x</style>", "<noscript>x</noscript>",
        "<template><p>x</p></template>", "<p hidden>x</p>",
        "<p style='color:red; DISPLAY :none'>x</p>",
        "<dialog>x</dialog>", "<textarea>x</textarea>", "<iframe>x</iframe>",
        "<svg><text>x</text></svg>",
        "<title>x</title>", "<div hidden><p><b>x</b></p></div>", "<video>x</video>",
        "<noscript><p hidden><script>x</script></p></noscript>", "<object><p>x</object>",
    ],
)  # fmt: skip
def test_what_is_not_shown_is_left_out(hidden):
    """Scripts, hidden elements and fallbacks are no text."""
    assert read_html(f"<p>a</p>{hidden}<p>b</p>").text == "a\nb"


@pytest.mark.parametrize(
    "shown", ["<p style='border:none'>x</p>", "<p style='display:block'>x</p>",
              "<dialog open>x</dialog>", "<p style>x</p>"],
)  # fmt: skip
def test_what_only_looks_hidden_is_text(shown):
    """Another style of none hides nothing."""
    assert read_html(shown).text == "x"


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ("<tr><td>a<td>b<tr><td>c<td>d", "a\tb\nc\td"),
        ("<tr><th>a</th><td>b</td></tr>", "a\tb"),
        ("<tr><td>a<td><td>c", "a\t\tc"),
        ("<tr><td>a<td><tr><td>c", "a\nc"),
        ("<tr><td><td>b<tr><td><td>d", "\tb\n\td"),
        ("<tr><td> a <td> <b>b</b> ", "a\tb"),
        ("<tr><td><td><tr><td>", ""),
        ("<tr><td hidden>a<td>b<td>c", "b\tc"),
        ("<tr><td><p>a<p>b<td>c", "a\nb\n\tc"),
        ("<caption>t</caption><tr><td>a", "t\na"),
    ],
)
def test_a_row_is_a_line(rows, text):
    """Cells are separated by tabs; empty ones keep their place, but at the end."""
    assert read_html(f"x<table>{rows}</table>y").text == "\n".join(filter(None, ["x", text, "y"]))


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<pre>a  b\n\n  c\td</pre>", "a  b\n\n  c\td"),
        ("x<pre>\na</pre>y", "x\na\ny"),
        ("<pre>a <b> b </b>\n<pre>c  d</pre></pre>", "a  b \n\nc  d"),
        ("<p>a</p><pre>  b</pre>", "a\n  b"),
    ],
)
def test_preformatted_text_is_kept(html, text):
    """Blanks, tabs and line ends in <pre> are part of the text."""
    assert read_html(html).text == text


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> A \n B </title>", "A B"),
        ("<title></title>", None),
        ("<p>x", None),
        ("<svg><title>drawing</title></svg><p>x", None),
        ("<svg><title>drawing</title></svg><title>page</title>", "page"),
        ("<title>first</title><title>second</title>", "first"),
        ("<title>a<b>b&amp;c</title>", "a<b>b&c"),
        ("<title>a\0\x1b[1mb&#7;</title>", "a[1mb"),
    ],
)
def test_title(html, title):
    """The title is the first one of the page, on one line."""
    assert read_html(html).title == title


def test_an_unclosed_title_is_cut():
    """A page cannot fill a table of titles with its whole source."""
    title = read_html("<title>" + "ab " * 100_000).title

    assert title is not None
    assert TITLE_LIMIT - 3 < len(title) <= TITLE_LIMIT


def test_references_are_those_of_the_page_in_its_order():
    """Anchors and areas count, also hidden ones; canonical links and templates do not."""
    page = read_html(
        "<link rel=canonical href=c><base target=x><base href='/b/'><a href='1'>x</a><a name=n>"
        "<a href>z</a><map><area HREF=2></map><p hidden><a href=3 rel=nofollow>x</a></p>"
        "<template><a href=t></a></template><nav><a href=4><a href=1></nav>"
    )

    assert page.references == ("1", "2", "3", "4", "1")
    assert page.base == "/b/"


def test_a_page_of_frames_has_no_text():
    """A frameset shows nothing of its own."""
    page = read_html("<title>t</title><frameset><frame src=x><noframes>a</noframes></frameset>")

    assert (page.text, page.title, page.references) == ("", "t", ())


def test_control_characters_are_no_text():
    """Neither bytes nor references bring control characters into the text."""
    page = read_html("<p>a\x00b\x02c\x05d&#1;e&#2;f&#x9f;g\x85h\ufffei\x0cj")

    assert page.text == "abcd\te\nfŸg\nhi j"


@pytest.mark.parametrize(
    "unit",
    ["<div>", "<b>x", "<table><tr><td>", "<pre> x", "<ul><li>", "</p>"],
)
def test_deep_nesting_needs_no_stack(unit):
    """Depth that would end a recursive walk is read to its end."""
    page = read_html(unit * 5000 + "<p>end")

    assert page.text.endswith("end")


FRAGMENTS = st.lists(
    st.one_of(
        st.sampled_from(
            ["<p>", "</p>", "<b>", "</b>", "<table>", "<tr>", "<td>", "</table>", "<pre>", "</pre>",
             "<a href=x>", "<br>", "<!--", "-->", "<script>", "</script>", "<title>", "</title>",
             "<svg>", "<select>", "<template>", "<p hidden>", "<frameset>", "\f", "\0", "&#0;",
             "<math><annotation-xml>", "<base href=q>", "<dialog>", "</body>", "<plaintext>", "\t"]
        ),
        st.text(st.characters(exclude_categories=()), max_size=5),
    ),
    max_size=30,
)  # fmt: skip


@given(FRAGMENTS)
def test_any_source_has_a_text(fragments):
    """No source raises, and what comes out can be stored and shown."""
    page = read_html("".join(fragments))

    for text in (page.text, page.title or ""):
        text.encode()
        assert not any(unseen in text for unseen in "\0\x01\x02\x03\x04\x05\f\r\x1b\x7f\x85\x9f")
    assert page.text == page.text.strip()


@given(st.lists(st.text("abc ", min_size=1, max_size=8), min_size=1, max_size=10))
def test_markup_within_lines_leaves_the_text(words):
    """Bold, links, spans and comments change no text."""
    plain = "".join(f"<p>{word}</p>" for word in words)
    marked = "".join(f"<p><span><b>{word}</b></span><a href=x><!-- x --></a></p>" for word in words)

    assert read_html(marked).text == read_html(plain).text
