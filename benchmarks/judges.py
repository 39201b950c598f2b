"""What ablations are judged on: data, scores by document, and what can be switched off there.

Each judge returns trials. A trial's `run` works with its `subject` as it is at the moment, so that
something can be switched off in it before, and returns counts: of each score, of each document (or
sentence, or mention), what is right and out of how much.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from copy import deepcopy
from functools import partial
from hashlib import md5
from types import SimpleNamespace
from typing import Any

import false_links
import fast_lane
import harness
import numpy as np
import parser as parsers
import spacy
from chain import shipped_scores
from english import entities
from false_links import NAME as LINKER
from headlines import UNSEEN, parsed
from linking_component import LinkSet, link_sets, linked, pipeline
from path import Given
from pipelines import EWT, GUM, UNER, bare, dev_of, golds_of, trained
from spacy import util
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from switching import Counts, Trial, options

import spacy_decoders
from spacy_decoders.components.headline.scorer import rouge
from spacy_decoders.decoders.chain import ForwardDominance
from spacy_decoders.decoders.path import ExactPath
from spacy_decoders.decoders.representatives import ExactRepresentatives
from spacy_decoders.decoders.tree import BranchAndBound

# -- the pipeline as shipped


def raw_tokens(given: Any) -> list[Trial]:
    """Tokens of raw text by the rules of the shipped tokenizer, which were chosen on EWT train."""
    sys.path.append(str(harness.HERE.parent / "projects" / "english" / "scripts"))
    import tokens as rules

    golds = dev_of(EWT, given)

    def run() -> Counts:
        nlp = spacy.blank("en")
        rules.tokenize_as_web_treebanks(nlp)
        docs = [[nlp.make_doc(gold.text), gold] for gold in golds]
        return {"tokens F": np.array([f_score(*map(places, pair)) for pair in docs])}

    def places(doc: Doc) -> set[tuple[int, int]]:
        return {(token.idx, token.idx + len(token)) for token in doc if not token.is_space}

    return [Trial("EWT dev, raw text", rules, run)]


def tokens(given: Any) -> list[Trial]:
    """Tags, lemmas, trees, sentences and entities on the gold tokens of EWT, UNER and GUM dev."""
    files = {"EWT": EWT, "UNER": UNER, "GUM": GUM}
    sets = {f"{name} dev": dev_of(file, given) for name, file in files.items()}
    nlp = spacy_decoders.load(disable=["linker", "headline"])
    return [Trial(name, nlp, partial(annotated, nlp, golds)) for name, golds in sets.items()]


#: Sentences with names that the shipped entities were not taught.
NEW_NAMES = (
    ("Shares of Acme Widgets rose.", [(10, 22, "ORG")]),
    ("Zorblax Quen lives in Flimville.", [(0, 12, "PER"), (22, 31, "LOC")]),
)


def taught_further(given: Any) -> list[Trial]:
    """Entities of UNER dev after the shipped ones were updated once, on new names."""
    golds = dev_of(UNER, given)

    def run() -> Counts:
        nlp = spacy_decoders.load()
        nlp.select_pipes(enable="entities")
        made = [(nlp.make_doc(text), {"entities": names}) for text, names in NEW_NAMES]
        nlp.update([Example.from_dict(*one) for one in made], sgd=nlp.resume_training())
        return annotated(nlp, golds, sentences=True)

    return [Trial("UNER dev, one update later", None, run)]


def f_score(found: set[Any], wanted: set[Any]) -> tuple[float, float]:
    """What is right of two sets, and out of how much."""
    return 2.0 * len(found & wanted), float(len(found) + len(wanted))


def annotated(nlp: Language, golds: Sequence[Doc], *, sentences: bool = False) -> Counts:
    """Run a pipeline over the tokens of gold documents, with their sentences or without."""
    docs = list(nlp.pipe([bare(nlp.vocab, gold, sentences=sentences) for gold in golds]))
    counted = [counts_of(doc, gold) for doc, gold in zip(docs, golds, strict=True)]
    return {key: np.array([of[key] for of in counted]) for key in counted[0]}


def counts_of(doc: Doc, gold: Doc) -> dict[str, tuple[float, float]]:
    """What a document has right, and out of how much, of what both it and gold annotate."""

    def share(right: Sequence[bool]) -> tuple[float, float]:
        return float(sum(right)), float(len(right))

    def both(annotation: str) -> bool:
        return bool(doc.has_annotation(annotation) and gold.has_annotation(annotation))

    pairs = list(zip(doc, gold, strict=True))
    found: dict[str, tuple[float, float]] = {}
    if both("TAG"):
        found["TAG"] = share([a.tag_ == b.tag_ for a, b in pairs])
    if both("LEMMA"):
        found["lemmas"] = share([a.lemma_ == b.lemma_ for a, b in pairs])
    if both("DEP"):
        arcs = [(a.head.i == b.head.i, a.dep_ == b.dep_) for a, b in pairs if b.dep_ != "punct"]
        found["LAS"] = share([head and label for head, label in arcs])
        spans = [{(sent.start, sent.end) for sent in one.sents} for one in (doc, gold)]
        found["sentences F"] = f_score(*spans)
    if both("ENT_IOB"):
        found["entities F"] = f_score(entities(doc), entities(gold))
    return found


def headlines(given: Any) -> list[Trial]:
    """Headlines of parsed texts that the shipped pipeline has not seen."""
    nlp = spacy_decoders.load(disable=["linker", "headline"])
    found = []
    for kind, name in UNSEEN.items():
        path = given.data / "headlines" / f"{name}.jsonl.gz"
        examples = parsed(nlp, path, 15 if given.quick else 0)

        def run(examples: list[Any] = examples) -> Counts:
            pipe: Any = nlp.get_pipe("headline")
            written = [pipe(example.predicted.copy())._.headline for example in examples]
            titles = [example.reference._.headline for example in examples]
            scores = [rouge(*pair).rougeL for pair in zip(titles, written, strict=True)]
            return {"ROUGE-L": np.array([(score, 1.0) for score in scores])}

        found.append(Trial(kind, nlp, run))
    return found


# -- links


def candidates(given: Any) -> list[Trial]:
    """Links of mentions with given candidates: AIDA testa and four sets of text."""
    found = []
    for data in sets_of_links(given):
        nlp = pipeline(data, max_candidates=100)
        found.append(Trial(data.name, nlp, partial(linked_right, data, nlp)))
    return found


def sets_of_links(given: Any) -> list[LinkSet]:
    sets = link_sets(given.data / "linking", given.results / "cache" / "linking")
    for data in sets if given.quick else ():
        del data.docs[20:]
    return sets


def linked_right(data: LinkSet, nlp: Language) -> Counts:
    result = linked(data, nlp, lambda: 0.0)
    right = np.array(result.right, float)
    return {"links": np.stack([right, np.ones(len(right))], axis=1)}


def concepts(given: Any) -> list[Trial]:
    """Links of the shipped pipeline where nouns mean something else, and where they do not."""
    nlp = spacy_decoders.load(disable=["headline"])
    other = false_links.false_texts()[:: 5 if given.quick else 1]
    linker: Any = nlp.get_pipe("linker")
    base = linker.kb.base
    known = false_links.true_texts(base)[:: 5 if given.quick else 1]
    senses = false_links.other_senses(base)
    names = senses[: len(senses) // 2]
    # after the full name, the family name alone
    names += [f"{text} {text.split()[2]} will be missed." for text in senses[len(names) :]]

    def free(right: Iterable[bool]) -> Counts:
        return {"texts without false links": np.array([(float(one), 1.0) for one in right])}

    def no_links() -> Counts:
        return free(not wrong for wrong in false_links.falsely_linked(nlp, other))

    def no_names() -> Counts:
        return free(not false_links.links_of(doc) for doc in nlp.pipe(names))

    def no_people() -> Counts:
        given = false_links.namesakes(base)
        docs = nlp.pipe([text for text, *_ in given])
        right = [
            any(span.text == name and span.kb_id_ in places for span in false_links.links_of(doc))
            for (_, name, places), doc in zip(given, docs, strict=True)
        ]
        return {"places": np.array([(float(one), 1.0) for one in right])}

    return [
        Trial("names in another sense", nlp, no_names),
        Trial("places beside people of their name", nlp, no_people),
        Trial("nouns in another sense", nlp, no_links),
        Trial(
            "nouns beside related ones",
            nlp,
            lambda: {"links": false_links.rightly_linked(nlp, known)[:, :2]},
        ),
    ]


# -- decoders that could take one another's place, on the problems that components give them


def certified(solutions: Sequence[Any]) -> Counts:
    """The share of solutions that are proven optimal, pruned or not."""
    proven = [float(found.certificate.is_optimal) for found in solutions]
    return {"certified": np.array([(one, 1.0) for one in proven])}


def decoding(name: str, decoder: Any, problems: Sequence[tuple[Any, ...]]) -> Trial:
    """What a decoder, which may be exchanged, proves of problems."""
    subject = SimpleNamespace(decoder=decoder)
    return Trial(
        name, subject, lambda: certified([subject.decoder.decode(*one) for one in problems])
    )


def chains(given: Any) -> list[Trial]:
    """The scores of the shipped taggers, EWT dev."""
    trials = []
    for name, part in shipped_scores(given.data, limit=300 if given.quick else 0).items():
        subject = SimpleNamespace(decoder=ForwardDominance())

        def run(subject: Any = subject, part: Any = part) -> Counts:
            return certified(part.decoded(subject.decoder))

        trials.append(Trial(f"{name}, {part.model.size} labels", subject, run))
    return trials


def trees(given: Any) -> list[Trial]:
    """Arcs, grandparents and siblings of the shipped parser, EWT dev."""
    import tree_scores

    model = tree_scores.load("English-EWT", given.data)
    some = [one for one in model.held_out if 5 <= one.n <= 45][: 40 if given.quick else 200]
    kinds = {"grandparents": ("arcs", "grandparents"), "all factors": None}
    trials = []
    for name, families in kinds.items():
        problems = [(model.problem(one, families=families),) for one in some]
        trials.append(decoding(f"English-EWT, {name}", BranchAndBound(), problems))
    return trials


def paths(given: Any) -> list[Trial]:
    """Six words of each unseen text, by the shipped headline component."""
    nlp = spacy_decoders.load(disable=["linker", "headline"])
    noted = Given()
    with options("headline", mode="words", length=6, decoder=noted)(nlp):
        for name in UNSEEN.values():
            path = given.data / "headlines" / f"{name}.jsonl.gz"
            for example in parsed(nlp, path, 15 if given.quick else 60):
                nlp.get_pipe("headline")(example.predicted)
    return [decoding("unseen texts, six words", ExactPath(), noted.problems)]


def representatives(given: Any) -> list[Trial]:
    """The problems of the linker on AIDA testa and the sets of text."""
    trials = []
    for data in sets_of_links(given):
        nlp, noted = pipeline(data), Noted()
        linker: Any = nlp.get_pipe(LINKER)
        linker.configure(decoder=noted)
        linked(data, nlp, lambda: 0.0)
        decoder = ExactRepresentatives(margin_work=200_000)
        trials.append(decoding(data.name, decoder, [(one,) for one in noted.problems]))
    return trials


class Noted(ExactRepresentatives):
    """Notes the problems that it decodes."""

    problems: list[Any]

    def __init__(self) -> None:
        super().__init__(margin_work=0)
        object.__setattr__(self, "problems", [])

    def decode(self, problem: Any, **given: Any) -> Any:
        self.problems.append(problem)
        return super().decode(problem, **given)


# -- what is trained with and without; a subject's overrides are those of a config, by dotted names


def treebanks(given: Any) -> list[Trial]:
    """A parser with all factors on a treebank without crossing arcs, and on one with."""
    trials = []
    for name in ("Italian-ParTUT", "Hungarian-Szeged"):
        files = parsers.files_of(name, given.data, given.results / "cache")
        config = parsers.config_of(name, parsers.FACTORS, files, 40 if given.quick else 260)
        golds = golds_of(files[1], sentences=1, lang="xx")
        trials.append(training(name, config, golds, given, sentences=True))
    return trials


def tags(given: Any) -> list[Trial]:
    """Tags of EWT by hashed features."""
    return [features(given, "tags")]


def names(given: Any) -> list[Trial]:
    """Entities of UNER by hashed features."""
    return [features(given, "entities")]


def tags_and_names(given: Any) -> list[Trial]:
    """Tags and entities of GUM by one chain of hashed features."""
    return [features(given, "joint")]


def features(given: Any, part: str) -> Trial:
    config, golds = fast_lane.config_of(part, given), fast_lane.dev_part(part, given, 10)
    return training(f"{part}, trained", config, golds, given)


def training(
    name: str, config: dict[str, Any], golds: list[Doc], given: Any, *, sentences: bool = False
) -> Trial:
    """Train a config as the subject overrides it, and judge it; each training is kept."""
    subject = SimpleNamespace(overrides={})
    loaded: dict[str, Language] = {}

    def run() -> Counts:
        key = md5(json.dumps([config, subject.overrides], default=str).encode()).hexdigest()[:12]
        if key not in loaded:
            changed = deepcopy(config)
            for dotted, value in subject.overrides.items():
                util.set_dot_to_object(changed, dotted, value)
            folder = given.results / "cache" / f"ablation-{name}-{key}"
            loaded[key] = trained(changed, folder, retrain=False)
        return annotated(loaded[key], golds, sentences=sentences)

    return Trial(name, subject, run)
