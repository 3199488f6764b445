"""Custom intervals among the settings."""

from __future__ import annotations

import pytest

from recrawl.errors import InputError
from recrawl.interop.stormcrawler.intervals import custom_intervals, custom_minutes
from recrawl.schedules.stormcrawler_minutes import CrawlStatus

FETCHED, ERROR = CrawlStatus.FETCHED, CrawlStatus.ERROR


@pytest.mark.parametrize(
    ("setting", "key", "value"),
    [
        ("fetchInterval.isFeed=true", "isFeed", "true"),
        ("fetchInterval.FETCHED.parse.isFeed=true", "parse.isFeed", "true"),
        ("fetchInterval.v=1.5", "v", "1.5"),
        ("fetchInterval..isFeed=true", ".isFeed", "true"),
        ("fetchInterval.k=a=b", "k=a", "b"),
    ],
)
def test_settings_that_are_rules(setting: str, key: str, value: str) -> None:
    """Key and value are split at the last sign, a status comes first."""
    (rule,) = custom_intervals({"fetchInterval.default": 1, setting: 10})

    assert (rule.key, rule.value) == (key, value)
    assert custom_minutes((rule,), FETCHED, {key: ["x", value]}) == 10


@pytest.mark.parametrize(
    "config",
    [
        {"fetchInterval.=true": 10},
        {"fetchInterval.isFeed=": 10},
        {"fetchInterval.isFeed=true": None},
        {"fetchInterval.isFeed=true": -(2**31)},
        {"other.isFeed=true": 10},
    ],
)
def test_settings_that_are_no_rules(config: dict[str, object]) -> None:
    """An empty key or value, null and the least number are ignored."""
    assert custom_intervals(config) == ()


@pytest.mark.parametrize("setting", ["fetchInterval.fetched.k=v", "fetchInterval.parse.isFeed=x"])
def test_what_is_read_as_a_status_must_be_one(setting: str) -> None:
    """A key with a dot needs a status before it."""
    with pytest.raises(InputError, match=r"^IllegalArgumentException: .* there are DISCOVERED"):
        custom_intervals({setting: 10})


def test_the_first_rule_that_fits_decides() -> None:
    """It does so also where it says nothing about the status."""
    rules = custom_intervals({"fetchInterval.ERROR.a=1": 5, "fetchInterval.b=1": 7})
    page = {"a": ["1"], "b": ["1"]}

    assert custom_minutes(rules, ERROR, page) == 5
    assert custom_minutes(rules, FETCHED, page) is None
    assert custom_minutes(rules, FETCHED, {"b": ["1"]}) == 7
    assert custom_minutes(rules, FETCHED, {"b": ["2"], "a": []}) is None


def test_an_interval_of_the_status_goes_before_a_general_one() -> None:
    """Whichever comes first among the settings."""
    rules = custom_intervals({"fetchInterval.a=1": 5, "fetchInterval.ERROR.a=1": 7})

    assert [custom_minutes(rules, s, {"a": ["1"]}) for s in (FETCHED, ERROR)] == [5, 7]


def test_key_and_value_that_read_the_same_together_are_one_rule() -> None:
    """The first gives key and value, the later one the interval."""
    (rule,) = custom_intervals({"fetchInterval.a=bc": 10, "fetchInterval.ab=c": 20})

    assert (rule.key, rule.value, rule.minutes) == ("a", "bc", {None: 20})


def test_rules_come_in_the_order_of_the_settings_or_of_a_hash_table() -> None:
    """By default nothing depends on Java's hash codes."""
    config = {f"fetchInterval.{key}=1": 1 for key in "cab"}

    assert [rule.key for rule in custom_intervals(config)] == ["c", "a", "b"]
    hashed = custom_intervals(config, as_hash_map=True)
    # The last four bits of the codes of a1, c1 and b1 are 0, 14 and 15.
    assert [rule.key for rule in hashed] == ["a", "c", "b"]


def test_null_before_a_value_that_fits_is_an_error() -> None:
    """After it null is never looked at."""
    rules = custom_intervals({"fetchInterval.a=1": 5})

    assert custom_minutes(rules, FETCHED, {"a": ["1", None]}) == 5
    with pytest.raises(InputError, match=r"^NullPointerException: a value of a is null"):
        custom_minutes(rules, FETCHED, {"a": [None, "1"]})
