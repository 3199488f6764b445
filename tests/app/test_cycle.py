from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from recrawl.app.cycle import Seen, process, recognise, request_of, sign
from recrawl.app.pages import new_page
from recrawl.app.policy import PagePolicy
from recrawl.app.targets import RedirectTargets
from recrawl.core.columns import NO_KEY, NO_SCHEME
from recrawl.core.document import mime_key, scheme_id
from recrawl.core.group import group_key
from recrawl.core.layers import Layer
from recrawl.core.states import PageStatus
from recrawl.core.update import UpdateRule
from recrawl.core.visit import Observation, Outcome
from recrawl.ports.extractor import Extracted
from recrawl.ports.fetcher import Fetched, Hop, PageRequest
from recrawl.ports.store import ChangeKind, Commit, PageRow
from recrawl.schedules.fixed import Fixed
from recrawl.schedules.nutch import NutchAdaptive
from recrawl.signatures.layered import Layered
from recrawl.signatures.md5 import MD5
from recrawl.signatures.text_md5 import TextMD5
from recrawl.testing.factories import DAY, NOW, host_row

URL = "https://example.org/"


def seen_of(
    page: PageRow,
    policy: PagePolicy,
    content: str | None = "text",
    *,
    at: int = NOW,
    error: str = "",
    **fetched: Any,
) -> Seen:
    """Return a visit: a success with ``content``, or what ``fetched`` says."""
    answer = Fetched(
        **{"outcome": Outcome.SUCCESS, "fetched_at": at, "status_code": 200, **fetched},
        body=(content or "").encode(),
    )
    seen = recognise(Seen(page=page, policy=policy, fetched=answer, host=host_row(page.url)))
    return sign(seen, Extracted(content, title="Title", error=error) if content else None)


def commit_one(seen: Seen, redirects: RedirectTargets | None = None) -> Commit:
    (commit,) = process(
        [seen], policy_of=lambda _: seen.policy, redirects=redirects or RedirectTargets()
    ).commits
    return commit


@pytest.fixture
def policy(world) -> PagePolicy:
    return world.policy


@pytest.fixture
def page(policy) -> PageRow:
    return new_page(URL, policy, now=NOW)


@pytest.fixture
def known(page, policy) -> PageRow:
    """Give the page after a first success with both validators."""
    headers = {"etag": '"1"', "last-modified": "yesterday"}
    return commit_one(seen_of(page, policy, headers=headers)).page


def test_validators_are_sent_for_known_content(known, policy):
    """A page whose signature is of today's scheme is asked conditionally, byte for byte."""
    assert request_of(known, policy) == PageRequest(URL, '"1"', "yesterday")


@pytest.mark.parametrize("outcome", [Outcome.SUCCESS, Outcome.RETRY, Outcome.NOTMODIFIED])
def test_a_visit_fills_in_the_group_of_a_page_of_an_older_store(known, policy, outcome):
    """Whatever came of the visit, the page has its group afterwards."""
    old = replace(known, state=replace(known.state, group_key=NO_KEY))

    after = commit_one(seen_of(old, policy, at=NOW + DAY, outcome=outcome)).page

    assert after.state.group_key == known.state.group_key == group_key(URL)


def test_a_visit_leaves_a_group_alone(known, policy):
    """A key that is there is not made anew."""
    other = replace(known, state=replace(known.state, group_key=5))

    after = commit_one(seen_of(other, policy, at=NOW + DAY)).page

    assert after.state.group_key == 5


def test_another_scheme_asks_for_everything(world, known):
    """A 304 could not be compared under another scheme, so no validator is sent."""
    other = world.policy_with(signature=MD5())

    assert request_of(known, other) == PageRequest(URL)


def test_validators_without_a_signature_are_not_sent(page, policy):
    """What was never read cannot be said to be the same."""
    assert request_of(replace(page, etag='"1"'), policy) == PageRequest(URL)


def test_an_unexpected_304_asks_past_caches(known, policy):
    """After a 304 that nobody asked for, caches on the way are told to ask the server."""
    odd = replace(known, reason="unexpected_304")

    assert request_of(odd, policy).no_cache
    assert not request_of(known, policy).no_cache


def answered(page: PageRow, policy: PagePolicy, body: bytes = b"text", **values: Any) -> Seen:
    """Return a visit that brought an answer which nobody has read yet."""
    answer = Fetched(
        **{"outcome": Outcome.SUCCESS, "fetched_at": NOW + DAY, "status_code": 200, **values},
        body=body,
    )
    return recognise(Seen(page=page, policy=policy, fetched=answer, host=host_row(page.url)))


