from __future__ import annotations

import pytest

from recrawl.errors import ConfigError
from recrawl.fetch.agent import has_contact, user_agent_for


@pytest.mark.parametrize(
    ("contact", "own", "expected"),
    [
        (None, None, "recrawl/1.0"),
        ("https://crawl.example.org/", None, "recrawl/1.0 (+https://crawl.example.org/)"),
        ("crawl@example.org", None, "recrawl/1.0 (+crawl@example.org)"),
        ("mailto:crawl@example.org", "bot/2", "bot/2 (+mailto:crawl@example.org)"),
        (
            "https://crawl.example.org/",
            "bot (+http://bot.example.org)",
            "bot (+http://bot.example.org)",
        ),
    ],
)
def test_a_user_agent_carries_its_contact(
    contact: str | None, own: str | None, expected: str
) -> None:
    """The contact is added to our own and to the user's, unless that names one itself."""
    assert user_agent_for(contact, version="1.0", user_agent=own) == expected


@pytest.mark.parametrize(
    "contact", ["", "me", "https://", "https://x", "a@b", "https://é.example", "https://a.b c"]
)
def test_what_is_no_contact_is_refused(contact: str) -> None:
    """The message names the value and shows what a contact looks like."""
    with pytest.raises(ConfigError, match=r"https://crawl\.example\.org/"):
        user_agent_for(contact, version="1.0")


@pytest.mark.parametrize("agent", ["bot\r\nX: y", "böt"])
def test_what_cannot_stand_in_a_header_is_refused(agent: str) -> None:
    """A User-Agent with a line end or a letter beyond ASCII is named."""
    with pytest.raises(ConfigError, match="printable ASCII"):
        user_agent_for(None, version="1.0", user_agent=agent)


def test_a_contact_is_found_anywhere_in_a_user_agent() -> None:
    """Web and mail addresses count, a bare product does not."""
    assert has_contact("Mozilla/5.0 (compatible; bot; +https://bot.example.org/info)")
    assert has_contact("bot (bot@example.org)")
    assert not has_contact("recrawl/1.0")
