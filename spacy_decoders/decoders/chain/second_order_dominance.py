"""Second-order decoding over the pairs of labels that may still win."""

from __future__ import annotations

from dataclasses import dataclass

from .kernels import second_order_dominance
from .problem import Sentences
from .second_order import SecondOrderDecoder, SecondOrderModel, certified
from .second_order_viterbi import decode_pairs_densely
from .solutions import ChainSolutions

__all__ = ["SecondOrderDominance"]


@dataclass(frozen=True)
class SecondOrderDominance(SecondOrderDecoder):
    """Exact decoding of second order that keeps only the pairs of labels that may still win.

    A state is the pair of the last two labels. With the links
    ``C[x, y, z] = transitions[y, z] + triples[x, y, z]``, a label v before z can gain at most::

        E[h, v, z] = max(0, max over w of (triples[v, z, w] - triples[h, z, w]))

    on a label h before z by what follows z, so a pair (u, v) can gain at most::

        D[(g, h), v] = max over u and z of (C[u, v, z] - C[g, h, z] + E[h, v, z])

    on a pair (g, h): from the next label but one on, both may go the same way. A pair is dropped
    where its running score and D do not reach the running score of the best pair: where scores
    were trained, few are left.

    Notes
    -----
    Pairs fall sixteen at a time. Where more than a few are left, those with the same last label
    are compared with the best of them by E.

    Where transitions are forbidden, D says nothing of what may follow (u, v) and not (g, h). The
    pairs that the other labels alone do not rule out make a good path, whose pairs then take the
    part of the best, and a backward pass bounds what may come of leaving its reach. Where
    triples are forbidden that transitions allow, E and D hold infinities and rule out little.

    Where so many pairs survive that this is no faster, sentences go to the dense
    :class:`SecondOrderViterbi`, and one of more and more of those after them is tried again,
    up to 64.

    A row of E or of D is computed when a sentence first needs it, and kept with the model.

    The only error is that of the rounding to float32, which the certificate states as its
    tolerance: a pair is dropped only for one that is worth as much in the end, so what may still
    come of the survivors at best falls by no more than the rounding of one step a token.

    Examples
    --------
    >>> import numpy as np
    >>> from spacy_decoders.decoders.chain import ChainModel, SecondOrderModel
    >>> triples = np.zeros((2, 2, 2))
    >>> triples[0, 1, 0] = 4
    >>> model = SecondOrderModel(ChainModel([[1, 0], [0, 1]]), triples)
    >>> solution = SecondOrderDominance().decode(model, [[3, 0], [0, 1.5], [0, 1]])
    >>> solution.labels, solution.certificate.score, solution.certificate.status
    (array([0, 1, 0], dtype=int32), 8.5, 'optimal')
    """

    def _solve(self, model: SecondOrderModel, sentences: Sentences) -> ChainSolutions:
        labels, slacks, left, sound, sentence, token = second_order_dominance.decode(
            model.pruning, sentences.emissions.reshape(-1), sentences.offsets, model.size
        )
        if len(left) and sound and sentence < 0:
            sound, sentence, token = decode_pairs_densely(model, sentences, left, labels, slacks)
        return certified(
            "SecondOrderDominance", model, sentences, labels, slacks, sound, sentence, token
        )
