"""Texts in which nouns and names of the shipped knowledge base mean something else.

    python benchmarks/false_links.py

Each noun stands in singular and plural with a word that gives it a sense that the knowledge base
lacks (a kitchen island, a search engine): every link is false. Beside these, nouns together with
two of the concepts that the knowledge base links them to: every link should be there. Last,
sentences in which names of known concepts are common words, or surnames of others.
"""

from __future__ import annotations

import harness  # isort: skip - first: it sets the threads

from typing import Any

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

import spacy_decoders
from spacy_decoders import ConceptBase
from spacy_decoders.knowledge.aliases import normalise

NAME = "graph_entity_linker"
FIRST_NAMES = ("Mary", "Peter", "Olga", "Henry", "Amina", "Paolo", "Ingrid", "Samuel")
#: How many sentences in which names mean something else.
SENTENCES = 200

#: Words, and nouns in both numbers, to which they give a sense that the knowledge base lacks.
SENSES = harness.HERE / "senses.tsv"
FRAMES = (
    "They asked about the {word} {one} on Monday. All other {word} {many} were left for later.",
    "The report lists two {word} {many}. The first {one} was paid for by the committee.",
    "A {word} {one} costs more than it did. {Many} of this kind are hard to come by.",
    "Of the {word} {many}, only one {one} is left, and no {one} has been replaced since.",
)
BESIDE = (
    "{0} stayed in {1}.",
    "{0} met friends in {1} on Monday.",
    "{1} is where {0} lived.",
    "The film by {0} was shown in {1}.",
)
TOGETHER = "There was a long talk about the {0}, the {1} and the {2}."


def false_texts() -> list[tuple[str, set[str]]]:
    """Texts, and the nouns in them that mean something else."""
    texts = []
    for line in SENSES.read_text("utf8").splitlines()[1:]:
        word, nouns = line.split("\t")
        one, many = nouns.split("/")
        for frame in FRAMES:
            text = frame.format(word=word, one=one, many=many, Many=many.capitalize())
            texts.append((text, {one, many}))
    return texts


def true_texts(base: ConceptBase) -> list[tuple[str, dict[str, str]]]:
    """Texts of three concepts that are linked to each other, and their identifiers."""
    texts = []
    nouns = {}
    for concept in base:
        name = concept.title.lower()
        if concept.title.isalpha() and name in map(normalise, concept.aliases):
            nouns[concept.id] = name
    for identity in nouns:
        number = base.number(identity)
        near = [base.id(other) for other in base.graph.neighbours(number).tolist()]
        near = [other for other in near if other in nouns][:2]
        if len(near) == 2:
            gold = {nouns[one]: one for one in (identity, *near)}
            texts.append((TOGETHER.format(*gold), gold))
    return texts


def namesakes(base: ConceptBase) -> list[tuple[str, str, set[str]]]:
    """Texts of a person and a place with one of the person's names, that name, and such places."""
    places: dict[str, set[str]] = {}
    for concept in base:
        if concept.type == "place":
            name = concept.title.partition(" (")[0].partition(",")[0]
            places.setdefault(name, set()).add(concept.id)
    return [
        (frame.format(concept.title, name), name, places[name])
        for concept in base
        if concept.type == "person"
        for name in concept.title.split()
        if name in places and name != concept.title
        for frame in BESIDE
    ]


def links_of(doc: Doc) -> list[Span]:
    """All mentions that are linked."""
    spans = {(span.start, span.end): span for span in (*doc.ents, *doc.spans.get("concepts", ()))}
    return [span for span in spans.values() if (span._.link or {}).get("id")]


def falsely_linked(nlp: Language, texts: list[tuple[str, set[str]]]) -> list[int]:
    """How many of the nouns of each text get a link."""
    docs = nlp.pipe([text for text, _ in texts])
    return [
        sum(span.text.lower() in nouns for span in links_of(doc))
        for (_, nouns), doc in zip(texts, docs, strict=True)
    ]


def rightly_linked(nlp: Language, texts: list[tuple[str, dict[str, str]]]) -> np.ndarray:
    """Of each text how many nouns are linked rightly, how many there are, and all links."""
    counts = []
    for (_, gold), doc in zip(texts, nlp.pipe([text for text, _ in texts]), strict=True):
        found = {span.text: span.kb_id_ for span in links_of(doc)}
        right = sum(found.get(name) == identity for name, identity in gold.items())
        counts.append((right, len(gold), len(found)))
    return np.array(counts, float)


def other_senses(base: ConceptBase) -> list[str]:
    """Sentences in which names of concepts are common words, or surnames of others."""
    names = []
    for concept in base:
        for alias in map(normalise, concept.aliases):
            # never written in small letters
            lower = np.nan_to_num(base.aliases.all_of(alias).shares[0])
            if alias.isalpha() and len(alias) > 3 and not lower.any():
                names.append(alias)
    rng = np.random.default_rng(0)
    chosen = rng.permutation(sorted(set(names)))[: SENTENCES // 2].tolist()
    common = [f"They had too many {name} again this year." for name in chosen]
    people = [
        f"Yesterday {FIRST_NAMES[i % len(FIRST_NAMES)]} {name.title()} resigned as chair."
        for i, name in enumerate(chosen)
    ]
    return common + people


def other_names(report: harness.Report, shipped: Language) -> None:
    """The share of sentences without any known concept that get a link."""
    rows = []
    blank = spacy.blank("en")
    linker: Any = blank.add_pipe(NAME, config={"mentions": "aliases"})
    sentences = other_senses(linker.kb.base)
    for name, nlp in (("by alias", blank), ("the shipped pipeline", shipped)):
        linked_ones = [
            any(ent._.link.get("id") for ent in doc.ents) for doc in nlp.pipe(sentences)
        ]
        half = len(sentences) // 2
        shares = [100 * float(np.mean(part)) for part in (linked_ones[:half], linked_ones[half:])]
        rows.append([name, len(sentences), *shares, 100 * float(np.mean(linked_ones))])
    report.table(
        "sentences without any known concept that get a link",
        ["mentions", "sentences", "in small letters %", "as a surname %", "all %"],
        rows,
    )


def main() -> None:
    """Run everything."""
    options = harness.arguments(__doc__ or "").parse_args()
    report = harness.Report("false-links", options.results)
    nlp = spacy_decoders.load(disable=["headline"])
    other_names(report, nlp)
    texts = false_texts()
    wrong = falsely_linked(nlp, texts)
    report.table(
        "nouns of the knowledge base that mean something else, in both numbers",
        ["texts", "with a false link", "false links"],
        [[len(texts), sum(map(bool, wrong)), sum(wrong)]],
    )
    linker: Any = nlp.get_pipe("linker")
    controls = true_texts(linker.kb.base)
    right, gold, linked = map(int, rightly_linked(nlp, controls).sum(axis=0))
    report.table(
        "nouns beside two concepts that theirs is linked to",
        ["texts", "nouns", "links", "right", "right %"],
        [[len(controls), gold, linked, right, 100 * right / max(1, gold)]],
    )


if __name__ == "__main__":
    main()
