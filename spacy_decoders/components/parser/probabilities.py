"""Probabilities of heads, labels, sentence starts and whole trees, by sums over all trees."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from spacy.training import Example

from ...arrays import Integers
from ...models.calibration import Answers, sigmoid
from ...models.parser.losses import GoldTrees
from ...models.parser.tree_scores import DocumentScores, SentenceScores
from ..probabilities import CalibratedPipe
from .gold import read_gold
from .parsed_doc import (
    DEPS,
    HEADS,
    KINDS,
    ROOT,
    SPACE,
    STARTS,
    UNITS,
    ParsedDoc,
    ParseProbabilities,
)

__all__ = ["CalibratedParser"]


#: Sentences of up to `FEW` words are summed by weights, longer ones by logarithms; the seconds for
#: each triple of words, on a slow machine.
FEW, STEP, STEP_BY_LOGS = 300, 1e-8, 6e-8


def _answers(
    parsed: Sequence[ParsedDoc], found: Sequence[ParseProbabilities], gold: GoldTrees
) -> dict[str, Answers]:
    """Return the decoded trees as answers, right where they agree with the gold trees.

    The gold trees are those of all documents, end to end; unknown parts give no answers.
    """
    rows: dict[str, list[tuple[float, bool, int]]] = {kind: [] for kind in KINDS}
    begin = 0
    for number, (tree, chances) in enumerate(zip(parsed, found, strict=True)):
        size = len(tree.heads)
        here = slice(begin, begin + size)
        own = np.where(tree.heads == np.arange(size), ROOT, tree.heads + begin)
        right = own == gold.heads[here]
        labelled = right & ((own == ROOT) | (tree.labels == gold.labels[here]))
        known = (gold.heads[here] >= ROOT) & ~np.isnan(chances.heads)
        for token in np.flatnonzero(known).tolist():
            rows[HEADS].append((chances.heads[token], bool(right[token]), number))
            if gold.heads[here][token] == ROOT or gold.labels[here][token] >= 0:
                rows[DEPS].append((chances.deps[token], bool(labelled[token]), number))
        starts = gold.starts[here]
        blank = tree.labels == SPACE
        rows[STARTS] += [
            (chances.starts[token], bool(starts[token] == 1), number)
            for token in np.flatnonzero((starts >= 0) & ~blank).tolist()
            if token
        ]
        for sentence, chance in zip(tree.sentences, chances.units, strict=True):
            tokens = sentence.tokens
            if known[tokens].all():
                whole = bool(labelled[tokens].all())
                rows[UNITS].append((chance, whole, number))
        begin += size
    return {kind: Answers.of(answers) for kind, answers in rows.items()}


def _heads_within(sentence: SentenceScores, parsed: ParsedDoc) -> Integers:
    """The heads of a sentence's tokens, counted in it from 1; 0 for the root."""
    tokens = sentence.tokens
    heads = parsed.heads[tokens]
    return np.where(heads == tokens, 0, np.searchsorted(tokens, heads) + 1)


class CalibratedParser(CalibratedPipe):
    """A parser with calibrated probabilities of heads, labels, sentence starts and trees.

    It comes after the class of options in the bases.
    """

    annotation = "heads and dependency labels"
    cfg: dict[str, Any]
    projective: bool
    seconds: float | None

    @property
    def labels(self) -> tuple[str, ...]:
        """The dependency labels, the root's last."""
        return (*self.cfg["labels"], self.cfg["root"])

    def _probabilities(self, scores: DocumentScores, parsed: ParsedDoc) -> ParseProbabilities:
        """Return the probabilities of a document's trees.

        They are those of a model of arcs alone and, given the arcs, of labels, even if the trees
        were decoded with other factors; the calibration is fitted to the trees decoded with these.
        They are NaN where a tenth of the seconds for a sentence may not suffice.
        """
        size = len(parsed.heads)
        heads, deps = np.full(size, np.nan), np.full(size, np.nan)
        starts = sigmoid(scores.start_odds.astype(np.float64))
        units = []
        for sentence, certificate in zip(parsed.sentences, parsed.certificates, strict=True):
            tokens = sentence.tokens
            takes = (STEP if len(tokens) <= FEW else STEP_BY_LOGS) * len(tokens) ** 3
            if self.seconds is not None and takes > 0.1 * self.seconds + 0.02:
                units.append(np.nan)
                continue
            if certificate.score is None:
                units.append(0.0)
                continue
            sentence, own = sentence.completed(), _heads_within(sentence, parsed)
            found = self._posteriors(sentence)
            labels = np.exp(sentence.label_scores[own, np.arange(1, len(own) + 1)])
            heads[tokens] = found.of_heads(own)
            deps[tokens] = heads[tokens] * labels
            units.append(found.of_tree(own) * float(labels.prod()))
        for block in scores.blocks:
            if (
                self.projective
                and block.boundaries is not None
                and not np.isnan(heads[block.tokens]).any()
            ):
                # summed over boundaries as well
                tokens, own = block.tokens, _heads_within(block, parsed)
                found = self._posteriors(block.completed())
                given = np.where(heads[tokens] > 0.0, heads[tokens], 1.0)
                heads[tokens], deps[tokens] = found.of_heads(own), deps[tokens] / given
                deps[tokens] *= heads[tokens]
                starts[tokens[1:]] = found.starts[1:]
        known = np.flatnonzero(~np.isnan(heads))
        correct_heads, correct_deps, correct_starts, correct_units = map(
            self.calibration_of, KINDS
        )
        heads[known] = correct_heads.apply(heads[known])
        deps[known] = np.minimum(correct_deps.apply(np.minimum(deps[known], 1.0)), heads[known])
        starts = correct_starts.apply(np.clip(starts, 0.0, 1.0))
        whole = np.minimum(units, 1.0)
        whole[~np.isnan(whole)] = correct_units.apply(whole[~np.isnan(whole)])
        return ParseProbabilities(heads, deps, starts, whole.tolist())

    def _posteriors(self, sentence: SentenceScores) -> Any:
        """The distribution over unlabelled trees; the labels of each arc sum to 1.

        If boundaries are open and arcs may not cross, it is over boundaries as well.
        """
        from ...decoders.tree import tree_posteriors

        arcs = sentence.arcs.astype(np.float64) - sentence.label_scores
        boundaries = sentence.boundaries if self.projective else None
        if boundaries is not None:
            boundaries = boundaries / self.temperature
        return tree_posteriors(
            arcs / self.temperature, projective=self.projective, boundaries=boundaries
        )

    def answers(
        self,
        examples: Sequence[Example],
        scores: Sequence[DocumentScores],
        decoded: Sequence[ParsedDoc],
    ) -> dict[str, Answers]:
        """Return heads, labels, sentence starts and trees as answers.

        The temperature is fitted to decoded heads, right or wrong. Gold heads would not do: trees
        may be decoded with factors that the probabilities do not include.
        """
        found = list(map(self._probabilities, scores, decoded))
        return _answers(decoded, found, self._read_gold(list(examples)))

    def _read_gold(self, examples: list[Example]) -> GoldTrees:
        gold, faults = read_gold(examples, self.cfg["labels"], self.cfg["tags"])
        self.warn_of_unknown_labels(faults.labels)
        for fault in faults.trees[:1]:
            self.warn_once(fault, topic="tree")
        return gold
