"""Chain models and sentences.

The score of a labelling `y` of `n` tokens is::

    start[y[0]] + sum(emissions[i, y[i]]) + sum(transitions[y[i], y[i + 1]]) + end[y[n - 1]]

and a decoder finds a labelling with the highest score. ``-inf`` forbids.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import (
    Floats32,
    Immutable,
    checked_indices,
    checked_scores,
    checked_type,
    owned,
    read_only,
    refuse_beyond_memory,
)
from ...errors import InfeasibleError, ProblemError
from .kernels.layout import LANES, LARGEST, UP32, aligned, all_valid
from .kernels.rescoring import path_scores
from .kernels.tables import TransitionTables

__all__ = ["ChainModel", "Sentences"]

#: A negative score counts as a mask if its magnitude is this many times the largest positive one.
MASK_FACTOR = 32.0

#: Bytes of messages up to which it is not checked whether they fit in memory.
UNCHECKED_BYTES = 1 << 28


@dataclass(frozen=True, eq=False)
class ChainModel(Immutable):
    """The scores that all sentences share; immutable, validated once.

    Arrays that decoders derive from them (padded copies, tables) are computed on first use and
    cached, so a model that is used for a single training step costs only its validation.

    Parameters
    ----------
    transitions
        **Shape (L, L)**: `transitions[x, y]` is the score of label `y` following label `x`.
    start, end
        **Shape (L,)**: scores of the first and of the last label; None for zeros.

    Raises
    ------
    ProblemError
        If a shape is wrong, there is no label, or a score is NaN, ``+inf``, or larger than 1e30:
        sums would not fit float32.

    Examples
    --------
    >>> model = ChainModel([[0, 1], [-np.inf, 2]], end=[0, -1])
    >>> model.size
    2
    >>> model.score([[1, 0], [0, 3]], [0, 1])
    4.0
    """

    transitions: Floats32
    start: Floats32
    end: Floats32

    def __init__(
        self, transitions: ArrayLike, start: ArrayLike | None = None, end: ArrayLike | None = None
    ) -> None:
        links = _owned("transitions", transitions, (None, None))
        size = len(links)
        if not size or links.shape != (size, size):
            raise ProblemError(
                "transitions: expected a square (L, L) array with a row and a column for each "
                f"of at least one label, got {links.shape}."
            )
        object.__setattr__(self, "transitions", links)
        for name, given in (("start", start), ("end", end)):
            scores = np.zeros(size, np.float32) if given is None else given
            object.__setattr__(self, name, _owned(name, scores, (size,)))

    def __getstate__(self) -> dict[str, Any]:
        # derived arrays are cheaper to recompute than to send
        return {name: getattr(self, name) for name in ("transitions", "start", "end")}

    @cached_property
    def size(self) -> int:
        """The number of labels, L."""
        return len(self.transitions)

    @cached_property
    def padded(self) -> Padded:
        """The scores in the padded layout of the kernels."""
        return Padded.of(self.transitions, self.start, self.end)

    @cached_property
    def links(self) -> TransitionTables:
        """The tables with which the search prunes, from the left."""
        return links_of(self.padded)

    @cached_property
    def reversed_links(self) -> TransitionTables:
        """The tables with which the proof prunes, from the right; the search uses none of them."""
        return links_of(self.padded.reversed)

    def score(self, emissions: ArrayLike, labels: ArrayLike) -> float:
        """Return the score of a labelling, summed in float64; ``-inf`` if it is illegal.

        Parameters
        ----------
        emissions
            **Shape (n, L)**.
        labels
            **Shape (n,)**, each in ``[0, L)``.
        """
        scores = checked_scores("emissions", emissions, (None, self.size))
        path = checked_indices("labels", labels, (len(scores),), low=0, high=self.size)
        return float(Sentences.single(scores).scores_of(self, path)[0, 0])


@dataclass(frozen=True, eq=False)
class Sentences:
    """The emissions of several sentences, concatenated without padding."""

    emissions: Floats32  # (total, L), float32, contiguous, read-only
    # (sentences + 1,), int64: sentence `s` has the rows `offsets[s]:offsets[s + 1]`
    offsets: NDArray[np.int64]

    @classmethod
    def single(cls, emissions: Floats32) -> Sentences:
        """Return one sentence whose emissions are known to be valid."""
        return cls(emissions, read_only(np.array([0, len(emissions)], dtype=np.int64)))

    @classmethod
    def of(
        cls, model: ChainModel, emissions: ArrayLike, lengths: ArrayLike | None = None
    ) -> Sentences:
        """Check emissions (and lengths; None for one sentence) against a model."""
        checked_type("model", model, ChainModel)
        if (
            type(emissions) is np.ndarray
            and emissions.dtype == np.float32
            and emissions.ndim == 2
            and emissions.shape[1] == model.size
        ):
            rows = read_only(np.ascontiguousarray(emissions))
        else:
            rows = checked_scores("emissions", emissions, (None, model.size))
        if not all_valid(rows.reshape(-1), 0, rows.size):
            refuse("emissions", rows)
        if lengths is None:
            offsets = np.array([0, len(rows)], dtype=np.int64)
        else:
            counts = checked_indices(
                "lengths", lengths, (None,), low=0, high=len(rows) + 1, dtype=np.int64
            )
            offsets = np.zeros(len(counts) + 1, dtype=np.int64)
            np.cumsum(counts, out=offsets[1:])
            if offsets[-1] != len(rows):
                raise ProblemError(
                    f"lengths: they must add up to the {len(rows)} rows of emissions, "
                    f"got a sum of {offsets[-1]}."
                )
        if 8 * rows.size > UNCHECKED_BYTES:
            longest = int(np.diff(offsets).max(initial=0))
            refuse_beyond_memory(
                "emissions",
                f"a sentence of {longest} tokens with {model.size} labels",
                8 * longest * model.size,
                "split it, or use fewer labels",
            )
        return cls(rows, read_only(offsets))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[Floats32]:
        """Yield the emissions of each sentence, **shape (n, L)**."""
        bounds = self.offsets.tolist()
        for begin, stop in pairwise(bounds):
            yield self.emissions[begin:stop]

    def borders(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which tokens are the first, and which the last, of their sentence."""
        first, last = np.zeros((2, len(self.emissions)), dtype=bool)
        filled = np.flatnonzero(np.diff(self.offsets))
        first[self.offsets[filled]] = last[self.offsets[filled + 1] - 1] = True
        return first, last

    def scores_of(self, model: ChainModel, labels: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return (score, sum of absolute terms) of each labelling: **shape (sentences, 2)**.

        A score is NaN where a label is out of range.
        """
        links = (model.transitions, model.start, model.end)
        return path_scores(*links, self.emissions, self.offsets, labels)

    def most_gained(self, model: ChainModel) -> NDArray[np.float64]:
        """Return the most that positive scores add to a labelling: **shape (sentences,)**."""
        tokens = np.diff(self.offsets)
        own = self.emissions.max(axis=1).clip(min=0.0)
        gains = np.bincount(np.arange(len(self)).repeat(tokens), own, len(self))
        links = (model.start, model.transitions, model.end)
        start, step, end = (max(float(scores.max()), 0.0) for scores in links)
        return gains + start + (tokens - 1) * step + end

    def infeasible(self, sentence: int, token: int) -> InfeasibleError:
        """Return the error that names the token at which the last legal prefix ends."""
        where = f"sentence {sentence}: " if len(self) > 1 else ""
        return InfeasibleError(
            f"{where}no legal labelling: every path has a forbidden score (-inf) by token {token} "
            f"of {int(self.offsets[sentence + 1] - self.offsets[sentence])}; allow a label there, "
            "or a transition to one."
        )


def refuse(name: str, scores: Floats32) -> NoReturn:
    """Raise an error that names the first score that is NaN, ``+inf``, or too large."""
    checked_scores(name, scores, (None,) * scores.ndim)
    large = np.isfinite(scores) & (np.abs(scores) > LARGEST)
    index = [int(k) for k in np.argwhere(large)[0]]
    raise ProblemError(
        f"{name}: the score {scores[tuple(index)]:g} at {index} is too large for sums in float32; "
        f"stay within {LARGEST:g}, and use -inf to forbid."
    )


def _owned(name: str, values: ArrayLike, shape: tuple[int | None, ...]) -> Floats32:
    """Validate scores, and copy them if the caller could change them later."""
    array = checked_scores(name, values, shape)
    if not all_valid(array.reshape(-1), 0, array.size):
        refuse(name, array)
    return owned(array, values)


# --- scores in the layout of the kernels, and tables derived from them ----------------


@dataclass(frozen=True, eq=False)
class Padded:
    """Rows padded with ``-inf`` to a multiple of 16, flat."""

    # ((L + 1) * stride,): the transitions, and as row L the start scores
    transitions: Floats32
    end: Floats32  # (stride,)
    size: int  # the number of labels, L

    @classmethod
    def of(cls, transitions: Floats32, start: Floats32, end: Floats32) -> Padded:
        """Copy the scores of a model."""
        size = len(transitions)
        stride = -(-size // LANES) * LANES
        flat, last = aligned((size + 1) * stride), aligned(stride)
        rows = flat.reshape(-1, stride)
        rows[:] = -np.inf
        rows[:size, :size] = transitions
        rows[size, :size] = start
        last[:size], last[size:] = end, -np.inf
        return cls(read_only(flat), read_only(last), size)

    @cached_property
    def transposed(self) -> Floats32:
        """**Shape ((L + 1) * stride,)**: column y as row y, and as row L the end scores."""
        size, stride = self.size, len(self.end)
        flat = aligned((size + 1) * stride)
        columns = flat.reshape(-1, stride)
        columns[:, size:] = -np.inf
        found, given = columns[:size, :size], self.transitions.reshape(-1, stride)[:size, :size]
        for x, y in product(range(0, size, 256), repeat=2):  # squares stay in the cache
            found[y : y + 256, x : x + 256] = given[x : x + 256, y : y + 256].T
        columns[size] = self.end
        return read_only(flat)

    @property
    def reversed(self) -> Padded:
        """The scores of the reversed chain, which reads sentences from the right."""
        start = aligned(len(self.end))
        start[:] = self.transitions.reshape(-1, len(self.end))[self.size]
        return Padded(self.transposed, read_only(start), self.size)


def links_of(padded: Padded) -> TransitionTables:
    """Return a model's arrays in the layout of :mod:`.kernels.tables`."""
    size, stride = padded.size, len(padded.end)
    scores = padded.transitions.reshape(-1, stride)[:size, :size]
    # any limit below which a score counts as a mask is valid: it only affects speed
    limit = -MASK_FACTOR * max(1.0, float(scores.max()))
    if not scores.min() < limit:
        limit = -np.inf
    gains = aligned((size + 1) * stride)
    gains[:] = -np.inf
    final = np.where(np.isfinite(padded.end), padded.end, 0.0).astype(np.float64)
    gains[-stride:] = padded.end + UP32 * np.abs(final)
    exits = aligned(size * stride if limit > -np.inf else 0)
    exits[:] = -np.inf
    return TransitionTables(
        padded.transitions,
        padded.end,
        gains,
        exits,
        np.zeros(size, dtype=np.uint8),
        np.float32(limit),
    )
