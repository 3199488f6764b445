"""Settings: files, environment, overrides, template."""

from __future__ import annotations

import re
import tomllib
from dataclasses import FrozenInstanceError, fields

import pytest

from recrawl.config import (
    Config,
    CrawlSettings,
    FetchSettings,
    Override,
    PolitenessSettings,
    Rule,
    ScheduleSettings,
    StoreSettings,
    default_toml,
    find_file,
    load,
    parse_override,
    settings,
)
from recrawl.errors import ConfigError
from recrawl.schedules.registry import SCHEDULES
from recrawl.signatures.registry import SIGNATURES


@pytest.fixture(autouse=True)
def _no_settings_around(monkeypatch, tmp_path):
    """Keep the settings of whoever runs the tests out of them."""
    monkeypatch.delenv("RECRAWL_CONFIG", raising=False)
    monkeypatch.delenv("RECRAWL_STORE", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def refused(tmp_path):
    """Return the function that loads a text and gives the error's message, without the path."""

    def message(text: str | bytes) -> str:
        path = tmp_path / "recrawl.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(ConfigError) as caught:
            load(path)
        return str(caught.value).replace(str(tmp_path) + "/", "")

    return message


@pytest.fixture
def loaded(tmp_path):
    """Return the function that loads a text."""

    def config(text: str) -> Config:
        path = tmp_path / "recrawl.toml"
        path.write_text(text)
        return load(path)

    return config


def test_without_a_file_the_defaults_hold():
    """Nothing given is the defaults."""
    config = load(None)

    assert config == Config()
    assert config.schedule.interval == 86_400.0
    assert config.fetch.max_size == 5_000_000
    assert config.rules == ()


def test_settings_are_read_in_their_units(loaded):
    """Durations become seconds, sizes bytes; what is left out keeps its default."""
    config = loaded(
        """
        [fetch]
        timeout = "1m"
        max_size = "500KiB"
        allow_networks = ["127.0.0.0/8", "fd00::/8"]
        [politeness]
        min_delay = 2
        robots_txt = false
        [schedule]
        name = "fixed"
        jitter = 0
        retry_max = 5
        """
    )

    assert config.fetch == FetchSettings(
        timeout=60.0, max_size=512_000, allow_networks=("127.0.0.0/8", "fd00::/8")
    )
    assert config.politeness == PolitenessSettings(min_delay=2.0, robots_txt=False)
    assert config.schedule == ScheduleSettings(name="fixed", jitter=0.0, retry_max=5)
    assert isinstance(config.schedule.jitter, float)


def test_rules_are_read_in_order(loaded):
    """Each [[rule]] is one rule."""
    config = loaded(
        """
        [[rule]]
        host = "WWW.Example.org"
        interval = "1h"
        [[rule]]
        url = "*.pdf"
        importance = 2
        signature = "md5"
        """
    )

    assert config.rules == (
        Rule(host="WWW.Example.org", interval=3600.0),
        Rule(url="*.pdf", importance=2.0, signature="md5"),
    )
    resolved = config.rule_set().resolve("https://www.example.org/a.pdf", "www.example.org")
    assert (resolved.interval, resolved.signature) == (3600.0, "md5")


def test_byte_order_mark_is_dropped(loaded):
    """A file saved with a byte order mark is read."""
    assert loaded("\ufeff[crawl]\nhosts = 3\n").crawl == CrawlSettings(hosts=3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[schedul]\n", "recrawl.toml, line 1: unknown section [schedul]; did you mean schedule?"),
        ("\n[x]\n", "recrawl.toml, line 2: unknown section [x]; Known are store, fetch,"),
        (
            "[crawl]\nhosts = 3\nbacth = 4\n",
            "recrawl.toml, line 3: unknown setting crawl.bacth; did you mean batch?",
        ),
        ("[fetch]\nx = 1", "unknown setting fetch.x; Known are contact, user_agent, timeout"),
        ("[politeness]\nmin-delay = 1", "did you mean min_delay?"),
        ("[[rule]]\nhots = 'a.example'", "line 2: unknown setting rule.hots; did you mean host?"),
        ("hosts = 3\n", "line 1: hosts stands outside of a section; move it under [crawl]"),
        ("colour = 3\n", "colour stands outside of a section; known sections: store, fetch"),
        ("fetch = 3\n", "line 1: fetch is a section; write [fetch]"),
        ("[rule]\nhost = 'a'\n", "line 1: write each rule under its own [[rule]]"),
        ("rule = [1]\n", "line 1: write each rule under its own [[rule]]"),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(refused, text, message):
    """A slip in a name never passes silently; the error knows where and what was meant."""
    assert message in refused(text)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("schedule.jitter = 0.6", "schedule.jitter = 0.6 is not usable: allowed is a number, from"),
        ("schedule.jitter = 0.6", "from 0 to 0.5; correct it or leave it out (default 0.05)"),
        ("schedule.jitter = -0.1", "from 0 to 0.5"),
        ("schedule.jitter = nan", "from 0 to 0.5"),
        ("schedule.jitter = true", "it is true or false; allowed is a number"),
        ("schedule.inc_rate = 0", "a number, above 0 and up to 1"),
        ("schedule.dec_rate = 1", "a number, above 0 and up to 0.99"),
        ("schedule.sync_delta_rate = 0.0", "a number, above 0 and up to 1"),
        ("fetch.max_redirects = 0", "a whole number, from 1 to 20"),
        ("fetch.timeout = '25h'", "above 0s and up to 1d"),
        ("politeness.robots_max_age = '2d'", "above 0s and up to 1d"),
        ("signature.quant_rate = 0", "a number, above 0 and up to 1"),
        ("schedule.retry_max = 0", "a whole number, from 1 to 127"),
        ("schedule.retry_max = 128", "a whole number, from 1 to 127"),
        ("schedule.retry_max = 3.0", "it is a number; allowed is a whole number"),
        (f"crawl.hosts = {'9' * 30}", "does not fit in 64 bits"),
        ("schedule.name = 'nutch'", 'allowed is "optimal" or "fixed" or "nutch-adaptive"'),
        ("schedule.name = 3", "it is a whole number; allowed is"),
        ("schedule.exact = 'yes'", "it is text; allowed is true or false"),
        ("fetch.redirect_targets = 'all'", '"none" or "same-host" or "any"'),
        ("fetch.timeout = '5x'", "fetch.timeout = '5x' is not usable: not a duration: '5x'; write"),
        ("fetch.timeout = 0", "a duration such as 90s, 12h, 30d or P1D, above 0s"),
        ("fetch.timeout = -1", "cannot be negative"),
        ("fetch.timeout = 2024-01-01", "it is a date or time; allowed is a duration"),
        ("fetch.timeout = ['1s']", "it is a list; allowed is a duration"),
        ("fetch.max_size = '5M'", "not a size: '5M'; write"),
        ("fetch.max_size = 0", 'from 1B to 1GB; correct it or leave it out (default "5MB")'),
        ("fetch.allow_networks = '10.0.0.0/8'", "it is text; allowed is a list of networks"),
        ("fetch.allow_networks = [10]", "10 is a whole number; a network is text"),
        ("fetch.allow_networks = ['10.0.0.0/33']", "'10.0.0.0/33' is not a network; write"),
        ("fetch.allow_networks = ['10.1.0.0/8']", "did you mean '10.0.0.0/8'?"),
        ("fetch.contact = 'me'", "fetch.contact = 'me' is not usable: allowed is an http or https"),
        ("fetch.contact = 'ftp://a.example'", "such as https://www.example.org/crawler"),
        ('fetch.contact = "https://a.example/\\u00e4"', "it goes into a header"),
        ("fetch.user_agent = 'bot/1.0'", "must contain an http or https URL or a mail address"),
        ('fetch.user_agent = "b https://a.example/\\n"', "it goes into a header"),
        ("store.url = 'pages.sqlite'", "allowed is a store URL such as sqlite:///"),
        ("store.url = 3", "it is a whole number; allowed is text in quotes"),
        ("store.keep_visits = 0", "a whole number, from 1 to 10000"),
    ],
)
def test_unusable_values_are_refused(refused, setting, message):
    """The error names place, setting and value, and says what is allowed."""
    place, _, value = setting.partition(" = ")
    section, _, name = place.partition(".")

    found = refused(f"# settings\n[{section}]\n{name} = {value}\n")

    assert found.startswith(f"recrawl.toml, line 3: {place} = ")
    assert message in found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[schedule]\nmin_interval = '2d'\nmax_interval = '1d'\n",
            '[schedule]: min_interval = "2d" is larger than max_interval = "1d"; lower',
        ),
        ("[schedule]\nmin_interval = '2d'\n", 'min_interval = "2d" is larger than interval'),
        ("[schedule]\ninterval = '91d'\n", 'interval = "91d" is larger than max_interval = "90d"'),
        ("[fetch]\ntimeout = '5s'\n", 'connect_timeout = "10s" is larger than timeout = "5s"'),
        ("[politeness]\nmax_backoff = 1\n", 'backoff = "1m" is larger than max_backoff = "1s"'),
        ("\n[[rule]]\ninterval = 3\n", "line 2: [rule]: it matches no page; give it url, host"),
        (
            "[[rule]]\nhost = 'a'\nimportance = 1\n[[rule]]\nhost = 'b'\n",
            "line 4: [rule]: it sets nothing",
        ),
        (
            "[[rule]]\nhost = 'a'\nimportance = 1\n[[rule]]\nhost = 'a b'\n",
            "line 5: rule.host = 'a b' is not usable: not a host: 'a b'",
        ),
        ("[[rule]]\nurl = 'a.example/*'\n", "starts with http://, https:// or *"),
        ("[[rule]]\nhost = 'a'\nimportance = -1\n", "a number, from 0 to 1000000"),
        (
            "[[rule]]\nhost = 'a'\nmin_interval = '100d'\n",
            'rule 1: min_interval = "100d" is larger than max_interval = "90d"; give this rule',
        ),
        ("[[rule]]\nhost = 'a'\nmax_interval = '9s'\n", "give this rule a fitting min_interval"),
        ("[[rule]]\nhost = 'a'\ninterval = '9s'\n", "give this rule a fitting min_interval too"),
    ],
)
def test_contradictions_are_refused(refused, text, message):
    """Settings that do not go together stop the start."""
    assert message in refused(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[crawl]\nhosts = \n", "recrawl.toml: not valid TOML: Invalid value (at line 2,"),
        ("[crawl\n", "not valid TOML"),
        ("[crawl]\nhosts = 1\nhosts = 2\n", "not valid TOML"),
        (f"[crawl]\nhosts = {'9' * 5000}\n", "not valid TOML"),
        ("x = " + "[" * 100_000, "not valid TOML"),
        (b"[store]\nurl = 'sqlite:///\xe4'\n", "recrawl.toml: not UTF-8 text (byte 26)"),
    ],
    ids=["value", "header", "twice", "digits", "nesting", "latin-1"],
)
def test_files_that_are_no_toml_are_refused(refused, text, message):
    """The error says where TOML or UTF-8 ends."""
    assert message in refused(text)


