from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.config import Glob, Resolved, Rule, RuleSet, ScheduleSettings, SignatureSettings
from recrawl.config import rules as rules_module
from recrawl.core.url import canonical_url, host_of
from recrawl.errors import ConfigError, InputError

DAY = 86_400.0


def resolve(rules: RuleSet, text: str) -> Resolved:
    url = canonical_url(text)
    return rules.resolve(url, host_of(url))


@pytest.mark.parametrize(
    ("pattern", "url", "is_match"),
    [
        ("https://a.example/", "https://a.example/", True),
        ("https://a.example", "https://a.example/", True),
        ("https://a.example/", "https://a.example/x", False),
        ("https://a.example/*", "https://a.example/", True),
        ("https://a.example/*", "https://a.example/x/y?z", True),
        ("https://a.example/*", "http://a.example/", False),
        ("https://a.example/news/*", "https://a.example/new", False),
        ("HTTPS://A.Example:443/News/*", "https://a.example/News/1", True),
        ("HTTPS://A.Example:443/News/*", "https://a.example/news/1", False),
        ("https://a.example/%7euser/ä*", "https://a.example/~user/%C3%A4b", True),
        ("https://нэб.example/*", "https://xn--90ax2c.example/x", True),
        ("https://*.нэб.example/ x*", "https://a.xn--90ax2c.example/%20x", True),
        ("http*://*.Example.org/*", "https://www.example.org/x", True),
        ("http*://*.Example.org/*", "https://example.org/x", False),
        ("https://a.example?q=*", "https://a.example/?q=1", True),
        ("*.pdf", "https://a.example/x.pdf", True),
        ("*.pdf", "https://a.example/x.pdf?download", False),
        ("*/tag/*/page/*", "https://a.example/tag/x/page/2", True),
        ("*/tag/*/page/*", "https://a.example/page/x/tag/2", False),
        ("*", "https://a.example/", True),
        ("**", "https://a.example/", True),
        ("*ab*ba", "https://a.example/aba", False),
        ("*ab*ba", "https://a.example/abba", True),
        ("https://a.example/a.c", "https://a.example/abc", False),
    ],
)
def test_globs_cover_canonical_urls(pattern, url, is_match):
    """A star is any run, the rest is literal, and the pattern is put into canonical spelling."""
    assert Glob(pattern).matches(url) is is_match


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("", "starts with"),
        ("a.example/*", "starts with"),
        ("/news/*", "starts with"),
        ("ftp://a.example/*", "starts with"),
        ("https://a.example/*#top", "no #"),
        ("https://user:pw@a.example/*", "user name or password"),
        ("https://[bad/*", "bracket"),
        ("https://*.ä%/", "host names cannot have"),
        ("https://*.ä b/", "blank"),
    ],
)
def test_globs_that_match_nothing_are_refused(pattern, reason):
    """A pattern that no canonical URL can match is a mistake."""
    with pytest.raises(InputError, match=reason):
        Glob(pattern)


@given(
    st.lists(st.text("ab/", max_size=3), min_size=1, max_size=5),
    st.text("ab/", max_size=12),
)
def test_globs_agree_with_regular_expressions(pieces, path):
    """The leftmost search decides as a backtracking matcher would."""
    pattern, url = "https://a.example/x" + "*".join(pieces), "https://a.example/x" + path

    expected = re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), url) is not None

    assert Glob(pattern).matches(url) is expected


def test_without_rules_the_sections_hold():
    """The fall-back is one object for all pages."""
    rules = RuleSet(
        schedule=ScheduleSettings(name="fixed", interval=7200.0),
        signature=SignatureSettings(name="md5"),
    )

    resolved = resolve(rules, "http://a.example/")

    assert resolved == Resolved(7200.0, 60.0, 90 * DAY, "md5", "fixed", None, 1.0)
    assert resolve(rules, "http://b.example/") is resolved


