"""Where candidates come from, and what is forbidden."""

import numpy as np
import pytest
from spacy.kb import InMemoryLookupKB

from spacy_decoders import ProblemError
from spacy_decoders.components.linker.candidates import AliasCandidates, FoundCandidates
from tests.components.linker.linking import NAME, TEXT, entity, given, identifiers, pipeline


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


def small_base(nlp):
    kb = InMemoryLookupKB(nlp.vocab, entity_vector_length=2)
    for name, vector in {"cat": [1, 0], "car": [0, 1], "forest": [1, 0.1]}.items():
        kb.add_entity(name, freq=10, entity_vector=vector)
    kb.add_alias("big cat", ["cat", "car"], [0.6, 0.3])
    kb.add_alias("jungle", ["forest"], [1.0])
    return kb


def test_a_finder_of_ones_own_is_called_with_any_knowledge_base():
    nlp = pipeline(mentions="ents", pairs={"@misc": "spacy-decoders.EntityVectors.v1"})
    linker = nlp.get_pipe(NAME)
    linker.set_kb(lambda vocab: small_base(nlp))
    linker.candidates = lambda kb, mentions: [
        list(kb.get_alias_candidates("big cat")) for _ in mentions
    ]
    assert entity(nlp, "Jaguar").kb_id_ == "cat"


def test_a_graph_is_asked_for_where_there_is_none():
    nlp = pipeline(mentions="ents")
    nlp.get_pipe(NAME).set_kb(lambda vocab: small_base(nlp))
    with pytest.raises(ProblemError, match="needs a knowledge base with a graph"):
        entity(nlp, "jungle")
    with pytest.raises(ProblemError, match=r"types: \('place',\) needs a knowledge base"):
        nlp.get_pipe(NAME).types = ["place"]