def test_missing_and_unreadable_files_are_refused(tmp_path):
    """A file that is named must be there and be a file."""
    with pytest.raises(ConfigError, match=r"no such settings file; `recrawl init` writes one"):
        load(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match=r"cannot be read: Is a directory"):
        load(str(tmp_path))


def test_hexadecimal_numbers_without_end_are_refused(refused):
    """A number that Python cannot write out again gives the same error."""
    assert "crawl.hosts = a whole number is not usable" in refused(
        f"[crawl]\nhosts = 0x{'f' * 5000}\n"
    )


@pytest.mark.parametrize(
    "text",
    ["crawl.hosts = 0\n", "crawl = {hosts = 0}\n", "['crawl']\nhosts = 0\n"],
)
def test_unusual_spelling_loses_the_line_only(refused, text):
    """Where the line is not found, the rest of the message is the same."""
    assert re.match(r"recrawl\.toml(, line 1)?: crawl\.hosts = 0 is not usable", refused(text))


def test_store_url_never_shows_its_password(monkeypatch, refused):
    """Neither an error nor the printed settings repeat the password of a store."""
    monkeypatch.setenv("RECRAWL_STORE", "POSTGRES://user:secret@db/pages")
    with pytest.raises(ConfigError) as caught:
        load(None)

    config = Config(store=StoreSettings(url="postgresql://user:secret@db/pages"))

    assert "secret" not in str(caught.value)
    assert "secret" not in repr(config)


