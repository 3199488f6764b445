"""The only place that names concrete adapters: from settings to working parts."""

from __future__ import annotations

import importlib
import logging
import math
import os
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from recrawl import __version__
from recrawl.app.crawler import Crawler, CrawlLimits
from recrawl.app.plan import Plan
from recrawl.app.policy import PagePolicy, PolicyOf
from recrawl.app.targets import RedirectTargets
from recrawl.clocks import SystemClock
from recrawl.config import Config, Resolved
from recrawl.config.environment import proxy_environment
from recrawl.config.tables import ScheduleTables, read_tables
from recrawl.core.budget import parse_budget
from recrawl.core.document import Signature
from recrawl.core.interval import Bounds
from recrawl.core.timing import Schedule
from recrawl.core.update import UpdateRule
from recrawl.core.url import host_of, redact
from recrawl.errors import ConfigError, MissingExtra
from recrawl.schedules.optimal import Optimal
from recrawl.schedules.registry import schedule_class
from recrawl.signatures.layered import Layered
from recrawl.signatures.registry import signature_class
from recrawl.signatures.text_profile import TextProfile

if TYPE_CHECKING:
    from recrawl.app.report import Observer
    from recrawl.ports.clock import Clock
    from recrawl.ports.extractor import Extractor
    from recrawl.ports.fetcher import Fetcher
    from recrawl.ports.store import PageStore

__all__ = [
    "check_contact",
    "learned_plan",
    "make_extractor",
    "make_fetcher",
    "make_plan",
    "make_policies",
    "open_crawler",
    "open_store",
    "store_path",
    "store_url",
]

_LOG = logging.getLogger("recrawl.config")

_SQLITE = "sqlite:///"


def _load(module: str, name: str, *, extra: str | None = None) -> Any:
    """Return a name of an adapter's module, imported now; a missing extra names itself."""
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        if extra is None or (error.name or "").startswith("recrawl"):
            raise
        raise MissingExtra(
            f"this needs the optional part {extra!r}, of which {error.name} is missing: "
            f"pip install 'recrawl[{extra}]'",
            value=extra,
        ) from error


def open_store(config: Config, *, create: bool = False) -> PageStore:
    """Open the store that the settings name.

    Parameters
    ----------
    config : Config
        The settings.
    create : bool
        Whether a store that is not there is made.

    Raises
    ------
    ConfigError
        If the URL names no kind of store that there is, no store is there and none is to be
        made, or it may not be read and written.
    StoreError
        If the store cannot be opened.
    """
    path = store_path(config)
    try:
        is_there, is_directory = path.exists(), path.is_dir()
    except OSError as error:
        raise ConfigError(f"the store {path} cannot be reached: {error.strerror}") from error
    if is_directory:
        raise ConfigError(f"{path} is a directory, not a store; name a file in it", value=str(path))
    if not is_there and not create:
        raise ConfigError(
            f"there is no store at {path}; make one with `recrawl init`, or name another with "
            "--store",
            value=str(path),
        )
    if not is_there and not path.parent.is_dir():
        raise ConfigError(
            f"{path.parent} is not there; make that directory, or name another store with --store",
            value=str(path),
        )
    if is_there and not os.access(path, os.R_OK | os.W_OK):
        raise ConfigError(
            f"the store {path} may not be read and written; allow this user to, or name another "
            "with --store",
            value=str(path),
        )
    store_class = _load("recrawl.stores.sqlite.store", "SqliteStore")
    store: PageStore = store_class(path, config.store.keep_visits, create)
    return store


def store_url(path: Path) -> str:
    """Return the store URL of a file."""
    return _SQLITE + quote(str(path))


def store_path(config: Config) -> Path:
    """Return the file that the settings name as store.

    Raises
    ------
    ConfigError
        If the store's URL names no kind of store that there is, or no file.
    """
    url = config.store.url
    if not url.startswith(_SQLITE):
        raise ConfigError(
            f"store.url = {redact(url)!r} names no kind of store that there is; allowed is "
            f"{_SQLITE}path (relative) or {_SQLITE}/path (absolute)",
            value=redact(url),
        )
    path = Path(unquote(url.removeprefix(_SQLITE)))
    if not path.name or "\0" in path.name:
        raise ConfigError(f"store.url = {url!r} names no file; write {_SQLITE}recrawl.sqlite")
    return path


