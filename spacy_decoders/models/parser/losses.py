"""The gold standard of the parser's network, and the gradients of its losses."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ...arrays import Integers
from ...budget import Budget
from .decoding import TreeParser
from .factors import FactorTemplates
from .label_templates import context_codes, form_hashes
from .tree_scores import SentenceScores, assemble

if TYPE_CHECKING:
    from ...decoders.protocols import TreeDecoding

__all__ = ["UNKNOWN", "GoldTrees", "learn", "sentences_of", "train_factors"]

#: A missing annotation, which does not contribute to the loss.
UNKNOWN = -2
ROOT = -1

#: The size of blocks of whole sentences in which heads are trained, in words: a parser that
#: decides boundaries together with trees scores arcs between sentences too.
BLOCK_WORDS = 60

#: The weight of the label loss, relative to the others: with 1, the shared encoder would serve
#: mostly the heads.
LABEL_WEIGHT = 3.0

#: The number of heads of each token that are kept while factors are trained, and the margin for
#: each wrong arc.
HEADS = 6
MARGIN = np.float32(1.0)

#: The budget of a sentence in training: a violating tree that is not proven to be the best still
#: gives a useful gradient. With 40 passes, steps take a third longer for the same accuracy.
BUDGET = Budget(iterations=3)


@dataclass(frozen=True)
class GoldTrees:
    """The gold standard of a batch, over the tokens of all documents, concatenated.

    ``UNKNOWN`` (-2) in heads, labels, starts or tags is a missing value.
    """

    #: Where sentences begin, and the number of tokens last.
    offsets: Integers
    #: The head of each token, in the same sentence; -1 for the root.
    heads: Integers
    #: The index of each token's label.
    labels: Integers
    #: 1 where a sentence begins, else 0.
    starts: Integers
    #: The index of each token's tag.
    tags: Integers
    #: Where documents begin, and the number of tokens last.
    documents: Integers

    def blocks(self) -> Integers:
        """Return where blocks of whole sentences of one document begin, and the number of tokens.

        A block has as many sentences as fit in :data:`BLOCK_WORDS` tokens, at least one.
        """
        found = [0]
        first_of_document = set(self.documents.tolist())
        for start, end in pairwise(self.offsets.tolist()):
            if start and (start in first_of_document or end - found[-1] > BLOCK_WORDS):
                found.append(start)
        return np.array([*found, self.offsets[-1]], dtype=np.int64)


def learn(
    model: Model[list[Doc], Floats2d], docs: Sequence[Doc], encoded: Any, gold: GoldTrees
) -> tuple[float, Any, tuple[Any, Any, Any]]:
    """Accumulate the gradients of the layers on top of the token vectors of a batch.

    Returns the loss, the sum of the cross-entropies of heads, labels, boundaries and tags, in
    nats; its gradient with respect to these vectors, (tokens, width); and, with dropout, the
    vectors for labels, the arc scores and the tag scores.
    """
    scale = 1.0 / max(1, len(gold.heads))
    tags, backprop_tags = model.get_ref("tags").begin_update(encoded)
    tag_loss, d_tags = cross_entropy(tags, gold.tags, scale)
    vectors, backprop_tagged = _with_tags(model, encoded, tags)
    arcs, received, head_loss, backprop_arcs = _update_arcs(model, vectors, gold, scale)
    d_received: Any = np.zeros_like(received)
    labelled = np.flatnonzero((gold.heads >= 0) & (gold.labels >= 0))
    label_loss = 0.0
    if len(labelled):
        pairs = np.stack([gold.heads[labelled], labelled], axis=1)
        scores, backprop_labels = model.get_ref("labels").begin_update((received, pairs))
        templates = model.maybe_get_ref("label_templates")
        if templates is not None:
            codes = context_codes(form_hashes(docs), tags.argmax(axis=1), gold.offsets)
            more, backprop_templates = templates.begin_update((codes, pairs))
            scores += more
        label_loss, d_scores = cross_entropy(scores, gold.labels[labelled], LABEL_WEIGHT * scale)
        d_received += backprop_labels(d_scores)[0]
        if templates is not None:
            backprop_templates(d_scores)
    d_vectors = backprop_arcs(d_received)

    log_odds, backprop_starts = model.get_ref("boundaries").begin_update(vectors)
    boundary_loss, d_log_odds = _boundary_loss(log_odds, gold.starts, scale)
    d_vectors += backprop_starts(d_log_odds)

    d_encoded = backprop_tagged(d_vectors)
    d_encoded += backprop_tags(d_tags)
    loss = head_loss + label_loss + boundary_loss + tag_loss
    return loss, d_encoded, (received, arcs, tags)


def sentences_of(
    model: Model[list[Doc], Floats2d], docs: Sequence[Doc], gold: GoldTrees, outputs: Any
) -> list[SentenceScores]:
    """The scores of a batch's sentences, given the outputs that :func:`learn` returned."""
    vectors, arcs, tags = outputs
    places = [np.arange(start, end) for start, end in pairwise(gold.offsets)]
    of_tokens = tags.argmax(axis=1), form_hashes(docs)
    given = vectors, _by_sentence(arcs, gold), *of_tokens, places, [None] * len(places)
    return assemble(model, *given)


def _by_sentence(arcs: Sequence[Any], gold: GoldTrees) -> list[Floats2d]:
    """Return the scores of each sentence's arcs, from those of its block."""
    found = []
    blocks = gold.blocks()
    places = np.searchsorted(blocks, gold.offsets[:-1], side="right") - 1
    for block, (start, end) in zip(places, pairwise(gold.offsets), strict=True):
        rows = np.arange(start, end) - blocks[block]
        columns = np.append(0, rows + 1)
        found.append(arcs[block][rows[:, None], columns])
    return found


