"""A linker of the shipped concepts, for tests."""

import spacy
from spacy.tokens import Span

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


def entity(nlp, text, label="MENTION", first=0, stop=1):
    """A text, of which some words are one entity, and what becomes of that."""
    doc = nlp.make_doc(text)
    doc.ents = [Span(doc, first, stop, label=label)]
    return nlp(doc).ents[0]
