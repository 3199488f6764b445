"""Every setting with its default, unit and meaning: the one place that knows them.

The settings file, the command line, the template of ``recrawl init`` and the documentation are
all made from these fields.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from recrawl.config.section import Section, setting
from recrawl.config.values import Kind
from recrawl.core.budget import parse_budget
from recrawl.core.variant import VARIANTS
from recrawl.errors import InputError

__all__ = [
    "SECTIONS",
    "CrawlSettings",
    "ExtractSettings",
    "FetchSettings",
    "PolitenessSettings",
    "ScheduleSettings",
    "SignatureSettings",
    "StoreSettings",
]

_HTTP_URL = re.compile(r"https?://[^\s/?#@]+(?:[/?#]\S*)?")
_DAY = 86_400.0
_LEAST_ETA = 0.001
_MAIL = re.compile(r"[^\s@<>()]+@[^\s@<>()]+\.[^\s@<>()]+")


def _contact_problem(text: str) -> str:
    if text and not (_HTTP_URL.fullmatch(text) or _MAIL.fullmatch(text)):
        return (
            "allowed is an http or https URL or a mail address, so that the owner of a site can"
            " find out who is crawling, such as https://www.example.org/crawler"
        )
    return _header_problem(text)


def _user_agent_problem(text: str) -> str:
    if text and not (_HTTP_URL.search(text) or _MAIL.search(text)):
        return (
            "a User-Agent must contain an http or https URL or a mail address, such as"
            ' "examplebot/1.0 (+https://www.example.org/crawler)"'
        )
    return _header_problem(text)


def _header_problem(text: str) -> str:
    if not text.isascii() or not text.isprintable() or text != text.strip():
        return "it goes into a header: allowed are ASCII letters, digits, signs and inner blanks"
    return ""


def _budget_problem(text: str) -> str:
    try:
        if text:
            parse_budget(text)
    except InputError as error:
        return error.message
    return ""


def _eta_problem(eta: float) -> str:
    return "" if eta == 0 or eta >= _LEAST_ETA else f"allowed is 0, or {_LEAST_ETA:g} to 1"


def _store_problem(url: str) -> str:
    if re.match(r"[a-z][a-z0-9+]*:", url):
        return ""
    return (
        "allowed is a store URL such as sqlite:///recrawl.sqlite (relative),"
        " sqlite:////srv/recrawl.sqlite (absolute) or postgresql://host/database"
    )


@dataclass(frozen=True)
class StoreSettings(Section):
    """Where pages, visits and changes are kept."""

    title: ClassVar[str] = "store"

    url: str = setting(
        "sqlite:///recrawl.sqlite",
        Kind.TEXT,
        "Where the pages are kept; a relative path starts at the working directory.",
        problem=_store_problem,
        is_secret=True,
    )
    keep_visits: int = setting(
        20, Kind.INTEGER, "How many visits of each page are kept.", least=1, most=10_000
    )


@dataclass(frozen=True)
class FetchSettings(Section):
    """How one request is made, and what may be fetched."""

    title: ClassVar[str] = "fetch"

    contact: str = setting(
        "",
        Kind.TEXT,
        "URL or mail address in the User-Agent; needed for every address outside loopback.",
        problem=_contact_problem,
    )
    user_agent: str = setting(
        "",
        Kind.TEXT,
        "Replaces the whole User-Agent; must then contain a URL or mail address itself.",
        problem=_user_agent_problem,
    )
    timeout: float = setting(
        30.0,
        Kind.DURATION,
        "Longest time for one request with its body.",
        unit="s",
        above=0,
        most=_DAY,
    )
    connect_timeout: float = setting(
        10.0, Kind.DURATION, "Longest time to reach the server.", unit="s", above=0, most=_DAY
    )
    max_size: int = setting(
        5_000_000,
        Kind.SIZE,
        "Largest body, also after decompression; a larger page is not read.",
        unit="B",
        least=1,
        most=1_000_000_000,
    )
    max_redirects: int = setting(
        5, Kind.INTEGER, "How many redirects in a row are followed.", least=1, most=20
    )
    allow_networks: tuple[str, ...] = setting(
        (),
        Kind.NETWORKS,
        "Networks that may be fetched although private or loopback, such as 127.0.0.0/8.",
    )
    redirect_targets: str = setting(
        "same-host",
        Kind.CHOICE,
        "Which targets of redirects become pages of their own.",
        choices=("none", "same-host", "any"),
    )
    proxy_from_environment: bool = setting(
        True, Kind.BOOLEAN, "Whether HTTP_PROXY, HTTPS_PROXY and NO_PROXY are used."
    )

    def _problem(self) -> str:
        return self._order_problem("connect_timeout", "timeout")


@dataclass(frozen=True)
class PolitenessSettings(Section):
    """How hosts are spared."""

    title: ClassVar[str] = "politeness"

    min_delay: float = setting(
        1.0,
        Kind.DURATION,
        "Least time between two requests to one host; a longer Crawl-delay goes first.",
        unit="s",
    )
    requests_per_host: int = setting(
        1, Kind.INTEGER, "How many requests to one host run at once.", least=1, most=64
    )
    robots_txt: bool = setting(True, Kind.BOOLEAN, "Whether robots.txt is obeyed.")
    robots_max_age: float = setting(
        86_400.0,
        Kind.DURATION,
        "How long a robots.txt is used before it is fetched again.",
        unit="s",
        above=0,
        most=_DAY,
    )
    backoff: float = setting(
        60.0,
        Kind.DURATION,
        "Wait after a host's first failure; doubles with each further one.",
        unit="s",
        above=0,
    )
    max_backoff: float = setting(
        86_400.0, Kind.DURATION, "Longest wait after failures of a host.", unit="s", above=0
    )

    def _problem(self) -> str:
        return self._order_problem("backoff", "max_backoff")


@dataclass(frozen=True)
class CrawlSettings(Section):
    """How much is done at once."""

    title: ClassVar[str] = "crawl"

    hosts: int = setting(
        64, Kind.INTEGER, "How many hosts are asked at once.", least=1, most=10_000
    )
    batch: int = setting(
        256,
        Kind.INTEGER,
        "How many due pages are taken from the store at once.",
        least=1,
        most=100_000,
    )
    lease: float = setting(
        600.0,
        Kind.DURATION,
        "How long a page is held; after a crash it comes back when this has passed.",
        unit="s",
        above=0,
    )


@dataclass(frozen=True)
class ScheduleSettings(Section):
    """When pages are fetched again."""

    title: ClassVar[str] = "schedule"

    name: str = setting(
        "optimal",
        Kind.CHOICE,
        "How the next fetch time is found.",
        choices=(
            "optimal",
            "fixed",
            "nutch-adaptive",
            "nutch-mime",
            "stormcrawler-default",
            "stormcrawler-adaptive",
            "aronsson",
        ),
    )
    budget: str = setting(
        "",
        Kind.TEXT,
        "optimal: fetches of all pages or of each page in a time, such as 50000/day or"
        " 0.1/page/day; empty, and freshness and max_age decide.",
        problem=_budget_problem,
    )
    freshness: float = setting(
        0.9,
        Kind.NUMBER,
        "optimal, without a budget: mean share of fresh pages that is wanted; 0 for any.",
        least=0,
        most=0.999,
    )
    max_age: float = setting(
        0.0,
        Kind.DURATION,
        "optimal, without a budget: how long a change may be unseen on average over all pages; 0"
        " for any.",
        unit="s",
    )
    eta: float = setting(
        0.3,
        Kind.NUMBER,
        "optimal: weight of the time that pages are stale against their freshness; more than 0"
        " lets no page wait for ever.",
        least=0,
        most=1,
        problem=_eta_problem,
    )
    interval: float = setting(
        86_400.0, Kind.DURATION, "First fetch interval of a new page.", unit="s", above=0
    )
    min_interval: float = setting(
        60.0, Kind.DURATION, "Least time between two fetches of a page.", unit="s", above=0
    )
    max_interval: float = setting(
        90 * 86_400.0,
        Kind.DURATION,
        "Longest time between two fetches of a page.",
        unit="s",
        above=0,
    )
    jitter: float = setting(
        0.05,
        Kind.NUMBER,
        "Largest share of the wait by which the next fetch is moved, so that pages spread.",
        least=0,
        most=0.5,
    )
    inc_rate: float | None = setting(
        None,
        Kind.NUMBER,
        "Growth of the interval after an unchanged visit; left out, the schedule's own.",
        above=0,
        most=1,
        exact_is_free=True,
    )
    dec_rate: float | None = setting(
        None,
        Kind.NUMBER,
        "Shrinking of the interval after a change; left out, the schedule's own.",
        above=0,
        most=0.99,
        exact_is_free=True,
    )
    sync_delta: bool = setting(
        True, Kind.BOOLEAN, "Whether the next fetch moves towards the time of the last change."
    )
    sync_delta_rate: float = setting(
        0.3,
        Kind.NUMBER,
        "Share of the time since the change to move by.",
        above=0,
        most=1,
        exact_is_free=True,
    )
    host_file: str = setting(
        "",
        Kind.TEXT,
        "nutch-adaptive, nutch-mime: file of least and greatest intervals by host, as Nutch's"
        " adaptive-host-specific-intervals.txt.",
    )
    mime_file: str = setting(
        "",
        Kind.TEXT,
        "nutch-mime: file of rates by MIME type, as Nutch's adaptive-mimetypes.txt.",
    )
    constant: float = setting(
        1800.0, Kind.DURATION, "aronsson: what is added to each interval.", unit="s", least=0
    )
    variant: str = setting(
        "code",
        Kind.CHOICE,
        "fixed, nutch-adaptive, nutch-mime: whether the original's code or its description is"
        " followed where they differ.",
        choices=VARIANTS,
    )
    retry_interval: float = setting(
        86_400.0,
        Kind.DURATION,
        "Wait after a failure of a page that may pass.",
        unit="s",
        above=0,
    )
    error_interval: float = setting(
        31 * _DAY,
        Kind.DURATION,
        "stormcrawler-default, stormcrawler-adaptive: wait after a failure that does not pass; 0 is"
        " never again.",
        unit="s",
        least=0,
    )
    retry_max: int = setting(
        3,
        Kind.INTEGER,
        "Failures in a row after which a page counts as gone.",
        least=1,
        most=127,
    )
    exact: bool = setting(
        False,
        Kind.BOOLEAN,
        "Whether the schedule does exactly what the original does, its faults included.",
    )

    def _problem(self) -> str:
        if self.name == "optimal" and self.exact:
            return "optimal has no original to be exact about; name another, or leave out exact"
        if self.name == "optimal" and not (self.budget or self.freshness or self.max_age):
            return "optimal needs a budget, a freshness or a max_age to aim at; give one"
        return "" if self.exact else self._contradiction()

    def _contradiction(self) -> str:
        return self._order_problem("min_interval", "max_interval") or self._order_problem(
            "min_interval", "interval", "max_interval"
        )


@dataclass(frozen=True)
class SignatureSettings(Section):
    """What counts as the same content."""

    title: ClassVar[str] = "signature"

    name: str = setting(
        "text-md5",
        Kind.CHOICE,
        "How content is compared: every byte, the text, the profile of its words, or its links.",
        choices=("md5", "text-md5", "text-profile", "links"),
        may_be_list=True,
    )
    min_token_len: int = setting(
        2, Kind.INTEGER, "text-profile: shorter words are left out.", least=0, most=1000
    )
    quant_rate: float = setting(
        0.01,
        Kind.NUMBER,
        "text-profile: share of the most frequent word's count that counts are rounded to.",
        above=0,
        most=1,
    )
    sec_sort_lex: bool = setting(
        True, Kind.BOOLEAN, "text-profile: whether words of equal count are sorted."
    )
    variant: str = setting(
        "code",
        Kind.CHOICE,
        "text-profile: whether the original's code or its description is followed where they"
        " differ.",
        choices=VARIANTS,
    )


@dataclass(frozen=True)
class ExtractSettings(Section):
    """How text is taken out of documents."""

    title: ClassVar[str] = "extract"

    time_limit: float = setting(
        10.0, Kind.DURATION, "Longest time for one document.", unit="s", above=0
    )
    workers: int = setting(
        0, Kind.INTEGER, "Processes that extract text; 0 is one a core.", least=0, most=1024
    )


#: The sections of a settings file, in the order of the template.
SECTIONS: tuple[type[Section], ...] = (
    StoreSettings,
    FetchSettings,
    PolitenessSettings,
    CrawlSettings,
    ScheduleSettings,
    SignatureSettings,
    ExtractSettings,
)
