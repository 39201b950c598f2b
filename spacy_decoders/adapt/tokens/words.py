"""The scores of words from those of subwords in overlapping windows."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Floats, Integers, checked_list, checked_scores, checked_whole
from ...errors import ProblemError

__all__ = ["log_softmax", "merge_windows", "scores_at", "word_scores"]


def log_softmax(logits: ArrayLike, axis: int = 1) -> Floats:
    """Return the log-probability of each label; ``-inf`` stays.

    Examples
    --------
    >>> log_softmax([[0.0, 0.0], [-np.inf, -np.inf]]).round(3).tolist()
    [[-0.693, -0.693], [-inf, -inf]]
    """
    from scipy import special

    scores = np.asarray(logits, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):  # where all labels are forbidden
        found = special.log_softmax(scores, axis=axis)
    return np.where(np.isneginf(scores), scores, found)


def word_scores(
    logits: ArrayLike, word_ids: Sequence[int | None], words: int | None = None
) -> Floats:
    """Return the log-probabilities of each word's labels: those of its first subword.

    Parameters
    ----------
    logits
        **Shape (subwords, L)**.
    word_ids
        The word of each subword, from 0 on and never decreasing, None for special tokens: what
        ``BatchEncoding.word_ids()`` of a tokenizer returns.
    words
        The number of words; None for as many as occur. Words without a subword get equal scores
        for all labels.

    Raises
    ------
    ProblemError
        If a shape does not fit, the words are not in order, or there are fewer than occur.

    Examples
    --------
    >>> logits = [[9, 9], [0, 2], [1, 0], [9, 9]]
    >>> word_scores(logits, [None, 0, 0, None]).round(2).tolist()
    [[-2.13, -0.13]]
    """
    scores = log_softmax(checked_scores("logits", logits, (None, None), dtype=np.float64))
    word_ids = checked_list("word_ids", word_ids, "numbers, or None for special tokens")
    # pandas makes floats of them, and NaN of None
    numbers = [-1 if word is None or word != word else word for word in word_ids]
    shape = scores.shape[:1]
    given = checked_scores("word_ids", numbers, shape, dtype=np.float64, forbidden=False)
    rows = np.flatnonzero(given >= 0)
    which, firsts = np.unique(given[rows], return_index=True)
    if np.any(np.diff(given[rows]) < 0):
        raise ProblemError("word_ids: expected numbers that never decrease; merge windows first.")
    count = int(which.max(initial=-1)) + 1
    rows_given, size = count if words is None else words, scores.shape[1]
    of_words = np.full((checked_whole("words", rows_given, low=count), size), -np.log(size or 1))
    of_words[which.astype(np.int64)] = scores[rows[firsts]]
    return of_words


def merge_windows(
    windows: Sequence[tuple[ArrayLike, Sequence[int | None]]],
) -> tuple[Floats, Integers]:
    """Merge the scores of overlapping windows of one text.

    A subword in several windows takes the scores of the one in which it is farthest from an edge,
    where the model saw most of its context.

    Parameters
    ----------
    windows
        For each window its logits, **shape (m, L)**, and the place of each subword in the text, an
        increasing whole number (its index, or the offset of its first character); None for special
        tokens.

    Returns
    -------
    logits, places
        **Shape (subwords, L)** and **(subwords,)**: each subword once, in the order of the text.

    Raises
    ------
    ProblemError
        If a window does not have one place for each row, places do not increase, or it has another
        number of labels than others.

    Examples
    --------
    >>> logits, places = merge_windows([([[1], [2], [3]], [0, 1, 2]), ([[4], [5]], [2, 3])])
    >>> logits[:, 0].tolist(), places.tolist()
    ([1.0, 2.0, 3.0, 5.0], [0, 1, 2, 3])
    """
    places, depths = [], []
    rows: list[Floats] = []
    try:
        pairs = [(logits, list(given)) for logits, given in windows]
    except (TypeError, ValueError) as error:
        raise ProblemError(
            f"windows: expected pairs of logits and places, got {windows!r} ({error})."
        ) from error
    for number, (logits, given) in enumerate(pairs):
        shape = None, rows[0].shape[1] if rows else None
        scores = checked_scores(f"windows[{number}]", logits, shape, dtype=np.float64)
        if len(given) != len(scores):
            raise ProblemError(
                f"windows[{number}]: {len(scores)} rows of scores, but {len(given)} places."
            )
        rows.append(scores[[place is not None for place in given]])
        own = np.array([place for place in given if place is not None], dtype=np.int64)
        if (np.diff(own) <= 0).any():
            raise ProblemError(f"windows[{number}]: its places do not increase.")
        places.append(own)
        depths.append(np.minimum(np.arange(len(own)), np.arange(len(own))[::-1]))
    if not rows:
        raise ProblemError("windows: expected at least one.")
    place, depth = np.concatenate(places), np.concatenate(depths)
    order = np.lexsort((-depth, place))
    merged, first = np.unique(place[order], return_index=True)
    return np.concatenate(rows)[order[first]], merged


def scores_at(
    windows: Sequence[tuple[ArrayLike, Sequence[int | None]]], starts: Sequence[int]
) -> Floats:
    """Return the log-probabilities of words from windows whose places are characters.

    A word begins at each of `starts`, and has the scores of the first subword that begins in it.

    Examples
    --------
    >>> windows = [([[0.0, 0.0], [0.0, 2.0], [9.0, 0.0]], [None, 0, 3])]
    >>> scores_at(windows, [0, 5]).round(2).tolist()
    [[-2.13, -0.13], [-0.69, -0.69]]
    """
    logits, places = merge_windows(windows)
    words = np.searchsorted(starts, places, side="right") - 1
    return word_scores(logits, words.tolist(), len(starts))
