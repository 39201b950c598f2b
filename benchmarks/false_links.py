"""Texts in which nouns of the shipped knowledge base mean something else, in both numbers.

    python benchmarks/false_links.py

Each noun stands in singular and plural with a word that gives it a sense that the knowledge base
lacks (a kitchen island, a search engine): every link is false. Beside these, nouns together with
two of the concepts that the knowledge base links them to: every link should be there.
"""

from __future__ import annotations

import timing  # isort: skip - first: it sets the threads

import spacy_decoders

#: A word, and the nouns to which it gives a sense that the knowledge base lacks.
SENSES = {
    "kitchen": "island/islands",
    "traffic": "island/islands",
    "search": "engine/engines",
    "growth": "engine/engines",
    "warning": "label/labels",
    "blood": "bank/banks",
    "data": "element/elements",
    "essential": "element/elements",
    "design": "element/elements",
    "egg": "shell/shells",
    "pastry": "shell/shells",
    "taco": "shell/shells",
    "spelling": "bee/bees",
    "mattress": "spring/springs",
    "watch": "spring/springs",
    "television": "season/seasons",
    "baseball": "diamond/diamonds",
    "baseball manager's": "bull/bulls",
    "five-point": "star/stars",
    "gold": "star/stars",
    "genetic": "map/maps",
    "road": "map/maps",
    "plumbing": "snake/snakes",
    "theatre": "company/companies",
    "infantry": "company/companies",
    "rental": "unit/units",
    "army": "unit/units",
    "railway dining": "car/cars",
    "cable": "car/cars",
    "price": "war/wars",
    "bidding": "war/wars",
    "opera": "book/books",
    "cheque": "book/books",
    "body": "language/languages",
    "salad": "rocket/rockets",
    "concrete": "jungle/jungles",
    "debt": "mountain/mountains",
    "butter": "mountain/mountains",
    "lobbyist": "predator/predators",
    "Adam's": "apple/apples",
    "wax": "seal/seals",
    "rubber door": "seal/seals",
    "casino": "whale/whales",
    "web": "spider/spiders",
    "box office": "turkey/turkeys",
    "badminton": "bird/birds",
    "yield": "delta/deltas",
    "DNA": "library/libraries",
    "bone": "crane/cranes",
    "command": "console/consoles",
}
FRAMES = (
    "They asked about the {word} {one} on Monday. All other {word} {many} were left for later.",
    "The report lists two {word} {many}. The first {one} was paid for by the committee.",
    "A {word} {one} costs more than it did. {Many} of this kind are hard to come by.",
    "Of the {word} {many}, only one {one} is left, and no {one} has been replaced since.",
)
TOGETHER = "There was a long talk about the {0}, the {1} and the {2}."


def false_texts() -> list[tuple[str, set[str]]]:
    """Texts, and the nouns in them that mean something else."""
    texts = []
    for word, nouns in SENSES.items():
        one, many = nouns.split("/")
        for frame in FRAMES:
            text = frame.format(word=word, one=one, many=many, Many=many.capitalize())
            texts.append((text, {one, many}))
    return texts


def true_texts(base) -> list[tuple[str, dict[str, str]]]:
    """Texts of three concepts that are linked to each other, and their identifiers."""
    texts = []
    nouns = {}
    for concept in base:
        name = concept.title.lower()
        if concept.title.isalpha() and name in concept.aliases:
            nouns[concept.id] = name
    for identity in nouns:
        number = base.number(identity)
        near = [base.id(other) for other in base.graph.neighbours(number).tolist()]
        near = [other for other in near if other in nouns][:2]
        if len(near) == 2:
            gold = {nouns[one]: one for one in (identity, *near)}
            texts.append((TOGETHER.format(*gold), gold))
    return texts


def links_of(doc) -> list:
    """All mentions that are linked."""
    spans = {(span.start, span.end): span for span in (*doc.ents, *doc.spans.get("concepts", ()))}
    return [span for span in spans.values() if (span._.link or {}).get("id")]


def main() -> None:
    """Run everything."""
    options = timing.arguments(__doc__ or "").parse_args()
    report = timing.Report("false-links", options.results)
    nlp = spacy_decoders.load(disable=["headline"])
    texts = false_texts()
    wrong, probable, some = 0, 0, 0
    for (_, nouns), doc in zip(texts, nlp.pipe(text for text, _ in texts), strict=True):
        found = [span for span in links_of(doc) if span.text.lower() in nouns]
        wrong += len(found)
        probable += sum(span._.link["prob"] >= 0.8 for span in found)
        some += bool(found)
    report.table(
        "nouns of the knowledge base that mean something else, in both numbers",
        ["texts", "with a false link", "false links", "of these at .8 or more"],
        [[len(texts), some, wrong, probable]],
    )
    controls = true_texts(nlp.get_pipe("linker").kb.base)
    gold = right = linked = 0
    for (_, known), doc in zip(controls, nlp.pipe(text for text, _ in controls), strict=True):
        found = {span.text: span.kb_id_ for span in links_of(doc)}
        gold += len(known)
        linked += len(found)
        right += sum(found.get(name) == identity for name, identity in known.items())
    report.table(
        "nouns beside two concepts that theirs is linked to",
        ["texts", "nouns", "links", "right", "right %"],
        [[len(controls), gold, linked, right, 100 * right / max(1, gold)]],
    )
    report.close()


if __name__ == "__main__":
    main()
