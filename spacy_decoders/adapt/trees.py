"""Trees from the arrays of a biaffine parser: one root, labels, rules, certificates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import NonNegativeInt

from ..arrays import checked_scores
from ..budget import UNLIMITED, Budget
from ..components.option_checks import check_of
from ..decoders.tree.probabilities import arc_probabilities
from ..errors import ProblemError
from .tokens.words import log_softmax

if TYPE_CHECKING:
    from ..decoders.tree import TreeProblem, TreeSolution

__all__ = ["ArcParser", "arc_probabilities"]

Floats = NDArray[np.float64]

#: The checks of a parser's arguments.
ARGUMENTS = {
    "rows": check_of(Literal["dependents", "heads"]),
    **dict.fromkeys(("normalize", "projective", "single_root"), check_of(bool)),
    "once": check_of(list[NonNegativeInt]),
}
FIXED = check_of(dict[int, int] | None)


@dataclass(frozen=True)
class ArcParser:
    """Finds the best tree for scores of arcs, and of labels.

    A tree is worth the sum of the scores of its arcs and of their labels.

    Parameters
    ----------
    rows
        What the first axis of the arrays is: ``"dependents"``, as supar, diaparser and Stanza
        have it, or ``"heads"``, as in this package.
    normalize
        Whether scores become log-probabilities first: of the heads of each token, and of the
        labels of each arc. Then the best tree is the most probable one for a parser that was
        trained token by token, as these are. The network's own greedy choice stays the same.
    projective
        Whether arcs may not cross.
    single_root
        Whether one token alone hangs on the root.
    once
        Labels of which a head may have at most one, such as the number of ``nsubj``.

    Raises
    ------
    ProblemError
        If an argument is none of these.

    Examples
    --------
    >>> parser = ArcParser(rows="heads")
    >>> tree = parser.decode([[0, 3, 3], [0, 0, 1], [0, 2, 0]])
    >>> tree.heads, tree.certificate.status
    (array([2, 0], dtype=int32), 'optimal')
    """

    rows: Literal["dependents", "heads"] = "dependents"
    normalize: bool = True
    projective: bool = False
    single_root: bool = True
    once: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name, check in ARGUMENTS.items():
            object.__setattr__(self, name, check(name, getattr(self, name)))

    def decode(
        self,
        arcs: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        fixed: Mapping[int, int] | None = None,
        budget: Budget = UNLIMITED,
    ) -> TreeSolution:
        """Find the best tree of one sentence.

        Parameters
        ----------
        arcs
            **Shape (n + 1, n + 1)**; token 0 is the root, which parsers keep a place for.
        labels
            **Shape (n + 1, n + 1, labels)**; None if only heads are wanted.
        fixed
            The heads of some tokens, numbered from 1.
        budget
            Of the search, where labels may occur only once.

        Raises
        ------
        ProblemError
            If a shape does not fit, or a score is NaN or ``+inf``.
        InfeasibleError
            If there is no such tree.
        """
        from ..decoders.tree import exact_decoder

        scores, of_labels = self._scores(arcs, labels, fixed)
        problem = self._problem(scores, of_labels)
        return _labelled(exact_decoder(problem).decode(problem, budget=budget), of_labels)

    def k_best(
        self, arcs: ArrayLike, k: int, labels: ArrayLike | None = None
    ) -> list[TreeSolution]:
        """Return up to `k` best trees of different heads, best first, each with its best labels.

        Raises
        ------
        ProblemError
            As :meth:`decode`; or if labels may occur only once.
        """
        from ..decoders.tree import k_best

        self._refuse_once("k_best")
        scores, of_labels = self._scores(arcs, labels)
        found = k_best(self._problem(scores, of_labels), k)
        return [_labelled(tree, of_labels) for tree in found]

    def margins(self, arcs: ArrayLike, labels: ArrayLike | None = None) -> Floats:
        """**Shape (n,)**: how much worse the best tree with another head of a token is."""
        from ..decoders.tree import exact_decoder, head_margins

        self._refuse_once("margins")
        scores, of_labels = self._scores(arcs, labels)
        problem = self._problem(scores, of_labels)
        return head_margins(problem, exact_decoder(problem).decode(problem).heads)

    def probabilities(self, arcs: ArrayLike) -> Floats:
        """Return the probability of each arc over all trees: **(n + 1, n + 1)**, rows as given."""
        scores, _ = self._scores(arcs, None)
        found = arc_probabilities(scores, projective=self.projective, single_root=self.single_root)
        return found if self.rows == "heads" else np.ascontiguousarray(found.T)

    def _scores(
        self,
        arcs: ArrayLike,
        labels: ArrayLike | None,
        fixed: Mapping[int, int] | None = None,
    ) -> tuple[Floats, Floats | None]:
        """Check scores and lay them out by heads: (head, modifier) and (head, modifier, label)."""
        scores = checked_scores("arcs", arcs, (None, None), dtype=np.float64)
        size = len(scores)
        if not size or scores.shape != (size, size):
            raise ProblemError(
                "arcs: expected (n + 1, n + 1) for n tokens, with a place for the root; got "
                f"{scores.shape}."
            )
        of_labels = None
        if labels is not None:
            of_labels = checked_scores("labels", labels, (size, size, None), dtype=np.float64)
        count = 0 if of_labels is None else of_labels.shape[2]
        if (labels is not None and not count) or max(self.once, default=-1) >= count:
            raise ProblemError(
                f"labels: there are scores of {count}, and `once` names {self.once}."
            )
        if self.rows == "dependents":
            scores = scores.T
            of_labels = None if of_labels is None else of_labels.transpose(1, 0, 2)
        scores = np.array(scores)
        scores[:, 0] = -np.inf
        np.fill_diagonal(scores, -np.inf)
        if self.normalize:
            scores[:, 1:] = log_softmax(scores[:, 1:], axis=0)
            of_labels = None if of_labels is None else log_softmax(of_labels, axis=2)
        # after that: what is ruled out changes no other arc's probability
        for token, head in (FIXED("fixed", fixed) or {}).items():
            if not 1 <= token < size or not 0 <= head < size or token == head:
                raise ProblemError(f"fixed: token {token} can't have the head {head}.")
            kept = scores[head, token]
            scores[:, token] = -np.inf
            scores[head, token] = kept
        return scores, of_labels

    def problem(
        self,
        arcs: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        fixed: Mapping[int, int] | None = None,
    ) -> TreeProblem:
        """Return what :meth:`decode` solves, with all labels, to :func:`~spacy_decoders.verify`.

        Examples
        --------
        >>> from spacy_decoders import verify
        >>> parser, arcs = ArcParser(rows="heads"), [[0, 3, 3], [0, 0, 1], [0, 2, 0]]
        >>> verify(parser.problem(arcs), parser.decode(arcs)).outcome
        'confirmed'
        """
        return self._problem(*self._scores(arcs, labels, fixed), every_label=True)

    def _problem(
        self, arcs: Floats, labels: Floats | None, *, every_label: bool = False
    ) -> TreeProblem:
        """Return the problem of scores by heads; each arc has its best label if that suffices."""
        from ..decoders.tree import AtMost, TreeProblem

        if labels is not None and not self.once and not every_label:
            best = labels.max(axis=2)
            arcs = np.where(np.isneginf(best) | np.isneginf(arcs), -np.inf, arcs + best)
            labels = None
        return TreeProblem(
            arcs,
            labels=labels,
            rules=tuple(AtMost([label]) for label in self.once),
            projective=self.projective,
            single_root=self.single_root,
        )

    def _refuse_once(self, what: str) -> None:
        if self.once:
            raise ProblemError(f"{what}: not with labels that may occur only once (`once`).")


def _labelled(tree: TreeSolution, labels: Floats | None) -> TreeSolution:
    """Return the tree with the labels it was decoded with, else with the best of its arcs."""
    if tree.labels is not None or labels is None:
        return tree
    of_arcs = labels[tree.heads, np.arange(1, len(tree.heads) + 1)]
    return replace(tree, labels=of_arcs.argmax(axis=1).astype(np.int32))
