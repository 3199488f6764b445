"""Whether a page changed is decided in one place."""

from __future__ import annotations

import pytest

from recrawl.core.observation import observe
from recrawl.core.states import PageStates
from recrawl.core.visit import Observation, Outcome, Visits

A, B = b"A" * 16, b"B" * 16


def observed(outcome: Outcome, signature: bytes, scheme: int = 1, known: int = 1) -> Observation:
    """Return what a visit says of a page whose content was A."""
    states = PageStates.of(1, signature=A, signature_scheme=known)
    visits = Visits.of(
        1, fetched_at=0, outcome=outcome, signature=signature, signature_scheme=scheme
    )
    return Observation(observe(states, visits)[0])


def test_content_is_compared_by_signature() -> None:
    """Equal signatures are unchanged, others are changed."""
    assert observed(Outcome.SUCCESS, A) is Observation.UNCHANGED
    assert observed(Outcome.SUCCESS, B) is Observation.CHANGED


@pytest.mark.parametrize(("scheme", "known"), [(2, 1), (0, 1), (1, 0), (0, 0)])
@pytest.mark.parametrize("signature", [A, B])
def test_another_scheme_or_a_missing_side_is_unknown(
    signature: bytes, scheme: int, known: int
) -> None:
    """Signatures are compared only if both are there and made alike."""
    assert observed(Outcome.SUCCESS, signature, scheme, known) is Observation.UNKNOWN


@pytest.mark.parametrize("signature", [A, B])
def test_a_304_is_unchanged_whatever_the_signatures(signature: bytes) -> None:
    """The server said so."""
    assert observed(Outcome.NOTMODIFIED, signature) is Observation.UNCHANGED


@pytest.mark.parametrize("outcome", set(Outcome) - {Outcome.SUCCESS, Outcome.NOTMODIFIED})
@pytest.mark.parametrize("signature", [A, B])
def test_every_other_outcome_is_unknown(outcome: Outcome, signature: bytes) -> None:
    """A failure or a redirect never reads as a change."""
    assert observed(outcome, signature) is Observation.UNKNOWN


def test_no_visits_give_no_observations() -> None:
    """An empty batch is answered by an empty one."""
    assert observe(PageStates.of(0), Visits.of(0, fetched_at=[], outcome=[])).shape == (0,)


@pytest.mark.parametrize("outcome", [Outcome.REDIR_TEMP, Outcome.REDIR_PERM])
def test_redirects_can_be_compared(outcome: Outcome) -> None:
    """A redirect with a signature is compared if that is asked for, a failure never."""
    states = PageStates.of(2, signature=b"A" * 16, signature_scheme=7)
    visits = Visits.of(
        2, fetched_at=0, outcome=[outcome, Outcome.GONE], signature=b"B" * 16, signature_scheme=7
    )

    assert observe(states, visits).tolist() == [Observation.UNKNOWN] * 2
    compared = observe(states, visits, compares_redirects=True)
    assert compared.tolist() == [Observation.CHANGED, Observation.UNKNOWN]