def _with_tags(
    model: Model[list[Doc], Floats2d], vectors: Any, tags: Any
) -> tuple[Any, Callable[[Any], Any]]:
    """Return the inputs of the output layers, and their backpropagation."""
    tagged = model.maybe_get_ref("tagged")
    if tagged is None:
        return vectors, lambda gradient: gradient
    seen, backprop = tagged.begin_update((vectors, tags))
    return seen, lambda gradient: backprop(gradient)[0]


def _update_arcs(
    model: Model[list[Doc], Floats2d], vectors: Floats2d, gold: GoldTrees, scale: float
) -> tuple[list[Floats2d], Any, float, Callable[[Any], Any]]:
    """Return what :func:`~.relatives.score_arcs` does, the loss, and the backpropagation.

    The latter maps the gradient of the vectors for labels to that of the token vectors. If arcs
    are scored twice, the first scores have a loss of their own, in addition to that of the sum.
    """
    blocks = gold.blocks()
    arcs, backprop_arcs = model.get_ref("arcs").begin_update((vectors, blocks))
    loss, d_arcs = _heads_loss(arcs, gold, blocks, scale)
    relatives = model.maybe_get_ref("relatives")
    if relatives is None:
        d_vectors: Any = backprop_arcs(d_arcs)[0]
        return arcs, vectors, loss, lambda d_received: d_vectors + d_received
    received, backprop_received = relatives.begin_update((vectors, arcs, blocks))
    again, backprop_again = model.get_ref("arcs_again").begin_update((received, blocks))
    total = [first + second for first, second in zip(arcs, again, strict=True)]
    loss, d_total = _heads_loss(total, gold, blocks, scale)
    d_again = backprop_again(d_total)[0]
    d_first = backprop_arcs([a + b for a, b in zip(d_arcs, d_total, strict=True)])[0]
    return (
        total,
        received,
        loss,
        lambda d_received: d_first + backprop_received(d_received + d_again)[0],
    )


def cross_entropy(scores: Any, gold: Integers, scale: float = 1.0) -> tuple[float, Any]:
    """Return the summed softmax cross-entropy of rows, and its gradient times `scale`.

    Rows with a negative gold index are ignored.
    """
    known = np.flatnonzero(gold >= 0)
    shifted = scores - scores.max(axis=1, keepdims=True)
    probabilities = np.exp(shifted)
    sums = probabilities.sum(axis=1, keepdims=True)
    loss = float((np.log(sums[known, 0]) - shifted[known, gold[known]]).sum(dtype="d"))
    gradient = probabilities / sums
    gradient[known, gold[known]] -= 1.0
    gradient[gold < 0] = 0.0
    return loss, gradient * np.float32(scale)


def _heads_loss(
    arcs: list[Floats2d], gold: GoldTrees, blocks: Integers, scale: float
) -> tuple[float, list[Floats2d]]:
    total, gradients = 0.0, []
    for scores, (start, end) in zip(arcs, pairwise(blocks), strict=True):
        heads = gold.heads[start:end]
        # column 0 is the root, column h + 1 the block's token h
        columns = np.where(heads >= 0, heads - start + 1, np.where(heads == ROOT, 0, -1))
        loss, gradient = cross_entropy(scores, columns, scale)
        total += loss
        gradients.append(gradient)
    return total, gradients


def _boundary_loss(log_odds: Any, starts: Integers, scale: float) -> tuple[float, Any]:
    known = starts >= 0
    logits = log_odds[:, 0]
    losses = np.logaddexp(0.0, np.where(starts == 1, -logits, logits))
    gradient = np.where(known, 1.0 / (1.0 + np.exp(-logits)) - starts, 0.0) * scale
    return float(losses[known].sum(dtype="d")), gradient.astype("f")[:, None]


def train_factors(
    templates: FactorTemplates,
    decoder: TreeDecoding,
    projective: bool,
    sentences: Sequence[SentenceScores],
    gold: GoldTrees,
) -> int:
    """Accumulate the gradients of the factor weights, with arc scores held fixed.

    The tree that violates the margin most is found by the exact decoder with the first-order
    scores included, so that factors learn only to correct these. Each wrong arc gets the margin
    as a bonus (cost-augmented decoding).

    Sentences with unknown heads are left out, as are non-projective gold trees if `projective`.
    Returns the number of wrong arcs.

    References
    ----------
    B. Taskar, C. Guestrin, D. Koller. "Max-Margin Markov Networks". NIPS 2003.
    """
    from ...decoders.tree import is_projective

    model = templates.model
    gradients = {family: np.zeros(model.get_dim("nO"), dtype="f") for family in templates.families}
    parser = TreeParser(decoder, templates, projective=projective, longest=sys.maxsize, k=HEADS)
    wrong = tokens = 0
    for sentence, (start, end) in zip(sentences, pairwise(gold.offsets), strict=True):
        heads = gold.heads[start:end]
        if len(heads) < 3 or (heads == UNKNOWN).any() or (heads == ROOT).sum() != 1:
            continue
        right = np.where(heads == ROOT, 0, heads - start + 1).astype(np.int32)
        if projective and not is_projective(right):
            continue
        raised = sentence.arcs + MARGIN
        raised[right, np.arange(1, len(right) + 1)] -= MARGIN
        augmented = replace(sentence, arcs=raised)
        found = decoder.decode(parser.problem(augmented), budget=BUDGET)
        tokens += len(right)
        templates.add(gradients, augmented, found.heads, 1.0)
        templates.add(gradients, augmented, right, -1.0)
        wrong += int((found.heads != right).sum())
    for name, gradient in gradients.items():
        of_token: Any = gradient / max(1, tokens)
        model.inc_grad(name, model.ops.asarray1f(of_token))
    return wrong
