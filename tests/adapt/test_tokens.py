"""Entities from the scores of a token classifier, as arrays."""

from itertools import product

import numpy as np
import pytest

from spacy_decoders import InfeasibleError, ProblemError, verify
from spacy_decoders.adapt.tokens import EntityDecoder, merge_windows, word_scores
from spacy_decoders.adapt.tokens.words import log_softmax
from spacy_decoders.decoders import chain

SCHEMES = {
    "BIO": ["O", "B-A", "I-A", "B-B", "I-B"],
    "IOB1": ["O", "B-A", "I-A", "I-B"],
    "BILOU": ["O", "B-A", "I-A", "L-A", "U-A", "U-B"],
    "BILOU, as BIOES": ["O", "B-A", "I-A", "E-A", "S-A"],
    "IO": ["O", "I-A", "I-B"],
    "IO, mixed": ["O", "A", "I-A", "B-A", "I-B"],
}


def labellings(decoder: EntityDecoder, scores):
    """All legal labellings and what they are worth."""
    model = decoder.model
    for labels in product(range(len(decoder.rules)), repeat=len(scores)):
        worth = model.score(np.float32(scores), np.array(labels))
        if worth > -np.inf:
            yield np.array(labels), worth


@pytest.mark.parametrize("name", SCHEMES)
def test_entities_are_legal_and_the_best_with_their_probability(rng, name):
    size = len(SCHEMES[name])
    for n in (1, 2, 4):
        scores = rng.normal(size=(n, size))
        transitions = rng.normal(size=(size, size))
        scheme = "IO" if name == "IO, mixed" else "auto"
        decoder = EntityDecoder(SCHEMES[name], scheme, transitions=transitions)
        assert decoder.rules.name == name.split(",")[0]
        found = decoder.decode(scores)
        assert found.certificate.status == "optimal"
        solution = chain.ChainSolution(found.labels, found.certificate)
        assert verify((decoder.model, np.float32(scores)), solution)
        every = list(labellings(decoder, scores))
        assert found.certificate.score == pytest.approx(max(worth for _, worth in every), abs=1e-5)
        total = sum(np.exp(worth) for _, worth in every)
        for entity in found.entities:
            having = sum(
                np.exp(worth)
                for labels, worth in every
                if (entity.start, entity.end, entity.label) in decoder.rules.entities(labels)
            )
            assert entity.probability == pytest.approx(having / total, rel=1e-5)


def test_a_batch_is_each_text_in_one_pass_of_forward_backward(rng, monkeypatch):
    decoder = EntityDecoder(SCHEMES["BIO"])
    texts = [rng.normal(size=(n, len(SCHEMES["BIO"]))) for n in (4, 0, 7, 1, 12)]
    apart = [decoder.decode(scores) for scores in texts]
    calls, posteriors = [], chain.posteriors
    monkeypatch.setattr(
        chain, "posteriors", lambda *given: calls.append(given) or posteriors(*given)
    )
    for one, found in zip(apart, decoder.decode_batch(texts), strict=True):
        assert [e.label for e in found.entities] == [e.label for e in one.entities]
        probabilities = [[e.probability for e in of.entities] for of in (found, one)]
        np.testing.assert_allclose(*probabilities, rtol=1e-9)
    assert len(calls) == 1 and sum(len(found.entities) for found in apart) > 3


def test_rankings_and_marginals(rng):
    decoder = EntityDecoder(SCHEMES["BIO"])
    scores = rng.normal(size=(4, 5))
    ranked = decoder.k_best(scores, 3)
    worths = sorted((worth for _, worth in labellings(decoder, scores)), reverse=True)
    assert [f.certificate.score for f in ranked] == pytest.approx(worths[:3], abs=1e-5)
    assert chain.marginals(decoder.model, scores).sum(axis=1) == pytest.approx(np.ones(4))


