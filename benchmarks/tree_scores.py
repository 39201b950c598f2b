"""Real scores for the tree benchmarks: those of `branch_and_bound_parser` on public treebanks.

English sentences are scored by the parser that ships with the package. Those of other treebanks
of `parser.py` are scored by parsers that are trained here, on arcs and grandparents, without
projectivity, and kept in results/cache. All tokens and sentence boundaries are gold, all
sentences held out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import harness  # isort: skip - before numpy

import numpy as np
import parser as parsers
from numpy.typing import NDArray
from pipelines import trained
from spacy.language import Language

import spacy_decoders
from spacy_decoders.decoders.tree import TreeProblem
from spacy_decoders.models.parser.factors import FAMILIES, FactorTemplates
from spacy_decoders.models.parser.tree_scores import SentenceScores
from spacy_decoders.readers.corpora import ConlluCorpus

CACHE = harness.HERE / "results" / "cache"
STEPS = 600
EVERYWHERE = 10_000  # a window of siblings that takes in all


@dataclass(frozen=True)
class Sentence:
    """The gold heads of a sentence, **shape (n,)**, and the network's scores."""

    heads: NDArray[np.int32]
    scores: SentenceScores

    @property
    def n(self) -> int:
        return len(self.heads)


@dataclass
class Tally:
    """What one method did on some sentences: what it found, and seconds."""

    sentences: list[Sentence] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    found: list[Any] = field(default_factory=list)

    def take(self, method: Callable[[], Any], sentence: Sentence) -> None:
        """Time a method on a sentence, and keep what it finds."""
        found, seconds = harness.timed(method, perf_counter)  # solvers may be in a child
        self.found.append(found)
        self.seconds.append(seconds)
        self.sentences.append(sentence)

    @property
    def words(self) -> int:
        return sum(sentence.n for sentence in self.sentences)

    @property
    def rate(self) -> float:
        """Sentences a second."""
        return len(self.seconds) / sum(self.seconds)

    @property
    def uas(self) -> float:
        """Right heads, per cent; the root may stand before the tokens."""
        pairs = zip(self.found, self.sentences, strict=True)
        right = [found.heads[-of.n :] == of.heads for found, of in pairs]
        return 100.0 * float(np.concatenate(right).mean())

    def share(self, says: Callable[[Any], bool]) -> float:
        """Per cent of the sentences of which that is true."""
        return 100.0 * float(np.mean([says(found) for found in self.found]))


@dataclass(frozen=True)
class Model:
    """A trained parser, and the held-out sentences of a treebank."""

    parser: Any
    held_out: list[Sentence]

    def problem(
        self, sentence: Sentence, *, families: Sequence[str] | None = None, k: int | None = None
    ) -> TreeProblem:
        """Score a held-out sentence; `k` keeps so many heads a word by the arcs alone.

        The families are by default all with weights, also if the parser uses fewer.
        """
        weights = self.parser.model.get_ref("factors")
        chosen: Any = tuple(families or filter(weights.has_param, FAMILIES))
        templates = FactorTemplates(weights, chosen, EVERYWHERE)
        parser = replace(self.parser.parser, templates=templates, beam=None, k=k)
        return replace(parser, longest=sys.maxsize).problem(sentence.scores)


def load(name: str, data: Path, *, steps: int = STEPS) -> Model:
    """Return a parser and its scores on a treebank; `steps` of training where it is trained."""
    CACHE.mkdir(parents=True, exist_ok=True)
    files = parsers.files_of(name, data, CACHE)
    if name == "English-EWT":
        nlp = spacy_decoders.load(enable="parser")
    else:
        config = parsers.config_of(name, parsers.FACTORS, files, steps)
        parser = config["components"]["parser"]
        parser.update(factors=["arcs", "grandparents"], projective=False)
        parser["model"].update(lstm_width=None, relatives_width=48)
        nlp = trained(config, CACHE / f"tree-{name}-{steps}", retrain=False)
    return Model(nlp.get_pipe("parser"), list(scored(nlp, files[1])))


def scored(nlp: Language, held_out: Path) -> Iterator[Sentence]:
    """Score the held-out sentences that are trees with one root."""
    corpus = ConlluCorpus(held_out, gold_sents=True)
    docs = [example.predicted for example in corpus(nlp)]
    parser: Any = nlp.get_pipe("parser")
    for sentence, document in zip(corpus.sentences, parser.predict(docs), strict=True):
        heads = np.array(sentence.heads, dtype=np.int32)
        (scores,) = document.blocks
        if (heads == 0).sum() == 1 and len(scores.tokens) == len(heads):
            # else arcs without labels would have upper bounds for scores
            yield Sentence(heads, scores.completed())
