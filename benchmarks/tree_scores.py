"""Real scores for the tree benchmarks: those of `branch_and_bound_parser` on public treebanks.

English sentences are scored by the parser that ships with the package. Those of other languages
are scored by parsers that are trained here, on arcs and grandparents, without projectivity, and
kept in results/cache. All tokens and sentence boundaries are gold, all sentences held out.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import harness  # isort: skip - before numpy

import numpy as np
from numpy.typing import NDArray
from pipelines import trained
from spacy import util
from spacy.language import Language

import spacy_decoders
from spacy_decoders.decoders.tree import TreeProblem
from spacy_decoders.models.parser.factors import FAMILIES, FactorTemplates
from spacy_decoders.models.parser.tree_scores import SentenceScores
from spacy_decoders.readers.corpora import ConlluCorpus

__all__ = ["Model", "Sentence", "add_steps", "load"]

CONFIG = harness.HERE.parent / "configs" / "branch_and_bound_parser.cfg"
CACHE = harness.HERE / "results" / "cache"
STEPS = 600
EVERYWHERE = 10_000  # a window of siblings that takes in all


class Treebank(NamedTuple):
    """Where a treebank is, of a language, and how many of its sentences are for training.

    What is behind the training sentences is held out where there is no `held_out` file.
    """

    lang: str
    train: str
    held_out: str | None = None
    training: int = 0


TREEBANKS = {
    "ewt": Treebank("en", "", "UD_English-EWT/en_ewt-ud-dev.conllu.gz"),
    "danish": Treebank(
        "da", "cdt-danish-ddt/da_ddt_train.conll.gz", "cdt-danish-ddt/da_ddt_dev.conll.gz"
    ),
    "hungarian": Treebank(
        "hu",
        "UD_Hungarian-Szeged/hu_szeged-ud-train.conllu.gz",
        "UD_Hungarian-Szeged/hu_szeged-ud-dev.conllu.gz",
    ),
    "italian": Treebank(
        "it",
        "UD_Italian-ParTUT/it_partut-ud-train.conllu.gz",
        "UD_Italian-ParTUT/it_partut-ud-dev.conllu.gz",
    ),
    "latin": Treebank("la", "UD_Latin-Perseus/la_perseus-ud-train.conllu.gz", training=1100),
}


@dataclass(frozen=True)
class Sentence:
    """The gold heads of a sentence, **shape (n,)**, and the network's scores."""

    heads: NDArray[np.int32]
    scores: SentenceScores

    @property
    def n(self) -> int:
        return len(self.heads)


@dataclass(frozen=True)
class Model:
    """A trained parser, and the held-out sentences of a treebank."""

    parser: Any
    held_out: list[Sentence]

    def templates(
        self, families: Sequence[str] | None = None, window: int = EVERYWHERE
    ) -> FactorTemplates:
        """Some families of factors; by default all with weights, also if the parser uses fewer."""
        weights = self.parser.model.get_ref("factors")
        chosen: Any = tuple(families or filter(weights.has_param, FAMILIES))
        return FactorTemplates(weights, chosen, window)

    def problem(
        self,
        sentence: Sentence,
        *,
        families: Sequence[str] | None = None,
        window: int = EVERYWHERE,
        k: int | None = None,
    ) -> TreeProblem:
        """Score a held-out sentence; `k` keeps so many heads a word by the arcs alone."""
        parser = replace(self.parser.parser, templates=self.templates(families, window))
        return replace(parser, beam=None, k=k, longest=sys.maxsize).problem(sentence.scores)


def load(name: str, data: Path, *, steps: int = STEPS) -> Model:
    """Return a parser and its scores; `steps` of training where it is to be trained."""
    treebank, folder = TREEBANKS[name], data / "parsing"
    if treebank.lang == "en":
        nlp = spacy_decoders.load(enable="parser")
    else:
        config = configuration(treebank, folder, steps)
        nlp = trained(config, CACHE / f"tree-{name}-{steps}", retrain=False)
    return Model(nlp.get_pipe("parser"), list(scored(nlp, treebank, folder)))


def add_steps(parser: ArgumentParser) -> None:
    """Add the option `--steps`."""
    parser.add_argument(
        "--steps",
        type=int,
        default=STEPS,
        help="updates of each parser that is trained here; those of the cache are used again",
    )


def configuration(treebank: Treebank, folder: Path, steps: int) -> Any:
    """The config of a parser without siblings, whose trees may cross."""
    config = util.load_config(CONFIG)
    config["nlp"]["lang"] = treebank.lang
    parser, corpora = config["components"]["parser"], config["corpora"]
    parser.update(factors=["arcs", "grandparents"], factors_start=steps // 2, projective=False)
    parser["model"].update(lstm_width=None, relatives_width=48)
    train = str(folder / treebank.train)
    corpora["train"].update(path=train, limit=treebank.training)
    # the last step is kept: nothing is chosen by what is held out
    corpora["dev"].update(path=train, limit=10)
    config["training"].update(max_steps=steps, eval_frequency=steps)
    config["training"]["optimizer"]["learn_rate"]["total_steps"] = steps
    return config


def scored(nlp: Language, treebank: Treebank, folder: Path) -> Iterator[Sentence]:
    """Score the held-out sentences that are trees with one root."""
    path = folder / (treebank.held_out or treebank.train)
    corpus = ConlluCorpus(path, gold_sents=True)
    sentences = corpus.sentences[treebank.training :]
    docs = [example.predicted for example in corpus(nlp)][treebank.training :]
    parser: Any = nlp.get_pipe("parser")
    for sentence, document in zip(sentences, parser.predict(docs), strict=True):
        heads = np.array(sentence.heads, dtype=np.int32)
        (scores,) = document.blocks
        if (heads == 0).sum() == 1 and len(scores.tokens) == len(heads):
            yield Sentence(heads, scores)
