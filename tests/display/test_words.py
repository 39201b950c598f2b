"""Certificates in words promise no more than the certificates."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_decoders import Certificate
from spacy_decoders.display.words import in_words, in_words_together


def bounded(gap, scope="full"):
    return Certificate.from_bound("X", 100.0 - gap, 100.0, tolerance=0.0, scope=scope)


def probable(confidence):
    return Certificate.from_bound("X", 1.0, 2.0, tolerance=0.0, confidence=confidence)


def optimal(scope):
    return Certificate.from_bound("X", 1.0, 1.0, tolerance=0.0, scope=scope)


@pytest.mark.parametrize(
    "certificate, words",
    [
        (optimal("full"), "proven optimal"),
        (optimal("pruned"), "the best among the candidates kept"),
        (Certificate.infeasible("X"), "impossible: no answer satisfies the constraints"),
        (probable(0.9996), "optimal with probability 99.9%"),
        (
            Certificate.from_bound("X", 0.0, 0.5, tolerance=0.0),
            "at most 0.5 from the best possible",
        ),
        (bounded(1e-7), "within 0.1% of the best possible"),
        (Certificate.heuristic("X", 1.0), "nothing proven: a heuristic answer"),
        (bounded(1.0, "pruned"), "within 1% of the best among the candidates kept"),
    ],
)
def test_certificates_in_words(certificate, words):
    assert in_words(certificate.as_dict()) == words


def test_many_speak_by_the_weakest_of_their_kind():
    given = [bounded(1.0), optimal("full"), bounded(3.0), bounded(5.0, "pruned"), optimal("full")]
    assert [tuple(saying) for saying in in_words_together([c.as_dict() for c in given])] == [
        ("optimal", 2, "proven optimal"),
        ("bounded", 2, "within 3% of the best possible"),
        ("bounded", 1, "within 5% of the best among the candidates kept"),
    ]
    unsure = [probable(share).as_dict() for share in (0.999, 0.9, 0.99)]
    assert [s.words for s in in_words_together(unsure)] == ["optimal with probability 90%"]


@given(st.floats(1e-6, 1e6), st.floats(1e-9, 1.0), st.booleans())
def test_a_gap_is_never_said_to_be_smaller(bound, share, pruned):
    """Rounded up, and a tenth of a per cent at most, but for the arithmetic of the division."""
    scope = "pruned" if pruned else "full"
    given = Certificate.from_bound("X", bound - share * bound, bound, tolerance=0.0, scope=scope)
    if given.status != "bounded" or given.gap >= bound:
        return
    said = re.match(r"within ([\d.e-]+)% of the best", in_words(given.as_dict()))
    exact = 100 * given.gap / bound
    assert exact - 1e-4 <= float(said[1]) <= exact + 0.1 + 1e-9


@given(st.floats(0.0, 1.0))
def test_a_confidence_is_never_said_to_be_larger(confidence):
    said = in_words(probable(confidence).as_dict())
    percent = float(said.removeprefix("optimal with probability ").removesuffix("%"))
    assert percent <= 100 * confidence + 1e-9
