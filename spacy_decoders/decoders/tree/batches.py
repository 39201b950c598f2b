"""Batches of sentences with scores on arcs alone, decoded in a few compiled calls.

Where the best head of every token makes a legal tree, which trained scores mostly do, the sum of
the tokens' best arcs is a bound that this tree attains. Only the other sentences need more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ...arrays import checked_scores, read_only
from ...certificate import Certificate
from ...errors import DecodersError, ProblemError
from ..lazy_list import LazyList
from .decoder import infeasible, rounding_slack
from .problem import TreeProblem, TreeSolution

if TYPE_CHECKING:
    from .kernels.batches import Duals, Judged

__all__ = ["ArcBatch", "TreeSolutions", "are_plain", "by_survivors", "solved_by_arcs"]

Floats = NDArray[np.float64]

#: Scores that are decoded at once: what a processor's cache holds.
MOST_SCORES = 2**16

#: Entries behind the last score that vectors may read.
PADDING = 8
_PADDED = read_only(np.zeros(PADDING))

_dtype_of = attrgetter("dtype")


class TreeSolutions(LazyList[TreeSolution]):
    """The solutions of a batch: a list whose items are created on first access.

    Attributes
    ----------
    decoder
        The registered name.
    heads
        int32 (total,), read-only: the heads of all sentences, end to end.
    offsets
        int64 (sentences + 1,): sentence `s` has ``offsets[s]:offsets[s + 1]``.
    scores, bounds, tolerances, scales
        float64 (sentences,): what the certificates compare, and the sum of the absolute scores of
        each tree, which limits the tolerance.
    """

    def __init__(
        self,
        decoder: str,
        heads: NDArray[np.int32],
        offsets: NDArray[np.int64],
        scores: Floats,
        bounds: Floats,
        tolerances: Floats,
        scales: Floats,
    ) -> None:
        super().__init__(len(scores))
        heads.flags.writeable = False
        self.decoder = decoder
        self.heads = heads
        self.offsets = offsets
        self.scores = scores
        self.bounds = bounds
        self.tolerances = tolerances
        self.scales = scales

    @cached_property
    def certificates(self) -> list[Certificate]:
        """The certificates of all sentences."""
        columns = (self.scores, self.bounds, self.tolerances)
        scores, bounds, tolerances = (column.tolist() for column in columns)
        ones = [1] * len(scores)
        return Certificate.from_bounds(
            self.decoder, scores, bounds, tolerances, ones, self.scales.tolist()
        )

    def _items(self) -> list[TreeSolution]:
        items: list[TreeSolution] = []
        new = object.__new__
        for place in range(len(self.scores)):
            item = new(_TreeOfBatch)
            item.__dict__["place"] = self, place
            items.append(item)
        return items


class _TreeOfBatch(TreeSolution):
    """A solution that becomes a :class:`TreeSolution` when one of its fields is asked for."""

    def __getattr__(self, name: str) -> Any:
        made = self.__dict__
        if name not in ("heads", "certificate") or "place" not in made:
            raise AttributeError(f"TreeSolution has no attribute {name!r}.")
        batch, place = made["place"]
        begin, stop = batch.offsets[place : place + 2]
        made.update(heads=batch.heads[begin:stop], certificate=batch.certificates[place])
        object.__setattr__(self, "__class__", TreeSolution)
        made.pop("place", None)
        return made[name]

    def __reduce_ex__(self, protocol: Any) -> Any:
        getattr(self, "heads")  # noqa: B009 - makes the fields
        return TreeSolution.__reduce_ex__(self, protocol)


class ArcBatch(NamedTuple):
    """The arcs of some sentences of a batch, end to end.

    Attributes
    ----------
    flat
        float64, an (n + 1, n + 1) array a sentence, with :data:`PADDING` behind the last.
    begins, sizes
        int64 (sentences,), where each begins in `flat`, and n + 1.
    offsets
        int64 (sentences + 1,), where the tokens of each begin among their tokens.
    """

    flat: Floats
    begins: NDArray[np.int64]
    sizes: NDArray[np.int64]
    offsets: NDArray[np.int64]

    def arcs(self, place: int) -> Floats:
        """Return the arcs of one sentence, read-only."""
        begin, size = int(self.begins[place]), int(self.sizes[place])
        arcs = self.flat[begin : begin + size * size].reshape(size, size)
        arcs.flags.writeable = False
        return arcs


def are_plain(sentences: Sequence[Any], *, projective: bool) -> bool:
    """Return whether all sentences have arcs alone, and one root."""
    return set(map(type, sentences)) == {np.ndarray} or all(
        one.is_first_order
        and one.projective == projective
        and one.has_one_root
        and not one.is_constrained
        and one.scope == "full"
        if isinstance(one, TreeProblem)
        else isinstance(one, np.ndarray)
        for one in sentences
    )


#: Decodes the given sentences of a batch, which have no proof yet: writes heads and what is known.
Last = Callable[[ArcBatch, NDArray[np.int64], NDArray[np.int32], "Duals", "Judged"], None]


def solved_by_arcs(
    decoder: str, sentences: Sequence[Any], projective: bool, last: Last
) -> TreeSolutions:
    """Return the best trees of plain sentences, with certificates as those of single decodings.

    Parameters
    ----------
    sentences
        Arrays of arcs, or problems.
    last
        Decodes the sentences whose best tree with crossing arcs is not allowed, or not proven.

    Raises
    ------
    ProblemError
        If one is not square, or holds NaN or a score beyond 1e100; the message says which.
    InfeasibleError
        If a sentence has no tree.
    """
    from .kernels.batches import Judged  # compiled where it is first needed

    arrays: Sequence[Any] = sentences
    if set(map(type, sentences)) != {np.ndarray}:
        arrays = [one.arcs if isinstance(one, TreeProblem) else one for one in sentences]
    sizes = _sizes(arrays)
    offsets = np.concatenate([[0], np.cumsum(sizes - 1)])
    heads = np.empty(offsets[-1], np.int32)
    found = Judged._make([*np.zeros((4, len(sizes))), np.zeros(len(sizes), bool)])
    ends = np.cumsum(sizes * sizes)
    for among in _parts(ends):
        begin = offsets[among.start]
        first = ends[among.start] - sizes[among.start] ** 2
        part = ArcBatch(
            _end_to_end(arrays[among]),
            ends[among] - sizes[among] ** 2 - first,
            sizes[among],
            offsets[among.start : among.stop + 1] - begin,
        )
        known = Judged._make(column[among] for column in found)
        wrong = _solve(part, heads[begin : offsets[among.stop]], known, projective, last)
        if wrong >= 0:
            raise _error_of(decoder, among.start + wrong, arrays, projective, known.bounds[wrong])
    slack, scales = found.slack, found.scales
    tolerances = np.maximum(1e-9 * (1.0 + scales), 2.0 * slack)  # as tolerance_of does
    return TreeSolutions(
        decoder, heads, offsets, found.scores, found.bounds + slack, tolerances, scales
    )


def _parts(ends: NDArray[np.int64]) -> Iterator[slice]:
    """Cut a batch where its scores fill the cache."""
    begin = done = 0
    while begin < len(ends):
        stop = max(begin + 1, int(np.searchsorted(ends, done + MOST_SCORES, side="right")))
        yield slice(begin, stop)
        begin, done = stop, int(ends[stop - 1])


def _end_to_end(arrays: Sequence[NDArray[Any]]) -> Floats:
    """Return a copy of all scores in a row, with :data:`PADDING` behind."""
    given = [*arrays, _PADDED]
    if set(map(_dtype_of, given)) == {_PADDED.dtype}:
        try:  # bytes are joined in less than half the time that arrays take
            return np.frombuffer(bytearray().join(cast(Any, given)))
        except TypeError:  # the rows of one are not contiguous
            pass
    return np.concatenate(given, axis=None, dtype=np.float64)


def _sizes(arrays: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Return the rows of square arrays."""
    shapes = [array.shape for array in arrays]
    rows = [shape[0] if shape else 0 for shape in shapes]
    if shapes != list(zip(rows, rows, strict=True)) or 0 in rows:
        place = next(i for i, of in enumerate(shapes) if of != 2 * of[:1] or of in ((), (0, 0)))
        raise ProblemError(
            f"arcs of sentence {place}: expected a square array of n + 1 rows for n tokens, "
            f"the root first; got {shapes[place]}."
        )
    return np.array(rows, np.int64)


