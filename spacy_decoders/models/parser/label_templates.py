"""Label scores by discrete templates over words, suffixes and tags at both ends of an arc."""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import NORM, SUFFIX
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ...errors import ProblemError

__all__ = ["LabelTemplates", "context_codes", "form_hashes"]

Codes = NDArray[np.uint64]
Input = tuple[Codes, NDArray[np.intp]]

#: The scale of the weights: the optimizer's step size suits dense layers, whose weights are
#: updated at every step, whereas those of a rare template seldom are.
GAIN = 4.0

#: Arcs that score at most this far below the best of their modifier get template scores.
LIKELY = 10.0

#: The columns of a token's attributes in its codes.
WORD, SUFFIX_, TAG, TAG_BEFORE, TAG_AFTER, TAG_BEFORE_2, WORD_BEFORE, WORD_AFTER = range(8)
ATTRIBUTES = 8

#: The attributes of the modifier, and of the head, in each template. All templates also include
#: the side of the head, and whether it is adjacent to the modifier.
_JOINED: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((WORD,), ()),
    ((SUFFIX_,), ()),
    ((WORD_BEFORE, TAG), ()),
    ((WORD_BEFORE, SUFFIX_), ()),
    ((TAG, WORD_AFTER), ()),
    ((TAG_BEFORE, TAG, TAG_AFTER), ()),
    ((TAG_BEFORE_2, TAG_BEFORE, TAG), ()),
    ((), (WORD,)),
    ((), (TAG_BEFORE, TAG, TAG_AFTER)),
    ((TAG,), (TAG,)),
    ((TAG,), (WORD,)),
    ((WORD,), (TAG,)),
    ((WORD,), (WORD,)),
    ((SUFFIX_,), (SUFFIX_,)),
    ((SUFFIX_,), (TAG,)),
    ((TAG_BEFORE, TAG), (TAG,)),
    ((TAG, TAG_AFTER), (TAG,)),
    ((WORD_BEFORE,), (WORD,)),
    ((TAG,), (TAG, TAG_AFTER)),
)


def _multipliers() -> Codes:
    """Return the multipliers of attributes and side in each template: odd numbers, or 0."""
    # saved weights depend on these numbers, and bit generators return the same in all releases
    random = np.random.PCG64(20170424)
    kept = np.zeros((2 * ATTRIBUTES + 1, len(_JOINED)), dtype=np.uint64)
    kept[-1] = 1
    for template, (of_modifier, of_head) in enumerate(_JOINED):
        kept[list(of_modifier), template] = 1
        kept[[ATTRIBUTES + column for column in of_head], template] = 1
    return kept * (random.random_raw(kept.size).reshape(kept.shape) | np.uint64(1))


_MULTIPLIERS = _multipliers()
_MIX = np.uint64(0xD6E8FEB86659FD93)

#: The share of arcs without templates in training. Templates memorise the training data; without
#: such arcs, the other layers would not learn to label arcs of new words.
ALONE = 0.5


def LabelTemplates(
    rows: int, nO: int | None = None, dropout: float = 0.0, least_dropout: float = 0.0
) -> Model[Input, Floats2d]:
    """Score the labels of given arcs by hashed templates: linear, and quick to learn.

    Takes the codes of tokens (:func:`context_codes`) and arcs, shape (arcs, 2), as rows of (head,
    modifier). Returns label scores, shape (arcs, nO), each a sum of weights in the rows to which
    the templates are hashed. In training, each template of each arc is dropped with the dropout
    rate, or `least_dropout` if that is higher, and all of half of the arcs, so that the other
    layers learn as well.

    Examples
    --------
    >>> layer = LabelTemplates(rows=64, nO=7)
    >>> _ = layer.initialize()
    >>> codes = context_codes(np.ones((5, 2), "uint64"), np.zeros(5, int), [0, 5])
    >>> layer.predict((codes, np.array([[0, 1], [1, 2]]))).shape
    (2, 7)
    """
    if rows < 1:
        raise ProblemError(f"label_rows: expected at least 1, got {rows}.")
    if not 0.0 <= least_dropout < 1.0:
        raise ProblemError(
            f"label_dropout: expected a share from 0 to below 1, got {least_dropout}."
        )
    return Model(
        "label_templates",
        _forward,
        init=_init,
        dims={"rows": rows, "nO": nO},
        params={"T": None},
        attrs={"dropout_rate": dropout, "least_dropout": least_dropout},
    )


