"""The concept base serves spaCy's own linker, in this process and in workers."""

import numpy as np
import pytest
import spacy

from spacy_decoders import ProblemError
from spacy_decoders.components.linker.knowledge_base import ConceptKnowledgeBase
from spacy_decoders.knowledge.concept_base import ConceptBase, write_concept_base
from spacy_decoders.knowledge.concepts import Concept
from tests.components.linker.linking import linked_example
from tests.knowledge.test_concept_base import CONCEPTS as WITH_AN_IMPOSTOR

CONCEPTS = WITH_AN_IMPOSTOR[:3]
TEXT = "The JAGUAR lives in the jungle"


@pytest.fixture
def kb(tmp_path):
    write_concept_base(tmp_path / "kb", CONCEPTS)
    return ConceptKnowledgeBase(spacy.blank("en").vocab, None).from_disk(tmp_path / "kb")


def test_candidates_have_priors_and_identifiers(kb):
    doc = spacy.blank("en", vocab=kb.vocab)(TEXT)
    jaguar, jungle = kb.get_candidates_batch([doc[1:2], doc[5:6]])
    assert [(c.entity_, c.prior_prob) for c in jaguar] == [("cat", 0.75), ("car", 0.25)]
    assert [c.entity_ for c in jungle] == ["jungle"]
    assert jaguar[0].alias_ == "JAGUAR"
    assert kb.get_candidates(doc[0:1]) == []


def test_it_is_saved_with_a_pipeline_and_by_path(kb, tmp_path):
    kb.to_disk(tmp_path / "copy")
    kb.to_disk(kb.base.folder)
    copy = ConceptKnowledgeBase(kb.vocab, None).from_disk(tmp_path / "copy")
    assert copy.base.number("cat") == kb.base.number("cat")
    assert copy.from_bytes(kb.to_bytes()).base.folder == kb.base.folder.resolve()
    with pytest.raises(ProblemError, match="not on this machine"):
        copy.from_bytes(b"/nowhere/at/all")
    copy.base = ConceptBase.open(tmp_path / "copy", live=True)
    copy.base.remove("cat")
    assert "cat" not in kb.from_bytes(copy.to_bytes()).base
    copy.base = ConceptBase.open(tmp_path / "copy")
    copy.base.remove("car")
    with pytest.raises(ProblemError, match="use to_disk"):
        copy.to_bytes()


def test_it_works_inside_the_entity_linker_of_spacy(kb, tmp_path):
    nlp = spacy.blank("en", vocab=kb.vocab)
    linker = nlp.add_pipe("entity_linker", config={"n_sents": 0})
    linker.set_kb(lambda vocab: kb)
    example = linked_example(nlp, TEXT, {1: "cat", 5: "jungle"})
    example.reference[0].is_sent_start = True
    for token in example.predicted:
        token.is_sent_start = token.i == 0
    optimizer = nlp.initialize(lambda: [example])
    linker.set_kb(lambda vocab: kb)
    for _ in range(5):
        losses = nlp.update([example], sgd=optimizer)
    assert np.isfinite(losses["entity_linker"])
    annotated = linker(example.predicted.copy())
    assert annotated.ents[1].kb_id_ == "jungle"
    assert annotated.ents[0].kb_id_ in ("cat", "car")


def test_it_is_saved_over_a_folder_that_is_open(kb, tmp_path):
    more = [Concept(f"x{i}", f"Ex {i}", {}, ("cat",), "x" * 400) for i in range(400)]
    write_concept_base(tmp_path / "old", [*CONCEPTS, *more])
    old = ConceptKnowledgeBase(kb.vocab, None).from_disk(tmp_path / "old")
    kb.to_disk(tmp_path / "old")
    # its files would be cut short, and a look at them end the process
    assert {of.id for of in old.base} >= {"cat", "x0", "x399"}
    assert len(ConceptBase.open(tmp_path / "old")) == len(CONCEPTS)
