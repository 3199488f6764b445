"""A fetch list has the due pages of highest score, so many a host."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.core.columns import NO_TIME
from recrawl.core.states import PageStates, PageStatus
from recrawl.errors import InputError
from recrawl.schedules.fetchlist import Fetchlist, LeftOut, Selection, choose
from recrawl.testing.factories import DAY, NOW
from recrawl.testing.schedule import random_pages


def pages(n: int, **columns: Any) -> PageStates:
    """Return n due pages of one host, the later ones of less importance."""
    defaults = {
        "page_key": np.arange(1, n + 1),
        "host_key": 1,
        "next_fetch_at": NOW,
        "interval": 86_400,
        "importance": np.arange(n, 0, -1),
    }
    return PageStates.of(n, **{**defaults, **columns})


def left_out(found: Fetchlist) -> dict[str, int]:
    """Return the reasons that hold for any page."""
    return {str(reason): n for reason, n in found.counts.items() if n}


def test_every_due_page_is_chosen_best_first() -> None:
    """Score, then due time, then key; a page is due at its instant."""
    states = pages(
        5, importance=[1, 3, 3, 3, 9], next_fetch_at=[NOW, NOW, NOW - 1, NOW, NOW + 1],
        page_key=[1, 5, 4, 2, 3],
    )  # fmt: skip

    found = choose(states, NOW)

    assert found.rows.tolist() == [2, 3, 1, 0]
    assert left_out(found) == {"schedule_rejected": 1}


@pytest.mark.parametrize(
    ("selection", "columns", "reason"),
    [
        (Selection(status=PageStatus.UNFETCHED), {"status": [1, 2, 3]}, "status_rejected"),
        (Selection(min_score=2.5), {}, "score_too_low"),
        (Selection(max_interval=60), {"interval": [60, 61, 1e9]}, "interval_rejected"),
        (Selection(max_count=1), {}, "urls_skipped_per_host_overflow"),
        (Selection(top_n=1), {}, "beyond_top_n"),
        (Selection(), {"next_fetch_at": [NOW, NOW + 1, NOW + DAY]}, "schedule_rejected"),
    ],
)
def test_pages_are_left_out_for_a_reason(
    selection: Selection, columns: dict[str, Any], reason: str
) -> None:
    """Of three pages one is left, and the reason is counted twice."""
    found = choose(pages(3, **columns), NOW, selection)

    assert found.rows.tolist() == [0]
    assert left_out(found) == {reason: 2}


def test_a_page_on_a_list_waits_for_its_update() -> None:
    """It may be put on another after the delay, to the millisecond."""
    generated_at = np.array([NO_TIME, NOW - 7 * DAY, NOW - 7 * DAY + 1, NOW])

    found = choose(pages(4), NOW, generated_at=generated_at)

    assert found.rows.tolist() == [0, 1]
    assert left_out(found) == {"wait_for_update": 2}
    assert choose(pages(4), NOW, Selection(lock=0), generated_at=generated_at).rows.size == 4


def test_a_host_has_exactly_its_maximum() -> None:
    """Case sch-038: of ten due pages three are chosen, not four."""
    found = choose(pages(10), NOW, Selection(max_count=3))

    assert found.rows.tolist() == [0, 1, 2]
    assert found.n_hosts_cut == 1


def test_a_large_host_does_not_fill_the_list() -> None:
    """Case sch-037: five pages of a small host are chosen beside ten thousand of a large one."""
    states = pages(10_005, host_key=np.repeat([1, 2], [10_000, 5]))

    assert set(states.host_key[choose(states, NOW, Selection(top_n=100)).rows]) == {1}
    found = choose(states, NOW, Selection(top_n=100, max_count=95))
    assert Counter(states.host_key[found.rows].tolist()) == {1: 95, 2: 5}
    assert left_out(found) == {"urls_skipped_per_host_overflow": 9905}


def test_pages_may_be_counted_by_domain() -> None:
    """Hosts of one domain share its maximum."""
    states = pages(4, host_key=[1, 2, 3, 4])

    found = choose(states, NOW, Selection(max_count=1), domain=lambda pages: pages.host_key // 2)

    assert found.rows.tolist() == [0, 1, 3]
    assert found.n_hosts_cut == 1


def test_counting_ends_where_the_list_is_full() -> None:
    """Nutch reads no further: what comes after is beyond the list, whatever its host."""
    states = pages(6, host_key=[1, 1, 1, 2, 1, 2])

    found = choose(states, NOW, Selection(top_n=3, max_count=2))
    none = choose(states, NOW, Selection(top_n=0, max_count=2))

    assert found.rows.tolist() == [0, 1, 3]
    assert left_out(found) == {"urls_skipped_per_host_overflow": 1, "beyond_top_n": 2}
    assert (none.rows.size, left_out(none), none.n_hosts_cut) == (0, {"beyond_top_n": 6}, 0)


def test_score_and_due_pages_may_be_given() -> None:
    """A score that is not known comes last and passes the threshold, as in the original."""
    score = np.array([np.nan, 1, 2, 3])
    is_due = np.array([True, True, True, False])

    found = choose(pages(4), NOW, Selection(min_score=1.5), score=score, is_due=is_due)

    assert found.rows.tolist() == [2, 0]
    assert left_out(found) == {"schedule_rejected": 1, "score_too_low": 1}


@given(
    seed=st.integers(0, 1000),
    top_n=st.none() | st.integers(0, 60),
    max_count=st.none() | st.integers(1, 20),
)
def test_the_list_is_what_going_through_the_pages_gives(
    seed: int, top_n: int | None, max_count: int | None
) -> None:
    """One page after another, best first, as the original does it."""
    states, _ = random_pages(50, seed)
    states = states.with_columns({"importance": states.n_visits % 5})
    order = sorted(
        np.flatnonzero(states.next_fetch_at <= NOW),
        key=lambda i: (-states.importance[i], states.next_fetch_at[i], states.page_key[i]),
    )
    expected: list[int] = []
    n_of: Counter[int] = Counter()
    for i in order:
        if top_n is not None and len(expected) >= top_n:
            break
        n_of[states.host_key[i]] += 1
        if max_count is None or n_of[states.host_key[i]] <= max_count:
            expected.append(int(i))

    found = choose(states, NOW, Selection(top_n=top_n, max_count=max_count))

    assert found.rows.tolist() == expected
    assert len(expected) + sum(found.counts.values()) == 50
    cut = sum(n > max_count for n in n_of.values()) if max_count is not None else 0
    assert found.n_hosts_cut == cut
    assert list(found.counts) == list(LeftOut)


@given(seed=st.integers(0, 1000))
def test_the_order_of_the_rows_plays_no_part(seed: int) -> None:
    """Permuted rows give the same pages in the same order."""
    states, _ = random_pages(60, seed)
    order = np.random.default_rng(seed).permutation(60)
    selection = Selection(top_n=20, max_count=6)

    one, other = choose(states, NOW, selection), choose(states.take(order), NOW, selection)

    assert states.page_key[one.rows].tolist() == states.page_key[order][other.rows].tolist()
    assert (one.counts, one.n_hosts_cut) == (other.counts, other.n_hosts_cut)


def test_no_pages_give_an_empty_list() -> None:
    """Nothing is due, nothing is left out."""
    found = choose(pages(0), NOW, Selection(max_count=1))

    assert (found.rows.size, left_out(found), found.n_hosts_cut) == (0, {}, 0)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"top_n": -1}, "top_n is -1, allowed is 0 or more"),
        ({"max_count": 0}, "max_count is 0, allowed is 1 or more"),
        ({"max_interval": float("nan")}, "max_interval is nan"),
        ({"lock": -5}, "lock is -5"),
        ({"min_score": float("nan")}, "min_score is NaN"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any], told: str) -> None:
    """The message names the setting, its value and what is allowed."""
    with pytest.raises(InputError, match=f"fetchlist: {told}"):
        Selection(**settings)
