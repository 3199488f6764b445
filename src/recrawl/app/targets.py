"""Pages that are found because another page redirects to them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from recrawl.app.pages import new_page
from recrawl.app.policy import PolicyOf
from recrawl.core.url import host_of
from recrawl.errors import UrlError
from recrawl.ports.store import PageRow

__all__ = ["RedirectTargets", "found_page"]


@dataclass(frozen=True, slots=True)
class RedirectTargets:
    """Which redirect targets become pages of their own.

    Parameters
    ----------
    scope : {"none", "same-host", "any"}
        ``same-host`` takes ``www.`` before a host for the same host.
    max_depth : int
        Redirects between the page that was added by hand and its farthest target.
    """

    scope: str = "same-host"
    max_depth: int = 5

    def admits(self, page: PageRow, target: str) -> bool:
        """Return whether ``target`` becomes a page because ``page`` redirects to it."""
        if self.scope == "none" or page.depth >= self.max_depth:
            return False
        if self.scope == "any":
            return True
        here, there = (host_of(url).removeprefix("www.") for url in (page.url, target))
        return here == there


def found_page(
    page: PageRow,
    target: str,
    *,
    fetched_at: int,
    policy_of: PolicyOf,
    redirects: RedirectTargets,
) -> PageRow | None:
    """Return the page that a redirect's target becomes; None if it becomes none.

    Parameters
    ----------
    page : PageRow
        The page that redirects, as it was leased.
    target : str
        Where to.
    fetched_at : int
        When that was seen. [ms]
    policy_of : callable
        Gives the target's policy.
    redirects : RedirectTargets
        Which targets become pages.

    Returns
    -------
    PageRow or None
        Due since the page that redirects was, so that a run over what is due takes it too.
    """
    try:
        if not redirects.admits(page, target):
            return None
        due_at = min(fetched_at, page.state.next_fetch_at)
        found = new_page(target, policy_of(target), now=due_at, depth=page.depth + 1)
    except UrlError:
        return None
    return replace(found, added_at=fetched_at)
