"""Certificates are comparisons of numbers, never assertions."""

import json
import math

import pytest

from spacy_decoders import Certificate, ProblemError
from spacy_decoders.certificate import largest_tolerance


def test_a_gap_is_stated_on_either_side():
    assert Certificate.from_bound("X", 1.0, 2.0, tolerance=0.0).gap == 1.0
    assert Certificate.from_bound("X", 2.0, 1.0, tolerance=0.0, minimized=True).gap == 1.0


def test_a_bound_that_the_score_disproves_is_no_bound() -> None:
    for minimized in (False, True):
        score, bound = (1.0, 2.0) if minimized else (2.0, 1.0)
        certificate = Certificate.from_bound("X", score, bound, tolerance=0.5, minimized=minimized)
        assert (certificate.status, certificate.bound) == ("heuristic", None)


def test_the_tolerance_is_of_the_scale_of_the_structure() -> None:
    masked = Certificate.from_bound("X", 10.0, 716.0, tolerance=715.0, scale=30.0)
    assert masked.status == "bounded"
    assert masked.tolerance == largest_tolerance(30.0) == 31e-6
    assert Certificate.from_bound("X", 1.0, 1.0 + 1e-5, tolerance=1.0).status == "bounded"
    assert Certificate.from_bound("X", 1.0, 1.0 + 1e-5, tolerance=1.0, scale=20.0).is_optimal


def test_an_infinite_bound_is_no_bound():
    certificate = Certificate.from_bound("X", 1.0, math.inf, tolerance=0.0)
    assert (certificate.status, certificate.bound, certificate.gap) == ("heuristic", None, None)


@pytest.mark.parametrize("minimized", [False, True])
def test_an_infinite_bound_proves_nothing_whatever_the_tolerance(minimized):
    given = {"tolerance": math.inf, "scale": math.inf, "minimized": minimized}
    for bound in (-math.inf, math.inf):
        certificate = Certificate.from_bound("X", 1.0, bound, **given)
        assert (certificate.status, certificate.bound) == ("heuristic", None)


def test_confidence_without_proof_is_probable():
    certificate = Certificate.from_bound("X", 1.0, 2.0, tolerance=0.0, confidence=0.999)
    assert (certificate.status, certificate.confidence) == ("probable", 0.999)
    unbounded = Certificate.from_bound("X", 1.0, math.inf, tolerance=0.0, confidence=0.5)
    assert (unbounded.status, unbounded.bound, unbounded.confidence) == ("probable", None, 0.5)


@pytest.mark.parametrize("score, bound", [(math.nan, 1.0), (1.0, math.nan), (-math.inf, 1.0)])
def test_nonsense_is_never_certified(score, bound):
    with pytest.raises(ProblemError, match="certificate"):
        Certificate.from_bound("X", score, bound, tolerance=1e-6)
    with pytest.raises(ProblemError, match="certificate"):
        Certificate.heuristic("X", score if bound == 1.0 else bound)


def test_every_status_is_plain_json():
    for certificate in (
        Certificate.from_bound("X", 1.0, 2.0, tolerance=0.0),
        Certificate.heuristic("X", 1.0),
        Certificate.from_bound("X", 1.0, 2.0, tolerance=0.0, confidence=0.9),
        Certificate.infeasible("X"),
        Certificate.undecided("X"),
    ):
        assert Certificate(**json.loads(json.dumps(certificate.as_dict()))) == certificate
