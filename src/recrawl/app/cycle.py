"""One visit from request to commit, a function a step.

::

    lease ──> request ──> fetch ──> recognise ──> extract ──> sign ──> advance ──> commit
    (store)   (here)     (fetcher)  (here)        (extractor) (here)   (core)      (store)

What is recognised, byte for byte the answer of before, is neither extracted nor signed again.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recrawl.app.policy import PagePolicy, PolicyOf
from recrawl.app.targets import RedirectTargets, found_page
from recrawl.core.change import ChangeCode
from recrawl.core.columns import NO_KEY, NO_SCHEME, SIGNATURE_BYTES
from recrawl.core.document import Document, mime_key
from recrawl.core.group import group_key
from recrawl.core.layers import moved_layers
from recrawl.core.states import PageState, PageStates
from recrawl.core.timing import Learner, Schedule
from recrawl.core.update import Step, advance
from recrawl.core.url import page_key
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.ports.extractor import Extracted
from recrawl.ports.fetcher import Fetched, PageRequest
from recrawl.ports.store import (
    Change,
    ChangeKind,
    Commit,
    HostRow,
    PageRow,
    TextVersion,
    VisitRow,
)

__all__ = ["Processed", "Seen", "process", "recognise", "request_of", "sign", "states_of"]

_NO_SIGNATURE = b"\0" * SIGNATURE_BYTES
_UNEXPECTED_304 = "unexpected_304"
_REDIRECTS = (Outcome.REDIR_TEMP, Outcome.REDIR_PERM)
_KINDS = {
    ChangeCode.NEW: ChangeKind.NEW,
    ChangeCode.CHANGED: ChangeKind.CHANGED,
    ChangeCode.MOVED: ChangeKind.MOVED,
    ChangeCode.GONE: ChangeKind.GONE,
    ChangeCode.RETURNED: ChangeKind.RETURNED,
}


@dataclass(frozen=True, slots=True)
class Seen:
    """One page with all that its visit brought, before the rules are applied.

    Parameters
    ----------
    page : PageRow
        The page as it was leased.
    policy : PagePolicy
        What the settings say about it.
    fetched : Fetched
        What came of the request.
    host : HostRow
        The host as it is after the request.
    extracted : Extracted or None
        What the document says; None if there was no document.
    signature : bytes or None
        Signature of the document; None if there was none or it could not be read.
    content_digest : bytes or None
        Digest of the answer; None if it brought no content.
    """

    page: PageRow
    policy: PagePolicy
    fetched: Fetched
    host: HostRow
    extracted: Extracted | None = None
    signature: bytes | None = None
    content_digest: bytes | None = None

    @property
    def outcome(self) -> Outcome:
        """The fetch's outcome, or PARSE_FAILED if its content could not be read."""
        if self.fetched.outcome is Outcome.SUCCESS and self.signature is None:
            return Outcome.PARSE_FAILED
        return self.fetched.outcome

    @property
    def reason(self) -> str:
        """Why the visit was no success, in a word; "" for a success."""
        if self.fetched.outcome is Outcome.SUCCESS and self.signature is None:
            return self.extracted.error if self.extracted else "not_extracted"
        return self.fetched.reason

    @property
    def redirect_to(self) -> str | None:
        """Where the page redirects to, if it does."""
        if self.fetched.outcome in _REDIRECTS and self.fetched.hops:
            return self.fetched.hops[-1].target
        return None


def request_of(page: PageRow, policy: PagePolicy) -> PageRequest:
    """Return the request for a page, conditional where a 304 would tell the truth.

    A 304 says "same as the content of this validator", so the validator is sent only if the
    signature of that content is known and made under today's scheme.  After a 304 that nobody
    asked for, caches on the way are told to ask the server.
    """
    no_cache = page.reason == _UNEXPECTED_304
    if page.state.signature_scheme != policy.scheme:
        return PageRequest(page.url, no_cache=no_cache)
    return PageRequest(page.url, page.etag, page.last_modified, no_cache)


def recognise(seen: Seen) -> Seen:
    """Return ``seen`` with its digest, and signed if the digest is the one of before.

    Equal bytes of an equal type give equal text and so an equal signature, as long as the
    signature is made under today's scheme: reading them again would tell nothing.
    """
    if seen.fetched.outcome is not Outcome.SUCCESS:
        return seen
    # Header values hold no NUL, so the two parts cannot run into each other.
    kind = seen.fetched.headers.get("content-type", "").encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(kind + b"\0", digest_size=16)
    digest.update(seen.fetched.body)
    content_digest = digest.digest()
    page = seen.page
    is_same = page.content_digest == content_digest
    if is_same and page.state.signature_scheme == seen.policy.scheme:
        return replace(seen, content_digest=content_digest, signature=page.state.signature)
    return replace(seen, content_digest=content_digest)


