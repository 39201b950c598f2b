"""The graph of a summary."""

from spacy_decoders.models.headline.corpus_counts import CorpusCounts
from spacy_decoders.models.headline.sentence_graph import sentence_graph
from tests.models.headline.texts import text


def test_sentences_that_say_the_same_are_one_class():
    words = text(
        1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, sentences=[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    )  # fmt: skip
    problem = sentence_graph(words, CorpusCounts.empty())
    assert problem.classes[0] == problem.classes[2] != problem.classes[1]
    assert problem.start[0] > problem.start[1]
    assert problem.weights[0, 1] - problem.start[1] > problem.weights[1, 0] - problem.start[0]