def test_the_answer_of_before_need_not_be_read(known, policy):
    """Equal bytes are signed as before: unchanged, title and digest stay, no text is written."""
    seen = answered(known, policy, headers={"etag": '"2"'})
    commit = commit_one(seen)

    assert seen.signature == known.state.signature
    assert commit.visit.observation == Observation.UNCHANGED
    assert commit.change is commit.text is None
    assert (commit.page.title, commit.page.etag) == ("Title", '"2"')
    assert commit.page.content_digest == known.content_digest is not None


def test_reading_the_answer_of_before_gives_the_same(known, policy):
    """Recognised or read, an answer comes to the same commit."""
    read = sign(answered(known, policy), Extracted("text", title="Title"))

    # Not by value: the fixed interval is NaN, which equals nothing.
    assert repr(commit_one(answered(known, policy))) == repr(commit_one(read))


@pytest.mark.parametrize(
    ("body", "headers"),
    [(b"other", {}), (b"text", {"content-type": "text/plain"}), (b"", {"content-type": "text"})],
    ids=["other-bytes", "other-type", "type-in-place-of-bytes"],
)
def test_another_answer_has_to_be_read(known, policy, body, headers):
    """Other bytes, or the same with another type, may say something else."""
    seen = answered(known, policy, body, headers=headers)

    assert seen.signature is None
    assert seen.content_digest not in (None, known.content_digest)


def test_another_scheme_reads_the_answer_of_before(world, known):
    """The signature of before says nothing under another scheme."""
    assert answered(known, world.policy_with(signature=MD5())).signature is None


def test_only_content_is_recognised(known, policy):
    """An answer without content has no digest, and leaves the known one alone."""
    gone = answered(known, policy, b"", outcome=Outcome.GONE, status_code=404)

    assert gone.signature is gone.content_digest is None
    assert commit_one(gone).page.content_digest == known.content_digest


def test_a_digest_goes_with_its_signature(world, page):
    """Where exact mode takes a redirect for content, the digest of before goes."""
    exact = world.policy_with(
        update=UpdateRule(exact=True), schedule=NutchAdaptive(default_interval=86_400.0, exact=True)
    )
    known = commit_one(seen_of(page, exact)).page

    moved = commit_one(redirected(known, exact, "https://example.org/b", at=NOW + DAY)).page

    assert known.content_digest is not None
    assert moved.state.signature != known.state.signature
    assert moved.content_digest is None


def test_a_type_without_text_is_signed_by_its_bytes(page, policy):
    """An image has a signature, of its bytes, and counts as a success."""
    one, two = (seen_of(page, policy, content, error="unsupported_type") for content in ("a", "b"))

    assert one.outcome is Outcome.SUCCESS
    assert one.signature != two.signature
    assert one.signature == hashlib.md5(b"a").digest()


@pytest.mark.parametrize("error", ["time_limit", "crashed"])
def test_failed_extraction_touches_nothing(known, policy, error):
    """Content that cannot be read is PARSE_FAILED; baseline, validators and title stay."""
    commit = commit_one(
        seen_of(known, policy, "new", at=NOW + DAY, error=error, headers={"etag": '"2"'})
    )

    after = commit.page
    assert (commit.visit.outcome, commit.visit.reason) == (Outcome.PARSE_FAILED, error)
    assert (after.etag, after.last_modified, after.title) == ('"1"', "yesterday", "Title")
    assert after.state.signature == known.state.signature
    assert after.state.signature_scheme == known.state.signature_scheme
    assert commit.change is commit.text is None
    assert after.state.next_fetch_at > NOW + DAY


def test_missing_extraction_is_a_failure(page, policy):
    """A success that nobody read is PARSE_FAILED and says so."""
    commit = commit_one(seen_of(page, policy, None))

    assert (commit.visit.outcome, commit.visit.reason) == (Outcome.PARSE_FAILED, "not_extracted")
    assert commit.visit.signature_scheme == NO_SCHEME


