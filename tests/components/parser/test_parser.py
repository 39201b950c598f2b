"""``branch_and_bound_parser``: training, boundaries, safe writing, serialisation."""

import numpy as np
import pytest
import spacy
from spacy.training import Example

from spacy_decoders import ProblemError
from tests.components.parser import parsing


def test_learns_trees_and_boundaries(trained):
    scores = trained.evaluate(parsing.make_examples(trained))
    assert scores["dep_uas"] == scores["dep_las"] == scores["sents_f"] == 1.0
    assert scores["certified"] == 1.0


@pytest.mark.parametrize("more", [{"relatives_width": 4}, {"label_rows": 64}])
def test_learns_labels_from_relatives_or_templates(more):
    nlp = parsing.make_nlp(model={**parsing.SMALL, **more})
    scores = nlp.evaluate(parsing.make_examples(nlp))
    assert scores["dep_uas"] == scores["dep_las"] == 1.0
    again = parsing.make_nlp(steps=0, model={**parsing.SMALL, **more}).from_bytes(nlp.to_bytes())
    assert parsing.trees(parsing.parse(again)) == parsing.trees(parsing.parse(nlp))
    assert [len(doc) for doc in nlp.pipe(["", " ", "fish"])] == [0, 1, 1]


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ([True] + [False] * 8, [0]),
        ([None] * 9, [0, 6]),
        ([None, None, True, None, None, None, None, None, None], [0, 2, 6]),
        ([None] * 6 + [False, None, None], [0]),
    ],
)
def test_preset_boundaries_are_kept(trained, marks, expected):
    doc = parsing.parse(trained, sent_starts=marks)
    assert [sentence.start for sentence in doc.sents] == expected
    assert sum(token.dep_ == "ROOT" for token in doc) == len(expected)


@pytest.mark.parametrize(
    ("layer", "param", "named"),
    [
        *[("biaffine_arcs", "root", "arcs"), ("bilstm", "W", "arcs"), ("maxout", "b", "arcs")],
        *[("biaffine_labels", "b", "arcs"), ("linear", "b", "boundaries")],
    ],
)
def test_nan_scores_cost_one_document(layer, param, named):
    nlp = parsing.make_nlp(steps=1)
    failed = []
    nlp.set_error_handler(lambda name, pipe, docs, error: failed.append(str(error)))
    model = nlp.get_pipe(parsing.NAME).model
    within = model.get_ref("boundaries") if named == "boundaries" else model
    node = [node for node in within.walk() if node.name == layer][-1]
    node.get_param(param)[..., 0] = np.nan  # one label, or piece, of several
    assert list(nlp.pipe(["she eats .", "he eats"])) == []
    assert len(failed) == 2
    assert failed[0].startswith(f"{named}: every score must be finite")


@pytest.mark.parametrize(
    ("decoder", "factors", "projective"),
    [
        ("Eisner", [], True),
        ("ChuLiuEdmonds", [], False),
        ("PriceAndCut", ["arcs", "grandparents"], False),
    ],
)
def test_decoder_by_config(trained, decoder, factors, projective):
    nlp = parsing.make_nlp(
        decoder={"@decoders": f"spacy-decoders.{decoder}.v1"},
        factors=factors,
        projective=projective,
    )
    doc = parsing.parse(nlp)
    assert parsing.trees(doc) == parsing.trees(parsing.parse(trained))
    assert doc._.certificates[parsing.NAME][0]["decoder"] == decoder


def test_factors_learn_in_the_same_training():
    nlp = parsing.make_nlp(steps=0, factors_start=0)
    pipe = nlp.get_pipe(parsing.NAME)
    examples = parsing.make_examples(nlp)
    optimizer = nlp.resume_training()
    optimizer.learn_rate = 0.01
    assert not pipe.parser.templates
    for _ in range(40):
        nlp.update(examples, sgd=optimizer)
    assert pipe.parser.templates
    scores = nlp.evaluate(examples)
    assert scores["dep_uas"] == 1.0
    assert scores["certified"] == 1.0
    again = spacy.blank("en")
    again.add_pipe(parsing.NAME, config={"model": parsing.SMALL})
    again.from_bytes(nlp.to_bytes())
    assert again.get_pipe(parsing.NAME).parser.templates
    assert parsing.trees(parsing.parse(again)) == parsing.trees(parsing.parse(nlp))


def test_a_trained_parser_meets_other_examples():
    nlp = parsing.make_nlp(steps=1)
    settings = dict(nlp.get_pipe(parsing.NAME).cfg)
    few = [Example(parsing.bare(gold), gold) for gold in [parsing.make_gold(nlp, [1])]]
    nlp.initialize(lambda: few)  # as `spacy debug data` does
    assert nlp.get_pipe(parsing.NAME).cfg == settings
    few[0].reference[0].dep_ = "novel"
    message = r"labels that it lacks \(novel; .*`factory` in place of `source`"
    with pytest.warns(UserWarning, match=message):
        nlp.update(few)
    with pytest.raises(ProblemError, match="can't learn 'novel' as well"):
        nlp.initialize(lambda: few)


def test_labels_are_strings():
    parser = spacy.blank("en").add_pipe(parsing.NAME)
    for wrong in (3, ""):
        with pytest.raises(ProblemError, match=r"^label: expected a string"):
            parser.add_label(wrong)
    assert parser.cfg["labels"] == []


@pytest.mark.parametrize(("factory", "wrong"), [(parsing.NAME, ["a"]), ("exact_tagger", {"a": 1})])
def test_labels_of_another_component_are_refused(factory, wrong):
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe(factory)
    with pytest.raises(ProblemError, match=r"^labels: expected"):
        pipe.initialize(lambda: parsing.make_examples(nlp), labels=wrong)
