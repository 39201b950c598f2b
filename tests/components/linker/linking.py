"""A linker of the shipped concepts, for tests."""

import spacy
from spacy.tokens import Span
from spacy.training import Example

NAME = "graph_entity_linker"
TEXT = "The jaguar hunts in the jungle along the Amazon."


def pipeline(**config):
    nlp = spacy.blank("en")
    nlp.add_pipe(NAME, config={"mentions": "aliases", **config})
    return nlp


def given(nlp, text, *words, label="MENTION"):
    """A document in which some words are entities already."""
    doc = nlp.make_doc(text)
    doc.ents = [Span(doc, of.i, of.i + 1, label=label) for of in doc if of.text in words]
    return doc


def identifiers(doc):
    return {ent.text: ent.kb_id_ for ent in doc.ents}


def entities(nlp, text, *spans, label="MENTION"):
    """A text, of which some spans are entities, and what becomes of these."""
    doc = nlp.make_doc(text)
    doc.ents = [Span(doc, *at, label=label) for at in spans]
    return nlp(doc).ents


def entity(nlp, text, label="MENTION", first=0, stop=1):
    """A text, of which some words are one entity, and what becomes of that."""
    return entities(nlp, text, (first, stop), label=label)[0]


def linked_example(nlp, text, ids, label="X"):
    """A text with the identifiers of some of its tokens, by their places."""
    doc = nlp.make_doc(text)
    gold = doc.copy()
    doc.ents = [Span(doc, i, i + 1, label=label) for i in ids]
    gold.ents = [Span(gold, i, i + 1, label=label, kb_id=kb_id) for i, kb_id in ids.items()]
    return Example(doc, gold)
