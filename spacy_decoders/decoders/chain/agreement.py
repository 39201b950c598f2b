"""``DocumentAgreement``: the entities of a whole document at once, exactly."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import checked_whole
from ...budget import UNLIMITED, Budget, Clock
from ...errors import InfeasibleError
from .certifying import TOLERANCE, certified
from .documents import DocumentProblem, DocumentSolution, summed
from .forward_dominance import ForwardDominance
from .span_chains import SpanSentences, factor_values

__all__ = ["DocumentAgreement", "contradictory_factors"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]

#: Updates stop when one closes less than this share of the gap.
STALLED = 0.05


class Node(NamedTuple):
    """A part of the search: factors whose hubs are fixed, and a bound."""

    bound: float  # proven for all labellings with these hubs
    hubs: NDArray[np.int64]  # (factors,): the hub of each factor, -1 where it is not fixed
    messages: Floats  # (edges, K + 1): what the chains hold of the factors' scores
    branch: int  # the factor to branch on; -1 if all hubs are fixed


@dataclass(frozen=True)
class DocumentAgreement:
    """Exact decoding of chains whose entities are tied together by factors.

    The chains are decoded alone first, which is already optimal where the labels cost no factor
    anything. Otherwise the factors that cost something join, and are decoded together with their
    sentences by dual decomposition: chains and factors exchange max-marginals, which lowers the
    sum of their separate optima, an upper bound. A gap that is left is closed by branching on the
    hubs of factors. The labels may then violate other factors, which join as well.

    Parameters
    ----------
    updates
        Exchanges of max-marginals at each node, at most.
    nodes
        Nodes of the search, at most; each factor's hub is branched on once along a path, so that
        an unlimited search ends.

    Raises
    ------
    ProblemError
        If an option is no whole number from 1 on.

    Notes
    -----
    Dual decomposition: Rush, Sontag, Collins, Jaakkola 2010. The exchange is max-sum diffusion
    with blocks (Werner 2007; Globerson, Jaakkola 2007): it never raises the bound, and where a
    sentence has one mention and a mention one factor, one exchange is optimal.

    Examples
    --------
    >>> from spacy_decoders.decoders.chain import (
    ...     ChainModel, DocumentProblem, EntityLabels, agreement_costs)
    >>> model = ChainModel(np.zeros((3, 3)))
    >>> entities = EntityLabels([-1, 0, 1], [False] * 3)
    >>> problem = DocumentProblem(model, [[0, 2, 1], [0, 1, 1.5]], [1, 1], entities,
    ...     mentions=[[0, 1], [1, 2]], members=[[0, 1]], costs=agreement_costs(2)[None])
    >>> solution = DocumentAgreement().decode(problem)
    >>> solution.labels.tolist(), solution.certificate.score, solution.certificate.status
    ([1, 1], 3.0, 'optimal')
    """

    updates: int = 12
    nodes: int = 500

    def __post_init__(self) -> None:
        for name in ("updates", "nodes"):
            checked_whole(name, getattr(self, name), low=1)

    def decode(self, problem: DocumentProblem, *, budget: Budget = UNLIMITED) -> DocumentSolution:
        """Decode a document.

        Parameters
        ----------
        problem
            The problem.
        budget
            When to stop; an iteration is a node. When it ends, the best labels so far are
            returned with a bound that holds.

        Raises
        ------
        InfeasibleError
            If a sentence has no legal labelling, or factors that forbid contradict the rest; the
            message names them.
        """
        clock = budget.start()
        alone = ForwardDominance().solve(problem.model, problem.sentences)
        evidence: Any = problem.evidence
        wanted = set(np.flatnonzero(evidence.any(axis=1)).tolist())
        labels, bounds = alone.labels, np.asarray(alone.bounds)
        best = ScoredLabels.of(problem, labels)
        most = evidence.max(axis=1, initial=0.0).tolist()
        bound, nodes, active = _total([*bounds.tolist(), *most]), 0, list[int]()
        while True:
            joining = [f for f in _violated(problem, labels) if f not in active]
            if not joining and (not wanted or nodes):
                break
            if nodes and (nodes >= self.nodes or clock.exhausted(nodes)):
                break
            active = sorted([*active, *joining])
            members = [problem.members[f] for f in active]
            mentions = np.unique(
                np.concatenate([np.array(sorted(wanted), dtype=np.int64), *members])
            )
            sentences = SpanSentences(problem, mentions)
            search = _HubSearch(self, problem, sentences, active, clock, nodes)
            labels, nodes = search.into(labels), search.done
            rest = np.delete(bounds, sentences.chosen)
            bound = min(bound, _total([*rest.tolist(), search.bound]))
            best = max(best, ScoredLabels.of(problem, labels), key=lambda found: found.score)
        if best.score == -math.inf:  # the budget left only labels that a factor forbids
            everything = SpanSentences(problem, np.arange(len(problem.owners)))
            factors = list(range(len(problem.members)))
            search = _HubSearch(self, problem, everything, factors, clock, nodes)
            best = ScoredLabels.of(problem, search.into(labels))
        found = certified(
            type(self).__name__, best.labels, best.score, best.scale, bound, max(1, nodes)
        )
        return DocumentSolution(found.labels, found.certificate)


class ScoredLabels(NamedTuple):
    """Labels with their score and scale."""

    score: float
    scale: float
    labels: Labels

    @classmethod
    def of(cls, problem: DocumentProblem, labels: Labels) -> ScoredLabels:
        """Score labels from the problem."""
        return cls(*problem.score_and_scale(labels), labels)


class _HubSearch:
    """Branch and bound over the hubs of some factors.

    Attributes
    ----------
    labels
        The best labels found; None if there are none.
    bound
        Proven for the sentences with these factors.
    done
        Nodes so far.
    """

    def __init__(
        self,
        options: DocumentAgreement,
        problem: DocumentProblem,
        sentences: SpanSentences,
        factors: list[int],
        clock: Clock,
        done: int,
    ) -> None:
        self.options, self.clock, self.done = options, clock, done
        self.sentences = sentences
        self.edges = sentences.edges(factors)
        self.costs: Floats = np.asarray(problem.costs)[np.array(factors, dtype=np.int64)]
        self.slices = [slice(*pair) for pair in pairwise(self.edges.offsets)]
        self.owners = sentences.owners[self.edges.mentions]
        self.labels: Labels | None = None
        self.score, self.scale, self.bound = -math.inf, 0.0, -math.inf
        self._tried: set[bytes] = set()

    def into(self, labels: Labels) -> Labels:
        """Search, and return the document's labels with the best ones of these sentences.

        Raises
        ------
        InfeasibleError
            If no labelling satisfies the factors.
        """
        self._run()
        if self.labels is None:
            raise _infeasible(self.sentences.problem, self.edges.factors)
        found = labels.copy()
        found[self.sentences.tokens] = self.labels
        return found

    def _run(self) -> None:
        """Search until the bound meets the best labels, or the budget ends and labels are there.

        Without labels, no labelling satisfies the factors.
        """
        kinds = (
            self.costs.shape[1] if len(self.costs) else 1 + self.sentences.problem.entities.count
        )
        root = Node(
            math.inf,
            np.full(len(self.slices), -1, dtype=np.int64),
            np.zeros((len(self.edges.mentions), kinds)),
            -1,
        )
        order = count()
        queue = [(0.0, next(order), self._improved(root))]
        closed = -math.inf
        while queue:
            _, _, node = heapq.heappop(queue)
            if node.bound <= self.score + self._tolerance() or node.branch < 0:
                closed = max(closed, node.bound)
                continue
            ended = self.done >= self.options.nodes or self.clock.exhausted(self.done)
            if ended and self.labels is not None:
                closed = max(closed, node.bound)
                break
            for hub in range(kinds):
                child = self._improved(self._fixed(node, hub))
                heapq.heappush(queue, (-child.bound, next(order), child))
        self.bound = max([closed, *(node.bound for _, _, node in queue)])

    def decoded(self, hubs: NDArray[np.int64]) -> Labels | None:
        """Return the best labels if the hub of every factor is fixed."""
        kinds = 1 + self.sentences.problem.entities.count
        messages = np.zeros((len(self.edges.mentions), kinds))
        for f, of in enumerate(self.slices):
            messages[of] = -self.costs[f, hubs[f]]
        worth, _ = self.sentences.potentials(self.edges, messages)
        return self.sentences.best_paths(worth)

    def _tolerance(self) -> float:
        return TOLERANCE * (1.0 + self.scale) / 4

    def _fixed(self, node: Node, hub: int) -> Node:
        hubs, messages = node.hubs.copy(), node.messages.copy()
        hubs[node.branch] = hub
        messages[self.slices[node.branch]] = -self.costs[node.branch, hub]
        return Node(node.bound, hubs, messages, -1)

    def _improved(self, node: Node) -> Node:
        """Lower a node's bound, look for better labels, and choose the factor to branch on."""
        self.done += 1
        free = [f for f in range(len(self.slices)) if node.hubs[f] < 0]
        messages, before, branch = node.messages, math.inf, -1
        for _ in range(self.options.updates if free else 1):
            worth, constant = self.sentences.potentials(self.edges, messages)
            best, marginals = self.sentences.max_marginals(worth)
            if not np.isfinite(best).all():
                proven = self._proven(messages, free)
                return Node(min(node.bound, proven), node.hubs, messages, -1)
            collected = self._collected(messages, best, marginals, free)
            hubs, value, branch = self._hubs(node.hubs, collected, free)
            self._try(hubs)
            bound = math.fsum(best.tolist()) + constant + value
            gap = bound - self.score
            if gap <= self._tolerance() / 2 or before - bound < STALLED * gap or not free:
                break
            before, messages = bound, self._returned(collected, free)
        proven = self._proven(collected, free)
        return Node(min(node.bound, proven), node.hubs, collected, branch)

    def _collected(
        self, messages: Floats, best: Floats, marginals: Floats, free: list[int]
    ) -> Floats:
        """Move the max-marginals of chains to the free factors, an equal share to each edge."""
        collected = messages.copy()
        lost = marginals[self.edges.mentions] - best[self.owners][:, None]
        impossible = np.isneginf(lost)
        lost[impossible] = 0.0
        # a kind that the chain forbids is worth nothing to the factor either
        most = np.max(self.costs, initial=0.0, where=np.isfinite(self.costs))
        far = 1e3 + 4.0 * (float(np.abs(lost).max(initial=0.0)) + float(most))
        for f in free:
            of = self.slices[f]
            collected[of] -= lost[of] / self.edges.sharing[of][:, None]
            collected[of][impossible[of]] = far
        return collected

    def _hubs(
        self, fixed: NDArray[np.int64], messages: Floats, free: list[int]
    ) -> tuple[NDArray[np.int64], float, int]:
        """Return the best hub of each factor, their values' sum, and the least certain factor."""
        hubs, values = fixed.copy(), []
        least, branch = math.inf, -1
        for f in free:
            totals, _ = factor_values(self.costs[f], messages[self.slices[f]])
            hubs[f] = totals.argmax()
            values.append(float(totals.max()))
            second = np.partition(totals, -2)[-2]
            if totals.max() - second < least:
                least, branch = float(totals.max() - second), f
        return hubs, math.fsum(values), branch if branch >= 0 else (free[0] if free else -1)

    def _returned(self, collected: Floats, free: list[int]) -> Floats:
        """Give chains back an equal share of each factor's max-marginals."""
        messages = collected.copy()
        for f in free:
            of = self.slices[f]
            totals, best = factor_values(self.costs[f], collected[of])
            without = totals - best
            found = (-collected[of][:, None, :] - self.costs[f] + without[:, :, None]).max(axis=1)
            messages[of] += (found - totals.max()) / len(best)
        return messages

    def _try(self, hubs: NDArray[np.int64]) -> None:
        """Decode with these hubs, unless it was done, and keep the labels if they are better."""
        key = hubs.tobytes()
        if key in self._tried:
            return
        self._tried.add(key)
        labels = self.decoded(hubs)
        if labels is None:
            return
        score, scale = self._scored(labels)
        if score > self.score:
            self.labels, self.score, self.scale = labels, score, scale

    def _scored(self, labels: Labels) -> tuple[float, float]:
        """Score labels of the sentences, with evidence and the factors of this search."""
        sentences, problem = self.sentences, self.sentences.problem
        path = np.zeros(len(problem.sentences.emissions), dtype=np.int32)
        path[sentences.tokens] = labels
        rows = problem.sentences.scores_of(problem.model, path)[sentences.chosen]
        return summed(rows, problem.terms(path, sentences.mentions, self.edges.factors))

    def _proven(self, messages: Floats, free: list[int]) -> float:
        """Return an upper bound by messages, whatever they are."""
        worth, constant = self.sentences.potentials(self.edges, messages)
        terms = [*self.sentences.bounds(worth).tolist(), constant]
        for f in free:
            totals, _ = factor_values(self.costs[f], messages[self.slices[f]])
            terms.append(float(totals.max()))
        return _total(terms)


