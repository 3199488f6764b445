"""Who we say we are: the User-Agent and its contact."""

from __future__ import annotations

import re

from recrawl.errors import ConfigError

__all__ = ["PRODUCT", "has_contact", "user_agent_for"]

#: Product token: what robots.txt calls us.
PRODUCT = "recrawl"

_CONTACT = re.compile(
    r"https?://[^\s/@]+\.[^\s@]+|(?:mailto:)?[^\s@/:()<>]+@[^\s@()<>]+\.[^\s@()<>]+"
)


def has_contact(user_agent: str) -> bool:
    """Say whether a User-Agent names a web or mail address to write to."""
    return _CONTACT.search(user_agent) is not None


def user_agent_for(contact: str | None, *, version: str, user_agent: str | None = None) -> str:
    """Return the User-Agent to send.

    Parameters
    ----------
    contact : str or None
        A web page about the crawl, or a mail address; None is enough for loopback only.
    version : str
        Version of recrawl.
    user_agent : str or None
        Taken in place of recrawl's own; the contact is added unless it names one itself.

    Raises
    ------
    ConfigError
        If the contact is no address, or one of the two cannot stand in a header.

    Examples
    --------
    >>> user_agent_for("https://crawl.example.org/", version="1.2")
    'recrawl/1.2 (+https://crawl.example.org/)'
    """
    agent = (user_agent or f"{PRODUCT}/{version}").strip()
    if not (agent.isascii() and agent.isprintable()):
        raise ConfigError(
            f"not a User-Agent: {agent!r}; write printable ASCII characters", value=agent
        )
    if contact is None:
        return agent
    contact = contact.strip()
    if not (contact.isascii() and _CONTACT.fullmatch(contact)):
        raise ConfigError(
            f"not a contact: {contact!r}; write the address of a web page that explains the "
            "crawl, as https://crawl.example.org/, or a mail address",
            value=contact,
        )
    return agent if has_contact(agent) else f"{agent} (+{contact})"
