"""URLs on which public crawlers went wrong."""

from __future__ import annotations

import pytest

from recrawl.app.seeds import SeedProblem, parse_seeds
from recrawl.config import Rule, RuleSet
from recrawl.core.url import canonical_url, host_key, host_of, page_key
from recrawl.errors import UrlError


def test_url_001(case):
    """The table of common spellings normalises, and a second time changes nothing."""
    pairs = case("url-001")["input"]["pairs"]

    out = [canonical_url(left) for left, _ in pairs]

    assert out == [right for _, right in pairs]
    assert [canonical_url(url) for url in out] == out


def test_url_002(case):
    """What is percent-encoded already is never encoded again."""
    given = case("url-002")

    out = [canonical_url(url) for url in given["input"]["in"]]

    assert out == given["expected"]["out"]
    assert not [url for url in out if given["expected"]["never"] in url]


def test_url_005(case):
    """Unicode, punycode, percent-encoded and dotted spellings of a host are one host."""
    given = case("url-005")

    out = [canonical_url(url) for url in given["input"]["in"]]

    assert out == given["expected"]["out"]
    assert len({page_key(url) for url in out}) == given["expected"]["records"]
    assert len({host_key(host_of(url)) for url in out}) == given["expected"]["records"]


def test_url_006(case):
    """A seed line in the columns of another format is refused with its number and reason."""
    given = case("url-006")

    (problem,) = parse_seeds([given["input"]["seed_line"].encode()])

    assert isinstance(problem, SeedProblem)
    assert str(problem).startswith(given["expected"]["message"])


def test_url_007(case):
    """A broken URL is refused with a reason or repaired; nothing but UrlError is raised."""
    given = case("url-007")
    broken, repairable = given["input"]["urls"]

    with pytest.raises(UrlError, match="bracket of an IPv6 address is not closed"):
        canonical_url(broken)

    assert canonical_url(repairable) == given["expected"]["second"]


def test_url_008(case):
    """A rule's host and a URL's host go through the same normalisation, underscores included."""
    given = case("url-008")
    host, least, most = given["input"]["host_rule"].split()
    rule = Rule(host=host, min_interval=float(least), max_interval=float(most))
    url = canonical_url(given["input"]["url"])

    resolved = RuleSet([rule]).resolve(url, host_of(url))

    assert (resolved.min_interval, resolved.max_interval) == (3600.0, 86400.0)
    assert host_of(canonical_url(given["input"]["url2"])) == given["expected"]["url2_host"]