def test_later_sources_win(monkeypatch, tmp_path):
    """An override goes before the environment, that before the file."""
    path = tmp_path / "my.toml"
    path.write_text('[store]\nurl = "sqlite:///file.sqlite"\nkeep_visits = 3\n')

    from_file = load(path).store
    monkeypatch.setenv("RECRAWL_STORE", "sqlite:///environment.sqlite")
    from_environment = load(path).store
    overrides = ["store.url=sqlite:///a.sqlite", "store.url=sqlite:///b.sqlite"]
    from_override = load(path, overrides=overrides).store

    assert from_file == StoreSettings("sqlite:///file.sqlite", 3)
    assert from_environment == StoreSettings("sqlite:///environment.sqlite", 3)
    assert from_override == StoreSettings("sqlite:///b.sqlite", 3)


def test_bad_store_in_the_environment_is_named(monkeypatch):
    """The error says which variable is wrong."""
    monkeypatch.setenv("RECRAWL_STORE", "pages.sqlite")

    with pytest.raises(ConfigError, match=r"^RECRAWL_STORE: store\.url = 'pages\.sqlite' is not"):
        load(None)


def test_settings_file_is_found(monkeypatch, tmp_path):
    """The option goes before the environment, that before the working directory."""
    nothing = find_file()
    (tmp_path / "recrawl.toml").write_text("")
    by_directory = find_file()
    monkeypatch.setenv("RECRAWL_CONFIG", "other.toml")
    by_environment = find_file()
    by_option = find_file("option.toml")

    assert nothing is None
    assert [str(by_directory), str(by_environment)] == ["recrawl.toml", "other.toml"]
    assert str(by_option) == "option.toml"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("politeness.min_delay=2s", Override("politeness", "min_delay", 2.0)),
        ("politeness.min_delay=2", Override("politeness", "min_delay", 2.0)),
        (" crawl.hosts = 8 ", Override("crawl", "hosts", 8)),
        ("schedule.jitter=0.1", Override("schedule", "jitter", 0.1)),
        ("schedule.jitter=0", Override("schedule", "jitter", 0.0)),
        ("schedule.exact=TRUE", Override("schedule", "exact", True)),
        ("schedule.name=fixed", Override("schedule", "name", "fixed")),
        ("fetch.max_size=1MiB", Override("fetch", "max_size", 1_048_576)),
        ("fetch.contact=", Override("fetch", "contact", "")),
        ("fetch.contact=https://a.example/?a=b",
         Override("fetch", "contact", "https://a.example/?a=b")),
        ("fetch.allow_networks=127.0.0.0/8, ::1",
         Override("fetch", "allow_networks", ("127.0.0.0/8", "::1/128"))),
        ("fetch.allow_networks=", Override("fetch", "allow_networks", ())),
    ],
)  # fmt: skip
def test_overrides_need_no_quotes(text, expected):
    """The kind of the setting says how its text is read."""
    assert parse_override(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hosts", "has another form than section.name=VALUE"),
        ("hosts=3", "has another form than section.name=VALUE"),
        ("crawl.hots=3", "-s crawl.hots: unknown setting crawl.hots; did you mean hosts?"),
        ("crwal.hosts=3", "-s crwal.hosts: unknown section [crwal]; did you mean crawl?"),
        ("rule.host=a", "rules can be given in a settings file only"),
        ("crawl.hosts=many", "-s crawl.hosts: crawl.hosts = 'many' is not usable: it is text"),
        ("crawl.hosts=1.5", "allowed is a whole number, from 1 to 10000"),
        ("schedule.exact=1", "allowed is true or false"),
        ("schedule.jitter=inf", "from 0 to 0.5"),
        ("fetch.allow_networks=a,b", "'a' is not a network"),
    ],
)
def test_bad_overrides_are_refused(text, message):
    """The error repeats the option and says what is allowed."""
    with pytest.raises(ConfigError) as caught:
        parse_override(text)

    assert message in str(caught.value)


