"""Find the trees of a document's blocks of sentences, with what else is asked of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...certificate import Certificate, Scope, Status
from ...errors import InfeasibleError, ProblemError, UndecidedError
from ...models.parser.decoding import TreeParser
from ...models.parser.factor_weights import Family
from ...models.parser.tree_scores import SentenceScores
from .parsed_doc import ParsedDoc
from .rules import DocumentRules

if TYPE_CHECKING:
    from ...decoders.tree import TreeSolution

__all__ = ["BlockDecoder", "check_decoder"]


class NoTree(NamedTuple):
    """The tokens of a sentence that has no tree, by their indices in the document, and why."""

    tokens: NDArray[np.int64]
    error: InfeasibleError | UndecidedError


@dataclass(frozen=True)
class BlockDecoder:
    """Decodes the blocks of documents: sentences whose boundaries are decided together."""

    #: The name of the component.
    component: str
    #: What finds the trees.
    parser: TreeParser
    #: The dependency labels, the root's last.
    labels: tuple[str, ...]
    #: Whether the margin of each head is wanted.
    head_margins: bool
    #: How many trees are wanted.
    k_best: int

    def decode(
        self,
        block: SentenceScores,
        stated: DocumentRules,
        parsed: ParsedDoc,
        scope: Scope = "full",
    ) -> list[NoTree]:
        """Find the best tree and add it to the document, or return why there is none.

        Some rules speak of a sentence as a whole, and so of no block of several. Where the best
        trees of a block break one, its boundaries are kept, and each sentence is parsed anew; the
        certificates' scope is then ``"pruned"``, as other boundaries may be better.

        Parameters
        ----------
        block
            The scores.
        stated
            What the document's trees must satisfy.
        parsed
            The document, to which the trees are added.
        scope
            ``"pruned"`` for a sentence whose boundaries were found before.
        """
        parser = self.parser
        rules = stated.of_block(block.tokens, block.boundaries is None)
        try:
            every_label = self.head_margins or self.k_best > 1
            decoded = parser.decode(block, rules, every_label=every_label)
        except (InfeasibleError, UndecidedError) as error:
            name = type(parser.decoder).__name__
            parsed.sentences.append(replace(block, boundaries=None))
            if scope == "full":
                scope = parser.problem(block).scope
            # nothing is proven where the budget ended first
            proven = isinstance(error, InfeasibleError)
            status: Status = "infeasible" if proven else "heuristic"
            parsed.certificates.append(Certificate(name, status, scope=scope))
            parsed.parses.append([])
            parsed.margins[block.tokens] = np.nan
            return [NoTree(block.tokens, error)]
        problem, best, block = decoded
        sentences = [block] if best.starts is None else block.cut(best.starts)
        if best.starts is not None and self._break(sentences, best, stated):
            parsed.add_starts(sentences[1:])
            return [
                missing
                for sentence in sentences
                for missing in self.decode(sentence, stated, parsed, "pruned")
            ]
        parsed.sentences += sentences
        certificate = best.certificate
        if scope == "pruned":
            certificate = replace(certificate, scope=scope)
        parsed.certificates += [certificate] * len(sentences)
        parsed.add_starts(sentences[1:])
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
        return []

    def _break(
        self,
        sentences: Sequence[SentenceScores],
        best: TreeSolution,
        stated: DocumentRules,
    ) -> bool:
        """Whether one of several trees breaks a rule on roots, which no block is decoded with."""
        from ...decoders.tree import Roots

        end = 0
        for sentence in sentences:
            first, end = end, end + len(sentence.tokens)
            heads = [-1, *(max(head - first, 0) for head in best.heads[first:end].tolist())]
            of_sentence = stated.of_block(sentence.tokens, True)
            if any(
                rule.is_broken(heads, heads) for rule in of_sentence if isinstance(rule, Roots)
            ):
                return True
        return False

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


def check_decoder(
    decoder: str, factors: Sequence[Family], patterns: Sequence[Any], projective: bool
) -> None:
    """Refuse at once what a decoder of ours would refuse at every document."""
    beyond_arcs = [family for family in factors if family != "arcs"]
    if decoder in ("Eisner", "ChuLiuEdmonds") and beyond_arcs:
        raise ProblemError(
            f"factors: {decoder} scores arcs alone, not {' and '.join(beyond_arcs)}; leave them "
            "out (factors = []), or decode by BranchAndBound."
        )
    if decoder in ("Eisner", "ChuLiuEdmonds", "SecondOrder", "PriceAndCut") and patterns:
        raise ProblemError(
            f"patterns: {decoder} scores none; leave them out, or decode by BranchAndBound."
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