@pytest.mark.parametrize(
    ("outcome", "status", "reason"),
    [
        (Outcome.RETRY, 503, "http_503"),
        (Outcome.RETRY, None, "timeout"),
        (Outcome.GONE, 404, "http_404"),
        (Outcome.DENIED, None, "robots"),
        (Outcome.EMPTY, 200, "empty"),
        (Outcome.PARSE_FAILED, 200, "too_large"),
    ],
)
def test_failures_keep_validators_and_baseline(known, policy, outcome, status, reason):
    """No failure moves what is known of the content, whatever headers it has."""
    commit = commit_one(
        seen_of(
            known,
            policy,
            None,
            at=NOW + DAY,
            outcome=outcome,
            status_code=status,
            reason=reason,
            headers={"etag": '"x"', "last-modified": "x"},
        )
    )

    after = commit.page
    assert (after.etag, after.last_modified, after.title) == ('"1"', "yesterday", "Title")
    assert after.state.signature == known.state.signature
    assert after.reason == commit.visit.reason == reason
    assert after.state.next_fetch_at > NOW + DAY
    assert commit.text is None
    assert commit.visit.observation == Observation.UNKNOWN


def test_success_replaces_validators(known, policy):
    """A success without validators takes the old ones away: they belong to other content."""
    commit = commit_one(seen_of(known, policy, "new", at=NOW + DAY))

    assert (commit.page.etag, commit.page.last_modified) == (None, None)


def test_304_refreshes_validators(known, policy):
    """A 304 keeps validators and takes over those it brings."""
    commit = commit_one(
        seen_of(
            known,
            policy,
            None,
            at=NOW + DAY,
            outcome=Outcome.NOTMODIFIED,
            status_code=304,
            headers={"etag": 'W/"1"'},
        )
    )

    assert (commit.page.etag, commit.page.last_modified) == ('W/"1"', "yesterday")
    assert commit.visit.observation == Observation.UNCHANGED
    assert (commit.page.title, commit.change, commit.text) == ("Title", None, None)


def test_all_parts_of_a_first_visit(page, policy):
    """Page, visit, host, event and text are of one visit and say the same."""
    seen = seen_of(page, policy, "text", elapsed=0.5, n_bytes=4, modified_at=NOW - DAY)
    commit = commit_one(seen)

    state = commit.page.state
    assert (state.status, state.fetched_at, state.n_visits) == (PageStatus.FETCHED, NOW, 1)
    assert commit.visit.page_key == state.page_key
    assert commit.visit.signature == state.signature == seen.signature
    assert (commit.visit.elapsed, commit.visit.n_bytes) == (0.5, 4)
    assert commit.visit.modified_at == NOW - DAY
    assert commit.host is seen.host
    assert commit.change.kind is ChangeKind.NEW
    assert (commit.change.old_signature, commit.change.new_signature) == (None, state.signature)
    assert (commit.text.text, commit.text.signature) == ("text", state.signature)
    assert commit.text.fetched_at == commit.change.at == NOW


def test_text_is_kept_only_if_it_is_other(world, known, policy):
    """Unchanged content brings no text; changed content and a new scheme do."""
    later = {"at": NOW + DAY}
    other = world.policy_with(signature=MD5())

    same = commit_one(seen_of(known, policy, "text", **later))
    changed = commit_one(seen_of(known, policy, "other", **later))
    rebased = commit_one(seen_of(known, other, "text", **later))

    assert same.text is same.change is None
    assert changed.text.text == "other"
    assert changed.change.kind is ChangeKind.CHANGED
    assert changed.change.old_signature == known.state.signature
    assert rebased.text.text == "text"
    assert rebased.change is None
    assert rebased.page.state.signature_scheme == scheme_id(MD5().scheme)


def redirected(page: PageRow, policy: PagePolicy, target: str, at: int = NOW + 5000) -> Seen:
    return seen_of(
        page,
        policy,
        None,
        at=at,
        outcome=Outcome.REDIR_PERM,
        status_code=301,
        hops=(Hop(page.url, 301, target),),
    )


@pytest.mark.parametrize(
    ("scope", "target", "is_found"),
    [
        ("none", "https://example.org/b", False),
        ("same-host", "https://example.org/b", True),
        ("same-host", "https://www.example.org/b", True),
        ("same-host", "http://example.org/", True),
        ("same-host", "https://sub.example.org/b", False),
        ("same-host", "https://example.com/b", False),
        ("any", "https://example.com/b", True),
        ("any", "http://[bad/", False),
    ],
)
def test_redirect_targets(page, policy, scope, target, is_found):
    """The setting says which targets become pages; the redirect is recorded in any case."""
    commit = commit_one(redirected(page, policy, target), RedirectTargets(scope))

    assert [found.url for found in commit.found] == [target] * is_found
    assert commit.page.redirect_to == commit.change.redirect_to == target
    assert commit.change.kind is ChangeKind.MOVED
    assert commit.visit.hops == f'[["{page.url}", 301, "{target}"]]'