def _init(model: Model[Input, Floats2d], X: Input | None = None, Y: object = None) -> None:
    ops: Any = model.ops
    model.set_param("T", ops.alloc2f(model.get_dim("rows"), model.get_dim("nO")))


def _forward(
    model: Model[Input, Floats2d], X: Input, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Input]]:
    from scipy.sparse import csr_array

    codes, arcs = X
    table: Any = model.get_param("T")
    rows = _rows(codes, arcs, len(table))
    keep = np.full(rows.shape, GAIN, dtype="f")
    rate = max(model.attrs["dropout_rate"], model.attrs["least_dropout"]) if is_train else 0.0
    if rate:
        dropped = np.random.random_sample(rows.shape) < rate  # noqa: NPY002 - the run's seed
        keep = np.where(dropped, 0.0, keep / (1.0 - rate)).astype("f")
        keep[np.random.random_sample(len(rows)) < ALONE] = 0.0  # noqa: NPY002
    ends = np.arange(len(rows) + 1) * rows.shape[1]
    shown = csr_array((keep.ravel(), rows.ravel(), ends), shape=(len(rows), len(table)))

    def backprop(d_scores: Floats2d) -> Input:
        model.inc_grad("T", shown.T @ d_scores)
        return X

    return shown @ table, backprop


def _rows(codes: Codes, arcs: NDArray[np.intp], count: int) -> NDArray[np.int32]:
    """Return the rows to which the templates of arcs are hashed, (arcs, templates)."""
    distance = arcs[:, 0] - arcs[:, 1]
    side = 1 + (distance > 0) + 2 * (np.abs(distance) == 1)
    given = np.concatenate([codes[arcs[:, 1]], codes[arcs[:, 0]], side[:, None]], axis=1)
    joined = given.astype(np.uint64) @ _MULTIPLIERS  # sums wrap around
    joined ^= joined >> 31
    joined *= _MIX
    return ((joined >> 32) % count).astype(np.int32)


def form_hashes(docs: Iterable[Doc]) -> Codes:
    """Return the hashes of all tokens' normalised forms and suffixes, (tokens, 2)."""
    found: list[Any] = [doc.to_array([NORM, SUFFIX]).reshape(-1, 2) for doc in docs]
    return np.concatenate([np.zeros((0, 2), dtype=np.uint64), *found])


def context_codes(forms: Codes, tags: NDArray[Any], offsets: Sequence[int] | Any) -> Codes:
    """Return the codes of tokens, including attributes of their neighbours in the sentence.

    **Shape**: forms uint64 (tokens, 2), from :func:`form_hashes`; tags (tokens,), the likeliest;
    offsets (sentences + 1,), where sentences begin, and the number of tokens last; returns uint64
    (tokens, ATTRIBUTES), where neighbours beyond the sentence are 0.
    """
    codes = np.zeros((len(tags), ATTRIBUTES), dtype=np.uint64)
    codes[:, WORD], codes[:, SUFFIX_] = forms[:, 0], forms[:, 1]
    codes[:, TAG] = np.asarray(tags).astype(np.uint64) + np.uint64(1)
    codes[1:, TAG_BEFORE], codes[:-1, TAG_AFTER] = codes[:-1, TAG], codes[1:, TAG]
    codes[2:, TAG_BEFORE_2] = codes[:-2, TAG]
    codes[1:, WORD_BEFORE], codes[:-1, WORD_AFTER] = codes[:-1, WORD], codes[1:, WORD]
    for start, end in pairwise(np.asarray(offsets).tolist()):
        if start < end:
            codes[start, [TAG_BEFORE, TAG_BEFORE_2, WORD_BEFORE]] = 0
            codes[start + 1 : end, TAG_BEFORE_2][:1] = 0
            codes[end - 1, [TAG_AFTER, WORD_AFTER]] = 0
    return codes
