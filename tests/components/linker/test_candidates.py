"""Where candidates come from, and what is forbidden."""

import numpy as np
import pytest
from spacy.kb import InMemoryLookupKB
from spacy.tokens import Span

from spacy_decoders import ProblemError
from spacy_decoders.components.linker.candidates import AliasCandidates, FoundCandidates
from tests.components.linker.linking import NAME, TEXT, given, identifiers, pipeline


def test_forbidden_candidates_are_never_chosen():
    """A finder of one's own says what a mention can't mean: here the animal, then anything."""

    def without(words, forbidden):
        def find(kb, mentions):
            found = []
            for mention, one in zip(mentions, AliasCandidates()(kb, mentions), strict=True):
                ids = [kb.base.id(int(concept)) for concept in one.concepts]
                bad = [mention.text in words and forbidden(name) for name in ids]
                found.append(FoundCandidates(one.concepts, np.where(bad, -1.0, one.priors)))
            return found

        return find

    nlp = pipeline()
    linker = nlp.get_pipe(NAME)
    linker.candidates = without({"jaguar"}, lambda name: name == "jaguar")
    ent = nlp(given(nlp, TEXT, "jaguar")).ents[0]
    assert ent.kb_id_ not in ("jaguar", "")
    score_of = {one["id"]: one["score"] for one in ent._.link["candidates"]}
    assert score_of["jaguar"] == 0.0 and sum(score_of.values()) <= 1 + 1e-6
    linker.candidates = without({"jaguar"}, lambda name: True)
    doc = nlp(given(nlp, TEXT, "jaguar"))
    assert identifiers(doc) == {"jaguar": "", "jungle": "jungle", "Amazon": "amazon_rainforest"}
    assert doc.ents[0]._.link["candidates"] == []
    assert doc._.certificates[NAME][0]["status"] == "optimal"
    linker.candidates = without({"jaguar", "jungle", "Amazon"}, lambda name: True)
    doc = nlp(given(nlp, TEXT, "jaguar", "jungle", "Amazon"))
    assert set(identifiers(doc).values()) == {""}
    assert doc._.certificates[NAME] == []


def test_candidates_by_words():
    nlp = pipeline(mentions="spans", candidates={"@misc": "spacy-decoders.TextCandidates.v1"})
    doc = nlp.make_doc("The red planet glows")
    doc.spans["sc"] = [doc[1:3]]
    assert nlp(doc).spans["sc"][0].kb_id_ == "mars_planet"


def test_any_knowledge_base_of_spacy():
    nlp = pipeline(mentions="ents", pairs={"@misc": "spacy-decoders.EntityVectors.v1"})
    kb = InMemoryLookupKB(nlp.vocab, entity_vector_length=2)
    for entity, vector in {"cat": [1, 0], "car": [0, 1], "forest": [1, 0.1]}.items():
        kb.add_entity(entity, freq=10, entity_vector=vector)
    kb.add_alias("Jaguar", ["cat", "car"], [0.5, 0.5])
    kb.add_alias("jungle", ["forest"], [1.0])
    nlp.get_pipe(NAME).set_kb(lambda vocab: kb)
    doc = nlp.make_doc("Jaguar of the jungle")
    doc.ents = [Span(doc, 0, 1, label="X"), Span(doc, 3, 4, label="X")]
    assert identifiers(nlp(doc)) == {"Jaguar": "cat", "jungle": "forest"}


def test_a_graph_is_asked_for_where_there_is_none():
    nlp = pipeline(mentions="ents")
    kb = InMemoryLookupKB(nlp.vocab, entity_vector_length=1)
    kb.add_entity("x", 1, [1.0])
    kb.add_alias("Jaguar", ["x"], [1.0])
    nlp.get_pipe(NAME).set_kb(lambda vocab: kb)
    doc = nlp.make_doc("Jaguar")
    doc.ents = [Span(doc, 0, 1, label="X")]
    with pytest.raises(ProblemError, match="needs a knowledge base with a graph"):
        nlp(doc)


def test_spacys_generator_with_a_concept_base():
    nlp = pipeline()
    expected = identifiers(nlp(TEXT))
    nlp.get_pipe(NAME).candidates = lambda kb, mention: kb.get_candidates(mention)
    assert identifiers(nlp(TEXT)).keys() == expected.keys()
    assert nlp(TEXT).ents[0]._.link["candidates"]


@pytest.mark.parametrize(
    "found, message",
    [
        (FoundCandidates([0, 1], [0.5, 0.5], [1.0]), "written: expected one for each of 2"),
        (FoundCandidates([0], [None]), "priors: nan is no finite"),
        (FoundCandidates([0], None), "priors: expected"),
        (FoundCandidates([0], ["x"]), "priors: expected numbers"),
        (FoundCandidates([0.5], [0.5]), "concepts: expected whole numbers"),
        (FoundCandidates([0], [np.nan]), "priors: nan is no finite number"),
        (FoundCandidates([0], [1.0], None, None, [np.inf]), "popularity: inf"),
        (FoundCandidates([10**6], [1.0]), "concepts are numbered from 0"),
    ],
)
def test_what_a_finder_gives_is_checked(found, message):
    nlp = pipeline()
    nlp.get_pipe(NAME).candidates = lambda kb, mentions: [found] * len(mentions)
    with pytest.raises(ProblemError, match=message):
        nlp(TEXT)


def test_candidates_may_be_lists():
    nlp = pipeline()
    nlp.get_pipe(NAME).candidates = lambda kb, mentions: (
        [FoundCandidates([0, 1], [0.5, 0.25], [np.nan, 0.5])] * len(mentions)
    )
    assert len(nlp(TEXT).ents[0]._.link["candidates"]) == 2


def test_types_need_a_knowledge_base_that_has_them():
    nlp = pipeline(mentions="ents")
    linker = nlp.get_pipe(NAME)
    linker.set_kb(lambda vocab: InMemoryLookupKB(vocab, entity_vector_length=1))
    with pytest.raises(ProblemError, match="types: concepts have them in"):
        linker.types = ["place"]
