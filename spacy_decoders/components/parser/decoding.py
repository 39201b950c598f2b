"""Find the trees of a document, with what else is asked of each, and why there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from thinc.api import Model

from ...certificate import Certificate, Status
from ...decoders.conflicts import least_conflict
from ...errors import InfeasibleError, ProblemError, UndecidedError
from ...models.parser.boundaries import BoundaryLimits
from ...models.parser.decoding import TreeParser
from ...models.parser.factors import Family
from ...models.parser.tree_scores import DocumentScores, SentenceScores, rescored
from ..constraints.conflicts import Source, conflict
from .demands import RULES, TreeDemands
from .parsed_doc import NO_LABEL, ROOT, SPACE, NoTree, ParsedDoc
from .trees import SPACE_LABEL, attach_spaces

if TYPE_CHECKING:
    from ...decoders.tree import TreeSolution

__all__ = ["DocumentDecoder", "check_decoder"]


@dataclass(frozen=True)
class DocumentDecoder:
    """Finds the trees of a document, block after block, and why a sentence has none.

    Parameters
    ----------
    scores
        The scores of the document's trees.
    component
        The name of the component.
    parser
        What finds the trees.
    demands
        What the trees must satisfy.
    model, limits
        What finds boundaries anew where a sentence has no tree, as
        :func:`~spacy_decoders.models.parser.tree_scores.rescored` takes them.
    head_margins, k_best
        Whether the margin of each head is wanted, and how many trees.
    """

    scores: DocumentScores
    component: str
    parser: TreeParser
    demands: TreeDemands
    model: Model[Any, Any]
    limits: BoundaryLimits
    head_margins: bool = False
    k_best: int = 1

    def decode(self) -> ParsedDoc:
        """Find the best tree of each sentence."""
        doc = self.demands.doc
        parsed = ParsedDoc.blank(len(doc), self.scores.starts)
        for block in self.scores.blocks:
            missing = self._decode_block(block, parsed)
            if missing is None:
                continue
            parsed.missing.append(missing)
            found = self._conflict(missing)
            if found["demands"] or self.demands.wishes:
                parsed.conflicts.append(found)
            if not parsed.warning:
                parsed.warning = self._explained(missing.error, found)
        blank = np.flatnonzero(self.scores.blank)
        if len(blank):
            attach_spaces(parsed.heads, self.scores.blank, parsed.starts)
            parsed.labels[blank] = np.where(parsed.heads[blank] == blank, ROOT, SPACE)
        if self.demands.wishes:
            parsed.wishes = self.demands.wishes
            parsed.conflicts += self._unmet(parsed)
        return parsed

    def _decode_block(self, block: SentenceScores, parsed: ParsedDoc) -> NoTree | None:
        """Find the best tree of a block and add it to `parsed`, or return why there is none."""
        parser = self.parser
        rules = self.demands.rules_for(block.tokens)
        try:
            every_label = self.head_margins or self.k_best > 1
            problem, best, block, labels = parser.decode(block, rules, every_label=every_label)
        except (InfeasibleError, UndecidedError) as error:
            name = type(parser.decoder).__name__
            parsed.blocks.append((block, None))
            scope = parser.problem(block).scope
            # nothing is proven where the budget ended first
            proven = isinstance(error, InfeasibleError)
            status: Status = "infeasible" if proven else "heuristic"
            parsed.certificates.append(Certificate(name, status, scope=scope))
            parsed.parses.append([])
            parsed.margins[block.tokens] = np.nan
            return NoTree(block.tokens, error)
        parsed.blocks.append((block, best.starts))
        count = 1
        if best.starts is not None:
            begins = block.tokens[best.starts]
            parsed.starts, count = np.sort(np.append(parsed.starts, begins[1:])), len(begins)
        parsed.certificates += [best.certificate] * count
        parsed.heads[block.tokens], parsed.labels[block.tokens] = block.tree(best.heads, labels)
        if self.head_margins:
            from ...decoders.tree import head_margins

            margins = head_margins(problem, best.heads, budget=parser.budget)
            parsed.margins[block.tokens] = margins
        if self.k_best > 1:
            from ...decoders.tree import k_best

            found_trees = k_best(problem, self.k_best, budget=parser.budget)
            parsed.parses.append([self._as_dict(block, solution) for solution in found_trees])
        return None

    def _as_dict(self, sentence: SentenceScores, solution: TreeSolution) -> dict[str, Any]:
        """One of several trees in plain types: places in the document, a root being its own."""
        heads, labels = sentence.tree(solution.heads, solution.labels)
        return {
            "component": self.component,
            "tokens": sentence.tokens.tolist(),
            "heads": heads.tolist(),
            "deps": [self.demands.rules.labels[label] for label in labels],
            "score": solution.certificate.score,
        }

    def _conflict(self, missing: NoTree) -> dict[str, Any]:
        """Describe a least set of demands that leave no tree of some tokens.

        Where the budget ended before there was a tree, it is all of them.
        """
        start, end = int(missing.tokens[0]), int(missing.tokens[-1]) + 1
        demands = self.demands.sources(start, end)
        if isinstance(missing.error, InfeasibleError):
            demands = least_conflict(demands, partial(self._has_trees, start, end))
        return conflict(self.demands.doc, start, end, demands)

    def _explained(self, error: Exception, found: Mapping[str, Any]) -> str:
        """Say why there is no tree, which labels rules speak of, and what demands exclude."""
        labels = self.demands.rules.labels
        numbers = {
            number
            for rule in getattr(error, "rules", ())
            for key in ("labels", "exempt")
            for number in getattr(rule, key, None) or ()
        }
        said = str(error)
        if numbers:
            said += f" The labels are { {number: labels[number] for number in sorted(numbers)} }."
        demands = ", ".join(
            f"{demand['source']} at {demand['text']!r}"
            for demand in found["demands"]
            if demand["source"] != RULES
        )
        return f"{said} This is demanded by {demands}." if demands else said

    def _has_trees(self, start: int, end: int, kept: Sequence[Source]) -> bool:
        """Whether there are trees of ``doc[start:end]`` under some of the demands.

        Boundaries are found anew: a head that is demanded also forbids those inside of its arc.
        """
        demands, doc = self.demands.only(kept), self.demands.doc
        freer = replace(self, demands=demands, head_margins=False, k_best=1)
        given = doc, self.scores, demands.starts(), self.limits
        scratch = ParsedDoc.blank(len(doc), self.scores.starts)
        for block in rescored(self.model, *given, (start, end)):
            missing = freer._decode_block(block, scratch)
            if missing is not None and isinstance(missing.error, InfeasibleError):
                return False
        return True

    def _unmet(self, parsed: ParsedDoc) -> list[dict[str, Any]]:
        """Describe the demands on white space, of which none else knows, that do not hold."""
        # by the numbers of labels, those below 0 included
        labels = self.demands.rules.labels
        names = (*labels[:-1], "", SPACE_LABEL, labels[-1])
        found: list[dict[str, Any]] = []
        for wish in self.demands.wishes:
            head, label = int(parsed.heads[wish.token]), int(parsed.labels[wish.token])
            if label != NO_LABEL and not wish.holds(head, names[label]):
                at = wish.token
                found.append(conflict(self.demands.doc, at, at + 1, [wish.source]))
        return [one for place, one in enumerate(found) if one not in found[:place]]


def check_decoder(
    decoder: str, factors: Sequence[Family], patterns: Sequence[Any], projective: bool
) -> None:
    """Refuse at once what a decoder of ours would refuse at every document."""
    beyond_arcs = [family for family in factors if family != "arcs"]
    instead = "or decode by BranchAndBound."
    if decoder in ("Eisner", "ChuLiuEdmonds") and beyond_arcs:
        raise ProblemError(
            f"factors: {decoder} scores arcs alone, not {' and '.join(beyond_arcs)}; leave them "
            f"out (factors = []), {instead}"
        )
    if decoder in ("Eisner", "ChuLiuEdmonds", "SecondOrder", "PriceAndCut") and patterns:
        raise ProblemError(f"patterns: {decoder} scores none; leave them out, {instead}")
    finds = {"Eisner": True, "SecondOrder": True, "ChuLiuEdmonds": False}
    if finds.get(decoder, projective) != projective:
        kind = "non-projective" if projective else "projective"
        raise ProblemError(
            f"projective: {decoder} finds {kind} trees; set it to {str(not projective).lower()}, "
            f"{instead}"
        )
