"""What in a text speaks for a candidate: the words around a mention, and what it is labelled."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...errors import ProblemError
from ...knowledge.texts import title_words

__all__ = ["check_types", "coarse_type", "of_types", "shared_words", "type_agreement"]

#: BM25's saturation and length normalisation, and the length of a usual description, in words.
_SATURATION, _BY_LENGTH, _USUAL = 1.2, 0.75, 12.0
#: Surprise, in nats, at which a word counts in full.
_FULL = 8.0

#: Coarse types, and other names of them: of the label sets of corpora, of ontologies, in English.
_NAMES: Mapping[str, str] = {
    "person": "per people human character fictional_human name",
    "group": "norp demonym ethnic_group nationality religion",
    "organisation": "org organization company business corporation team sports_team band party "
    "university school institution agency government newspaper military record_label",
    "place": "loc location gpe geo country city town village state region settlement continent "
    "river mountain island lake ocean sea desert planet star area territory",
    "facility": "fac building airport bridge station stadium museum road structure",
    "event": "evt war battle election festival holiday tournament",
    "work": "work_of_art art creative_work book film song album television_series game "
    "video_game painting play poem creation",
    "product": "prod software vehicle brand weapon device car food programming_language tool",
    "species": "animal plant taxon organism fruit",
    "substance": "chemical chemical_element material drug disease",
    "language": "lang",
    "law": "",
    "thing": "object topic subject concept abstract discipline field",
}
_COARSE = {name: coarse for coarse, names in _NAMES.items() for name in (coarse, *names.split())}

#: Which coarse types a label of one allows, where that is not only its own; "GPE" is apart.
_ALLOWED: Mapping[str, Sequence[str]] = {
    "gpe": ("place", "organisation"),
    "facility": ("facility", "place", "organisation"),
    "place": ("place", "facility"),
    "organisation": ("organisation", "facility", "product"),
    "group": ("group", "place", "organisation", "language"),
    "product": ("product", "work", "organisation"),
    "work": ("work", "product"),
    "event": ("event", "work"),
}


@lru_cache(maxsize=2**14)
def _counted(text: str) -> tuple[Mapping[str, int], int]:
    """How often each word is in a text, and how many there are."""
    words = title_words(text)
    return Counter(words), len(words)


def shared_words(
    contexts: Sequence[Collection[str]],
    fields: Sequence[Sequence[str]],
    surprise: Callable[[Sequence[str]], NDArray[np.float64]],
) -> NDArray[np.float32]:
    """How much the words around mentions have in common with their candidates' texts, by BM25.

    Of each candidate there are the words around its mention, without those that every text has
    and its own, and for each field a text, such as its title, or what describes it. `surprise`
    gives how rare each of some words is, in nats; 8 count in full.

    Returns **shape** ``(fields, candidates)``: about 1 for each rare word in common.

    References
    ----------
    Robertson, Zaragoza 2009, *The Probabilistic Relevance Framework: BM25 and Beyond*.

    Examples
    --------
    >>> rare = lambda words: np.full(len(words), 8.0)
    >>> texts = ["Mercury, the planet nearest to the Sun", "Mercury, a metal"]
    >>> shared_words([{"sun", "planet"}, {"sun", "planet"}], [texts], rare).round(1)
    array([[2.4, 0. ]], dtype=float32)
    """
    places: list[int] = []
    words: list[str] = []
    weights: list[float] = []
    for field, texts in enumerate(fields):
        for place, (around, text) in enumerate(zip(contexts, texts, strict=True)):
            counts, length = _counted(text)
            scale = _SATURATION * (1.0 - _BY_LENGTH + _BY_LENGTH * length / _USUAL)
            # in an order, by which the sums are rounded, that is the same in each process
            for word in sorted(counts.keys() & around):
                places.append(field * len(contexts) + place)
                words.append(word)
                weights.append((_SATURATION + 1.0) * counts[word] / (counts[word] + scale))
    size = len(fields), len(contexts)
    if not words:
        return np.zeros(size, np.float32)
    rarity = np.clip(surprise(words) / _FULL, 0.0, 1.0)
    scores = np.bincount(np.array(places), np.array(weights) * rarity, size[0] * size[1])
    return scores.astype(np.float32).reshape(size)


def coarse_type(name: str) -> str | None:
    """The coarse type that a name stands for, None if it stands for none.

    Examples
    --------
    >>> coarse_type("Sports team"), coarse_type("GPE"), coarse_type("MISC")
    ('organisation', 'place', None)
    """
    return _COARSE.get(name.strip().casefold().replace(" ", "_").replace("-", "_"))


@lru_cache(maxsize=2**12)
def type_agreement(label: str, name: str) -> float:
    """1 if an entity's label allows a type, -1 if it does not, 0 where it can't be told.

    Examples
    --------
    >>> [type_agreement("PERSON", name) for name in ("human", "company", "", "gadget")]
    [1.0, -1.0, 0.0, 0.0]
    >>> type_agreement("MISC", "human")
    0.0
    """
    wanted, coarse = coarse_type(label), coarse_type(name)
    if name and name.casefold() == label.casefold():
        return 1.0
    if wanted is None or coarse is None:
        return 0.0
    allowed = _ALLOWED.get(label.casefold(), _ALLOWED.get(wanted, (wanted,)))
    return 1.0 if coarse in allowed else -1.0


def check_types(wanted: Iterable[str], types: Sequence[str]) -> None:
    """Refuse what is neither one of the types of a knowledge base nor a coarse type."""
    coarse = set(_NAMES)
    known = coarse.union(name.casefold() for name in types)
    unknown = [name for name in wanted if name.casefold() not in known]
    if unknown:
        own = ", ".join(sorted(types)) or "none"
        raise ProblemError(
            f"types: the knowledge base has no {', '.join(map(repr, unknown))}; its types are "
            f"{own}, and coarse ones {', '.join(sorted(coarse))}."
        )


def of_types(types: Iterable[str], wanted: Sequence[str]) -> NDArray[np.bool_]:
    """Which types are among the wanted ones, by their own name or by their coarse type's.

    Examples
    --------
    >>> of_types(["city", "person", ""], ["place", "Person"]).tolist()
    [True, True, False]
    """
    names = {name.casefold() for name in wanted}
    return np.array(
        [
            bool(name) and not names.isdisjoint((name.casefold(), coarse_type(name)))
            for name in types
        ],
        np.bool_,
    )
