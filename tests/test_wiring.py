from __future__ import annotations

import logging
import math
from dataclasses import replace
from pathlib import Path

import pytest

from recrawl.app.pages import new_page
from recrawl.clocks import SystemClock
from recrawl.config import (
    Config,
    CrawlSettings,
    FetchSettings,
    Rule,
    ScheduleSettings,
    SignatureSettings,
    StoreSettings,
)
from recrawl.config.section import spec_of
from recrawl.config.settings import SECTIONS
from recrawl.errors import ConfigError, MissingExtra, StoreError
from recrawl.schedules.fixed import Fixed
from recrawl.schedules.nutch import NutchAdaptive
from recrawl.signatures.text_profile import TextProfile
from recrawl.stores.memory import MemoryStore
from recrawl.testing.factories import NOW
from recrawl.wiring import (
    _load,
    check_contact,
    make_fetcher,
    make_policies,
    open_crawler,
    open_store,
    store_path,
    store_url,
)

URL = "https://a.example/"


@pytest.mark.parametrize(
    "path", ["a.sqlite", "/srv/a.sqlite", "50% ?#&x/a b.sqlite", "ü/日本.sqlite"]
)
def test_store_urls_lead_back(path):
    """Any path survives the way through a store URL."""
    config = Config(store=StoreSettings(url=store_url(Path(path))))

    assert store_path(config) == Path(path)


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("postgresql://u:secret@h/d", "no kind of store"),
        ("sqlite:a.sqlite", "no kind of store"),
        ("sqlite:///", "names no file"),
        ("sqlite:///a%00b", "names no file"),
    ],
)
def test_urls_of_no_store(url, word):
    """What is allowed is said, and no password is repeated."""
    with pytest.raises(ConfigError, match=word) as caught:
        store_path(Config(store=StoreSettings(url=url)))

    assert "secret" not in str(caught.value)


def test_a_store_is_made_only_if_wanted(tmp_path):
    """Reading commands never leave a file behind."""
    config = Config(store=StoreSettings(url=store_url(tmp_path / "a.sqlite")))

    with pytest.raises(ConfigError, match="recrawl init"):
        open_store(config)
    assert list(tmp_path.iterdir()) == []
    open_store(config, create=True).close()
    open_store(config).close()


def test_a_store_of_zero_bytes_is_none_yet(tmp_path):
    """A file that only exists becomes a store only where one may be made."""
    path = tmp_path / "a.sqlite"
    path.touch()
    config = Config(store=StoreSettings(url=store_url(path)))

    with pytest.raises(StoreError, match="recrawl init"):
        open_store(config)
    assert path.read_bytes() == b""


def test_settings_reach_the_policy():
    """Schedule, bounds, rule of updates and signature are those of the settings."""
    config = Config(
        schedule=ScheduleSettings(
            name="nutch-adaptive", interval=7200.0, min_interval=600.0, max_interval=86_400.0,
            jitter=0.1,
            inc_rate=0.3, dec_rate=0.1, sync_delta=False, sync_delta_rate=0.2,
            retry_interval=1800.0, retry_max=5,
        ),
        signature=SignatureSettings(
            name="text-profile", min_token_len=3, quant_rate=0.5, sec_sort_lex=False
        ),
    )  # fmt: skip

    policy = make_policies(config)(URL)

    assert policy.schedule == NutchAdaptive(
        default_interval=7200.0, interval_max=86_400.0, retry_interval=1800.0, inc_rate=0.3,
        dec_rate=0.1, min_interval=600.0, max_interval=86_400.0, sync_delta=False,
        sync_delta_rate=0.2,
    )  # fmt: skip
    assert policy.signature == TextProfile(3, 0.5, False)
    bounds = policy.bounds
    assert (bounds.min_interval, bounds.max_interval, bounds.jitter) == (600.0, 86_400.0, 0.1)
    assert (policy.update.retry_max, policy.update.interval_max) == (5, 86_400.0)
    assert policy.interval == 7200.0
    assert math.isnan(policy.fixed_interval)


def test_each_schedule_gets_the_settings_that_it_has(tmp_path):
    """What is left out is the schedule's own, and files of hosts and MIME types reach it."""
    hosts, mimes = tmp_path / "hosts.txt", tmp_path / "mimes.txt"
    hosts.write_text("a.example 600 default\n")
    mimes.write_text("text/html\t0.5\t0.25\n")
    files = {"host_file": str(hosts), "mime_file": str(mimes)}

    def schedule(name, **settings):
        config = Config(schedule=ScheduleSettings(name=name, **files, **settings))
        return make_policies(config)(URL).schedule

    aronsson = schedule("aronsson")
    mime = schedule("nutch-mime", variant="documented", inc_rate=0.3)
    assert (aronsson.inc_rate, aronsson.dec_rate, aronsson.constant) == (0.2, 0.5, 1800)
    assert schedule("aronsson", constant=60.0).constant == 60
    assert (mime.inc_rate, mime.dec_rate, mime.variant) == (0.3, 0.2, "documented")
    assert (mime.mimes.inc_rate.tolist(), mime.hosts.min_interval.tolist()) == ([0.5], [600])
    assert schedule("nutch-adaptive").hosts.max_interval.tolist() == [7_776_000]
    assert schedule("fixed", variant="documented").variant == "documented"