def _solve(
    batch: ArcBatch, heads: NDArray[np.int32], found: Judged, projective: bool, last: Last
) -> int:
    """Write heads and what is known of them; return the first sentence without a tree, or -1."""
    from .kernels import batches, favourites

    given, offsets = batch[:3], batch.offsets
    wrong: int = favourites.favourite_heads(*given, offsets, heads)
    if wrong >= 0:
        found.bounds[wrong] = np.nan
        return wrong
    which = batches.judge_by_columns(*given, offsets, heads, projective, tuple(found))
    if which.size:
        duals = _duals(batch)
        batches.contractions(*given, which, offsets, heads, tuple(duals))
        which = batches.judge_by_duals(
            *given, which, offsets, heads, projective, tuple(duals), tuple(found)
        )
        if which.size:
            last(batch, which, heads, duals, found)
    return -1 if found.legal.all() else int(found.legal.argmin())


def _error_of(
    decoder: str, place: int, arrays: Sequence[NDArray[Any]], projective: bool, bound: float
) -> Exception:
    """Return why a sentence has no tree, by the bound on its trees."""
    name = f"sentence {place}"
    checked_scores(f"arcs of {name}", arrays[place], (None, None), dtype=np.float64)
    if bound > -np.inf:
        return DecodersError(f"{decoder}: the compiled code returned no tree of {name}.")
    error = infeasible(TreeProblem(arrays[place], projective=projective))
    return type(error)(f"{name}: {error}")


