"""Posteriors of a batch: probabilities of labels, of runs of labels, and of whole labellings."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import Floats, Integers, checked_indices, checked_type, is_number, read_only
from ...errors import ProblemError
from .kernels import runs as kernels
from .problem import ChainModel, Sentences
from .sum_product import summed

__all__ = ["ChainPosteriors", "LabelRuns", "RunKinds", "posteriors"]


class LabelRuns(NamedTuple):
    """Runs of labels, such as entities in BIO, and their probabilities: **shape (runs,)** each."""

    starts: Integers  # the row of the first token
    stops: Integers  # the row after the last
    kinds: Integers  # the number of each run's kind
    probabilities: Floats


@dataclass(frozen=True, eq=False)
class RunKinds:
    """Which labels form runs of which kind, and which label continues which.

    A run is a maximal span of labels of one kind, each of which but the first continues the one
    before it. In BIO, I-PER continues B-PER and I-PER.

    Parameters
    ----------
    kinds
        **Shape (L,)**: the number of each label's kind, from 0; -1 for labels outside of runs.
    continues
        **Shape (L, L)**, bool: whether the column's label continues the run of the row's.

    Raises
    ------
    ProblemError
        If a shape is wrong, or a label continues one of another kind.

    Examples
    --------
    O, B-PER, I-PER:

    >>> kinds = RunKinds([-1, 0, 0], [[False] * 3, [False, False, True], [False, False, True]])
    >>> kinds.count
    1
    """

    kinds: Integers
    continues: NDArray[np.bool_]

    def __post_init__(self) -> None:
        kinds = checked_indices("kinds", self.kinds, (None,), low=-1, high=None, dtype=np.int64)
        continues = np.asarray(self.continues)
        if continues.shape != (len(kinds),) * 2 or continues.dtype != bool:
            raise ProblemError(
                f"continues: expected True or False for each pair of {len(kinds)} labels; got "
                f"{continues.dtype} of shape {continues.shape}."
            )
        same = (kinds[:, None] == kinds) & (kinds >= 0)
        if (continues & ~same).any():
            row, column = np.argwhere(continues & ~same)[0].tolist()
            raise ProblemError(
                f"continues: label {column} continues label {row}, which is of another kind."
            )
        object.__setattr__(self, "kinds", read_only(kinds))
        object.__setattr__(self, "continues", read_only(continues.copy()))

    def runs_in(
        self, labels: NDArray[np.int32], offsets: Integers
    ) -> tuple[Integers, Integers, Integers]:
        """Return the first rows, the rows after the last, and the kinds of the runs of sentences.

        The sentences are concatenated, and begin at `offsets`, (sentences + 1,). A label that does
        not continue the one before it begins a run.
        """
        kinds = self.kinds[labels]
        goes_on = np.zeros(len(labels) + 1, dtype=bool)
        goes_on[1:-1] = self.continues[labels[:-1], labels[1:]]
        goes_on[offsets] = False
        inside = kinds >= 0
        starts = np.flatnonzero(inside & ~goes_on[:-1])
        stops = np.flatnonzero(inside & ~goes_on[1:]) + 1
        return starts, stops, kinds[starts]

    @property
    def count(self) -> int:
        """The number of kinds."""
        return int(self.kinds.max(initial=-1)) + 1

    @cached_property
    def flat(self) -> kernels.Kinds:
        """The same in the form that the kernels take."""
        members = np.flatnonzero(self.kinds >= 0)
        labels = members[np.argsort(self.kinds[members], kind="stable")]
        bounds = np.searchsorted(self.kinds[labels], np.arange(self.count + 1))
        return kernels.Kinds(labels, bounds, self.continues)


@dataclass(frozen=True, eq=False)
class ChainPosteriors:
    """The distribution over labellings of several sentences, concatenated.

    Made by :func:`posteriors`.
    """

    model: ChainModel
    """The scores that all sentences share."""
    emissions: NDArray[np.float32]
    """**Shape (total, L)**, float32."""
    offsets: Integers
    """**Shape (sentences + 1,)**, int64."""
    log_partitions: Floats
    """**Shape (sentences,)**: log of the sum over all labellings of exp(score)."""
    marginals: Floats
    """**Shape (total, L)**, float64: the probability of each label at each token."""
    forward: Floats
    """**Shape (total, L)**, float64: log of the sum over all prefixes that end with that label."""

    def of_labels(self, labels: ArrayLike) -> Floats:
        """Return the probability of one label for each token: **shape (total,)**, as `labels`."""
        given = self._checked(labels)
        return self.marginals[np.arange(len(given)), given]

    def of_labellings(self, labels: ArrayLike) -> Floats:
        """Return the probability of one labelling for each sentence: **shape (sentences,)**.

        It is ``exp(score - log partition)``; `labels` have **shape (total,)**.
        """
        sentences = Sentences(self.emissions, self.offsets)
        scores = sentences.scores_of(self.model, self._checked(labels).astype(np.int32))[:, 0]
        return np.minimum(np.exp(scores - self.log_partitions), 1.0)

    def of_runs(
        self, kinds: RunKinds, starts: ArrayLike, stops: ArrayLike, numbers: ArrayLike
    ) -> Floats:
        """Return the probability of given runs, that is, of their boundaries and kind together.

        Parameters
        ----------
        kinds
            The labels' kinds of runs.
        starts, stops
            **Shape (runs,)**: rows of `emissions`; each run lies in one sentence.
        numbers
            **Shape (runs,)**: the kind of each run.

        Returns
        -------
        **Shape (runs,)**, float64: the probability that a run begins and ends exactly there.

        Raises
        ------
        ProblemError
            If a run is empty, or does not lie within one sentence.
        """
        total, flat = len(self.emissions), self._flat(kinds)
        first = checked_indices("starts", starts, (None,), low=0, high=total, dtype=np.int64)
        shape = (len(first),)
        stop = checked_indices("stops", stops, shape, low=1, high=total + 1, dtype=np.int64)
        kind = checked_indices("numbers", numbers, shape, low=0, high=kinds.count, dtype=np.int64)
        sentence = np.searchsorted(self.offsets, first, side="right")
        borders = np.stack([self.offsets[sentence - 1], self.offsets[sentence]], axis=1)
        wrong = np.flatnonzero((stop <= first) | (stop > borders[:, 1]))
        if len(wrong):
            raise ProblemError(
                f"stops: run {wrong[0]} has the rows {first[wrong[0]]} to {stop[wrong[0]]}; give "
                "at least one, and rows of one sentence."
            )
        runs = np.stack([first, stop, kind], axis=1)
        found = kernels.probabilities_of_runs(self._chain, flat, runs, borders)
        return np.minimum(found, 1.0)

    def likely_runs(self, kinds: RunKinds, least: float) -> LabelRuns:
        """Return all runs of at least some probability, including overlapping and nested ones.

        Parameters
        ----------
        kinds
            The labels' kinds of runs.
        least
            The least probability, greater than 0 and at most 1. The time grows with the number of
            runs found.

        Returns
        -------
        The runs, in the order of their last tokens.
        """
        if not is_number(least) or not 0.0 < least <= 1.0:
            raise ProblemError(f"least: expected a number above 0 and at most 1; got {least!r}.")
        runs, found = kernels.likely_runs(self._chain, self._flat(kinds), float(least))
        return LabelRuns(runs[:, 0], runs[:, 1], runs[:, 2], np.minimum(found, 1.0))

    def _flat(self, kinds: RunKinds) -> kernels.Kinds:
        if len(checked_type("kinds", kinds, RunKinds).kinds) != self.model.size:
            raise ProblemError(
                f"kinds: expected one for each of {self.model.size} labels; got "
                f"{len(kinds.kinds)}."
            )
        return kinds.flat

    @property
    def _chain(self) -> kernels.Chain:
        return kernels.Chain(
            self.model.transitions, self.emissions, self.forward, self.marginals, self.offsets
        )

    def _checked(self, labels: ArrayLike) -> Integers:
        return checked_indices(
            "labels", labels, (len(self.emissions),), low=0, high=self.model.size, dtype=np.int64
        )


def posteriors(
    model: ChainModel, emissions: ArrayLike, lengths: ArrayLike | None = None
) -> ChainPosteriors:
    """Return the distribution over labellings of a batch of sentences, by forward-backward.

    Parameters
    ----------
    emissions
        **Shape (total, L)**: the sentences, concatenated without padding.
    lengths
        **Shape (sentences,)**: the number of tokens of each sentence; None for one sentence.

    Raises
    ------
    ProblemError
        If a shape is wrong, or a score is NaN, ``+inf``, or larger than 1e30.
    InfeasibleError
        If a sentence has no legal labelling.

    Examples
    --------
    With labels O, B and I, the probability that the first token alone is an entity:

    >>> model = ChainModel([[0, 0, -np.inf], [0, 0, 0], [0, 0, 0]], start=[0, 0, -np.inf])
    >>> found = posteriors(model, np.zeros((2, 3)))
    >>> round(float(np.exp(found.log_partitions[0])))  # OO OB BO BB BI
    5
    >>> continues = np.zeros((3, 3), dtype=bool)
    >>> continues[1:, 2] = True
    >>> found.of_runs(RunKinds([-1, 0, 0], continues), [0], [1], [0]).round(9)
    array([0.4])
    >>> found.of_labellings([0, 0]).round(9)
    array([0.2])
    """
    sentences = Sentences.of(model, emissions, lengths)
    found = summed(model, sentences, forward=True)
    return ChainPosteriors(
        model,
        sentences.emissions,
        sentences.offsets,
        read_only(found.log_partitions),
        read_only(found.marginals),
        read_only(found.forward),
    )