def test_what_is_forbidden_is_never_found():
    decoder = EntityDecoder({"1": "B-A", "0": "O", "2": "I-A"})  # as a model has them
    scores = np.array([[0.0, -np.inf, 5.0], [0.0, 3.0, 9.0]])
    assert decoder.decode(scores).labels.tolist() == [0, 1]
    with pytest.raises(InfeasibleError):
        decoder.decode([[-np.inf, -np.inf, 1.0]])


# --- subwords and windows


def test_words_have_the_scores_of_their_subwords(rng):
    logits = rng.normal(size=(6, 3))
    ids = [None, 0, 0, 2, 2, None]
    logs = log_softmax(logits)
    assert word_scores(logits, ids)[0] == pytest.approx(logs[1])
    as_series = [float("nan") if word is None else float(word) for word in ids]
    assert np.array_equal(word_scores(logits, as_series), word_scores(logits, ids))
    assert word_scores(logits, ids, 4)[1] == pytest.approx(np.log([1 / 3] * 3))
    for wrong in ([0, 1], [0, 0, 1, 0, 1, 1]):
        with pytest.raises(ProblemError, match="word_ids"):
            word_scores(logits, wrong)
    with pytest.raises(
        ProblemError, match=r"'PER' has none .* set scheme=\"IO\" of EntityDecoder"
    ):
        EntityDecoder(["O", "PER"])
    with pytest.raises(ProblemError, match=r"^probabilities: "):
        EntityDecoder(["O", "B-PER"], probabilities="no")
    with pytest.raises(ProblemError, match="words"):
        word_scores(logits, ids, 2)


@pytest.mark.parametrize(("length", "step"), [(10, 5), (7, 3), (50, 50)])
def test_windows_of_a_text_are_put_together(rng, length, step):
    logits = rng.normal(size=(40, 4))
    begins = [*range(0, max(1, 40 - length), step), max(0, 40 - length)]
    windows = [
        (logits[begin : begin + length], list(range(begin, min(40, begin + length))))
        for begin in begins
    ]
    merged, places = merge_windows(windows)
    assert places.tolist() == list(range(40))
    assert merged == pytest.approx(logits)


def test_a_subword_is_taken_from_the_middle_of_a_window():
    windows = [([[1.0]] * 4, [0, 1, 2, 3]), ([[2.0]] * 6, [None, 2, 3, 4, 5, None])]
    merged, _ = merge_windows(windows)
    # of subword 2 both windows know as much; subword 3 is at the edge of the first
    assert merged[:, 0].tolist() == [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]
    with pytest.raises(ProblemError, match="places"):
        merge_windows([([[1.0]], [0, 1])])
    with pytest.raises(ProblemError, match=r"windows\[1\]: expected shape"):
        merge_windows([([[1.0]], [0]), ([[1.0, 2.0]], [1])])


# --- transitions that are learned


def test_the_gradient_is_that_of_the_objective(rng):
    from scipy.optimize import check_grad

    from spacy_decoders.adapt.learning import ChainObjective

    rules = EntityDecoder(SCHEMES["BIO"]).model
    gold = [np.array([1, 2, 0]), np.array([0, 3])]
    scores = [rng.normal(size=(len(labels), 5)) for labels in gold]
    objective = ChainObjective(scores, gold, rules)
    point = objective.first + rng.normal(size=len(objective.first)) * 0.1
    step = 1e-3  # scores are single precision
    error = check_grad(lambda x: objective(x)[0], lambda x: objective(x)[1], point, epsilon=step)
    assert error < 2e-2


def test_a_decoder_learns_within_its_rules(rng):
    decoder = EntityDecoder(SCHEMES["BIO"])
    gold = [np.array([1, 2, 2, 0]), np.array([0, 3, 4, 0]), np.array([2, 0, 0, 0])]
    scores = [rng.normal(size=(4, 5)) for _ in gold]
    learned = decoder.learned(scores, gold)
    # the third text breaks the scheme
    assert np.isneginf(learned.model.transitions[0, 2])
    assert learned.decode(scores[0]).certificate.status == "optimal"
    with pytest.raises(ProblemError, match="no text has legal labels"):
        decoder.learned(scores[2:], gold[2:])