def _duals(batch: ArcBatch) -> Duals:
    from .kernels.batches import Duals

    count, nodes = len(batch.sizes), 2 * int(batch.sizes.sum())
    counts, parents = np.zeros(count, np.int64), np.empty(nodes, np.int64)
    return Duals(np.empty(count), counts, np.empty(nodes), parents)


def by_survivors(
    batch: ArcBatch,
    which: NDArray[np.int64],
    heads: NDArray[np.int32],
    duals: Duals,
    found: Judged,
) -> None:
    """Decode projective trees by a chart of the arcs that may be better than crossing ones.

    Where this proves no tree, as for masks so low that rounding hides the other scores, the chart
    of all arcs follows.
    """
    from .kernels import batches, surviving

    which = which[found.bounds[which] > -np.inf]  # others have no tree
    entries = int((batch.sizes[which] ** 2).sum())
    room, kept = np.empty(4 * entries), np.zeros(entries, bool)
    given = (*batch[:3], which, batch.offsets, heads, tuple(duals))
    surviving.surviving_charts(*given, tuple(found), kept, room)
    unproven = batches.judge_by_charts(*given, kept, room, tuple(found))
    by_all_arcs(batch, unproven[found.bounds[unproven] > -np.inf], heads, found)


def by_all_arcs(
    batch: ArcBatch, which: NDArray[np.int64], heads: NDArray[np.int32], found: Judged
) -> None:
    """Decode projective trees one by one, as single problems are."""
    from .kernels import eisner, proofs

    for place in which.tolist():
        arcs = batch.arcs(place)
        given = (arcs, True, np.empty(0))
        tree, chart, _, positive = eisner.charted(*given)
        bound = proofs.chart_bound(*given, chart)
        legal, score, scale = proofs.tally(arcs, tree, True, True)
        if legal or bound == -np.inf:
            heads[batch.offsets[place] : batch.offsets[place + 1]] = tree
            found.legal[place], found.scores[place], found.scales[place] = legal, score, scale
            found.bounds[place] = bound
            found.slack[place] = rounding_slack(len(arcs) - 1, bound, positive)