def contradictory_factors(problem: DocumentProblem) -> list[int]:
    """Return the factors that forbid whatever the chains allow their mentions to be."""
    count_of = len(np.asarray(problem.mentions))
    if not count_of:
        return []
    sentences = SpanSentences(problem, np.arange(count_of))
    kinds = problem.entities.count
    _, marginals = sentences.max_marginals(np.zeros((count_of, kinds)))
    possible = np.zeros((count_of, kinds + 1), dtype=bool)
    possible[sentences.mentions] = np.isfinite(marginals)
    costs: Any = problem.costs
    return [
        f
        for f, of in enumerate(problem.members)
        if not (np.isfinite(costs[f]) & possible[of][:, None, :]).any(axis=2).all(axis=0).any()
    ]


def _violated(problem: DocumentProblem, labels: Labels) -> list[int]:
    """Return the factors that cost something."""
    worth = problem.terms(labels, np.zeros(0, dtype=np.int64), range(len(problem.members)))
    return [f for f, term in enumerate(worth) if term < 0]


def _infeasible(problem: DocumentProblem, factors: list[int]) -> InfeasibleError:
    alone = contradictory_factors(problem)
    named = ", ".join(map(str, alone or factors))
    return InfeasibleError(
        f"no labelling satisfies the factor{'s' if len(alone or factors) > 1 else ''} {named} of "
        "the document; allow their mentions a kind in common, or make their costs finite."
    )


def _total(terms: list[float]) -> float:
    """Sum upper bounds, rounded up."""
    total = math.fsum(terms)
    return total + 1e-15 * math.fsum(map(abs, terms)) if math.isfinite(total) else total