def test_overrides_are_checked_together():
    """Two overrides that contradict each other stop the start."""
    with pytest.raises(ConfigError, match="connect_timeout"):
        load(None, overrides=["fetch.timeout=5s"])


def test_settings_made_by_hand_are_checked():
    """A section refuses values in code as it refuses them in a file, and cannot be changed."""
    with pytest.raises(ConfigError, match=r"schedule\.jitter = 0\.9 is not usable"):
        ScheduleSettings(jitter=0.9)
    with pytest.raises(FrozenInstanceError):
        ScheduleSettings().jitter = 0.1  # type: ignore[misc]


def test_every_setting_is_described():
    """Documentation gets section, name, type, default, unit and help of each setting."""
    found = {(info.section, info.name): info for info in settings()}
    sections = [getattr(Config(), item.name) for item in fields(Config) if item.name != "rules"]
    expected = {(s.title, item.name) for s in sections for item in fields(s)}
    expected |= {("rule", item.name) for item in fields(Rule)}

    assert set(found) == expected
    assert all(info.help.endswith(".") for info in found.values())
    assert found["fetch", "timeout"] == (
        "fetch", "timeout", "duration", '"30s"', "s",
        "Longest time for one request with its body. Above 0s and up to 1d.",
    )  # fmt: skip
    assert found["rule", "interval"].default == ""


