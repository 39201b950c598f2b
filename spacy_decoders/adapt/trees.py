"""Trees from the arrays of a biaffine parser: one root, labels, certificates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats, checked_flags, checked_scores
from ..budget import UNLIMITED, Budget
from ..components.option_checks import check_of
from ..decoders.tree.probabilities import tree_posteriors
from ..errors import ProblemError
from .tokens.words import log_softmax

if TYPE_CHECKING:
    from ..decoders.tree import TreeProblem, TreeSolution

__all__ = ["ArcParser"]

#: The first axis of the arrays.
Rows = Literal["dependents", "heads"]


@dataclass(frozen=True)
class ArcParser:
    """Finds the best tree for scores of arcs and labels, which add up.

    Parameters
    ----------
    rows
        The first axis of the arrays: ``"dependents"``, as in supar, diaparser and Stanza, or
        ``"heads"``, as in this package.
    normalize
        Whether to turn scores into log-probabilities of the heads of each token and the labels of
        each arc first. Then the best tree is the most probable one for a parser that was trained
        token by token, as these are. The network's own greedy choice stays the same.
    projective
        Whether arcs must not cross.
    single_root
        Whether only one token may have the root as its head.

    Raises
    ------
    ProblemError
        If an argument has another value.

    Examples
    --------
    >>> parser = ArcParser(rows="heads")
    >>> tree = parser.decode([[0, 3, 3], [0, 0, 1], [0, 2, 0]])
    >>> tree.heads, tree.certificate.status
    (array([2, 0], dtype=int32), 'optimal')
    """

    rows: Rows = "dependents"
    normalize: bool = True
    projective: bool = False
    single_root: bool = True

    def __post_init__(self) -> None:
        check_of(Rows)("rows", self.rows)
        checked_flags(self, "normalize", "projective", "single_root")

    def decode(
        self, arcs: ArrayLike, labels: ArrayLike | None = None, *, budget: Budget = UNLIMITED
    ) -> TreeSolution:
        """Find the best tree of one sentence.

        Parameters
        ----------
        arcs
            **Shape (n + 1, n + 1)**; token 0 is the root. ``-inf`` forbids an arc.
        labels
            **Shape (n + 1, n + 1, labels)**; None if only heads are wanted.
        budget
            The limits of the search.

        Raises
        ------
        ProblemError
            If a shape does not fit, or a score is NaN or ``+inf``.
        InfeasibleError
            If there is no such tree.
        """
        from ..decoders.tree import exact_decoder

        problem = self.problem(arcs, labels)
        return exact_decoder(problem).decode(problem, budget=budget)

    def problem(self, arcs: ArrayLike, labels: ArrayLike | None = None) -> TreeProblem:
        """Return the problem of these scores.

        It is for all functions on trees: rules, the k best, margins,
        :func:`~spacy_decoders.verify`.

        Examples
        --------
        >>> from spacy_decoders.decoders.tree import k_best
        >>> problem = ArcParser(rows="heads").problem([[0, 3, 3], [0, 0, 1], [0, 2, 0]])
        >>> [tree.heads.tolist() for tree in k_best(problem, 2)]
        [[2, 0], [0, 1]]
        """
        from ..decoders.tree import TreeProblem

        scores, of_labels = self._scores(arcs, labels)
        return TreeProblem(
            scores, labels=of_labels, projective=self.projective, single_root=self.single_root
        )

    def probabilities(self, arcs: ArrayLike) -> Floats:
        """Return the probability of each arc over all trees: **(n + 1, n + 1)**, rows as given."""
        scores, _ = self._scores(arcs, None)
        kind = {"projective": self.projective, "single_root": self.single_root}
        found = tree_posteriors(scores, **kind).arcs
        return found if self.rows == "heads" else np.ascontiguousarray(found.T)

    def _scores(self, arcs: ArrayLike, labels: ArrayLike | None) -> tuple[Floats, Floats | None]:
        """Check scores and arrange them as (head, modifier) and (head, modifier, label)."""
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
            if not of_labels.shape[2]:
                raise ProblemError("labels: scores of no label; pass None for heads alone.")
        if self.rows == "dependents":
            scores = scores.T
            of_labels = None if of_labels is None else of_labels.transpose(1, 0, 2)
        scores = np.array(scores)
        scores[:, 0] = -np.inf
        np.fill_diagonal(scores, -np.inf)
        if self.normalize:
            scores[:, 1:] = log_softmax(scores[:, 1:], axis=0)
            of_labels = None if of_labels is None else log_softmax(of_labels, axis=2)
        return scores, of_labels