def test_an_error_interval_of_zero_is_never():
    """A page that is gone is not asked again by a schedule of StormCrawler if the user says so."""

    def schedule(**settings):
        config = Config(schedule=ScheduleSettings(name="stormcrawler-adaptive", **settings))
        return make_policies(config)(URL).schedule

    assert schedule().error_interval == 31 * 86_400
    assert schedule(error_interval=60.0).error_interval == 60
    assert schedule(error_interval=0.0).error_interval == math.inf
    assert schedule().dec_rate == 0.5


def test_exact_mode_takes_what_the_original_takes_and_says_so(caplog):
    """Rates and bounds that guarded mode refuses are taken, each with a warning."""
    odd = {"inc_rate": 2.0, "dec_rate": 1.5, "min_interval": 500.0, "max_interval": 60.0}
    settings = ScheduleSettings(name="nutch-adaptive", interval=100.0, **odd, exact=True)

    with caplog.at_level(logging.WARNING):
        policy = make_policies(Config(schedule=settings))(URL)
        make_policies(Config(schedule=ScheduleSettings(name="nutch-adaptive", exact=True)))

    assert [getattr(policy.schedule, name) for name in odd] == list(odd.values())
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 3
    assert "schedule.inc_rate = 2: allowed is a number, above 0 and up to 1" in told[0]
    assert "exact mode" in told[2]
    assert "min_interval" in told[2]
    for name in ("inc_rate", "dec_rate"):
        with pytest.raises(ConfigError, match=rf"schedule\.{name} = .* is not usable: allowed is"):
            ScheduleSettings(**{name: odd[name]})
    with pytest.raises(ConfigError, match="min_interval"):
        ScheduleSettings(min_interval=500.0, max_interval=60.0)


def test_rules_make_policies_that_pages_share():
    """Pages under the same rules have one policy object, others another."""
    config = Config(
        rules=(
            Rule(url="https://a.example/news/*", interval=3600.0, importance=2.0),
            Rule(host="b.example", fixed_interval=600.0, schedule="fixed", signature="md5"),
        )
    )
    policy_of = make_policies(config)

    news, more = policy_of("https://a.example/news/1"), policy_of("https://a.example/news/2")
    fixed, plain = policy_of("https://b.example/"), policy_of(URL)

    assert news is more
    assert (news.interval, news.importance) == (3600.0, 2.0)
    assert isinstance(fixed.schedule, Fixed)
    assert fixed.fixed_interval == 600.0
    assert len({id(one) for one in (news, fixed, plain)}) == 3
    assert fixed.scheme != plain.scheme


def at_their_limits():
    """Yield each setting with a limit, at that limit."""
    for section in SECTIONS:
        for name, field in section.__dataclass_fields__.items():
            spec = spec_of(field) if "spec" in field.metadata else None
            for limit in ("least", "most"):
                value = getattr(spec, limit, None)
                if value is not None:
                    yield pytest.param(section, name, value, id=f"{section.title}.{name}-{limit}")


@pytest.mark.parametrize(("section", "name", "value"), list(at_their_limits()))
async def test_what_a_setting_allows_works(section, name, value):
    """No part refuses a value that the settings allow."""
    # A setting must not be larger than the one it is part of, and something must be aimed at.
    with_it = {
        "connect_timeout": ("timeout", value), "backoff": ("max_backoff", value),
        "freshness": ("max_age", 3600.0),
    }  # fmt: skip
    made = section(**dict([(name, value), with_it.get(name, (name, value))]))
    config = replace(Config(), **{section.title: made})

    make_policies(config)(URL)
    fetcher = make_fetcher(config, SystemClock(), MemoryStore())
    await fetcher.close()


def test_a_missing_extra_names_itself():
    """What to install is said; a module of ours that is missing is a bug, not an extra."""
    with pytest.raises(MissingExtra, match=r"pip install 'recrawl\[spark\]'"):
        _load("no_such_module_here", "X", extra="spark")
    with pytest.raises(ModuleNotFoundError, match="recrawl"):
        _load("recrawl.no_such_module", "X", extra="spark")
    with pytest.raises(ModuleNotFoundError):
        _load("no_such_module_here", "X")


@pytest.mark.parametrize(
    ("url", "fetch", "is_refused"),
    [
        (URL, FetchSettings(), True),
        ("http://127.0.0.1/", FetchSettings(), False),
        ("http://localhost:8080/", FetchSettings(), False),
        (URL, FetchSettings(contact="https://crawler.example/"), False),
        (URL, FetchSettings(user_agent="x (+https://crawler.example/)"), False),
    ],
)
def test_contact(url, fetch, is_refused):
    """Whoever asks others must say who asks."""
    config, store = Config(fetch=fetch), MemoryStore()
    store.add([new_page(url, make_policies(config)(url), now=NOW)])

    if is_refused:
        with pytest.raises(ConfigError, match=r"a\.example is not on loopback"):
            check_contact(config, store, NOW)
    else:
        check_contact(config, store, NOW)


async def test_a_crawler_has_the_limits_of_the_settings(monkeypatch):
    """Hosts, batch, lease and the time of a visit; no two crawlers share a name."""
    config = Config(crawl=CrawlSettings(hosts=3, batch=7, lease=99.0))

    async with (
        open_crawler(config, MemoryStore()) as one,
        open_crawler(config, MemoryStore()) as other,
    ):
        limits = one._limits
        assert one._owner != other._owner

    assert (limits.hosts, limits.batch, limits.lease) == (3, 7, 99.0)
    assert limits.visit == config.fetch.timeout + config.extract.time_limit
