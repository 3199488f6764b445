"""Settings of other crawlers become a recrawl.toml."""

from __future__ import annotations

from pathlib import Path

import pytest

from recrawl.config import Config, FetchSettings, load
from recrawl.config.importing import ImportedFile, import_file
from recrawl.errors import ConfigError
from recrawl.wiring import make_policies

PACKAGE = "org.apache.nutch.crawl."
URL = "https://example.org/"


def xml(**values: str) -> str:
    """Return a nutch-site.xml; __ in a name stands for a dot."""
    return "<configuration>{}</configuration>".format(
        "".join(
            f"<property><name>{name.replace('__', '.')}</name><value>{value}</value></property>"
            for name, value in values.items()
        )
    )


@pytest.fixture
def imported(tmp_path: Path):
    """Return what a text is imported as, and the settings that are read from it."""

    def run(text: str | bytes, name: str = "site.xml") -> tuple[Config, ImportedFile]:
        path, toml = tmp_path / name, tmp_path / "recrawl.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        found = import_file(path)
        toml.write_text(found.toml)
        config = load(toml)
        make_policies(config)(URL)
        return config, found

    return run


def test_an_empty_site_is_nutch_as_it_is_shipped(imported) -> None:
    """What the file does not say is written out where the defaults differ."""
    config, found = imported("<configuration/>")

    schedule = config.schedule
    assert (schedule.name, schedule.interval, schedule.jitter) == ("fixed", 30 * 86_400, 0)
    assert (schedule.max_interval, schedule.retry_max) == (90 * 86_400, 3)
    assert config.signature.name == "md5"
    assert found.notes == ()
    assert "inc_rate" not in found.toml


def test_the_settings_of_nutch_have_a_place(imported) -> None:
    """Each known setting is found again under its name here."""
    config, found = imported(
        xml(
            db__fetch__schedule__class=PACKAGE + "MimeAdaptiveFetchSchedule",
            db__fetch__interval__default=" 0x15180 ",
            db__fetch__interval__max="604800",
            db__fetch__schedule__adaptive__inc_rate="0.3f",
            db__fetch__schedule__adaptive__dec_rate="0.1",
            db__fetch__schedule__adaptive__min_interval="3600",
            db__fetch__schedule__adaptive__max_interval="604800",
            db__fetch__schedule__adaptive__sync_delta="FALSE",
            db__fetch__schedule__adaptive__sync_delta_rate="0.25",
            db__fetch__schedule__mime__file="",
            db__fetch__retry__max="5",
            db__signature__class=PACKAGE + "TextProfileSignature",
            db__signature__text_profile__min_token_len="3",
            db__signature__text_profile__quant_rate="0.05",
            db__signature__text_profile__sec_sort_lex="false",
            http__timeout="10000",
            http__content__limit="1048576",
            http__redirect__max="3",
            http__agent__name="examplebot",
            http__agent__version="1.0",
            http__agent__url="https://www.example.org/crawler",
            fetcher__server__delay="5.0",
            fetcher__threads__per__queue="2",
            fetcher__threads__fetch="10",
        )
    )

    schedule, signature, fetch = config.schedule, config.signature, config.fetch
    assert schedule.name == "nutch-mime"
    assert (schedule.interval, schedule.max_interval) == (86_400, 604_800)
    assert (schedule.inc_rate, schedule.dec_rate, schedule.min_interval) == (0.3, 0.1, 3600)
    assert (schedule.sync_delta, schedule.sync_delta_rate, schedule.retry_max) == (False, 0.25, 5)
    assert (signature.name, signature.min_token_len) == ("text-profile", 3)
    assert (signature.quant_rate, signature.sec_sort_lex) == (0.05, False)
    assert (fetch.timeout, fetch.max_size, fetch.max_redirects) == (10, 1_048_576, 3)
    assert fetch.user_agent == "examplebot/1.0 (+https://www.example.org/crawler)"
    assert config.politeness.min_delay == 5
    assert (config.politeness.requests_per_host, config.crawl.hosts) == (2, 10)
    assert "inc_rate = 0.3  # db.fetch.schedule.adaptive.inc_rate\n" in found.toml
    assert len(found.notes) == 1
    assert "adaptive-host-specific-intervals.txt" in found.notes[0]


