"""Real scores for the chain benchmarks: those of `exact_tagger`, trained on public treebanks.

    wikigold         9 named-entity labels (BIO), Wikigold
    wsj             45 parts of speech, Wall Street Journal
    conll2000-pos   44 parts of speech, CoNLL-2000
    gum-names       part of speech x named entity (BIO), about 400

The tagger is that of `configs/fast_tagger.cfg`, without word clusters and trained as a structured
perceptron; the scores are those of
held-out sentences. Trained taggers are kept in results/cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import harness  # isort: skip - before numpy

import numpy as np
from pipelines import GUM, trained
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
    nlp = trained(configuration(name, data), CACHE / f"chain-{name}-{STEPS}", retrain=False)
    golds = [example.reference for example in sentences(name, str(data), "dev")(nlp)]
    pipe = nlp.get_pipe("tagger")
    scores = pipe.predict([Doc(nlp.vocab, words=[token.text for token in gold]) for gold in golds])
    return Scores(
        scores[0][1],
        np.concatenate([emissions for emissions, _ in scores]),
        np.array([len(gold) for gold in golds]),
    )


def configuration(task: str, data: Path):
    """The config of a set's tagger; a joint label is one tag."""
    config = util.load_config(CONFIG)
    tagger, training = config["components"]["tagger"], config["training"]
    tagger["loss"], tagger["model"]["clusters"] = "perceptron", None
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


LAYERS = {"tag": "tags", "ent": "ents"}
SOURCES = {
    "wikigold": Source("tagging/wikigold/wikigold.conll.gz", ("form", "ent"), " "),
    "wsj": Source("tagging/wsj/train.tsv.gz", ("form", "tag")),
    "conll2000-pos": Source("tagging/conll2000/train.txt.gz", ("form", "tag", "-"), " "),
    "gum-names": Source(GUM, ("form", "-", "tag", "ent", "-")),
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
