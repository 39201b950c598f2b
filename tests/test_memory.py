"""Problems whose tables would not fit the memory are refused before these are made."""

import tracemalloc

import numpy as np
import pytest
from spacy.tokens import Doc

import spacy_decoders
from spacy_decoders import arrays
from spacy_decoders.decoders.chain import ChainModel, Viterbi
from spacy_decoders.decoders.chain.problem import Sentences
from spacy_decoders.decoders.path import PathProblem
from spacy_decoders.decoders.representatives import RepresentativesProblem
from spacy_decoders.decoders.tree import TreeProblem
from spacy_decoders.errors import ProblemError
from spacy_decoders.graph import ConceptGraph


def square(n):
    """So many rows and columns in the memory of one number."""
    return np.broadcast_to(0.0, (n, n))


def distances():
    graph = ConceptGraph.from_edges([(0, 1), (1, 2)])
    return graph.distances(np.zeros(40_000, np.int64))


CASES = {
    "arcs: the tables for 16999 tokens": lambda: TreeProblem(square(17_000)),
    "weights: the tables for 20000 vertices": lambda: PathProblem(
        np.zeros(20_000), square(20_000), np.zeros(20_000), np.arange(20_000)
    ),
    "distances: the tables for 20000 vertices": lambda: RepresentativesProblem(
        square(20_000), [[0], [1]]
    ),
    "vertices: the tables for the distances among 40000 vertices": distances,
}


@pytest.mark.parametrize("message", CASES)
def test_what_needs_too_much_is_refused_before_it_is_made(message):
    tracemalloc.start()
    try:
        with pytest.raises(ProblemError, match=rf"{message} would take .* GB, more than the 8 GB"):
            CASES[message]()
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def test_a_sentence_too_long_for_the_parser_costs_its_document_alone(monkeypatch):
    nlp = spacy_decoders.load(enable=["parser"])
    failed = []
    nlp.set_error_handler(lambda *given: failed.append(str(given[-1])))
    monkeypatch.setattr(arrays, "MOST_BYTES", 1 << 20)
    texts = [["He", "left", "."], ["left"] * 100]
    docs = [Doc(nlp.vocab, text, sent_starts=[True] + [False] * (len(text) - 1)) for text in texts]
    assert [len(doc) for doc in nlp.pipe(docs)] == [3]
    assert len(failed) == 1
    assert failed[0].startswith("sentence starts: the tables for a sentence of 100 words would")


def test_messages_of_a_long_sentence_are_refused(monkeypatch):
    monkeypatch.setattr(arrays, "MOST_BYTES", 1 << 28)
    model = ChainModel(np.zeros((2000, 2000), np.float32))
    emissions = np.zeros((20_000, 2000), np.float32)
    message = "emissions: the tables for a sentence of 20000 tokens with 2000 labels .* split it"
    with pytest.raises(ProblemError, match=message):
        Viterbi().decode(model, emissions)
    assert len(Sentences.of(model, emissions, [1] * 20_000)) == 20_000