@pytest.mark.parametrize(
    ("values", "note"),
    [
        (
            {"db__ignore__external__links": "true"},
            "no counterpart: db.ignore.external.links = true",
        ),
        (
            {"db__fetch__schedule__class": "com.example.Mine"},
            "no counterpart: db.fetch.schedule.class = com.example.Mine (a class of your own)",
        ),
        (
            {"db__fetch__interval__default": "2592000.5"},
            "no counterpart: db.fetch.interval.default = 2592000.5 (not a whole number of 32 bits",
        ),
        ({"http__content__limit": "-1"}, "no counterpart: http.content.limit = -1 for fetch.max_s"),
        ({"http__timeout": "${http.timeout}"}, "not read: http.timeout: too many variables"),
        (
            {"fetcher__server__delay": "NaN"},
            "no counterpart: fetcher.server.delay = NaN is not fin",
        ),
        (
            {"http__agent__name": "examplebot"},
            "http.agent.name = examplebot without http.agent.url",
        ),
        ({"http__agent__url": "a&#x7f;b"}, "it has characters that cannot be printed"),
        (
            {"db__fetch__interval__max": "60", "db__fetch__interval__default": "600"},
            "another meaning: db.fetch.interval.default = 600 s is outside of db.fetch",
        ),
        ({"db__fetch__schedule__class": "${x}", "x": "y"}, "schedule.class = y (a class of your"),
        ({"db__fetch__retry__max": "0"}, "no counterpart: db.fetch.retry.max = 0 for schedule.ret"),
    ],
)
def test_what_has_no_counterpart_is_said(imported, values: dict[str, str], note: str) -> None:
    """The note has name and value, and the file is usable all the same."""
    _, found = imported(xml(**values))

    assert [one for one in found.notes if note in one], found.notes


def test_a_mail_address_is_a_contact_too(imported) -> None:
    """Where there is no page about the crawler."""
    config, _ = imported(xml(http__agent__name="bot", http__agent__email="crawler@example.org"))

    assert config.fetch.contact == "crawler@example.org"
    assert config.fetch.user_agent == "bot (+crawler@example.org)"


def test_rates_and_bounds_that_only_exact_mode_takes_are_left_out(imported) -> None:
    """A rate of 2, and a least interval above the greatest."""
    _, found = imported(
        xml(
            db__fetch__schedule__class=PACKAGE + "AdaptiveFetchSchedule",
            db__fetch__schedule__adaptive__dec_rate="2",
            db__fetch__schedule__adaptive__min_interval="1000",
            db__fetch__schedule__adaptive__max_interval="10",
        )
    )

    notes = "\n".join(found.notes)
    assert "dec_rate = 2.0 for schedule.dec_rate: allowed is a number, above 0" in notes
    assert "min_interval = 1000 s is above db.fetch.schedule.adaptive.max_interval = 10 s" in notes
    assert "dec_rate" not in found.toml
    assert "min_interval =" not in found.toml


def test_the_greatest_interval_is_that_of_the_forced_refetch(imported) -> None:
    """Nutch fetches by force beyond db.fetch.interval.max; here the smaller one is the bound."""
    config, found = imported(
        xml(db__fetch__schedule__class=PACKAGE + "AdaptiveFetchSchedule") + "<!-- xi -->"
    )

    assert config.schedule.max_interval == 90 * 86_400
    assert "max_interval = 31536000 is above db.fetch.interval.max = 7776000" in found.notes[0]


def test_a_short_time_limit_holds_for_connecting_too(imported) -> None:
    """The limit of the whole request is never below that of its part."""
    config, found = imported(xml(http__timeout="4000"))

    assert (config.fetch.timeout, config.fetch.connect_timeout) == (4, 4)
    assert found.notes == ()


def test_a_section_that_contradicts_itself_is_left_out(imported, monkeypatch) -> None:
    """What no rule foresaw is told, and the file is usable all the same."""
    monkeypatch.setattr(FetchSettings, "_problem", lambda self: "it is odd" * (self.timeout == 7))

    _, found = imported(xml(http__timeout="7000"))

    assert found.notes == ("left out: the settings of [fetch]: [fetch]: it is odd",)
    assert "[fetch]" not in found.toml


def test_included_files_are_said_to_be_unread(imported) -> None:
    """The user may import them by themselves."""
    _, found = imported("<configuration xmlns:xi='x'><xi:include href='a.xml'/></configuration>")

    assert found.notes == ("not read: files that are included by xi:include",)


STORM = """\
config:
  scheduler.class: "org.apache.stormcrawler.persistence.AdaptiveScheduler"
  fetchInterval.default: 720
  fetchInterval.fetch.error: 60
  fetchInterval.error: 10080
  scheduler.adaptive.fetchInterval.min: 30
  scheduler.adaptive.fetchInterval.max: 20160
  scheduler.adaptive.fetchInterval.rate.incr: 0.1
  scheduler.adaptive.fetchInterval.rate.decr: 0.3
  max.fetch.errors: 4
  http.agent.name: "examplebot"
  http.agent.version: 2
  http.agent.email: "crawler@example.org"
  http.timeout: 15000
  http.skip.robots: true
  fetcher.server.delay: 2.5
"""


