"""What an answer means for a page."""

from __future__ import annotations

from recrawl.core.visit import Outcome
from recrawl.fetch.failures import PRIVATE_ADDRESS
from recrawl.fetch.wire import Reply

__all__ = ["PERMANENT", "REDIRECTS", "outcome_of"]

#: Redirects that say the page has moved for good.
PERMANENT = frozenset({301, 308})
#: All redirects that name one target.
REDIRECTS = PERMANENT | {302, 303, 307}

# Content came, whole or not, and asking again at once would bring the same.
_UNREADABLE = frozenset({"too_large", "unknown_encoding"})


def outcome_of(reply: Reply, *, is_conditional: bool) -> tuple[Outcome, str]:
    """Return the outcome of an answer that is no redirect, and the reason if it is no success.

    Parameters
    ----------
    reply : Reply
        The answer, or why there is none.
    is_conditional : bool
        Whether validators were sent: else a 304 says nothing.

    Notes
    -----
    A 202 promises content for later and a 206 is a part nobody asked for: both are failures that
    may pass. A body of white space only is no content. All 4xx but 404 and 410 are failures that
    may pass: servers answer 403 under load.
    """
    status = reply.status_code
    if reply.reason:
        if reply.reason == PRIVATE_ADDRESS:
            return Outcome.DENIED, reply.reason
        failed = Outcome.PARSE_FAILED if reply.reason in _UNREADABLE else Outcome.RETRY
        return failed, reply.reason
    match status:
        case 200 | 201 | 203:
            is_empty = not reply.content or reply.content.isspace()
            return (Outcome.EMPTY, "empty") if is_empty else (Outcome.SUCCESS, "")
        case 204 | 205:
            return Outcome.EMPTY, f"http_{status}"
        case 304 if is_conditional:
            return Outcome.NOTMODIFIED, ""
        case 304:
            return Outcome.RETRY, "unexpected_304"
        case 404 | 410:
            return Outcome.GONE, f"http_{status}"
        case _:
            return Outcome.RETRY, f"http_{status}"
