"""Texts in numbers, for tests."""

import numpy as np

from spacy_decoders.models.headline.words import Words


def keys(*numbers) -> np.ndarray:
    return np.array(numbers, dtype=np.uint64)


def text(*tokens: int, cuts=(), stems=None, sentences=None) -> Words:
    """Tokens below 100 are content words; the places in `cuts` are punctuation."""
    of = keys(*tokens)
    plain = np.ones(len(of), dtype=bool)
    plain[list(cuts)] = False
    nothing = np.zeros(len(of), dtype=bool)
    return Words(
        of,
        of if stems is None else keys(*stems),
        (of < 100) & plain,
        plain,
        np.zeros(len(of), dtype=np.int64) if sentences is None else np.array(sentences),
        nothing,
        nothing,
        np.zeros(len(of), dtype=np.int8),
    )


def random_text(rng, size: int = 60) -> Words:
    tokens = np.where(rng.random(size) < 0.3, rng.integers(100, 104, size), 0)
    tokens = np.where(tokens == 0, rng.integers(1, 15, size), tokens)
    cuts = np.flatnonzero(rng.random(size) < 0.1)
    sentences = np.cumsum(rng.random(size) < 0.1)
    stems = np.where(tokens < 100, tokens // 2 + 1, tokens)
    return text(*tokens, cuts=cuts, stems=stems, sentences=sentences - sentences[0])
