"""Linking through `graph_entity_linker`, with the weights that it begins with.

    python benchmarks/linking_component.py

AIDA's part testa (mentions without running text) and four sets with text and Wikidata candidates,
each with and without the graph; then raw text, where mentions are found by alias and nothing is an
answer; then sentences in which the names of known concepts mean something else.
"""

from __future__ import annotations

import timing  # isort: skip - first: it sets the threads

from time import process_time

import numpy as np
import spacy
from linking_sets import NAME, LinkSet, Result, iitb, link_sets, linked, pipeline

import spacy_decoders

WEIGHTS = "spacy-decoders.LinkWeights.v1"
FIRST_NAMES = ("Mary", "Peter", "Olga", "Henry", "Amina", "Paolo", "Ingrid", "Samuel")
#: How many sentences without any known concept.
SENTENCES = 200


def error_of(result: Result) -> float:
    """Standard error of the accuracy, in points, over mentions."""
    right = np.array(result.right, float)
    return 100 * float(right.std() / np.sqrt(len(right)))


def given_candidates(report: timing.Report, sets: list[LinkSet]) -> None:
    """Accuracy over all mentions with given candidates, local alone and with the graph."""
    rows, gains = [], []
    for data in sets:
        both = linked(data, pipeline(data), process_time)
        none = {"@architectures": WEIGHTS, "pairs": 0.0}
        alone = linked(data, pipeline(data, model=none), process_time)
        rows.append(
            [
                data.name,
                len(both.right),
                alone.accuracy,
                both.accuracy,
                error_of(both),
                both.surest(0.8),
                both.calibration_error(),
                100 * float(np.mean(both.certified)),
                1000 * float(np.median(both.seconds)),
                1000 * float(np.mean(both.seconds)),
            ]
        )
        if data.name.startswith("aida"):
            report.target(f"{data.name}, given candidates", 93.5, both.accuracy, unit="%")
            report.target(f"{data.name}, the surest 80%", 98.5, both.surest(0.8), unit="%")
            error = both.calibration_error()
            report.target(f"{data.name}, calibration error", 2.0, error, most=True, unit="points")
            mean = 1000 * float(np.mean(both.seconds))
            report.target(f"{data.name}: time a document", 20, mean, most=True, unit="ms")
        else:
            gains.append(both.accuracy - alone.accuracy)
            report.target(f"{data.name}: graph over local", 0.0, gains[-1], unit="points")
    report.target("the graph over local, mean of four", 1.0, float(np.mean(gains)), unit="points")
    report.table(
        "given candidates, accuracy over all mentions",
        [
            "set",
            "mentions",
            "local %",
            "local + graph %",
            "standard error",
            "surest 80% %",
            "calibration error",
            "certified %",
            "ms a document, median",
            "ms a document, mean",
        ],
        rows,
    )


def raw_text(report: timing.Report, sets: list[LinkSet]) -> None:
    """Mentions found by alias, spans and identifiers compared with the gold ones: InKB micro F.

    A gold mention is reachable if some known alias stands exactly there, and means what is gold.
    """
    rows = []
    for data in sets:
        if data.name.startswith("aida"):
            continue
        # no answer but the most frequent candidate: what a linker by prior alone does
        prior = {"@architectures": WEIGHTS, "pairs": 0.0, "none": -30.0, "words": 0.0, "case": 0.0}
        found = []
        for model in ({"@architectures": WEIGHTS}, prior):
            nlp = pipeline(data, mentions="aliases", model=model)
            linker = nlp.get_pipe(NAME)
            linker.candidates = spacy.registry.misc.get("spacy-decoders.AliasCandidates.v1")()
            right = guessed = gold = reachable = 0
            for doc in data.docs:
                bare = linker(spacy.tokens.Doc(nlp.vocab, words=[t.text for t in doc]))
                known = {(e.start, e.end): e.kb_id_ for e in doc.ents if e.kb_id_}
                links = [e for e in bare.ents if e.kb_id_]
                gold, guessed = gold + len(known), guessed + len(links)
                right += sum(known.get((e.start, e.end)) == e.kb_id_ for e in links)
                aliases = linker.kb.base.aliases
                for (start, end), identity in known.items():
                    concepts, _ = aliases.candidates(bare[start:end].text)
                    reachable += linker.kb.base.number(identity) in concepts
            p, r = right / max(1, guessed), right / max(1, gold)
            found += [100 * p, 100 * r, 200 * p * r / max(1e-9, p + r)]
        within = reachable / max(1, gold)
        rows.append([data.name, 100 * within, *found, found[1] / max(1e-9, within)])
    report.table(
        "raw text, mentions by the titles of the candidates: precision, recall, F",
        ["set", "reachable %", "ours P", "R", "F", "by frequency P", "R", "F", "of reachable %"],
        rows,
    )


