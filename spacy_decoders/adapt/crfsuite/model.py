"""A model of CRFsuite as a chain: its labels, certified, with margins, rankings and rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import read_only
from ...errors import InfeasibleError, ProblemError
from .features import EncodedItems
from .model_file import ModelFile, read_model_file

if TYPE_CHECKING:
    from ...decoders.chain import ChainModel, ChainSolution, ChainSolutions

__all__ = ["CrfSuiteModel"]

#: Within how much of its bound a labelling is called optimal, relative to 1 + its scale.
TOLERANCE = 1e-9

#: Numbers in a vector of the kernels.
LANES = 16

#: Tokens that are decoded and proven together.
CHUNK = 2048

#: Bytes that a table of all weights may take; a larger model is added up feature by feature.
LARGEST_TABLE = 1 << 27

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CrfSuiteModel:
    """A model of CRFsuite's, read from its file; CRFsuite itself is not needed.

    The best labelling is found in double precision, by sums in the order of CRFsuite's, so that
    labels are the same as those of ``pycrfsuite.Tagger.tag``, ties included.

    Parameters
    ----------
    file
        What the model file says.
    forbidden
        Pairs of labels: the second may not follow the first.
    first, last
        The labels that a sequence may begin and end with; None for all.

    Raises
    ------
    ProblemError
        If a rule names no label of the model.

    Examples
    --------
    >>> from spacy_decoders.adapt.crfsuite import CrfSuiteModel
    >>> model = CrfSuiteModel.open("model.crfsuite")  # doctest: +SKIP
    >>> model.tag([{"word": "Main"}, {"word": "Street"}])  # doctest: +SKIP
    ['StreetName', 'StreetNamePostType']
    """

    file: ModelFile
    forbidden: Iterable[tuple[str, str]] = ()
    first: Iterable[str] | None = None
    last: Iterable[str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "forbidden", tuple(tuple(pair) for pair in self.forbidden))
        for name in ("first", "last"):
            given = getattr(self, name)
            object.__setattr__(self, name, None if given is None else tuple(given))
        _ = self._chain  # checks the names

    @classmethod
    def open(cls, source: str | PathLike[str] | bytes | Any) -> CrfSuiteModel:
        """Read a model.

        Parameters
        ----------
        source
            The path of the file, its content, or a fitted ``sklearn_crfsuite.CRF``.

        Raises
        ------
        ProblemError
            If it is no model of CRFsuite's.
        """
        if not isinstance(source, (str, bytes, PathLike)):
            file = getattr(source, "modelfile", None)
            if file is None:
                raise ProblemError(
                    "source: expected a path, bytes or a fitted sklearn_crfsuite.CRF, got "
                    f"{type(source).__name__}."
                )
            source = file.name
        content = source if isinstance(source, bytes) else fspath(source)
        return cls(read_model_file(content))

    def with_rules(
        self,
        forbidden: Iterable[tuple[str, str]] = (),
        first: Iterable[str] | None = None,
        last: Iterable[str] | None = None,
    ) -> CrfSuiteModel:
        """Return the model with rules: see the parameters of the class."""
        return replace(self, forbidden=forbidden, first=first, last=last)

    # python-crfsuite has a method of this name
    def labels(self) -> list[str]:
        """Return the labels in the order of their numbers."""
        return list(self.file.labels)

    def encode(self, sequences: Iterable[Any]) -> EncodedItems:
        """Look up the attributes of sequences, once for all that is asked of them.

        Sequences are those of :meth:`.features.EncodedItems.of`.
        """
        return EncodedItems.of(sequences, self.file.attributes)

    def tag(self, sequence: Any) -> list[str]:
        """Return the best labels of one sequence, as ``pycrfsuite.Tagger.tag`` does."""
        encoded = self.encode([sequence])
        found = self._search(self._emissions(encoded), encoded.offsets)
        return [self.file.labels[label] for label in found.tolist()]

    def emissions(self, encoded: EncodedItems) -> Floats:
        """Return what each label of each token is worth: **shape (tokens, L)**, float64."""
        return self._emissions(encoded)[:, : len(self.file.labels)]

    def decode(self, encoded: EncodedItems) -> ChainSolutions:
        """Find and certify the best labelling of each sequence.

        Returns
        -------
        A list of solutions, whose columns (`labels`, `offsets`, `scores`, `bounds`) are at hand
        without making its items.

        Raises
        ------
        InfeasibleError
            If the rules leave a sequence without a labelling.
        """
        from ...decoders.chain import ChainSolutions

        # emissions of so many tokens at a time are still in the cache for the proof
        parts = [self._decoded(part) for part in encoded.chunks(CHUNK)]
        labels, scores, scales, bounds = map(np.concatenate, zip(*parts, strict=True))
        if np.isneginf(scores).any():
            sequence = int(np.argmax(np.isneginf(scores)))
            raise InfeasibleError(
                f"sequence {sequence}: the rules leave no labelling; forbid less."
            )
        return ChainSolutions(
            type(self).__name__,
            read_only(labels),
            encoded.offsets,
            scores,
            bounds,
            TOLERANCE * (1.0 + scales),
            np.ones(len(encoded), dtype=np.int64),
            scales=scales,
        )

    def margins(self, encoded: EncodedItems) -> NDArray[np.float32]:
        """Return how much worse the best labelling with another label at each token is.

        **Shape (tokens,)**; of scores rounded to single precision.
        """
        from ...decoders.chain import max_marginal_margins

        lengths = np.diff(encoded.offsets)
        return max_marginal_margins(self.chain_model, self.emissions(encoded), lengths)

    def marginals(self, encoded: EncodedItems) -> NDArray[np.float32]:
        """Return the probability of each label at each token: **shape (tokens, L)**."""
        from ...decoders.chain import forward_backward

        found = forward_backward(
            self.chain_model, self.emissions(encoded), np.diff(encoded.offsets)
        )
        return found.marginals

    def k_best(self, encoded: EncodedItems, k: int) -> list[list[ChainSolution]]:
        """Return up to `k` best labellings of each sequence, best first.

        They are those of scores rounded to single precision.
        """
        from ...decoders.chain import k_best

        emissions = self.emissions(encoded)
        return [
            k_best(self.chain_model, emissions[begin:stop], k)
            for begin, stop in pairwise(encoded.offsets.tolist())
        ]

    @cached_property
    def chain_model(self) -> ChainModel:
        """The transitions as a chain model of ours, in single precision."""
        from ...decoders.chain import ChainModel

        size = len(self.file.labels)
        arrays = (part[..., :size].astype(np.float32) for part in self._chain)
        return ChainModel(*arrays)

    @cached_property
    def _chain(self) -> tuple[Floats, Floats, Floats]:
        """Transitions, start and end, ``-inf`` for what the rules forbid: **(L, size)**,
        **(size,)**, **(size,)**, where more labels than there are fill the last vector."""
        size = len(self.file.labels)
        padded = -(-size // LANES) * LANES
        transitions = np.full((size, padded), -np.inf)
        transitions[:, :size] = self.file.transitions
        for before, after in self.forbidden:
            transitions[self._number(before), self._number(after)] = -np.inf
        ends = []
        for allowed in (self.first, self.last):
            scores = np.full(padded, -np.inf)
            names = self.file.labels if allowed is None else allowed
            scores[[self._number(label) for label in names]] = 0.0
            ends.append(scores)
        return transitions, *ends  # type: ignore[return-value]

    @cached_property
    def _transposed(self) -> Floats:
        """The transitions, column by column: **shape (L, size)**."""
        size, padded = self._chain[0].shape
        transposed = np.full((size, padded), -np.inf)
        transposed[:, :size] = self._chain[0][:, :size].T
        return transposed

    @cached_property
    def _weights(self) -> Floats | None:
        """All weights as one table, **shape (attributes, size)**; None if it were too large."""
        file, padded = self.file, self._chain[0].shape[1]
        if len(file.attributes) * padded * 8 > LARGEST_TABLE:
            return None
        weights = np.zeros((len(file.attributes), padded))
        rows = np.repeat(np.arange(len(file.attributes)), np.diff(file.offsets))
        np.add.at(weights, (rows, file.feature_labels), file.feature_weights)
        return weights

    def _emissions(self, encoded: EncodedItems) -> Floats:
        """Return the emissions, **shape (tokens, size)**."""
        from .kernels import search

        given = (encoded.numbers, encoded.values, encoded.tokens)
        if self._weights is not None:
            dense: Floats = search.dense_emissions(*given, self._weights)
            return dense
        file = self.file
        emissions: Floats = search.emissions(
            *given,
            file.offsets,
            file.feature_labels,
            file.feature_weights,
            self._chain[0].shape[1],
        )
        return emissions

    def _decoded(self, encoded: EncodedItems) -> tuple[NDArray[np.int32], Floats, Floats, Floats]:
        """Return labels, scores, scales and bounds."""
        from ...decoders.chain.kernels.rescoring import path_scores
        from .kernels import proof

        emissions, offsets = self._emissions(encoded), encoded.offsets
        labels = self._search(emissions, offsets)
        transitions, start, end = self._chain
        worth = path_scores(transitions, start, end, emissions, offsets, labels)
        bounds = proof.bounds(self._transposed, start, end, emissions, offsets)
        return labels, worth[:, 0], worth[:, 1], bounds

    def _search(self, emissions: Floats, offsets: NDArray[np.int64]) -> NDArray[np.int32]:
        from .kernels import search

        labels: NDArray[np.int32] = search.search(*self._chain, emissions, offsets)
        return labels

    def _number(self, label: str) -> int:
        if label not in self.file.labels:
            raise ProblemError(
                f"rules: the model has no label {label!r}, only {', '.join(self.file.labels)}."
            )
        return self.file.labels.index(label)
