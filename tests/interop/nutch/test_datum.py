"""Records of a CrawlDb."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.errors import InputError
from recrawl.interop.nutch.datum import DatumStatus, fixed_interval_of, is_db, is_fetch


@pytest.mark.parametrize("status", [-1, 0, 1, 9, 0x0A, 0x1F])
def test_low_codes_are_pages(status: int) -> None:
    """Also those that have no name."""
    assert is_db(status)
    assert not is_fetch(status)


@pytest.mark.parametrize("status", [0x20, 0x21, 0x26, 0x3F, DatumStatus.PARSE_FAILED])
def test_fetches_are_known_by_their_codes(status: int) -> None:
    """A failed parse is one of them, far from the others."""
    assert is_fetch(status)
    assert not is_db(status)


@pytest.mark.parametrize("status", [DatumStatus.SIGNATURE, DatumStatus.LINKED, 0x46, 127])
def test_other_records_are_neither(status: int) -> None:
    """Signatures, links, parse metadata and what is not known."""
    assert not is_fetch(status)
    assert not is_db(status)


def test_no_fixed_interval_is_nan() -> None:
    """Most pages have none."""
    assert np.isnan(fixed_interval_of({"other": 1}))


def test_a_fixed_interval_that_is_nan_is_zero() -> None:
    """The original is due at once with it, as with 0."""
    assert fixed_interval_of({"fixedInterval": np.float32(np.nan)}) == 0


def test_a_fixed_interval_of_another_type_is_refused() -> None:
    """The original would end in a ClassCastException."""
    with pytest.raises(InputError, match="fixedInterval is not a float32: '3600'"):
        fixed_interval_of({"fixedInterval": "3600"})
