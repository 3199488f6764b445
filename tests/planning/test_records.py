"""What is known of hosts and groups as bytes."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.estimation.bulk_edits import FIRST_RATES, BulkEdits
from recrawl.estimation.gamma_poisson import ChangeRate
from recrawl.estimation.prior import HostPrior
from recrawl.estimation.signals import HostSignals
from recrawl.planning.records import (
    group_size,
    pack_groups,
    pack_hosts,
    pack_signals,
    signals_key,
    unpack_groups,
    unpack_hosts,
    unpack_signals,
)

DAY = 86_400_000
NOW = 1_700_000_000_000
OVERALL = ChangeRate(np.array([0.5]), np.array([9e5]))


def watched() -> BulkEdits:
    """Return three groups, watched for ten days: one that changed, one that did not, one page."""
    bulk = BulkEdits.of(np.array([-5, 3, 8]), np.array([20, 4, 1]), NOW)
    for day in range(1, 11):
        at = np.full(2, NOW + day * DAY)
        bulk.observe(
            np.array([0, 0]),
            at - DAY,
            at,
            is_changed=np.array([day % 3 == 0, day % 2 == 0]),
            others_quiet=np.full(2, 0.9),
            participation=np.ones(2),
        )
    return bulk


def test_groups_come_back_as_they_were():
    """Probabilities are kept to seven digits, all else exactly; a page alone needs no record."""
    bulk = watched()
    bulk.relearn(NOW + 11 * DAY, FIRST_RATES)

    records = pack_groups(bulk)
    back = unpack_groups(records, NOW + 11 * DAY, FIRST_RATES)

    assert list(records) == [3, -5]
    assert back.group_key.tolist() == [-5, 3]
    for name in ("n_pages", "watched_from", "edge"):
        np.testing.assert_array_equal(getattr(back, name), getattr(bulk, name)[:2])
    for name in ("probability", "counted", "rate"):
        np.testing.assert_allclose(getattr(back, name), getattr(bulk, name)[:2], rtol=1e-6)


def test_a_group_in_which_nothing_happened_is_short():
    """Most groups of a large collection are calm: 25 bytes each."""
    records = pack_groups(watched())

    assert len(records[3]) == 25
    assert len(records[-5]) > 500


@pytest.mark.parametrize(("record", "size"), [(b"", 1), (b"\1rest", 1)])
def test_what_has_no_record_of_a_group_is_a_page_alone(record: bytes, size: int):
    """Neither an absent record nor that of a host counts pages."""
    assert group_size(record) == size


def test_a_record_tells_the_size_of_its_group():
    """Of calm groups as of busy ones."""
    records = pack_groups(watched())

    assert [group_size(records[3]), group_size(records[-5])] == [4, 20]


def test_hosts_come_back_and_groups_are_passed_over():
    """Records of both kinds may come together; hosts without one have the overall prior."""
    prior = HostPrior(
        np.array([-7, 2]), ChangeRate(np.array([0.3, 0.9]), np.array([1e5, 2e6])), OVERALL
    )
    records = {**pack_hosts(prior), **pack_groups(watched())}

    back = unpack_hosts(records, OVERALL)

    assert back.host_key.tolist() == [-7, 2]
    np.testing.assert_array_equal(back.of(np.array([2, -7, 5])).shape, [0.9, 0.3, 0.5])
    np.testing.assert_array_equal(back.of(np.array([2, -7, 5])).exposure, [2e6, 1e5, 9e5])
    assert unpack_groups(records, NOW, FIRST_RATES).group_key.tolist() == [-5, 3]


def test_nothing_is_unpacked_from_nothing():
    """A new store has no records."""
    assert not len(unpack_groups({}, NOW, FIRST_RATES))
    assert not len(unpack_hosts({}, OVERALL).host_key)


def test_hosts_in_parts_are_the_same_as_together():
    """Cut up and put together again."""
    prior = HostPrior(np.arange(5), ChangeRate(np.arange(1.0, 6), np.arange(2.0, 7)), OVERALL)

    back = HostPrior.concatenate([prior.take(slice(0, 2)), prior.take(slice(2, 5))])

    np.testing.assert_array_equal(back.host_key, prior.host_key)
    np.testing.assert_array_equal(back.hosts.shape, prior.hosts.shape)
    np.testing.assert_array_equal(back.hosts.exposure, prior.hosts.exposure)


def test_signals_come_back_beside_the_priors_of_their_hosts():
    """Their keys are others than those of the hosts, and lead back to them."""
    signals = HostSignals.nothing()
    signals.hear(np.array([5, -9]), NOW)
    signals.observe(
        np.array([5]), np.array([2]), is_changed=np.array([True]), untold=np.array([0.3])
    )
    prior = HostPrior(np.array([5]), ChangeRate(np.array([0.3]), np.array([1e5])), OVERALL)

    back = unpack_signals({**pack_signals(signals), **pack_hosts(prior)})
    joined = HostSignals.concatenate([back, HostSignals.nothing()])

    assert back.host_key.tolist() == joined.host_key.tolist() == [-9, 5]
    for name in ("true", "false", "hidden", "heard_at", "gap"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(signals, name))
    assert set(signals_key(signals.host_key).tolist()) == set(pack_signals(signals))
    assert not len(unpack_signals({}))
