"""Documents: the chains of several sentences, tied together by factors on entities.

The score of a labelling is that of its chains, plus the evidence of each mention that is exactly
an entity, less what each factor costs. A factor takes some mentions, such as all occurrences of a
name. It chooses a hub, a kind of entity or none, and pays for each of its mentions by the kind
that this has: the cost is that of the cheapest hub.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import checked_indices, read_only
from ...errors import ProblemError
from .problem import ChainModel, Sentences
from .solutions import ChainSolution

__all__ = ["DocumentProblem", "DocumentSolution", "EntityLabels", "agreement_costs"]


@dataclass(frozen=True, eq=False)
class EntityLabels:
    """What the labels of a chain say about entities.

    Parameters
    ----------
    kinds
        **Shape (L,)**: the kind of entity, from 0 on, that a label is part of; -1 for none.
    goes_on
        **Shape (L,)**: whether a label continues an entity, as I does in BIO.

    Raises
    ------
    ProblemError
        If the shapes differ, or a label continues no entity.
    """

    kinds: NDArray[np.int64]
    goes_on: NDArray[np.bool_]

    def __post_init__(self) -> None:
        kinds = checked_indices("kinds", self.kinds, (None,), low=-1, high=1 << 31, dtype=np.int64)
        goes_on = np.array(self.goes_on, dtype=bool)
        if goes_on.shape != kinds.shape:
            raise ProblemError(
                f"goes_on: expected the shape of kinds, {kinds.shape}; got {goes_on.shape}."
            )
        if (goes_on & (kinds < 0)).any():
            raise ProblemError("goes_on: a label of the kind -1 continues no entity.")
        object.__setattr__(self, "kinds", read_only(kinds))
        object.__setattr__(self, "goes_on", read_only(goes_on))

    @cached_property
    def count(self) -> int:
        """The number of kinds."""
        return int(self.kinds.max(initial=-1)) + 1

    def check(self, model: ChainModel) -> None:
        """Raise unless the model forbids that a label continues what is not of its kind.

        Raises
        ------
        ProblemError
            If it does not, or has another number of labels.
        """
        if len(self.kinds) != model.size:
            raise ProblemError(
                f"kinds: expected one for each of the {model.size} labels, got {len(self.kinds)}."
            )
        legal = np.isfinite(model.transitions) & self.goes_on
        wrong = np.argwhere(legal & (self.kinds[:, None] != self.kinds))
        if len(wrong):
            x, y = wrong[0].tolist()
            raise ProblemError(
                f"transitions: label {y} continues an entity of kind {self.kinds[y]}, and must be "
                f"forbidden (-inf) after label {x} of kind {self.kinds[x]}."
            )
        if np.isfinite(model.start_scores[self.goes_on]).any():
            raise ProblemError("start: a label that continues an entity must be forbidden (-inf).")


def agreement_costs(
    kinds: int, *, weight: float = math.inf, missing: float = 0.0
) -> NDArray[np.float64]:
    """Return the costs of a factor by which mentions should be of one kind.

    Parameters
    ----------
    kinds
        The number of kinds, K.
    weight
        The cost of each mention of another kind than most; infinite for a rule.
    missing
        The cost of each mention that is no entity where the others are.

    Returns
    -------
    **Shape (K + 1, K + 1)**: by hub and kind of a mention; the last stands for no entity.

    Examples
    --------
    >>> agreement_costs(2, missing=0.5)
    array([[0. , inf, 0.5],
           [inf, 0. , 0.5],
           [inf, inf, 0. ]])
    """
    if not weight >= missing >= 0:
        raise ProblemError(
            f"weight: expected no less than missing, and that no less than 0; got {weight!r} and "
            f"{missing!r}."
        )
    costs = np.full((kinds + 1, kinds + 1), float(weight))
    np.fill_diagonal(costs, 0.0)
    costs[:-1, -1] = missing
    return costs


@dataclass(frozen=True, eq=False)
class DocumentProblem:
    """Chains whose entities are tied together; immutable, checked once.

    Parameters
    ----------
    model
        The scores that all sentences share.
    emissions
        **Shape (total, L)**: the sentences end to end.
    lengths
        **Shape (sentences,)**: tokens of each sentence.
    entities
        What the labels mean.
    mentions
        **Shape (M, 2)**: first token of each mention and the token behind, all different, each
        within a sentence.
    evidence
        **Shape (M, K)**: what it is worth that a mention is exactly an entity of each of the K
        kinds; None for nothing.
    members
        **Shape (F, ...)**: for each factor the numbers of its mentions, all different.
    costs
        **Shape (F, K + 1, K + 1)**: what each factor pays, by its hub and the kind of a mention;
        the last stands for no entity. Not negative; ``inf`` forbids, except in the last column,
        and in no whole column.

    Raises
    ------
    ProblemError
        If a shape is wrong, a number is out of range, or the model lets a label continue an entity
        of another kind.

    Examples
    --------
    Two occurrences of a name in two sentences, with the labels O and B of two kinds.

    >>> model = ChainModel(np.zeros((3, 3)))
    >>> entities = EntityLabels([-1, 0, 1], [False] * 3)
    >>> problem = DocumentProblem(model, [[0, 2, 1], [0, 1, 1.5]], [1, 1], entities,
    ...     mentions=[[0, 1], [1, 2]], members=[[0, 1]], costs=agreement_costs(2)[None])
    >>> problem.score([1, 2]), problem.score([1, 1])
    (-inf, 3.0)
    """

    model: ChainModel
    emissions: ArrayLike
    lengths: ArrayLike
    entities: EntityLabels
    mentions: ArrayLike
    evidence: ArrayLike | None = None
    members: Any = ()
    costs: ArrayLike | None = None

    def __post_init__(self) -> None:
        sentences = Sentences.of(self.model, self.emissions, self.lengths)
        self.entities.check(self.model)
        object.__setattr__(self, "sentences", sentences)
        object.__setattr__(self, "emissions", sentences.emissions)
        object.__setattr__(self, "lengths", read_only(np.diff(sentences.offsets)))
        object.__setattr__(self, "mentions", _checked_mentions(self.mentions, sentences))
        kinds, count = self.entities.count, len(np.asarray(self.mentions))
        given = np.zeros((count, kinds)) if self.evidence is None else self.evidence
        evidence = np.array(given, dtype=np.float64)
        if evidence.shape != (count, kinds) or not np.isfinite(evidence).all():
            raise ProblemError(
                f"evidence: expected finite numbers of shape ({count}, {kinds}), for mentions and "
                f"kinds; got the shape {evidence.shape}."
            )
        object.__setattr__(self, "evidence", read_only(evidence))
        members = tuple(
            read_only(checked_indices(f"members[{f}]", of, (None,), low=0, high=count).copy())
            for f, of in enumerate(self.members)
        )
        for f, of in enumerate(members):
            if len(np.unique(of)) < len(of):
                raise ProblemError(f"members[{f}]: a mention is there twice; got {of.tolist()}.")
        object.__setattr__(self, "members", members)
        object.__setattr__(self, "costs", _checked_costs(self.costs, len(members), kinds))

    sentences: Any = None

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """**Shape (M,)**: the sentence of each mention."""
        return _owners(self.mentions, self.sentences)

    def kinds_of(self, labels: NDArray[np.int32]) -> NDArray[np.int64]:
        """**Shape (M,)**: the kind of entity that each mention exactly is, K for none."""
        kinds, goes_on = self.entities.kinds[labels], self.entities.goes_on[labels]
        found = np.full(len(np.asarray(self.mentions)), self.entities.count, dtype=np.int64)
        ends = self.sentences.offsets[self.owners + 1]
        for m, (start, stop) in enumerate(np.asarray(self.mentions).tolist()):
            closed = stop == ends[m] or not goes_on[stop]
            if (
                kinds[start] >= 0
                and not goes_on[start]
                and goes_on[start + 1 : stop].all()
                and closed
            ):
                found[m] = kinds[start]
        return found

    def terms(self, labels: NDArray[np.int32], mentions: Any, factors: Any) -> list[float]:
        """Return what the evidence of some mentions and some factors add to the score."""
        states = self.kinds_of(labels)
        evidence, costs = np.asarray(self.evidence), np.asarray(self.costs)
        worth = np.concatenate([evidence, np.zeros((len(states), 1))], axis=1)
        found: list[float] = worth[mentions, states[mentions]].tolist()
        for f in factors:
            found.append(-float(costs[f][:, states[self.members[f]]].sum(axis=1).min()))
        return found

    def score(self, labels: ArrayLike) -> float:
        """Return the score of a labelling, summed in float64; ``-inf`` if it is illegal.

        Parameters
        ----------
        labels
            **Shape (total,)**, each in ``[0, L)``.
        """
        return self.score_and_scale(labels)[0]

    def score_and_scale(self, labels: ArrayLike) -> tuple[float, float]:
        """Return the score of a labelling and the sum of its absolute terms."""
        total, size = len(np.asarray(self.emissions)), self.model.size
        path = checked_indices("labels", labels, (total,), low=0, high=size)
        chains = self.sentences.scores_of(self.model, path.astype(np.int32))
        everything = np.arange(len(self.owners)), range(len(self.members))
        return summed(chains, self.terms(path, *everything))


def summed(chains: NDArray[np.float64], terms: list[float]) -> tuple[float, float]:
    """Return the score of chains with further terms, and the sum of all absolute terms.

    `chains` has **shape (sentences, 2)**: the score of each, and the sum of its absolute terms.
    """
    scores, scales = chains.T.tolist()
    score = -math.inf if -math.inf in terms else math.fsum([*scores, *terms])
    return score, math.fsum([*scales, *map(abs, terms)])


class DocumentSolution(ChainSolution):
    """The labels of a document, **shape (total,)**, and their certificate."""

    __slots__ = ()


def _checked_mentions(given: ArrayLike, sentences: Sentences) -> NDArray[np.int64]:
    total = len(sentences.emissions)
    pairs = np.array(given, dtype=np.int64) if np.size(given) else np.zeros((0, 2), dtype=np.int64)
    mentions = checked_indices("mentions", pairs, (None, 2), low=0, high=total + 1, dtype=np.int64)
    for m, (start, stop) in enumerate(mentions.tolist()):
        if start >= stop:
            raise ProblemError(f"mentions[{m}]: expected start < end; got {start}, {stop}.")
    owners = _owners(mentions, sentences)
    beyond = np.flatnonzero(mentions[:, 1] > sentences.offsets[owners + 1])
    if len(beyond):
        m = int(beyond[0])
        raise ProblemError(
            f"mentions[{m}]: {mentions[m].tolist()} goes beyond its sentence, which ends before "
            f"token {sentences.offsets[owners[m] + 1]}."
        )
    if len(np.unique(mentions, axis=0)) < len(mentions):
        raise ProblemError("mentions: two of them are the same span; join them.")
    return read_only(mentions.copy())


def _owners(mentions: Any, sentences: Sentences) -> NDArray[np.int64]:
    return np.searchsorted(sentences.offsets, np.asarray(mentions)[:, 0], side="right") - 1


def _checked_costs(given: Any, factors: int, kinds: int) -> NDArray[np.float64]:
    shape = (factors, kinds + 1, kinds + 1)
    costs = np.zeros(shape) if given is None else np.array(given, dtype=np.float64)
    if not factors and not costs.size:
        costs = costs.reshape(shape)
    if costs.shape != shape:
        raise ProblemError(
            f"costs: expected the shape {shape}, for factors, hubs and kinds; got {costs.shape}."
        )
    if np.isnan(costs).any() or (costs < 0).any():
        raise ProblemError("costs: expected numbers that are not negative.")
    if np.isinf(costs[:, :, -1]).any() or np.isinf(costs.min(axis=1, initial=np.inf)).any():
        raise ProblemError(
            "costs: inf is not allowed in the last column (a mention may be no entity), nor in a "
            "whole column (use -inf emissions)."
        )
    return read_only(costs)
