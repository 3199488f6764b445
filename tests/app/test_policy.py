from __future__ import annotations

import math

from recrawl.core.document import scheme_id
from recrawl.signatures.md5 import MD5
from recrawl.signatures.text_md5 import TextMD5


def test_a_policy_knows_its_scheme(world):
    """The scheme is that of its signature, worked out once."""
    md5, text = (world.policy_with(signature=kind()) for kind in (MD5, TextMD5))

    assert md5.scheme == scheme_id(MD5().scheme)
    assert md5.scheme != text.scheme


def test_policies_are_compared_by_identity(world):
    """Pages of one policy are grouped; two policies are never mixed up for being alike."""
    one, other = world.policy_with(), world.policy_with()

    assert one != other
    assert {one: 1}[one] == 1


def test_defaults_say_nothing(world):
    """Without a rule nothing is fixed, and every page weighs the same."""
    policy = world.policy_with()

    assert math.isnan(policy.fixed_interval)
    assert policy.importance == 1.0
