"""Decoding the sentences of a document into trees, and explaining why one has none."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from thinc.api import Model

from ...arrays import Integers, Integers32
from ...budget import Clock, rest_of
from ...certificate import Certificate
from ...decoders.conflicts import least_conflict
from ...errors import InfeasibleError, ProblemError, UndecidedError
from ...models.parser.boundaries import BoundaryLimits
from ...models.parser.decoding import LABELLING, DecodedTree, FirstTree, TreeParser
from ...models.parser.factors import Family
from ...models.parser.tree_scores import DocumentScores, SentenceScores, score_documents
from ..constraints.matches import Source, conflict
from .demands import RULES, TreeDemands, Wish
from .parsed_doc import NO_LABEL, ROOT, SPACE, ParsedDoc
from .trees import SPACE_LABEL, attach_spaces

if TYPE_CHECKING:
    from ...decoders.tree import TreeSolution

__all__ = ["DocumentDecoder", "check_decoder"]

#: The families of factors that decoders take, where they do not take all.
SCORED: dict[str, Sequence[Family]] = {
    "Eisner": ["arcs"],
    "ChuLiuEdmonds": ["arcs"],
    "PriceAndCut": ["arcs", "grandparents"],
}


@dataclass(frozen=True)
class DocumentDecoder:
    """Decodes a document block by block, and finds out why a sentence has no tree.

    Parameters
    ----------
    scores
        The scores of the document's trees.
    parser
        The parser of single blocks.
    demands
        What the trees must satisfy.
    model, limits
        By which boundaries are found anew where a sentence has no tree; see
        :func:`~spacy_decoders.models.parser.tree_scores.score_documents`.
    head_margins, k_best
        Whether to compute the margin of each head, and the number of trees.
    first
        The best tree of each block without rules, as returned by
        :meth:`~spacy_decoders.models.parser.decoding.TreeParser.first_trees`; None if unknown.
    """

    scores: DocumentScores
    parser: TreeParser
    demands: TreeDemands
    model: Model[Any, Any]
    limits: BoundaryLimits
    head_margins: bool
    k_best: int
    first: Sequence[FirstTree | None]

    def decode(self) -> ParsedDoc:
        """Find the best tree of each sentence."""
        doc = self.demands.doc
        parsed = ParsedDoc.blank(len(doc), self.scores.starts)
        serves = not (self.demands.wishes or self.head_margins or self.k_best > 1)
        known = self.first if serves else [None] * len(self.scores.blocks)
        for block, first in zip(self.scores.blocks, known, strict=True):
            if first is not None and first.is_legal:
                _add(block, first.solution, first.heads, first.labels, parsed)
                continue
            clock = self.parser.budget.start()
            error = self.decode_block(block, parsed, clock, first)
            if error is None:
                continue
            found = self._conflict(block.tokens, error, clock)
            if found["demands"] or self.demands.wishes:
                parsed.conflicts.append(found)
            if not parsed.warning:
                parsed.warning = self._explained(error, found)
        blank = np.flatnonzero(self.scores.blank)
        if len(blank):
            attach_spaces(parsed.heads, self.scores.blank, parsed.starts)
            parsed.labels[blank] = np.where(parsed.heads[blank] == blank, ROOT, SPACE)
        if self.demands.wishes:
            parsed.wishes = self.demands.wishes
            # demands on white space, which no tree includes
            unmet = dict.fromkeys((wish.token, wish.source) for wish in self.broken(parsed))
            parsed.conflicts += [conflict(doc, token, token + 1, [of]) for token, of in unmet]
        return parsed

    def decode_block(
        self,
        block: SentenceScores,
        parsed: ParsedDoc,
        clock: Clock,
        first: FirstTree | None = None,
    ) -> InfeasibleError | UndecidedError | None:
        """Add the best tree of a block to `parsed`, or return why there is none."""
        parser = self.parser
        rules = self.demands.rules_for(block.tokens)
        try:
            # half of the remaining time is reserved for the best tree
            has_time = 2.0 * LABELLING * len(block.tokens) ** 2 <= clock.seconds_left
            with_others = has_time and (self.head_margins or self.k_best > 1)
            found = parser.decode(block, rules, with_others=with_others, clock=clock, first=first)
        except (InfeasibleError, UndecidedError) as error:
            name = type(parser.decoder).__name__
            parsed.blocks.append((block, None))
            proven = isinstance(error, InfeasibleError)
            failed = Certificate.infeasible if proven else Certificate.undecided
            parsed.certificates.append(failed(name, scope=parser.problem(block).scope))
            parsed.parses.append([])
            parsed.treeless[block.tokens[0] : block.tokens[-1] + 1] = True
            return error
        block = found.sentence
        heads, labels = block.tree(found.solution.heads, found.labels)
        _add(block, found.solution, heads, labels, parsed)
        if self.head_margins and has_time:
            from ...decoders.tree import head_margins

            margins = head_margins(found.problem, found.solution.heads, budget=rest_of(clock, 0))
            parsed.margins[block.tokens] = margins
        if self.k_best > 1:
            trees = [found.solution]
            if has_time:
                from ...decoders.tree import k_best

                trees = k_best(found.problem, self.k_best, budget=rest_of(clock, 0))
            parsed.parses.append([self._as_dict(found, solution) for solution in trees])
        return None

    def _as_dict(self, found: DecodedTree, solution: TreeSolution) -> dict[str, Any]:
        """One of several trees in plain types, with indices in the document."""
        heads, labels = found.sentence.tree(solution.heads, found.labels_of(solution))
        return {
            "tokens": found.sentence.tokens.tolist(),
            "heads": heads.tolist(),
            "deps": [self.demands.labels[label] for label in labels],
            "score": solution.certificate.score,
        }

    def _conflict(self, tokens: Integers, error: Exception, clock: Clock) -> dict[str, Any]:
        """Describe a least set of demands under which some tokens have no tree.

        If the budget ends first, it is all of them, or a set that is not shown to be least.
        """
        start, end = int(tokens[0]), int(tokens[-1]) + 1
        demands = self.demands.sources(start, end)
        is_least = isinstance(error, InfeasibleError)
        if is_least:
            search = ConflictSearch(self, start, end, clock)
            rules = set(getattr(error, "rules", ()))
            # usually the sources of the rules that exclude each other are all that is needed
            likely = [
                source
                for source in demands
                if not rules.isdisjoint(self.demands.only([source]).rules_for(tokens))
            ]
            starts = self.demands.only(likely).starts()
            if likely and (
                np.array_equal(starts, self.demands.starts()) or not search.has_trees(likely)
            ):
                demands = likely
            demands = least_conflict(demands, search.has_trees)
            is_least = search.is_decided
        return conflict(self.demands.doc, start, end, demands, is_least=is_least)

    def _explained(self, error: Exception, found: Mapping[str, Any]) -> str:
        """Say why there is no tree, with the labels of the rules and the demands involved."""
        labels = self.demands.labels
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

    def broken(self, parsed: ParsedDoc) -> list[Wish]:
        """Return the demands that trees break."""
        # indexed by the numbers of labels, including those below 0
        labels = self.demands.labels
        names = (*labels[:-1], "", SPACE_LABEL, labels[-1])
        heads, numbers = parsed.heads.tolist(), parsed.labels.tolist()
        return [
            wish
            for wish in self.demands.wishes
            if numbers[wish.token] != NO_LABEL
            and not wish.holds(heads[wish.token], names[numbers[wish.token]])
        ]


def _add(
    block: SentenceScores,
    best: TreeSolution,
    heads: Integers,
    labels: Integers32,
    parsed: ParsedDoc,
) -> None:
    """Add the best tree of a block to the document's."""
    parsed.blocks.append((block, best.starts))
    count = 1
    if best.starts is not None:
        begins = block.tokens[best.starts]
        count = len(begins)
        if count > 1:
            parsed.starts = np.sort(np.concatenate([parsed.starts, begins[1:]]))
    parsed.certificates += [best.certificate] * count
    parsed.heads[block.tokens] = heads
    parsed.labels[block.tokens] = labels