def sign(seen: Seen, extracted: Extracted | None) -> Seen:
    """Return ``seen`` with what was extracted and the signature of it.

    A document of a kind that has no text is signed by its bytes; one whose extraction failed
    is not signed, which makes its outcome PARSE_FAILED.
    """
    if seen.fetched.outcome is not Outcome.SUCCESS or extracted is None:
        return seen
    if extracted.error and extracted.error != "unsupported_type":
        return replace(seen, extracted=extracted)
    document = Document(
        url=seen.page.url,
        content=seen.fetched.body,
        text=None if extracted.error else extracted.text,
        links=extracted.links,
    )
    return replace(seen, extracted=extracted, signature=seen.policy.signature.sign(document))


@dataclass(frozen=True, slots=True)
class Processed:
    """What a batch of visits comes to.

    Parameters
    ----------
    commits : list of Commit
        What each visit writes, in the order of the batch.
    visited : list of (PagePolicy, PageStates, Visits)
        For each policy its pages before, and their visits as observed.
    """

    commits: list[Commit]
    visited: list[tuple[PagePolicy, PageStates, Visits]]


def states_of(batch: Sequence[Seen]) -> PageStates:
    """Return the states of the pages before their visits."""
    return PageStates.from_rows([_grouped(seen.page) for seen in batch])


def process(
    batch: Sequence[Seen],
    *,
    policy_of: PolicyOf,
    redirects: RedirectTargets,
    learner: Learner | None = None,
    schedule_of: Callable[[PagePolicy], Schedule] | None = None,
) -> Processed:
    """Return what a batch of visits comes to.

    Parameters
    ----------
    batch : sequence of Seen
        At most one visit a page.
    policy_of : callable
        Gives the policy of a page that is found by redirect.
    redirects : RedirectTargets
        Which redirect targets become pages.
    learner : Learner, optional
        Writes what the visits teach of the pages.
    schedule_of : callable, optional
        Gives the schedule of a policy as it is now; by default the policy's own.
    """
    groups: dict[int, list[int]] = {}
    for i, seen in enumerate(batch):
        groups.setdefault(id(seen.policy), []).append(i)
    commits: list[Commit | None] = [None] * len(batch)
    visited = []
    for index in groups.values():
        some = [batch[i] for i in index]
        policy = some[0].policy
        before = _with_fixed_interval(states_of(some), policy)
        schedule = policy.schedule if schedule_of is None else schedule_of(policy)
        step = advance(
            before,
            _visits(some),
            schedule=schedule,
            rule=policy.update,
            bounds=None if policy.update.exact else policy.bounds,
            learner=learner,
        )
        visited.append((policy, before, step.visits))
        for i, commit in zip(index, _commits(some, before, step), strict=True):
            commits[i] = _with_target(batch[i], commit, policy_of, redirects)
    return Processed([commit for commit in commits if commit is not None], visited)


def _commits(batch: list[Seen], before: PageStates, step: Step) -> list[Commit]:
    """Return what visits that share one policy write."""
    policy = batch[0].policy
    is_changed = step.visits.observation == Observation.CHANGED
    moved = moved_layers(before.signature, step.visits.signature, policy.signature.layers)
    after = step.states.with_columns(
        {"moved_layers": np.where(is_changed, moved, before.moved_layers)}
    )
    return [
        _commit(seen, state, int(observation), int(change))
        for seen, state, observation, change in zip(
            batch, after.rows(), step.visits.observation, step.change, strict=True
        )
    ]


def _grouped(page: PageRow) -> PageState:
    """Return the state with the key of its group, which pages of older stores lack."""
    if page.state.group_key != NO_KEY:
        return page.state
    return replace(page.state, group_key=group_key(page.url))


def _with_fixed_interval(states: PageStates, policy: PagePolicy) -> PageStates:
    """Let the rule's fixed interval stand in where a page has none of its own."""
    if np.isnan(policy.fixed_interval):
        return states
    own = states.fixed_interval
    fixed = np.where(np.isnan(own), np.float32(policy.fixed_interval), own)
    return states.with_columns({"fixed_interval": fixed})