def test_the_settings_of_stormcrawler_have_a_place(imported) -> None:
    """Minutes become durations, and the names are ours."""
    config, found = imported(STORM, "conf.yaml")

    schedule = config.schedule
    assert (schedule.name, schedule.interval) == ("stormcrawler-adaptive", 12 * 3600)
    assert (schedule.min_interval, schedule.max_interval) == (1800, 14 * 86_400)
    assert (schedule.inc_rate, schedule.dec_rate, schedule.retry_max) == (0.1, 0.3, 4)
    assert (schedule.retry_interval, schedule.error_interval) == (3600, 7 * 86_400)
    assert config.fetch.user_agent == "examplebot/2 (+crawler@example.org)"
    assert (config.fetch.timeout, config.politeness.min_delay) == (15, 2.5)
    assert config.politeness.robots_txt is False
    assert found.notes == ()


def test_a_file_that_sets_nothing_is_stormcrawler_as_it_is_shipped(imported) -> None:
    """The default scheduler has no bounds, so ours leave it room; an error is for ever."""
    config, found = imported("topology.workers: 1\n", "conf.yaml")

    schedule = config.schedule
    assert (schedule.name, schedule.interval) == ("stormcrawler-default", 86_400)
    assert (schedule.retry_interval, schedule.error_interval) == (7200, 0)
    assert (schedule.inc_rate, schedule.dec_rate) == (None, None)
    assert found.notes == ("no counterpart: topology.workers = 1",)


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("fetchInterval.isFeed=true: 10", "fetchInterval.isFeed=true = 10; a [[rule]] by URL or"),
        ("fetchInterval.default: -1", "fetchInterval.default = -1 (-1 is never again)"),
        ("fetchInterval.default: '60'", "fetchInterval.default = 60 (not a number)"),
        ("fetchInterval.default: true", "fetchInterval.default = True (not a number)"),
        ("scheduler.class: com.example.Mine", "com.example.Mine (a class of your own)"),
        ("metadata.persist: [a, b]", "metadata.persist = a list"),
        ("es.status: {a: 1}", "es.status = a table"),
        ("fetcher.server.delay: .nan", "fetcher.server.delay = nan (not a number)"),
        ("http.skip.robots: 1", "http.skip.robots = 1 (neither true nor false)"),
        ("fetchInterval.error: x", "fetchInterval.error = x (not a number)"),
        ("http.agent.url: 7", "http.agent.url = 7 (not a text)"),
        ("http.agent.name: bot", "http.agent.name = bot without http.agent.url"),
        (f"long: {'x' * 99}", f"long = {'x' * 59}…"),
    ],
)
def test_what_stormcrawler_alone_has_is_said(imported, line: str, note: str) -> None:
    """The note has name and value, and the file is usable all the same."""
    _, found = imported(f"config:\n  {line}\n", "conf.yaml")

    assert [one for one in found.notes if note in one], found.notes


def test_a_wait_after_errors_that_is_bounded_here_is_said(imported) -> None:
    """The bounds hold for every wait, those of the original for content only."""
    _, found = imported(STORM.replace("error: 10080", "error: 44640"), "conf.yaml")

    (note,) = found.notes
    assert note.startswith("another meaning: scheduler.adaptive.fetchInterval.max bounds every")
    assert note.endswith("after an error, which were up to 44640 min")


def test_aliases_do_not_blow_up(imported) -> None:
    """A list of lists of lists is told as a list."""
    levels = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 30))

    _, found = imported(f"a0: &a0 [x]\n{levels}", "conf.yaml")

    assert "no counterpart: a29 = a list" in found.notes


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"<html/>", "its root is <html>"),
        ("\ufeff<html/>".encode(), "its root is <html>"),
        ("<html/>".encode("utf-16"), "its root is <html>"),
        (b"a: [", "not YAML"),
        (b"a: !!python/object/apply:os.system [ls]", "not YAML"),
        (b"\xff\xfe\xff", "not YAML"),
        (b"[" * 1_500, "nested too deeply"),
        (b"", "no settings"),
        (b"- a\n- b\n", "no settings"),
        (b"a: 2026-99-99\n", "not YAML"),
    ],
)
def test_a_file_that_is_neither_is_refused(imported, content: bytes, told: str) -> None:
    """The message says what is wrong and which files can be read."""
    with pytest.raises(ConfigError, match=rf"{told}.*; give a nutch-site\.xml of Nutch or a"):
        imported(content, "conf.yaml")


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """Missing, a directory, too large."""
    large = tmp_path / "large.yaml"
    with large.open("wb") as stream:
        stream.truncate(1_000_001)

    with pytest.raises(ConfigError, match=r"none\.yaml: cannot be read: No such file"):
        import_file(tmp_path / "none.yaml")
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        import_file(tmp_path)
    with pytest.raises(ConfigError, match="larger than 1 MB"):
        import_file(large)
