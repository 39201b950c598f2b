"""Families of factors that do not help on held-out trees are switched off."""

from __future__ import annotations

import logging

import numpy as np
import pytest
import spacy

from spacy_decoders.errors import ProblemError
from spacy_decoders.registry.callbacks import choose_factors
from tests.components.parser.parsing import NAME, make_examples, make_nlp

FAMILIES = ["arcs", "grandparents", "siblings"]


@pytest.fixture
def nlp():
    """A parser whose arcs alone are right, and whose factors are strong and random."""
    nlp = make_nlp(factors_start=10**6)
    weights = nlp.get_pipe(NAME).model.get_ref("factors")
    rng = np.random.default_rng(5)
    for family in ("grandparents", "siblings"):
        table = weights.get_param(family)
        weights.set_param(family, rng.normal(0, 3.0, table.shape).astype("f"))
    return nlp


def test_what_harms_is_switched_off_and_told(nlp, caplog, tmp_path):
    before = nlp.evaluate(make_examples(nlp))["dep_las"]
    assert before < 1.0, "the test is void if the factors do no harm"
    with caplog.at_level(logging.INFO, logger="spacy"):
        logging.getLogger("spacy").propagate = True
        chosen = choose_factors(make_examples)(nlp)
    assert {"grandparents", "siblings"}.isdisjoint(chosen.get_pipe(NAME).factors)
    assert chosen.evaluate(make_examples(chosen))["dep_las"] == 1.0
    # what is in training keeps all, and what is saved does not
    assert list(nlp.get_pipe(NAME).factors) == FAMILIES
    assert nlp.evaluate(make_examples(nlp))["dep_las"] == before
    chosen.to_disk(tmp_path)
    loaded = spacy.load(tmp_path).get_pipe(NAME)
    assert list(loaded.factors) == list(chosen.get_pipe(NAME).factors)
    told = [record.getMessage() for record in caplog.records if "switched off" in record.msg]
    assert any("'siblings' is switched off: without it LAS" in line for line in told)


def test_what_helps_is_kept(nlp):
    """The network's arcs are made useless, so that templates of arcs are all that is right."""
    pipe = nlp.get_pipe(NAME)
    pipe.configure(factors=["arcs"], factors_start=0)
    for layer in pipe.model.get_ref("arcs").walk():
        for name in layer.param_names:
            layer.set_param(name, np.zeros_like(layer.get_param(name)))
    weights = pipe.model.get_ref("factors")
    for _ in range(20):
        pipe.update(make_examples(nlp))
        weights.set_param("arcs", weights.get_param("arcs") - weights.get_grad("arcs"))
        weights.set_grad("arcs", np.zeros_like(weights.get_grad("arcs")))
    chosen = choose_factors(make_examples)(nlp)
    assert list(chosen.get_pipe(NAME).factors) == ["arcs"]


def test_without_trained_weights_there_is_nothing_to_choose():
    nlp = make_nlp(steps=1)
    chosen = choose_factors(make_examples)(nlp)
    assert list(chosen.get_pipe(NAME).factors) == FAMILIES


def test_wrong_names_and_missing_trees_are_refused(nlp):
    with pytest.raises(ProblemError, match="components: nobody has no factors to choose"):
        choose_factors(make_examples, ["nobody"])(nlp)
    with pytest.raises(ProblemError, match=r"corpus: .* finds no trees"):
        choose_factors(lambda nlp: [])(nlp)