def make_policies(config: Config) -> PolicyOf:
    """Return what gives each page its policy; pages under the same rules share one object.

    Raises
    ------
    InputError
        If a schedule or a signature refuses its settings.
    ConfigError
        If a file of intervals by host or of rates by MIME type cannot be used.
    """
    if config.schedule.exact:
        for sentence in config.schedule.taken_as_is():
            _LOG.warning("taken_as_is by exact mode, as the original would: %s", sentence)
    rules = config.rule_set()
    tables = read_tables(config.schedule)
    made: dict[Resolved, PagePolicy] = {}

    def policy_of(url: str) -> PagePolicy:
        resolved = rules.resolve(url, host_of(url))
        if resolved not in made:
            made[resolved] = _policy(config, resolved, tables)
        return made[resolved]

    made[rules.default] = _policy(config, rules.default, tables)
    return policy_of


def _policy(config: Config, resolved: Resolved, tables: ScheduleTables) -> PagePolicy:
    return PagePolicy(
        schedule=_schedule(config, resolved, tables),
        # Exact mode takes a least interval above the greatest, and has no bounds.
        bounds=Bounds(
            resolved.min_interval,
            max(resolved.min_interval, resolved.max_interval),
            # Who comes early would only be asked what a fetch is worth, and be sent back.
            0.0 if resolved.schedule == Optimal.name else config.schedule.jitter,
        ),
        update=UpdateRule(
            retry_max=config.schedule.retry_max,
            exact=config.schedule.exact,
            interval_max=resolved.max_interval,
        ),
        signature=_signature(config, resolved.signature),
        interval=resolved.interval,
        fixed_interval=math.nan if resolved.fixed_interval is None else resolved.fixed_interval,
        importance=resolved.importance,
    )


def _schedule(config: Config, resolved: Resolved, tables: ScheduleTables) -> Schedule:
    """Return the schedule, with those settings that it has; what is None is left to it."""
    settings = config.schedule
    offered: dict[str, Any] = {
        "default_interval": resolved.interval,
        "interval_max": resolved.max_interval,
        "retry_interval": settings.retry_interval,
        "error_interval": math.inf if settings.error_interval == 0 else settings.error_interval,
        "exact": settings.exact,
        "inc_rate": settings.inc_rate,
        "dec_rate": settings.dec_rate,
        "min_interval": resolved.min_interval,
        "max_interval": resolved.max_interval,
        "sync_delta": settings.sync_delta,
        "sync_delta_rate": settings.sync_delta_rate,
        "constant": settings.constant,
        "variant": settings.variant,
        "hosts": tables.hosts,
        "mimes": tables.mimes,
        "eta": settings.eta,
        "freshness": 0.0 if settings.budget else settings.freshness,
        "max_age": 0.0 if settings.budget else settings.max_age,
    }
    kind = schedule_class(resolved.schedule)
    if kind is Optimal and settings.exact:
        raise ConfigError(
            f"{kind.name} has no original to be exact about; leave out schedule.exact"
        )
    names = {field.name for field in fields(kind)}
    return kind(**{n: value for n, value in offered.items() if n in names and value is not None})


def make_plan(config: Config, store: PageStore, policy_of: PolicyOf) -> Plan | None:
    """Return the plan of the learned schedule; None if no page has it."""
    named = {config.schedule.name, *(rule.schedule for rule in config.rules)}
    return learned_plan(config, store, policy_of) if Optimal.name in named else None


def learned_plan(config: Config, store: PageStore, policy_of: PolicyOf) -> Plan:
    """Return the plan that the learned schedule would have, whatever schedule the settings name."""
    rules = config.rule_set()
    resolved = replace(rules.default, schedule=Optimal.name)
    schedule = _schedule(config, resolved, read_tables(config.schedule))
    assert isinstance(schedule, Optimal)
    budget = parse_budget(config.schedule.budget) if config.schedule.budget else None
    return Plan(store, schedule, budget=budget, policy_of=policy_of)


