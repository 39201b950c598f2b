"""Find the trees of a document's blocks of sentences, with what else is asked of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...certificate import Certificate
from ...errors import InfeasibleError, ProblemError
from ...models.parser.decoding import TreeParser
from ...models.parser.factor_weights import Family
from ...models.parser.tree_scores import SentenceScores
from .factor_changes import factor_changes
from .parsed_doc import ParsedDoc

if TYPE_CHECKING:
    from ...decoders.tree import Rule, TreeSolution

__all__ = ["BlockDecoder", "check_decoder"]


@dataclass(frozen=True)
class BlockDecoder:
    """Decodes the blocks of documents: sentences whose boundaries are decided together.

    Attributes
    ----------
    component
        The name of the component.
    parser
        What finds the trees.
    labels
        The dependency labels, the root's last.
    head_margins
        Whether the margin of each head is wanted.
    k_best
        How many trees are wanted.
    """

    component: str
    parser: TreeParser
    labels: tuple[str, ...]
    head_margins: bool
    k_best: int

    def decode(
        self, block: SentenceScores, rules: Sequence[Rule], parsed: ParsedDoc
    ) -> InfeasibleError | None:
        """Find the best tree and add it to the document, or return why there is none."""
        parser = self.parser
        try:
            every_label = self.head_margins or self.k_best > 1
            decoded = parser.decode(block, rules, every_label=every_label)
        except InfeasibleError as error:
            name = type(parser.decoder).__name__
            parsed.sentences.append(replace(block, boundaries=None))
            scope = parser.problem(block).scope
            parsed.certificates.append(Certificate.infeasible(name, scope=scope))
            parsed.parses.append([])
            return error
        problem, best = decoded
        sentences = [block] if best.starts is None else block.cut(best.starts)
        parsed.sentences += sentences
        parsed.certificates += [best.certificate] * len(sentences)
        starts = [int(sentence.tokens[0]) for sentence in sentences[1:]]
        parsed.starts = np.sort(np.concatenate([parsed.starts, np.array(starts, dtype=np.int64)]))
        heads, labels = block.tree(best.heads, best.labels)
        parsed.heads[block.tokens], parsed.labels[block.tokens] = heads, labels
        if self.head_margins:
            from ...decoders.tree import head_margins

            margins = head_margins(problem, best.heads, budget=parser.budget)
            parsed.margins[block.tokens] = margins
        if self.k_best > 1:
            from ...decoders.tree import k_best

            found = k_best(problem, self.k_best, budget=parser.budget)
            parsed.parses.append([self._as_dict(block, solution) for solution in found])
        if self.head_margins or self.k_best > 1:
            parsed.changes += factor_changes(parser, block, decoded, rules, self.labels)
        return None

    def _as_dict(self, sentence: SentenceScores, solution: TreeSolution) -> dict[str, Any]:
        """One of several trees in plain types: places in the document, a root being its own."""
        heads, labels = sentence.tree(solution.heads, solution.labels)
        return {
            "component": self.component,
            "tokens": sentence.tokens.tolist(),
            "heads": heads.tolist(),
            "deps": [self.labels[label] for label in labels],
            "score": solution.certificate.score,
        }


def check_decoder(decoder: str, factors: Sequence[Family], projective: bool) -> None:
    """Refuse at once what a decoder of ours would refuse at every document."""
    beyond_arcs = [family for family in factors if family != "arcs"]
    if decoder in ("Eisner", "ChuLiuEdmonds") and beyond_arcs:
        raise ProblemError(
            f"factors: {decoder} scores arcs alone, not {' and '.join(beyond_arcs)}; leave them "
            "out (factors = []), or decode by BranchAndBound."
        )
    if decoder in ("Eisner", "SecondOrder") and not projective:
        raise ProblemError(
            f"projective: {decoder} finds projective trees; set it to true, or decode by "
            "ChuLiuEdmonds or BranchAndBound."
        )
    if decoder == "ChuLiuEdmonds" and projective:
        raise ProblemError(
            "projective: ChuLiuEdmonds finds non-projective trees; set it to false, or decode "
            "by Eisner or BranchAndBound."
        )
