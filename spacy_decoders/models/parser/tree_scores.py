"""The scores of trees of the sentences of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ...arrays import Booleans, Floats, Floats32, Integers, Integers32, refuse_beyond_memory
from .boundaries import BoundaryLimits, known_odds
from .label_templates import context_codes, form_hashes
from .labels import ArcLabels, BestLabels, label_arcs
from .relatives import score_arcs

__all__ = ["DocumentScores", "SentenceScores", "assemble", "score_documents"]

#: Bytes for each pair of words of a sentence, at the peak.
PAIR = 300


@dataclass(frozen=True)
class SentenceScores:
    """The scores of one sentence of n tokens; the root is 0."""

    #: (n,), the tokens' indices in the document, without white space.
    tokens: Integers
    #: float32 (n + 1, n + 1), ``arcs[h, m]`` scores h as the head of m; ``-inf`` in column
    #: 0 and on the diagonal.
    arcs: Floats32
    #: int32 (n + 1, n + 1), ``labels[h, m]`` is the best label of that arc; in row 0, the number
    #: of labels.
    labels: Integers32
    #: float32 (n + 1, n + 1), the log-probability of each arc's best label, which the arc's score
    #: includes.
    label_scores: Floats32
    #: int32 (n + 1,), 1 + the best tag of each token; 0 for the root.
    tags: Integers32
    #: uint64 (n + 1,), a hash of each token's normalised form; 0 for the root.
    words: NDArray[np.uint64]
    #: The labels of all arcs, computed on demand.
    arc_labels: ArcLabels
    #: float32 (n,), the score of a sentence beginning at each token, ``-inf`` where none may; None
    #: if the tokens are one sentence.
    boundaries: Floats32 | None = None

    def completed(self) -> SentenceScores:
        """Return the same with labels for all arcs.

        Without, some arcs may have no label, -1, and an upper bound as their score.
        """
        if self.labels.min() >= 0:
            return self
        found = BestLabels(self.arcs.copy(), self.label_scores.copy(), self.labels.copy())
        arc_labels = self.arc_labels.completed(found)
        arcs, logs, labels = found
        return replace(self, arcs=arcs, labels=labels, label_scores=logs, arc_labels=arc_labels)

    def best_labels(
        self, class_of: Integers, classes: int, heads: Integers32 | None = None
    ) -> tuple[Floats, Integers32]:
        """Return the log-probability of every arc's best label of each class, and that label.

        Both are (n + 1, n + 1, classes). The last label is that of root arcs, and of no others.
        Arcs without labels have a bound of 0 and the label -1; but given the `heads` of a tree,
        int32 (n,), its arcs have labels, and all others ``-inf``. `class_of`, (labels + 1,), is
        the class of each label.
        """
        size, of_root = len(self.tokens) + 1, self.label_count - 1
        found = np.full((size, size, classes), -np.inf)
        best = np.full((size, size, classes), of_root, np.int32)
        among = np.s_[1:, 1:]
        labels = self.arc_labels if heads is None else self.arc_labels.of_tree(heads)
        labels.fill(found[among], best[among], class_of)
        found[0, :, class_of[of_root]] = 0.0
        if heads is not None:
            found[np.arange(size)[:, None] != np.append(0, heads)] = -np.inf
        return found, best

    @property
    def label_count(self) -> int:
        """The number of labels, including that of root arcs."""
        return int(self.labels[0, 0]) + 1

    def cut(self, starts: Booleans | None) -> list[SentenceScores]:
        """Return the scores of the sentences beginning at `starts`, bool (n,), or None for one."""
        if starts is None or np.count_nonzero(starts) == 1:
            return [replace(self, boundaries=None)]
        ends = [*np.flatnonzero(starts).tolist(), len(starts)]
        return [self._part(first, end) for first, end in pairwise(ends)]

    def _part(self, first: int, end: int) -> SentenceScores:
        among = np.concatenate([[0], np.arange(first + 1, end + 1)])
        square = np.ix_(among, among)
        return SentenceScores(
            self.tokens[first:end],
            self.arcs[square],
            self.labels[square],
            self.label_scores[square],
            self.tags[among],
            self.words[among],
            self.arc_labels.part(first, end),
        )

    def tree(self, heads: Integers32, labels: Integers32) -> tuple[Integers, Integers32]:
        """Return the heads of a tree as indices in the document, and its labels, -1 for root arcs.

        A root is its own head.
        """
        places = np.where(heads == 0, self.tokens, self.tokens[np.maximum(heads, 1) - 1])
        return places, np.where(heads == 0, -1, labels)


@dataclass(frozen=True)
class DocumentScores:
    """The scores of one document."""

    #: Where its blocks begin.
    starts: Integers
    #: The scores of each block with a word: a sentence, or several whose boundaries are decided
    #: together with the trees.
    blocks: list[SentenceScores]
    #: float32 (tokens,), log-odds that a sentence begins at each token; infinite if known.
    start_odds: Floats32
    #: Whether each token is white space.
    blank: Booleans
    #: float32 (tokens, width), the encoder's vectors.
    vectors: Floats2d | None = None
    #: The component's reading of the document, with the demands on its trees.
    demands: Any = None


def score_documents(
    model: Model[list[Doc], Floats2d],
    docs: Sequence[Doc],
    presets: Sequence[Integers],
    spaces: Sequence[Booleans],
    limits: BoundaryLimits,
    *,
    partly: bool = False,
    vectors: Any = None,
    within: tuple[int, int] | None = None,
) -> list[DocumentScores]:
    """Score all sentences of documents.

    An arc's score includes the log-probability of its best label, so that the best tree is the
    best labelled tree.

    Parameters
    ----------
    model
        An :func:`~spacy_decoders.models.parser.arc_scorer.ArcScorer`.
    docs
        The documents; they are not changed.
    presets
        Known sentence starts, an array for each document: 1, -1 (no start), 0 (unknown).
    spaces
        Whether each token is white space, an array for each document. Such tokens begin no
        sentence unless preset, and are not in the tree.
    limits
        Which boundaries are decided together with the trees.
    partly
        Whether to label only likely arcs.
    vectors, within
        To score the blocks of a part of one document again, with other sentence starts: the
        document's vectors, and the part's first token and the one after its last; blocks may
        extend beyond the part.
    """
    if vectors is None:
        vectors = model.predict(list(docs))
    lengths: Any = list(map(len, docs))
    begins = [*accumulate(lengths, initial=0)]
    encoded = [vectors[begin:end] for begin, end in pairwise(begins)]
    tag_scores: Any = model.get_ref("tags").predict(vectors)
    tagged = model.maybe_get_ref("tagged")
    if tagged is not None:
        vectors = tagged.predict((vectors, tag_scores))
    log_odds: Any = model.get_ref("boundaries").predict(vectors) + np.float32(limits.offset)
    tags = tag_scores.argmax(axis=1)
    forms = form_hashes(docs)
    documents = []
    for begin, preset, blank in zip(begins, presets, spaces, strict=False):
        odds = known_odds(log_odds[begin : begin + len(blank), 0], preset, blank)
        offsets = limits.cut(odds)
        words = np.flatnonzero(~blank)
        ends = np.searchsorted(words, offsets).tolist()
        blocks = [words[a:b] for a, b in pairwise(ends) if a < b]
        if within is not None:
            blocks = [of for of in blocks if of[0] < within[1] and of[-1] >= within[0]]
        longest = max(map(len, blocks), default=0)
        refuse_beyond_memory(
            "sentence starts",
            f"a sentence of {longest:,} words",
            PAIR * longest**2,
            "allow starts within it, or cut the text",
        )
        documents.append((odds, offsets[:-1], blocks))
    kept = [block for _, _, blocks in documents for block in blocks]
    rows = [
        begin + block
        for begin, (_, _, blocks) in zip(begins, documents, strict=False)
        for block in blocks
    ]
    chosen = np.concatenate([np.zeros(0, dtype=np.int64), *rows])
    arcs, received = score_arcs(model, vectors[chosen], np.cumsum([0, *map(len, rows)]))
    inside = [limits.within(odds[block]) for odds, _, blocks in documents for block in blocks]
    of_tokens = tags[chosen], forms[chosen]
    scored = iter(assemble(model, received, arcs, *of_tokens, kept, inside, partly=partly))
    return [
        DocumentScores(starts, list(islice(scored, len(blocks))), odds, blank, of_doc)
        for (odds, starts, blocks), blank, of_doc in zip(documents, spaces, encoded, strict=True)
    ]


def assemble(
    model: Model[list[Doc], Floats2d],
    vectors: Any,
    arcs: Sequence[Any],
    tags: Any,
    forms: NDArray[np.uint64],
    places: Sequence[Integers],
    boundaries: Sequence[Floats32 | None],
    *,
    partly: bool = False,
) -> list[SentenceScores]:
    """Label the arcs of sentences, only likely ones if `partly`, and return all scores.

    The vectors for labels, the indices of the best tags and the hashes of forms and suffixes are
    those of all tokens, concatenated. For each sentence there are its arc scores, its tokens'
    positions in the document, and the scores of boundaries in it.
    """
    offsets = np.cumsum([0, *map(len, places)])
    layer = model.maybe_get_ref("label_templates")
    templates = None if layer is None else (layer, context_codes(forms, tags, offsets))
    layer = model.get_ref("labels")
    labelled = label_arcs(layer, vectors, offsets, arcs, templates, likely_only=partly)
    # the root before each sentence
    begins = offsets + np.arange(len(offsets))
    behind = np.arange(1, len(tags) + 1) + np.repeat(np.arange(len(places)), np.diff(offsets))
    of_tokens, words = np.zeros(begins[-1], np.int32), np.zeros(begins[-1], np.uint64)
    of_tokens[behind], words[behind] = tags + 1, forms[:, 0]
    scored = []
    for where, starts, (best, arc_labels), (begin, end) in zip(
        places, boundaries, labelled, pairwise(begins.tolist()), strict=True
    ):
        tokens = of_tokens[begin:end], words[begin:end]
        scored.append(
            SentenceScores(where, best.arcs, best.labels, best.logs, *tokens, arc_labels, starts)
        )
    return scored
