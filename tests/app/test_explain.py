from __future__ import annotations

import numpy as np
import pytest

from recrawl.app.explain import what_is_known, why_due
from recrawl.app.plan import Worth
from recrawl.core.columns import NEVER
from recrawl.core.states import PageStates, PageStatus
from recrawl.core.visit import Observation, Outcome
from recrawl.estimation.bulk_edits import BulkEdits
from recrawl.planning.knowledge import FIRST_PRIOR, Knowledge
from recrawl.signatures.md5 import MD5
from recrawl.testing.factories import DAY, NOW, host_row, page_row, visit_row


def explain(world, *, visit=None, host=None, policy=None, now=NOW, **state) -> str:
    page = page_row(**state)
    visits = [visit_row(page, **visit)] if visit is not None else []
    return " ".join(why_due(page, visits, host, policy or world.policy, now=now))


def test_a_new_page(world):
    """It was never fetched, so it is due."""
    text = explain(world, next_fetch_at=NOW - 90_000)

    assert "It is due now, since 90 s." in text
    assert "never fetched" in text


@pytest.mark.parametrize(
    ("due", "sentence"),
    [
        (NOW, "It is due now, since 0 s."),
        (NOW + DAY, "It is due in 1 d."),
        (NEVER, "It is not fetched again"),
    ],
)
def test_when(world, due, sentence):
    """How long it takes until the page is due, or how long it has been."""
    assert sentence in explain(world, next_fetch_at=due)


@pytest.mark.parametrize(
    ("visit", "sentence"),
    [
        ({"observation": Observation.CHANGED}, "was success and saw a change."),
        ({"observation": Observation.UNCHANGED}, "was success and saw no change."),
        ({"observation": Observation.UNKNOWN}, "could not tell"),
        (
            {"outcome": Outcome.NOTMODIFIED, "observation": Observation.UNCHANGED},
            "was notmodified and saw no change.",
        ),
        ({"outcome": Outcome.DENIED, "reason": "robots"}, "was denied (robots)."),
        ({"outcome": Outcome.GONE, "reason": "http_404"}, "was gone (http_404)."),
    ],
)
def test_the_last_visit(world, visit, sentence):
    """What the last visit came to."""
    assert sentence in explain(world, visit=visit, fetched_at=NOW)


@pytest.mark.parametrize(
    ("status", "sentence"),
    [(PageStatus.UNFETCHED, "number 2 in a row."), (PageStatus.GONE, "counts as gone")],
)
def test_failures_are_counted(world, status, sentence):
    """How often it failed in a row, and what that makes of the page."""
    text = explain(
        world,
        visit={"outcome": Outcome.RETRY, "reason": "timeout"},
        fetched_at=NOW,
        retries=2,
        status=status.value,
    )

    assert "was retry (timeout)" in text
    assert "failure number 2 in a row" in text
    assert sentence in text


def test_a_crash(world):
    """A fault of ours is called one, and no failure of the page is counted."""
    text = explain(
        world,
        visit={"outcome": Outcome.RETRY, "reason": "internal_ZeroDivisionError"},
        fetched_at=NOW,
    )

    assert "was retry (internal_ZeroDivisionError). A fault of recrawl ended it" in text
    assert "failure number" not in text


def test_a_forgotten_visit(world):
    """A page whose visits are not kept any more says nothing of them."""
    assert "last visit" not in explain(world, fetched_at=NOW)


def test_the_schedule(world):
    """Which schedule set which interval, and its bounds."""
    text = explain(world, interval=7200.0)

    assert "Schedule nutch-adaptive set its interval to 2 h." in text
    assert "No wait is shorter than 1 min or longer than 90 d." in text


@pytest.mark.parametrize("is_own", [True, False], ids=["page", "rule"])
def test_a_fixed_interval(world, is_own):
    """A fixed interval, of the page or of a rule, is named, and no schedule."""
    policy = world.policy if is_own else world.policy_with(fixed_interval=3600.0)

    text = explain(world, policy=policy, **({"fixed_interval": 3600.0} if is_own else {}))

    assert "fixed at 1 h" in text
    assert "Schedule" not in text


def test_the_host(world):
    """What keeps the host from being asked."""
    host = host_row(ready_at=NOW + 5000, n_errors=3, crawl_delay=10.0)

    text = explain(world, host=host)

    assert "Its host example.org may not be asked for another 5 s." in text
    assert "failed 3 times in a row" in text
    assert "robots.txt asks for 10 s" in text
    assert "host" not in explain(world, host=host_row())


def test_another_signature_scheme(world):
    """Changed settings are told, as they cost one full fetch."""
    policy = world.policy_with(signature=MD5())

    assert "unconditional" in explain(world, policy=policy, signature_scheme=world.policy.scheme)
    assert "unconditional" not in explain(world, signature_scheme=world.policy.scheme)
    assert "unconditional" not in explain(world, policy=policy)


def known(page, *, bulk=None, worth=None, now=NOW) -> str:
    """Return what is said to be known of a page."""
    states = PageStates.from_rows([page.state])
    bulk = bulk or BulkEdits.of(states.group_key, np.ones(1, dtype=np.int64), NOW)
    return " ".join(what_is_known(page, Knowledge(FIRST_PRIOR, bulk), worth, now=now))


def test_the_group_of_a_page_is_named():
    """Its size, where it is, and how often its edits change the page."""
    page = page_row("https://a.example/docs/x")
    bulk = BulkEdits.of(np.array([page.state.group_key]), np.array([40]), NOW)

    assert "Edits of its group, the 40 pages of a.example/docs/, change it once in" in known(
        page, bulk=bulk
    )


def test_signals_and_noise_are_told():
    """What waits to be looked at, and what is not believed."""
    assert "2 signals of a change came" in known(page_row(n_signals=2))
    assert "Its every fetch differs" in known(page_row(surprise=9.0))


@pytest.mark.parametrize(
    ("worth", "sentence"),
    [
        (Worth(60.0, 0.0, NOW), "No crawl with the schedule optimal has found yet"),
        (Worth(60.0, 30.0, NOW - 1), "worth 1 min of stale time; it must be worth 30 s at imp"),
        (Worth(60.0, 30.0, NOW - 1), "so it is worth it now"),
        (Worth(60.0, 90.0, NOW + DAY), "which it will be in 1 d"),
        (Worth(60.0, 90.0, NEVER), "importance 3."),
    ],
)
def test_what_a_fetch_is_worth(worth, sentence):
    """Value against price, and when the one reaches the other."""
    assert sentence in known(page_row(importance=3.0), worth=worth)
