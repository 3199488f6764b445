"""Signatures that public crawlers got wrong."""

from __future__ import annotations

import numpy as np

from recrawl.core.document import Document, scheme_id
from recrawl.core.observation import observe
from recrawl.core.states import PageStates
from recrawl.core.visit import Observation, Outcome, Visits
from recrawl.extract.document import extract_document
from recrawl.signatures.md5 import MD5
from recrawl.signatures.text_md5 import TextMD5
from recrawl.signatures.text_profile import TextProfile

URL = "http://a.example/"


def profile(text):
    return TextProfile().sign(Document(URL, b"content", text)).hex()


def test_sig_001(case):
    """Words of equal count are sorted, so their order in the text plays no part."""
    given = case("sig-001")
    text = given["input"]["text"]

    backwards = " ".join(reversed(text.split()))

    assert profile(text) == profile(backwards) == given["expected"]["md5"]


def test_sig_002(case):
    """A price that occurs once is not seen by text-profile, and is by text-md5."""
    given = case("sig-002")
    texts = given["input"]["texts"]

    exact = {TextMD5().sign(Document(URL, b"content", text)) for text in texts}

    assert {profile(text) for text in texts} == {given["expected"]["md5"]}
    assert len(exact) == 2


def test_sig_003(case):
    """Texts of short words are one to text-profile, as in Nutch; to text-md5 they are not."""
    given = case("sig-003")
    texts = given["input"]["texts"]

    exact = {TextMD5().sign(Document(URL, b"content", text)) for text in texts}

    assert {profile(text) for text in texts} == {given["expected"]["upstream_md5_both"]}
    assert len(exact) == 2


def test_sig_005(case):
    """Empty pages are told apart by their URLs."""
    given = case("sig-005")

    for url, body in given["input"]["bodies"].items():
        for signature in (MD5(), TextMD5(), TextProfile()):
            digest = signature.sign(Document(url, body.encode(), ""))

            assert digest.hex() == given["expected"][url]


def test_sig_006(case):
    """A missing signature is no evidence, also where both are missing."""
    assert case("sig-006")["expected"]["state"] == "unknown"
    scheme = scheme_id(MD5().scheme)
    states = PageStates.of(2, page_key=[1, 2])
    visits = Visits.of(
        2, page_key=[1, 2], fetched_at=1, outcome=Outcome.SUCCESS, signature_scheme=[scheme, 0]
    )

    np.testing.assert_array_equal(observe(states, visits), [Observation.UNKNOWN] * 2)


def test_sig_016(case):
    """Another rendering of the same text changes the bytes and not the text."""
    expected = case("sig-016")["expected"]
    bodies = [b"<p id=1 class=a>Text</p>", b"<p class=a id=2>Text</p>"]

    documents = []
    for body in bodies:
        found = extract_document(body, content_type="text/html", url=URL)
        documents.append(Document(URL, body, found.text))

    for signature, name in ((MD5(), "raw_md5_equal"), (TextMD5(), "text_md5_equal")):
        one, other = (signature.sign(document) for document in documents)
        assert (one == other) is expected[name]