@dataclass
class ConflictSearch:
    """Tells which demands can be met together in a part of a document, while there is time.

    Parameters
    ----------
    decoder
        The decoder of the document under all demands.
    start, end
        The part is ``doc[start:end]``.
    clock
        The remaining time.
    """

    decoder: DocumentDecoder
    start: int
    end: int
    clock: Clock
    #: Whether every answer was proven.
    is_decided: bool = True
    #: By sentence starts, the blocks, and the demands that each tree found so far satisfies.
    found: dict[bytes, tuple[list[SentenceScores], list[set[Source]]]] = field(
        default_factory=dict
    )

    def has_trees(self, kept: Sequence[Source]) -> bool:
        """Whether there are trees under some of the demands; True unless the opposite is proven.

        Boundaries are found anew, since a demanded head also forbids those within its arc.
        """
        if self.clock.exhausted():
            self.is_decided = False
            return True
        given, doc = self.decoder, self.decoder.demands.doc
        demands = given.demands.only(kept)
        starts = demands.starts()
        if starts.tobytes() not in self.found:
            (scored,) = score_documents(
                given.model,
                [doc],
                [starts],
                [given.scores.blank],
                given.limits,
                vectors=given.scores.vectors,
                within=(self.start, self.end),
            )
            self.found[starts.tobytes()] = scored.blocks, []
        blocks, kept_together = self.found[starts.tobytes()]
        if any(others.issuperset(kept) for others in kept_together):
            return True
        freer = replace(given, demands=demands, head_margins=False, k_best=1)
        scratch = ParsedDoc.blank(len(doc), given.scores.starts)
        for block in blocks:
            error = freer.decode_block(block, scratch, self.clock)
            if error is not None:
                self.is_decided &= isinstance(error, InfeasibleError)
                return not isinstance(error, InfeasibleError)
        broken = {wish.source for wish in given.broken(scratch)}
        others = set(given.demands.sources(self.start, self.end)) - broken
        kept_together.append({one for one in others if one.name != RULES or one in kept})
        return True


def check_decoder(
    decoder: str, factors: Sequence[Family], patterns: Sequence[Any], projective: bool
) -> None:
    """Raise for options that one of our decoders would refuse at every document."""
    scored = SCORED.get(decoder, factors)
    beyond = [family for family in factors if family not in scored]
    instead = "or decode by BranchAndBound."
    if beyond:
        wanted = f"factors = {json.dumps(scored if len(scored) > 1 else [])}"
        raise ProblemError(
            f"factors: {decoder} scores {' and '.join(scored)} alone, not {' and '.join(beyond)}; "
            f"set {wanted}, {instead}"
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