def test_targets_end_at_the_depth_limit(page, policy):
    """A chain of redirects finds no page beyond the limit."""
    deep = replace(page, depth=2)
    target = "https://example.org/b"

    inside = commit_one(redirected(deep, policy, target), RedirectTargets(max_depth=3))
    beyond = commit_one(redirected(deep, policy, target), RedirectTargets(max_depth=2))

    assert [found.depth for found in inside.found] == [3]
    assert beyond.found == ()


def test_a_target_is_due_since_its_source_was(page, policy):
    """So that a run over what is due takes it too; it was added when it was seen."""
    (found,) = commit_one(redirected(page, policy, "https://example.org/b")).found

    assert found.state.next_fetch_at == page.state.next_fetch_at == NOW
    assert found.added_at == NOW + 5000


def test_a_later_success_forgets_the_redirect(page, policy):
    """A page with content again redirects nowhere."""
    moved = commit_one(redirected(page, policy, "https://example.org/b")).page

    back = commit_one(seen_of(moved, policy, "text", at=NOW + DAY))

    assert back.page.redirect_to is None
    assert back.change.kind is ChangeKind.RETURNED


def test_policies_are_applied_each_to_its_pages(world, policy):
    """One batch may mix rules; commits keep the order of the batch."""
    daily = world.policy_with(schedule=Fixed(default_interval=7200.0), interval=7200.0)
    urls = [f"https://example.org/{i}" for i in range(6)]
    batch = [
        seen_of(new_page(url, chosen, now=NOW), chosen)
        for url, chosen in zip(urls, [policy, daily] * 3, strict=True)
    ]

    commits = process(batch, policy_of=lambda _: policy, redirects=RedirectTargets()).commits

    assert [commit.page.url for commit in commits] == urls
    waits = [(commit.page.state.next_fetch_at - NOW) / 1000 for commit in commits]
    assert waits[1::2] == [7200.0] * 3
    assert all(wait > 7200.0 for wait in waits[::2])


def test_a_rules_fixed_interval_stays_the_rules(world, page):
    """It sets the wait, and is not written into the page: a changed rule reaches old pages."""
    hourly = world.policy_with(fixed_interval=3600.0)

    commit = commit_one(seen_of(page, hourly))

    assert commit.page.state.next_fetch_at == NOW + 3_600_000
    assert math.isnan(commit.page.state.fixed_interval)


def test_a_pages_own_fixed_interval_goes_first(world, policy):
    """What was given by hand for one page beats the rule, and stays."""
    hourly = world.policy_with(fixed_interval=3600.0)
    page = new_page(URL, hourly, now=NOW, fixed_interval=7200.0)

    commit = commit_one(seen_of(page, hourly))

    assert commit.page.state.next_fetch_at == NOW + 7_200_000
    assert commit.page.state.fixed_interval == np.float32(7200.0)


def test_an_empty_batch_writes_nothing(policy):
    """No visits, no commits."""
    done = process([], policy_of=lambda _: policy, redirects=RedirectTargets())

    assert done.commits == []


def test_the_mime_type_of_content_is_remembered(page, policy):
    """What the extractor took the content for is kept, also through a visit that says none."""
    read = replace(seen_of(page, policy), extracted=Extracted("text", mime="text/html"))
    first = commit_one(read).page
    second = commit_one(seen_of(first, policy, "other")).page

    assert first.state.mime_key == second.state.mime_key == mime_key("text/html")


def test_the_state_says_which_layers_moved(world):
    """With several layers, the last change is remembered by the layers that moved in it."""
    policy = world.policy_with(signature=Layered((MD5(), TextMD5())))
    page = new_page(URL, policy, now=NOW)
    contents = [("one", "one"), ("<b>one", "one"), ("<b>one", "one"), ("two", "two")]
    moved = []

    for day, (body, text) in enumerate(contents):
        answer = Fetched(Outcome.SUCCESS, NOW + day * DAY, 200, body=body.encode())
        seen = Seen(page=page, policy=policy, fetched=answer, host=host_row(URL))
        page = commit_one(sign(recognise(seen), Extracted(text))).page
        moved.append(page.state.moved_layers)

    assert moved == [0, Layer.BYTES, Layer.BYTES, Layer.BYTES | Layer.TEXT]
