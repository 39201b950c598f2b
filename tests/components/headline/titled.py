"""Titled texts, and pipelines that write headlines of them, for tests."""

import spacy
from spacy.training import Example

TEXTS = {
    "Binary search": "Binary search halves a sorted array. Each step of binary search compares "
    "the middle element, and one half is left.",
    "Sorting by heaps": "Sorting by heaps builds a heap first. The heap gives the largest "
    "element, and sorting goes on with what is left in the heap.",
    "Shortest paths in graphs": "The shortest paths in graphs are found by relaxing edges. A "
    "queue of vertices keeps the shortest paths found so far.",
    "Hash tables": "Hash tables store keys in buckets. The hash of a key decides the bucket "
    "where hash tables look.",
}


def examples(nlp) -> list[Example]:
    made = []
    for title, text in TEXTS.items():
        reference = nlp.make_doc(text)
        reference._.headline = title
        made.append(Example(nlp.make_doc(text), reference))
    return made


def blank(**config):
    nlp = spacy.blank("en")
    nlp.add_pipe("headline_generator", config=config)
    return nlp
