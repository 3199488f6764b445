"""Visits are columns, one row a page."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.core.columns import NO_TIME
from recrawl.core.visit import Outcome, Visits, is_usable


def test_columns_that_are_not_given_are_unknown() -> None:
    """Only time and outcome have no default."""
    visits = Visits.of(2, fetched_at=5, outcome=[1, 6])

    assert len(visits) == 2
    assert visits.modified_at.tolist() == [NO_TIME] * 2
    assert visits.signature_scheme.tolist() == [0, 0]
    assert visits.outcome.tolist() == [1, 6]


def test_a_name_that_is_no_column_is_refused() -> None:
    """A misspelt column does not get lost."""
    with pytest.raises(TypeError, match="not visit columns: redirect, when"):
        Visits.of(1, fetched_at=5, outcome=1, when=3, redirect=4)


def test_take_chooses_rows() -> None:
    """By position, in the order asked for."""
    visits = Visits.of(3, fetched_at=[5, 6, 7], outcome=1)

    assert visits.take([2, 0]).fetched_at.tolist() == [7, 5]


def test_usable_answers_are_content_304_and_redirects() -> None:
    """All other outcomes are failures of some kind."""
    outcomes = np.array(list(Outcome), dtype=np.int8)

    assert outcomes[is_usable(outcomes)].tolist() == [
        Outcome.SUCCESS,
        Outcome.NOTMODIFIED,
        Outcome.REDIR_TEMP,
        Outcome.REDIR_PERM,
    ]
