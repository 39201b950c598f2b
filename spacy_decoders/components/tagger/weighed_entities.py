"""Weighted demands that spans are entities: the best labels, with what they are worth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...certificate import Certificate
from ...errors import InfeasibleError
from ..constraints.labels import EntityWorth
from .decoding import Tagging
from .label_space import LabelSpace

if TYPE_CHECKING:
    from ...decoders.chain import ChainModel
    from ...decoders.protocols import ChainDecoding

__all__ = ["weighed"]

#: Decodings of one unit, after which a gap is left.
MOST = 500

Mask = NDArray[np.bool_]


def weighed(
    tagging: Tagging,
    evidence: Sequence[EntityWorth],
    emissions: NDArray[np.float32],
    model: ChainModel,
    decoder: ChainDecoding,
    space: LabelSpace,
) -> Tagging:
    """Return the best labels of a document, given what it is worth that some spans are entities.

    The units of `tagging` were decoded without that; the emissions, **shape (n, L)**, are those
    under all limits. Spans that are not within one unit have no effect.
    """
    labels, certificates = tagging.labels.copy(), list(tagging.certificates)
    for unit, (begin, stop) in enumerate(pairwise([0, *np.cumsum(tagging.units).tolist()])):
        worths = [of for of in evidence if begin <= of.start and of.end <= stop]
        if worths and certificates[unit].status != "infeasible":
            search = _WeighedUnit(model, decoder, space, emissions[begin:stop], worths, begin)
            labels[begin:stop], certificates[unit] = search.best(
                tagging.labels[begin:stop], certificates[unit]
            )
    return replace(tagging, labels=labels, certificates=certificates)


@dataclass(frozen=True)
class _Node:
    """The labels that fulfil the `forced` demands best; the `open` ones may be fulfilled too."""

    upper: float  # on the worth of all labels that fulfil no other demands than these
    labels: NDArray[np.int32]
    certificate: Certificate
    forced: frozenset[int]
    open: frozenset[int]


class _WeighedUnit:
    """Branch and bound over the sets of demands that the labels of one unit fulfil.

    All weights are positive, so the best is the best of: the labels that fulfil a set of demands,
    with the weights of that set, over all sets. A node's bound adds the weights of its open
    demands to the bound of the chain; a demand that the node's labels do not fulfil is either
    forced upon them, or given up with its weight.
    """

    def __init__(
        self,
        model: ChainModel,
        decoder: ChainDecoding,
        space: LabelSpace,
        emissions: NDArray[np.float32],
        worths: Sequence[EntityWorth],
        begin: int,
    ) -> None:
        self.model, self.decoder, self.emissions = model, decoder, emissions
        self.weights = [of.weight for of in worths]
        self.demands = [list(self._demand(space, of, begin)) for of in worths]

    def best(
        self, labels: NDArray[np.int32], alone: Certificate
    ) -> tuple[NDArray[np.int32], Certificate]:
        """Return the best labels and their certificate, given those without the weights."""
        number = count()
        every = frozenset(range(len(self.weights)))
        root = _Node(self._upper(alone, every), labels, alone, frozenset(), every)
        nodes = [(-root.upper, next(number), root)]
        score, found, tolerance, upper = -math.inf, root, alone.tolerance, root.upper
        decodings = 0
        while nodes:
            _, _, node = nodes[0]
            upper = node.upper
            worth = (node.certificate.score or 0.0) + self._worth(self._fulfilled(node.labels))
            if worth > score:
                score, found = worth, node
                tolerance = max(tolerance, node.certificate.tolerance)
            missed = node.open - self._fulfilled(node.labels)
            if score >= upper - tolerance or not missed or decodings == MOST:
                break
            heappop(nodes)
            demand = max(missed, key=lambda d: (self.weights[d], -d))
            rest = node.open - {demand}
            less = replace(node, upper=node.upper - self.weights[demand], open=rest)
            heappush(nodes, (-less.upper, next(number), less))
            decodings += 1
            forced = node.forced | {demand}
            try:
                solution = self.decoder.decode(self.model, self._forced(forced))
            except InfeasibleError:
                continue
            bound = min(node.upper, self._upper(solution.certificate, forced | rest))
            more = _Node(bound, solution.labels, solution.certificate, forced, rest)
            heappush(nodes, (-bound, next(number), more))
        certificate = Certificate.from_bound(
            alone.decoder, score, upper, tolerance=tolerance, iterations=1 + decodings
        )
        return found.labels, certificate

    def _demand(
        self, space: LabelSpace, worth: EntityWorth, begin: int
    ) -> Iterator[tuple[int, Mask]]:
        """Yield the tokens of the unit and the labels that these must have."""
        of_types = space.entities_of(worth.types)
        yield worth.start - begin, of_types & ~space.continues_entity
        for token in range(worth.start + 1, worth.end):
            yield token - begin, of_types & space.continues_entity
        if worth.end - begin < len(self.emissions):
            yield worth.end - begin, ~space.continues_entity

    def _fulfilled(self, labels: NDArray[np.int32]) -> frozenset[int]:
        return frozenset(
            number
            for number, demand in enumerate(self.demands)
            if all(allowed[labels[token]] for token, allowed in demand)
        )

    def _worth(self, demands: frozenset[int]) -> float:
        return math.fsum(self.weights[number] for number in demands)

    def _upper(self, certificate: Certificate, demands: frozenset[int]) -> float:
        if certificate.bound is None:
            return math.inf
        return certificate.bound + self._worth(demands)

    def _forced(self, demands: frozenset[int]) -> NDArray[np.float32]:
        emissions = self.emissions.copy()
        for number in demands:
            for token, allowed in self.demands[number]:
                emissions[token, ~allowed] = -np.inf
        return emissions