def test_first_matching_rule_wins_for_each_setting():
    """A later rule adds what the earlier ones leave open."""
    rules = RuleSet(
        [
            Rule(url="https://a.example/news/*", interval=3600.0, importance=5.0),
            Rule(host="a.example", interval=7200.0, signature="md5"),
            Rule(url="*", signature="text-profile", fixed_interval=DAY),
        ]
    )

    news = resolve(rules, "https://a.example/news/1")
    other = resolve(rules, "https://a.example/x")
    elsewhere = resolve(rules, "https://b.example/news/1")

    assert (news.interval, news.importance, news.signature) == (3600.0, 5.0, "md5")
    assert (other.interval, other.importance, other.signature) == (7200.0, 1.0, "md5")
    assert (elsewhere.interval, elsewhere.signature) == (DAY, "text-profile")
    assert {news.fixed_interval, other.fixed_interval, elsewhere.fixed_interval} == {DAY}


@pytest.mark.parametrize(
    ("rule_host", "url", "is_match"),
    [
        ("WWW.Example.com.", "http://www.example.COM:8080/x", True),
        ("www.example.com", "http://example.com/", False),
        ("*.Example.com", "http://www.example.com/", True),
        ("*.example.com", "http://a.b.example.com/", True),
        ("*.example.com", "http://example.com/", False),
        ("*.example.com", "http://badexample.com/", False),
        ("нэб.example", "http://xn--90ax2c.example/", True),
        ("under_score.example", "http://under_score.example/", True),
        ("2130706433", "http://127.0.0.1:8000/", True),
    ],
)
def test_hosts_match_however_they_are_spelt(rule_host, url, is_match):
    """Rule and URL go through the same normalisation."""
    rules = RuleSet([Rule(host=rule_host, importance=9.0)])

    assert (resolve(rules, url).importance == 9.0) is is_match


def test_url_and_host_must_both_match():
    """A rule with both is for their common pages."""
    rules = RuleSet([Rule(host="a.example", url="*.pdf", importance=9.0)])
    urls = ["http://a.example/x.pdf", "http://a.example/x", "http://b.example/x.pdf"]

    assert [resolve(rules, url).importance for url in urls] == [9.0, 1.0, 1.0]


def test_pages_under_the_same_rules_share_one_object():
    """Equal answers are the same object, so that work on it is done once."""
    rules = RuleSet([Rule(url="*.pdf", importance=9.0), Rule(url="*/x*", interval=DAY)])

    answers = [resolve(rules, f"http://{host}.example/x{host}.pdf") for host in "abc"]

    assert len({id(answer) for answer in answers}) == 1


def test_many_hosts_are_forgotten_again(monkeypatch):
    """The memory of hosts is bounded and its loss changes no answer."""
    monkeypatch.setattr(rules_module, "_MAX_HOSTS", 2)
    rules = RuleSet([Rule(host="h1.example", importance=9.0)])

    answers = [resolve(rules, f"http://h{i % 4}.example/").importance for i in range(12)]

    assert answers == [1.0, 9.0, 1.0, 1.0] * 3


@pytest.mark.parametrize(
    ("rules", "bounds"),
    [
        ([Rule(host="a", max_interval=DAY)], (60.0, DAY, DAY)),
        ([Rule(host="a", max_interval=3600.0)], (60.0, 3600.0, 3600.0)),
        ([Rule(host="a", min_interval=2 * DAY)], (2 * DAY, 2 * DAY, 90 * DAY)),
        (
            [Rule(host="a", min_interval=2 * DAY), Rule(host="a", max_interval=DAY)],
            (2 * DAY, 2 * DAY, 2 * DAY),
        ),
        (
            [Rule(host="a", max_interval=DAY), Rule(host="a", min_interval=2 * DAY)],
            (DAY, DAY, DAY),
        ),
    ],
)
def test_bounds_of_several_rules_never_cross(rules, bounds):
    """The earlier rule's bound is kept and the other one gives way; the interval lies between."""
    resolved = resolve(RuleSet(rules), "http://a/")

    assert (resolved.min_interval, resolved.interval, resolved.max_interval) == bounds


@pytest.mark.parametrize(
    "values",
    [
        {"min_interval": 100 * DAY},
        {"max_interval": 30.0},
        {"interval": 30.0},
        {"interval": 91 * DAY},
        {"interval": DAY, "max_interval": 3600.0},
    ],
)
def test_rules_that_contradict_themselves_are_refused(values):
    """A rule's own intervals must fit together and into the section's bounds."""
    with pytest.raises(ConfigError, match=r"^rule 1: "):
        RuleSet([Rule(host="a", **values)])