def _signature(config: Config, name: str) -> Signature:
    if "+" in name:
        return Layered(tuple(_signature(config, part) for part in name.split("+")))
    kind = signature_class(name)
    if kind is TextProfile:
        settings = config.signature
        return TextProfile(
            settings.min_token_len, settings.quant_rate, settings.sec_sort_lex, settings.variant
        )
    return kind()


def check_contact(config: Config, store: PageStore, now: int) -> None:
    """Refuse to start where due pages lie outside loopback and nobody could ask who we are.

    Looks at the first thousand due pages; the fetcher refuses the others one by one.

    Raises
    ------
    ConfigError
        If no contact is set and one is needed.
    """
    if config.fetch.contact or config.fetch.user_agent:
        return
    is_loopback = _load("recrawl.fetch.address", "is_loopback")
    for page in store.due(now, limit=1000):
        host = host_of(page.url)
        if not is_loopback(host):
            raise ConfigError(
                f"fetch.contact is not set, and {host} is not on loopback: set it in recrawl.toml "
                "to a web page about your crawl or to your mail address, so that the owners of "
                "sites can reach you; or give -s fetch.contact=ADDRESS"
            )


def make_fetcher(
    config: Config, clock: Clock, store: PageStore, *, max_wait: float = 5.0
) -> Fetcher:
    """Return the fetcher.

    Parameters
    ----------
    config : Config
        The settings.
    clock : Clock
        Says what time it is.
    store : PageStore
        Keeps robots.txt files.
    max_wait : float
        Longest wait for a host inside a fetch: a page is held meanwhile. [s]
    """
    fetch, politeness = config.fetch, config.politeness
    user_agent_for = _load("recrawl.fetch.agent", "user_agent_for")
    proxies = _load("recrawl.fetch.proxy", "Proxies")
    fetcher: Fetcher = _load("recrawl.fetch.http", "HttpFetcher")(
        clock=clock,
        user_agent=user_agent_for(
            fetch.contact or None, version=__version__, user_agent=fetch.user_agent or None
        ),
        store=store,
        timeout=fetch.timeout,
        connect_timeout=fetch.connect_timeout,
        max_size=fetch.max_size,
        max_redirects=fetch.max_redirects,
        allow_networks=fetch.allow_networks,
        min_delay=politeness.min_delay,
        requests_per_host=politeness.requests_per_host,
        backoff=politeness.backoff,
        max_backoff=politeness.max_backoff,
        robots_txt=politeness.robots_txt,
        robots_max_age=politeness.robots_max_age,
        max_wait=max_wait,
        proxies=proxies.from_environment(proxy_environment())
        if fetch.proxy_from_environment
        else None,
    )
    return fetcher


def make_extractor(config: Config) -> Extractor:
    """Return the extractor with its worker processes."""
    extractor: Extractor = _load("recrawl.extract.pool", "ExtractPool")(
        n_workers=config.extract.workers or os.cpu_count() or 1,
        time_limit=config.extract.time_limit,
    )
    return extractor


@asynccontextmanager
async def open_crawler(
    config: Config,
    store: PageStore,
    *,
    clock: Clock | None = None,
    observer: Observer | None = None,
    pause: float = 0.2,
) -> AsyncIterator[Crawler]:
    """Give a crawler over a store; its connections and workers end with the context.

    ``pause`` is that of ``CrawlLimits``, for simulated clocks. [s]
    """
    clock = clock or SystemClock()
    limits = CrawlLimits(
        hosts=config.crawl.hosts,
        requests_per_host=config.politeness.requests_per_host,
        lease=config.crawl.lease,
        batch=config.crawl.batch,
        visit=config.fetch.timeout + config.extract.time_limit,
        pause=pause,
    )
    fetcher = make_fetcher(config, clock, store, max_wait=limits.hold)
    extractor = make_extractor(config)
    policy_of = make_policies(config)
    try:
        yield Crawler(
            store,
            fetcher,
            extractor,
            clock,
            policy_of=policy_of,
            owner=f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}",
            limits=limits,
            redirects=RedirectTargets(
                scope=config.fetch.redirect_targets, max_depth=max(config.fetch.max_redirects, 1)
            ),
            observer=observer,
            plan=make_plan(config, store, policy_of),
        )
    finally:
        await fetcher.close()
        await extractor.close()
