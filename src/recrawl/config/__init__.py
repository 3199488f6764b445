"""Settings: what they are, and where they come from.

``settings`` knows every setting once; ``files`` reads settings files and the environment for
settings.
"""

from __future__ import annotations

from recrawl.config.files import Config, Override, find_file, load, parse_override
from recrawl.config.glob import Glob
from recrawl.config.rules import Resolved, Rule, RuleSet
from recrawl.config.section import SettingInfo
from recrawl.config.settings import (
    CrawlSettings,
    ExtractSettings,
    FetchSettings,
    PolitenessSettings,
    ScheduleSettings,
    SignatureSettings,
    StoreSettings,
)
from recrawl.config.template import default_toml, settings

__all__ = [
    "Config",
    "CrawlSettings",
    "ExtractSettings",
    "FetchSettings",
    "Glob",
    "Override",
    "PolitenessSettings",
    "Resolved",
    "Rule",
    "RuleSet",
    "ScheduleSettings",
    "SettingInfo",
    "SignatureSettings",
    "StoreSettings",
    "default_toml",
    "find_file",
    "load",
    "parse_override",
    "settings",
]