def paper_texts(report: timing.Report, data: LinkSet) -> None:
    """The paper's texts, as far as a complete graph of links covers them: that of Wikispeedia."""
    rows = []
    # as in the paper, each mention means something
    for name, weights in (("local", {"pairs": 0.0}), ("local + graph", {})):
        model = {"@architectures": WEIGHTS, "none": -30.0, **weights}
        # candidates that were found by a word share it with others: titles tell nothing
        pairs = {"@misc": "spacy-decoders.SharedNeighbours.v1", "residual": 0.0}
        nlp = pipeline(data, model=model, pairs=pairs, max_candidates=30)
        linker = nlp.get_pipe(NAME)
        linker.candidates = spacy.registry.misc.get("spacy-decoders.TextCandidates.v1")()
        found = linked(data, nlp, process_time)
        known = [
            any(one["id"] == ent.kb_id_ for one in link["candidates"])
            for ent, link in zip(
                (ent for doc in data.docs for ent in doc.ents), found.links, strict=True
            )
        ]
        reached = found.accuracy / max(1e-9, float(np.mean(known)))
        rows.append([name, len(found.right), found.accuracy, error_of(found), reached])
    report.table(
        "IITB, mentions of articles of Wikispeedia, candidates by the words of the mention",
        ["by", "mentions", "accuracy %", "standard error", "of those among the shown %"],
        rows,
    )


def other_senses(base) -> list[str]:
    """Sentences in which names of concepts are common words, or surnames of others."""
    names = []
    for concept in base:
        for alias in concept.aliases:
            row = int(base.aliases.find([alias])[0])
            shares = base.aliases.case_shares(row)
            # never written in small letters
            if alias.isalpha() and len(alias) > 3 and not shares[:, 0].any():
                names.append(alias)
    rng = np.random.default_rng(0)
    chosen = rng.permutation(sorted(set(names)))[: SENTENCES // 2].tolist()
    common = [f"They had too many {name} again this year." for name in chosen]
    people = [
        f"Yesterday {FIRST_NAMES[i % len(FIRST_NAMES)]} {name.title()} resigned as chair."
        for i, name in enumerate(chosen)
    ]
    return common + people


def false_links(report: timing.Report) -> None:
    """The share of sentences without any known concept that get a link."""
    rows = []
    blank = spacy.blank("en")
    blank.add_pipe(NAME, config={"mentions": "aliases"})
    shipped = spacy_decoders.load(disable=["headline"])
    sentences = other_senses(blank.get_pipe(NAME).kb.base)
    for name, nlp in (("by alias", blank), ("the shipped pipeline", shipped)):
        linked_ones = [
            any(ent._.link.get("id") for ent in doc.ents) for doc in nlp.pipe(sentences)
        ]
        half = len(sentences) // 2
        shares = [100 * float(np.mean(part)) for part in (linked_ones[:half], linked_ones[half:])]
        rows.append([name, len(sentences), *shares, 100 * float(np.mean(linked_ones))])
        report.target(f"false links, {name}", 5.0, rows[-1][-1], most=True, unit="%")
    report.table(
        "sentences without any known concept that get a link",
        ["mentions", "sentences", "in small letters %", "as a surname %", "all %"],
        rows,
    )


def main() -> None:
    """Run everything."""
    parser = timing.arguments(__doc__ or "")
    options = parser.parse_args()
    report = timing.Report("linking-component", options.results)
    cache = options.results / "cache" / "linking"
    cache.mkdir(parents=True, exist_ok=True)
    sets = link_sets(options.data / "linking", cache)
    false_links(report)
    given_candidates(report, sets)
    raw_text(report, sets)
    paper_texts(report, iitb(options.data / "linking", cache))
    report.close()


if __name__ == "__main__":
    main()
