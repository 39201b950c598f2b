"""Building and solving the decoding problem of a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...budget import Budget, allowing_for_compilation
from ...certificate import Certificate
from .factor_templates import FactorTemplates
from .tree_scores import SentenceScores

if TYPE_CHECKING:
    from ...decoders.protocols import TreeDecoding
    from ...decoders.tree import TreeProblem, TreeSolution

__all__ = ["TreeParser"]


@dataclass(frozen=True)
class TreeParser:
    """The decoder of sentences and its settings.

    Parameters
    ----------
    decoder
        The tree decoder.
    templates
        Non-local factors; None for arcs alone.
    projective
        Whether arcs may not cross.
    k, beam
        Keep the likely heads of each token only where there are templates, as
        :func:`~spacy_decoders.decoders.tree.prune` does; None for all.
    longest
        Longer sentences are parsed by their arcs alone, in little memory. The certificate then
        compares the tree's score, factors included, with a bound on all trees.
    budget
        For one sentence.
    """

    decoder: TreeDecoding
    templates: FactorTemplates | None = None
    projective: bool = True
    k: int | None = None
    beam: float | None = None
    longest: int = 150
    budget: Budget = Budget()  # noqa: RUF009 - frozen

    def problem(self, sentence: SentenceScores) -> TreeProblem:
        """Return the decoding problem of a sentence."""
        if self.templates is not None and len(sentence.tokens) <= self.longest:
            return self.templates.problem(
                sentence, projective=self.projective, k=self.k, beam=self.beam
            )
        from ...decoders.tree import TreeProblem

        arcs: Any = sentence.arcs
        boundaries: Any = sentence.boundaries
        # no pruning of unlikely heads: it would not change the tree
        return TreeProblem(arcs, projective=self.projective, boundaries=boundaries)

    def decode(self, sentence: SentenceScores, problem: TreeProblem) -> TreeSolution:
        """Find the best tree of a sentence."""
        if self.templates is not None and len(sentence.tokens) > self.longest:
            return self._decode_long(sentence, problem, self.templates)
        budget = allowing_for_compilation(self.budget, self.decoder)
        return self.decoder.decode(problem, budget=budget)

    def _decode_long(
        self, sentence: SentenceScores, problem: TreeProblem, templates: FactorTemplates
    ) -> TreeSolution:
        from ...decoders.tree import ChuLiuEdmonds, Eisner, TreeSolution

        first: TreeDecoding = Eisner() if self.projective else ChuLiuEdmonds()
        found = first.decode(problem, budget=self.budget)
        arcs = found.certificate
        assert arcs.score is not None  # infeasible problems have raised an error
        score = arcs.score + templates.tree_score(sentence, found.heads)
        most = templates.most(problem.n)
        name = type(first).__name__
        if arcs.bound is None:
            certificate = Certificate.heuristic(name, score, scope=arcs.scope)
        else:
            # the factors' sum is rounded in single precision, their bound in double
            bound = arcs.bound + most + 1e-6 * most
            certificate = Certificate.from_bound(
                name, score, bound, tolerance=arcs.tolerance, scope=arcs.scope
            )
        return TreeSolution(found.heads, certificate)
