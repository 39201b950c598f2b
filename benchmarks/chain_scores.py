"""Real scores for the chain benchmarks: those of `exact_tagger`, trained on public treebanks.

Each set is a treebank and a label set; its name may carry modifiers after a plus sign::

    wikigold            9 named-entity labels (BIO), Wikigold
    wsj                 45 parts of speech, Wall Street Journal
    conll2000-pos       44 parts of speech, CoNLL-2000
    gum-names           part of speech x named entity (BIO), about 400
    gum-both            part of speech x named entity x any entity, about 1,640
    ...+crf             trained to be probable, as `configs/fast_tagger.cfg` does, instead of as a
                        structured perceptron
    ...+bio             illegal BIO transitions forbidden (-inf)

The tagger is that of `configs/fast_tagger.cfg`, without word clusters; the scores are those of
held-out sentences. Trained taggers are kept in results/cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import harness  # isort: skip - before numpy

import numpy as np
from pipelines import trained
from spacy import registry, util
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_decoders.decoders.chain import ChainModel
from spacy_decoders.readers.sentences import read_columns

CONFIG = harness.HERE.parent / "configs" / "fast_tagger.cfg"
CACHE = harness.HERE / "results" / "cache"

TRAINING_TOKENS = 100_000
HELD_OUT_SCORES = 3_000_000  # tokens times labels
STEPS = 800

Sentence = list[tuple[str, str]]


@dataclass(frozen=True)
class Scores:
    """A trained model and the emissions of held-out sentences.

    Attributes
    ----------
    model
        Transitions, start and end.
    emissions
        **Shape (total, L)**, float32.
    lengths
        **Shape (sentences,)**, int64.
    """

    model: ChainModel
    emissions: np.ndarray
    lengths: np.ndarray


def load_scores(name: str, data: Path) -> Scores:
    """Return the scores of a set, by a tagger of the cache or one that is trained now."""
    task, *modifiers = name.split("+")
    if task not in SOURCES or not set(modifiers) <= {"crf", "bio"}:
        raise ValueError(
            f"name: expected one of {sorted(SOURCES)}, then +crf or +bio; got {name!r}."
        )
    loss = "crf" if "crf" in modifiers else "perceptron"
    folder = CACHE / f"chain-{task}-{loss}-{STEPS}"
    nlp = trained(configuration(task, loss, data), folder, retrain=False)
    golds = [example.reference for example in sentences(task, str(data), "dev")(nlp)]
    pipe = nlp.get_pipe("tagger")
    scores = pipe.predict([Doc(nlp.vocab, words=[token.text for token in gold]) for gold in golds])
    model, labels = scores[0][1], list(pipe.labels)
    if "bio" in modifiers:
        model = without_illegal(labels, model)
    return Scores(
        model,
        np.concatenate([emissions for emissions, _ in scores]),
        np.array([len(gold) for gold in golds]),
    )


def configuration(task: str, loss: str, data: Path):
    """The config of a set's tagger; a joint label is one tag."""
    config = util.load_config(CONFIG)
    tagger, training = config["components"]["tagger"], config["training"]
    tagger["loss"], tagger["model"]["clusters"] = loss, None
    # the last step is kept: nothing is chosen by what is held out
    training.update(max_epochs=0, max_steps=STEPS, eval_frequency=STEPS)
    reader = {"@readers": "benchmarks.ChainSentences.v1", "task": task, "data": str(data)}
    config["corpora"] = {part: {**reader, "part": part} for part in ("train", "dev")}
    return config


@registry.readers("benchmarks.ChainSentences.v1")
def sentences(task: str, data: str, part: str):
    """A corpus of the training or of the held-out sentences."""
    found = read(task, Path(data))[part == "dev"]

    def examples(nlp: Language) -> Iterator[Example]:
        for sentence in found:
            words, tags = zip(*sentence, strict=True)
            reference = Doc(nlp.vocab, words=words, tags=tags)
            yield Example(Doc(nlp.vocab, words=words), reference)

    return examples


class Source(NamedTuple):
    """A file, the columns of its lines, and those of them that make the label together.

    Without a place for ``train`` and ``dev`` the last tenth of the one file is held out.
    """

    file: str
    columns: tuple[str, ...]
    separator: str = "\t"

    def read(self, data: Path, part: str) -> list[Sentence]:
        """The sentences as lists of (form, label)."""
        found = read_columns(data / self.file.format(part), self.columns, self.separator)
        layers = [LAYERS[name] for name in self.columns if name in LAYERS]
        return [
            [
                (form, "|".join(label))
                for form, *label in zip(
                    sentence.words, *(getattr(sentence, name) for name in layers), strict=True
                )
            ]
            for sentence in found
        ]


LAYERS = {"tag": "tags", "lemma": "lemmas", "ent": "ents"}
_GUM = "tagging/gum-posner/{}.tsv.gz"
SOURCES = {
    "wikigold": Source("tagging/wikigold/wikigold.conll.gz", ("form", "ent"), " "),
    "wsj": Source("tagging/wsj/train.tsv.gz", ("form", "tag")),
    "conll2000-pos": Source("tagging/conll2000/train.txt.gz", ("form", "tag", "-"), " "),
    "gum-names": Source(_GUM, ("form", "-", "tag", "ent", "-")),
    # three layers of labels: the names stand where lemmas would
    "gum-both": Source(_GUM, ("form", "-", "tag", "lemma", "ent")),
}


def read(task: str, data: Path) -> tuple[list[Sentence], list[Sentence]]:
    """Return training and held-out sentences as lists of (form, label)."""
    source = SOURCES[task]
    if "{}" in source.file:
        training, held_out = (source.read(data, part) for part in ("train", "dev"))
    else:
        every = source.read(data, "")
        if task == "wikigold":
            every = list(map(beginnings, every))
        tenth = len(every) // 10
        training, held_out = every[:-tenth], every[-tenth:]
    training = spread(training, TRAINING_TOKENS)
    size = len({label for sentence in training for _, label in sentence})
    return training, spread(held_out, min(20_000, HELD_OUT_SCORES // size))


def beginnings(sentence: Sentence) -> Sentence:
    """Call the first token of each entity B-X, where all of them are I-X."""
    before = ["O", *(label for _, label in sentence)]
    return [
        (form, f"B-{label[2:]}" if label not in ("O", last) else label)
        for (form, label), last in zip(sentence, before, strict=False)
    ]


def spread(sentences: list[Sentence], tokens: int) -> list[Sentence]:
    """Return every k-th sentence, so that about as many tokens are left."""
    step = max(1, sum(map(len, sentences)) // tokens)
    return sentences[::step]


def without_illegal(labels: list[str], model: ChainModel) -> ChainModel:
    """Forbid I-X except after B-X or I-X, in every part of a joint label."""
    transitions, start = model.transitions.copy(), model.start_scores.copy()
    parts = [label.split("|") for label in labels]
    for y, after in enumerate(parts):
        inside = [(k, part[2:]) for k, part in enumerate(after) if part.startswith("I-")]
        if inside:
            start[y] = -np.inf
        for x, before in enumerate(parts):
            if any(before[k] not in (f"B-{kind}", f"I-{kind}") for k, kind in inside):
                transitions[x, y] = -np.inf
    return ChainModel(transitions, start, model.end_scores)