def test_exact_mode_takes_rates_of_the_original(tmp_path, refused):
    """Wherever exact mode is set; a rate from the command line goes before one that is refused."""
    path = tmp_path / "recrawl.toml"
    path.write_text("[schedule]\ninc_rate = 2\n")

    assert (
        load(path, overrides=["schedule.exact=true", "schedule.name=fixed"]).schedule.inc_rate == 2
    )
    assert load(path, overrides=["schedule.inc_rate=0.5"]).schedule.inc_rate == 0.5
    assert load(
        None, overrides=["schedule.dec_rate=3", "schedule.exact=true", "schedule.name=fixed"]
    ).schedule.exact
    with pytest.raises(ConfigError, match=r"schedule\.dec_rate = 3\.0 is not usable"):
        load(None, overrides=["schedule.dec_rate=3"])
    assert "line 3" in refused("[schedule]\nexact = false\ninc_rate = 2\n")


def test_template_says_the_defaults(tmp_path):
    """The template holds every setting; uncommented it means the same as an empty file."""
    template = default_toml()
    before_rules = template[: template.index("#[[rule]]")]
    opened = re.sub(r"^#(\w+ = )", r"\1", before_rules, flags=re.MULTILINE)
    path = tmp_path / "opened.toml"
    path.write_text(opened)

    names = [(info.section, info.name) for info in settings() if info.section != "rule"]

    assert tomllib.loads(template) == {section: {} for section, _ in names}
    assert [(s, n) for s, table in tomllib.loads(opened).items() for n in table] == names
    rates = ScheduleSettings(inc_rate=0.4, dec_rate=0.2)  # those of the schedule that is chosen
    assert load(path) == Config(schedule=rates)
    assert max(map(len, template.splitlines())) <= 100


def test_example_rule_of_the_template_is_usable(tmp_path):
    """The commented rule is right when it is uncommented, and shows each of its settings."""
    template = default_toml()
    rules = template[template.index("#[[rule]]") :]
    rule = re.sub(r"^#(\[\[|\w+ = )", r"\1", rules, flags=re.MULTILINE)
    path = tmp_path / "rule.toml"
    path.write_text(rule)

    (read,) = load(path).rules

    assert {item.name for item in fields(Rule) if getattr(read, item.name) is None} == set()


def test_choices_are_those_that_exist():
    """Each schedule and signature can be chosen, and no other."""
    choices = {(info.section, info.name): info.help for info in settings()}

    assert set(re.findall(r'"([^"]+)"', choices["schedule", "name"])) == set(SCHEDULES)
    assert set(re.findall(r'"([^"]+)"', choices["signature", "name"])) == set(SIGNATURES)


@pytest.mark.parametrize(
    ("written", "held"),
    [('"links"', "links"), ('["text-md5", "links"]', "text-md5+links"), ('["md5"]', "md5")],
)
def test_a_signature_may_be_a_list(tmp_path, written, held):
    """Several signatures are held as one name, and spelt as a list again."""
    path = tmp_path / "recrawl.toml"
    path.write_text(f"[signature]\nname = {written}\n")

    assert load(path).signature.name == held
    assert load(overrides=[f"signature.name={held}"]).signature.name == held


@pytest.mark.parametrize("written", ['["md5", "md5"]', '["md5", "sha"]', "[]", '["md5", 5]'])
def test_a_list_of_other_things_is_no_signature(tmp_path, written):
    """Unknown names, repeated ones and none at all are refused with what is allowed."""
    path = tmp_path / "recrawl.toml"
    path.write_text(f"[signature]\nname = {written}\n")

    with pytest.raises(ConfigError, match=r"signature\.name.*or a list of them"):
        load(path)
