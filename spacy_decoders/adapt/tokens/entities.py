"""The best legal entities for the scores of words, with exact probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from pydantic import PositiveFloat

from ...arrays import Booleans, Floats, Floats32, Integers32, checked_list, checked_scores
from ...certificate import Certificate
from ...components.option_checks import check_of
from ...components.tagger.entity_scheme import EntityScheme, Scheme, TokenEntity
from ...errors import ProblemError

if TYPE_CHECKING:
    from ...decoders.chain import ChainModel, ChainSolution

__all__ = ["EntityDecoder", "FoundEntities"]


@dataclass(frozen=True, eq=False)
class FoundEntities:
    """The entities of one text."""

    #: In the order of the text.
    entities: tuple[TokenEntity, ...]
    #: **Shape (n,)**, int32: the label of each word.
    labels: Integers32
    #: That of the labelling.
    certificate: Certificate


@dataclass(frozen=True, eq=False)
class EntityDecoder:
    """Finds the best legal labelling of scored words.

    The score of a labelling is the sum of those of its labels and transitions. Without transitions
    and with log-probabilities as scores, the best is the most probable of the legal ones.

    Parameters
    ----------
    labels, scheme
        As for :class:`EntityScheme`.
    transitions
        **Shape (L, L)**: the score of the column's label after the row's; None for zeros. What the
        scheme forbids stays forbidden. :meth:`learned` learns them.
    start, end
        **Shape (L,)**: the score of a label as the first or the last; None for zeros.
    scale
        The factor of the scores, relative to the transitions; greater than 0.
    probabilities
        Whether to compute the probability of each entity.

    Raises
    ------
    ProblemError
        If two labels are equal, none is O, a shape does not fit, or a score is NaN or ``+inf``.

    Examples
    --------
    >>> decoder = EntityDecoder(["O", "B-PER", "I-PER"])
    >>> found = decoder.decode([[0.0, 1.0, 1.5], [0.0, 0.0, 2.0], [3.0, 0.0, 0.0]])
    >>> [(e.start, e.end, e.label, round(e.probability, 3)) for e in found.entities]
    [(0, 2, 'PER', 0.701)]
    >>> found.certificate.status
    'optimal'
    """

    labels: Sequence[str] | Mapping[Any, str]
    scheme: Scheme = "auto"
    transitions: ArrayLike | None = None
    start: ArrayLike | None = None
    end: ArrayLike | None = None
    scale: float = 1.0
    probabilities: bool = True

    def __post_init__(self) -> None:
        check_of(PositiveFloat)("scale", self.scale)
        check_of(bool)("probabilities", self.probabilities)
        names = self.rules.names
        if len(set(names)) < len(names) or "O" not in names:
            raise ProblemError(
                "labels: expected each once, and 'O' for words outside entities; got "
                f"{list(names)}."
            )
        _ = self.model  # checks the rest

    @cached_property
    def rules(self) -> EntityScheme:
        """The meaning of the labels, and which may follow each other."""
        return EntityScheme(self.labels, self.scheme)

    @cached_property
    def model(self) -> ChainModel:
        """The chain model: transitions with ``-inf`` for what the scheme forbids.

        The functions of :mod:`spacy_decoders.decoders.chain` take it, and scores times `scale`,
        for margins, marginals and more.
        """
        from ...decoders.chain import ChainModel

        rules, size = self.rules, len(self.rules)
        given = (
            ("transitions", self.transitions, rules.can_follow),
            ("start", self.start, rules.can_start),
            ("end", self.end, rules.can_end),
        )
        arrays = []
        for name, values, allowed in given:
            shape = (size,) * allowed.ndim
            scores = np.zeros(shape) if values is None else checked_scores(name, values, shape)
            arrays.append(np.where(allowed, scores, -np.inf).astype(np.float32))
        return ChainModel(*arrays)

    def decode(self, scores: ArrayLike) -> FoundEntities:
        """Find the entities of one text.

        The scores, **shape (n, L)**, are those of the labels of each word, such as
        :func:`.words.word_scores` returns; ``-inf`` forbids. Raises `ProblemError` if the shape
        does not fit, or a score is NaN or ``+inf``, and `InfeasibleError` if no labelling is
        legal.
        """
        return self.decode_batch([scores])[0]

    def decode_batch(self, scores: Sequence[ArrayLike]) -> list[FoundEntities]:
        """Find the entities of several texts, as :meth:`decode` does of one."""
        from ...decoders.chain import ForwardDominance

        texts = checked_list("scores", scores, "arrays, one for each text")
        emissions = [self._emissions(of_text) for of_text in texts]
        if not emissions:
            return []
        lengths, rows = [len(of_text) for of_text in emissions], np.concatenate(emissions)
        found = ForwardDominance().decode_batch(self.model, rows, lengths)
        begins = np.cumsum([0, *lengths[:-1]]).tolist()
        return self._with_entities(found, begins, rows, lengths)

    def outside(self, scores: ArrayLike, words: Booleans) -> Floats:
        """Return scores that forbid all labels but O for some words, a mask of **shape (n,)**."""
        found = np.array(scores, dtype=np.float64)
        found[np.ix_(words, np.array(self.rules.names) != "O")] = -np.inf
        return found

    def k_best(self, scores: ArrayLike, k: int) -> list[FoundEntities]:
        """Return the `k` best labellings, best first; fewer if there are fewer."""
        from ...decoders.chain import k_best

        emissions = self._emissions(scores)
        found = k_best(self.model, emissions, k)
        return self._with_entities(found, [0] * len(found), emissions, [len(emissions)])

    def learned(
        self,
        scores: Sequence[ArrayLike],
        gold: Sequence[ArrayLike],
    ) -> EntityDecoder:
        """Return a decoder with the transitions that fit labelled texts best.

        The model behind the scores is not changed; a few hundred sentences take seconds. The
        arguments are those of :func:`~spacy_decoders.adapt.learning.learn_chain`; texts whose
        right labels break the scheme are left out.
        """
        from ..learning import learn_chain

        chain = learn_chain(scores, gold, self.model)
        return replace(
            self,
            transitions=chain.transitions,
            start=chain.start,
            end=chain.end,
            scale=chain.scale,
        )

    def _emissions(self, scores: ArrayLike) -> Floats32:
        given = checked_scores("scores", scores, (None, len(self.rules)))
        return given if self.scale == 1.0 else given * np.float32(self.scale)

    def _with_entities(
        self,
        solutions: Sequence[ChainSolution],
        begins: Sequence[int],
        emissions: Floats32,
        lengths: Sequence[int],
    ) -> list[FoundEntities]:
        """Find the entities of labellings; the emissions of each text begin at one of `begins`."""
        spans = [self.rules.entities(solution.labels) for solution in solutions]
        likely: Iterator[float | None] = repeat(None)
        if self.probabilities and any(spans):
            from ...decoders.chain import posteriors

            kinds, runs = self.rules.runs, []
            for begin, of_text, solution in zip(begins, spans, solutions, strict=True):
                for start, end, _ in of_text:
                    kind = kinds.kinds[solution.labels[start]]
                    runs.append((begin + start, begin + end, kind))
            found = posteriors(self.model, emissions, np.array(lengths))
            likely = iter(found.of_runs(kinds, *np.array(runs).T).tolist())
        return [
            FoundEntities(
                tuple(TokenEntity(*span, next(likely)) for span in of_text),
                solution.labels,
                solution.certificate,
            )
            for solution, of_text in zip(solutions, spans, strict=True)
        ]
