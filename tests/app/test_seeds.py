from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.app.seeds import MAX_IMPORTANCE, Seed, SeedProblem, parse_seeds


def parse(text: bytes) -> list[Seed | SeedProblem]:
    return list(parse_seeds(io.BytesIO(text)))


def test_urls_become_canonical():
    """Each line is one page, spelt canonically."""
    assert parse(b"HTTP://A.example\nhttps://b.example/x#y\n") == [
        Seed("http://a.example/", line=1),
        Seed("https://b.example/x", line=2),
    ]


def test_comments_and_blank_lines_count_as_lines():
    """What is skipped still counts, so that numbers are those of the file."""
    (seed,) = parse(b"# list\n\n  \n\t\n  # more\nhttp://a.example/\n")

    assert seed == Seed("http://a.example/", line=6)


def test_fields_follow_after_tabs():
    """Each known field is read in its unit."""
    (seed,) = parse(
        b"http://a.example/\timportance=2.5\tinterval=1h\tfixed_interval=P30D\n",
    )

    assert seed == Seed("http://a.example/", 2.5, 3600.0, 2_592_000.0, line=1)


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbfhttp://a.example/",
        b"http://a.example/\r\n",
        b"  http://a.example/  \n",
        b"http://a.example/\t\t\n",
        b"http://a.example/\t \r\n",
    ],
    ids=["mark", "crlf", "blanks", "empty-fields", "blank-field"],
)
def test_what_editors_leave_behind_is_dropped(text):
    """A byte order mark, CRLF, blanks at the ends and empty fields mean nothing."""
    assert parse(text) == [Seed("http://a.example/", line=1)]


def test_byte_order_mark_is_one_of_the_first_line_only():
    """In a later line it is a character where none belongs."""
    seed, problem = parse(b"http://a.example/\n\xef\xbb\xbfhttp://b.example/\n")

    assert seed == Seed("http://a.example/", line=1)
    assert isinstance(problem, SeedProblem)
    assert "no scheme" in problem.message


def test_text_lines_are_read_as_well():
    """Lines may be decoded already."""
    assert list(parse_seeds(["http://ä.example/ä\n"])) == [
        Seed("http://xn--4ca.example/%C3%A4", line=1)
    ]


@pytest.mark.parametrize("separator", [",", ";", "|", " "])
def test_other_separators_are_refused(separator):
    """Columns of another format never become part of a URL."""
    (problem,) = parse(f"http://a.example/{separator}NLD{separator}City".encode())

    assert isinstance(problem, SeedProblem)
    assert str(problem).startswith(f"line 1: not a URL; unknown separator {separator!r}")


def test_a_tab_says_that_the_comma_belongs_to_the_url():
    """With the right separator in the line, other signs are the URL's."""
    seeds = parse(b"http://a.example/1,2;3\t\nhttp://a.example/a b|c\tinterval=1h\n")

    assert [seed.url for seed in seeds] == ["http://a.example/1,2;3", "http://a.example/a%20b%7Cc"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"http://[bad", "bracket"),
        (b"a.example", "no scheme"),
        (b"\tinterval=1h", "no scheme"),
        (b"http://a.example/\xe4", "byte 0xe4 at position 18"),
        (b"\xff\xfeh\0t\0t\0p\0", "byte 0xff at position 1"),
        (b"http://a.example/\0", "control character 0x00"),
        (b"http://a.example/\rhttp://b.example/", "control character 0x0d"),
        (b"http://a.example/" + b"a" * 40_000, "longer than 40000 bytes"),
        (b"http://a.example/\tintervall=1h", "unknown field 'intervall=1h'; did you mean interval"),
        (b"http://a.example/\tcolour=red", "known are fixed_interval=, importance=, interval="),
        (b"http://a.example/\tinterval", "unknown field 'interval'"),
        (b"http://a.example/\tinterval=1h\tinterval=2h", "interval is given twice"),
        (b"http://a.example/\tinterval=soon", "interval: not a duration: 'soon'"),
        (b"http://a.example/\tfixed_interval=0s", "fixed_interval: 0 is not allowed"),
        (b"http://a.example/\timportance=high", "importance: 'high' is not a number from 0"),
        (b"http://a.example/\timportance=-1", "importance: '-1'"),
        (b"http://a.example/\timportance=nan", "importance: 'nan'"),
        (b"http://a.example/\timportance=1e7", "importance: '1e7'"),
    ],
)
def test_bad_lines_are_problems_and_the_rest_is_read(line, message):
    """One bad line is reported with its number and reason; its neighbours are seeds."""
    before, problem, after = parse(b"http://b.example/\n" + line + b"\nhttp://c.example/\n")

    assert before == Seed("http://b.example/", line=1)
    assert after == Seed("http://c.example/", line=3)
    assert isinstance(problem, SeedProblem)
    assert problem.line == 2
    assert message in problem.message
    assert problem.text.isprintable()
    assert len(problem.text) <= 400


def test_credentials_are_not_repeated():
    """A refused URL with a password is reported without it."""
    (problem,) = parse(b"http://user:secret@a.example/\tinterval=1h")

    assert isinstance(problem, SeedProblem)
    assert "secret" not in f"{problem} {problem.text}"


def test_lines_are_read_one_at_a_time():
    """A list of any length needs the memory of a line."""
    endless = iter(lambda: b"http://a.example/\n", None)

    seeds = parse_seeds(endless)

    assert [next(seeds).line for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize("importance", [0, 1, MAX_IMPORTANCE])
def test_importance_may_reach_its_limits(importance):
    """Both ends of the range are allowed."""
    (seed,) = parse(f"http://a.example/\timportance={importance}".encode())

    assert isinstance(seed, Seed)
    assert seed.importance == importance


@given(st.lists(st.binary(max_size=40)))
def test_any_bytes_are_read(lines):
    """Whatever the file holds, each line gives a seed, a problem or nothing, in order."""
    found = list(parse_seeds(lines))

    assert [each.line for each in found] == sorted({each.line for each in found})
    assert all(1 <= each.line <= len(lines) for each in found)