def _visits(batch: list[Seen]) -> Visits:
    n = len(batch)
    signature = b"".join(seen.signature or _NO_SIGNATURE for seen in batch)
    return Visits.of(
        n,
        page_key=[seen.page.state.page_key for seen in batch],
        fetched_at=[seen.fetched.fetched_at for seen in batch],
        outcome=[seen.outcome for seen in batch],
        modified_at=[seen.fetched.modified_at for seen in batch],
        redirect_key=[page_key(s.redirect_to) if s.redirect_to else NO_KEY for s in batch],
        signature=np.frombuffer(signature, dtype=f"V{SIGNATURE_BYTES}"),
        signature_scheme=[
            NO_SCHEME if seen.signature is None else seen.policy.scheme for seen in batch
        ],
        mime_key=[_mime_key(seen) for seen in batch],
    )


def _mime_key(seen: Seen) -> int:
    """Return the key of the MIME type that the extractor found; NO_KEY keeps the one of before."""
    return mime_key(seen.extracted.mime) if seen.extracted and seen.extracted.mime else NO_KEY


def _commit(seen: Seen, state: PageState, observation: int, kind: int) -> Commit:
    page = _page_after(seen, state)
    fetched = seen.fetched
    visit = VisitRow(
        page_key=state.page_key,
        fetched_at=fetched.fetched_at,
        outcome=seen.outcome,
        observation=observation,
        status_code=fetched.status_code,
        reason=seen.reason,
        elapsed=fetched.elapsed,
        n_bytes=fetched.n_bytes,
        modified_at=fetched.modified_at,
        signature=seen.signature or _NO_SIGNATURE,
        signature_scheme=NO_SCHEME if seen.signature is None else seen.policy.scheme,
        hops=json.dumps([[h.url, h.status_code, h.target] for h in fetched.hops])
        if fetched.hops
        else "",
    )
    return Commit(
        page=page,
        visit=visit,
        host=seen.host,
        change=_change(seen, page, kind) if kind != ChangeCode.NONE else None,
        text=_text(seen, state),
    )


def _page_after(seen: Seen, state: PageState) -> PageRow:
    """Return the page as it is after the visit.

    Validators and title go with the content they came with: a failure leaves them alone, and
    a 304 may refresh them.
    """
    page, headers = seen.page, seen.fetched.headers
    if not math.isnan(seen.policy.fixed_interval):  # it may stand in for the page's own
        state = replace(state, fixed_interval=page.state.fixed_interval)
    etag, last_modified, title = page.etag, page.last_modified, page.title
    redirect_to = seen.redirect_to or page.redirect_to
    digest = page.content_digest if _is_same_content(page.state, state) else None
    if seen.outcome is Outcome.SUCCESS:
        etag, last_modified = headers.get("etag"), headers.get("last-modified")
        title = seen.extracted.title if seen.extracted else title
        redirect_to, digest = None, seen.content_digest
    elif seen.outcome is Outcome.NOTMODIFIED:
        etag, last_modified = headers.get("etag", etag), headers.get("last-modified", last_modified)
        redirect_to = None
    return replace(
        page,
        state=state,
        etag=etag,
        last_modified=last_modified,
        redirect_to=redirect_to,
        title=title,
        reason=seen.reason,
        content_digest=digest,
    )


def _is_same_content(before: PageState, after: PageState) -> bool:
    """Return whether both states are of content with the same signature."""
    return (before.signature, before.signature_scheme) == (after.signature, after.signature_scheme)


def _change(seen: Seen, page: PageRow, kind: int) -> Change:
    def known(state: PageState) -> bytes | None:
        return None if state.signature_scheme == NO_SCHEME else state.signature

    return Change(
        sequence=0,
        page_key=page.state.page_key,
        url=page.url,
        kind=_KINDS[ChangeCode(kind)],
        at=seen.fetched.fetched_at,
        old_signature=known(seen.page.state),
        new_signature=known(page.state),
        redirect_to=page.redirect_to if kind == ChangeCode.MOVED else None,
    )


def _text(seen: Seen, state: PageState) -> TextVersion | None:
    """Return the text to keep: the first one, a changed one, one under a new scheme."""
    if seen.signature is None or seen.extracted is None:
        return None
    if _is_same_content(seen.page.state, state):
        return None
    return TextVersion(
        page_key=state.page_key,
        fetched_at=seen.fetched.fetched_at,
        signature=seen.signature,
        text=seen.extracted.text,
    )


def _with_target(
    seen: Seen, commit: Commit, policy_of: PolicyOf, redirects: RedirectTargets
) -> Commit:
    """Add the redirect's target as a page."""
    if seen.redirect_to is None:
        return commit
    found = found_page(
        seen.page,
        seen.redirect_to,
        fetched_at=seen.fetched.fetched_at,
        policy_of=policy_of,
        redirects=redirects,
    )
    return commit if found is None else replace(commit, found=(found,))
