"""Evidence in a text for candidates: the words around a mention, and its label."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from ...arrays import Booleans, Floats, Floats32
from ...errors import ProblemError
from ...knowledge.texts import title_words

__all__ = ["check_types", "coarse_type", "of_types", "shared_words", "type_agreement"]

#: BM25's saturation and length normalisation, and the length of a usual description, in words.
_SATURATION, _BY_LENGTH, _USUAL = 1.2, 0.75, 12.0
#: The surprise, in nats, from which on a word counts in full.
_FULL = 8.0

#: Coarse types, and their synonyms: labels of corpora, classes of ontologies, and English.
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

#: The coarse types that labels are compatible with, if not only with their own; "GPE" has its own
#: entry.
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
    """Count the words of a text, and return the length as well."""
    words = title_words(text)
    return Counter(words), len(words)


def shared_words(
    contexts: Sequence[Collection[str]],
    fields: Sequence[Sequence[str]],
    surprise: Callable[[Sequence[str]], Floats],
) -> Floats32:
    """Compare the words around mentions with the texts of their candidates, by BM25.

    `contexts` has for each candidate the words around its mention, without stop words and those of
    the mention; `fields` has for each field, such as titles or descriptions, the texts of the
    candidates. `surprise` returns that of each word, in nats; 8 count in full.

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
            # sorted, so that sums are rounded alike in every process
            for word in sorted(counts.keys() & around):
                places.append(field * len(contexts) + place)
                words.append(word)
                weights.append((_SATURATION + 1.0) * counts[word] / (counts[word] + scale))
    size = len(fields), len(contexts)
    rarity = np.clip(surprise(words) / _FULL, 0.0, 1.0)
    scores = np.bincount(np.array(places, np.int64), weights * rarity, size[0] * size[1])
    return scores.astype(np.float32).reshape(size)


def coarse_type(name: str) -> str | None:
    """The coarse type of a name, None if it has none.

    Examples
    --------
    >>> coarse_type("Sports team"), coarse_type("GPE"), coarse_type("MISC")
    ('organisation', 'place', None)
    """
    return _COARSE.get(name.strip().casefold().replace(" ", "_").replace("-", "_"))


@lru_cache(maxsize=2**12)
def type_agreement(label: str, name: str) -> float:
    """1 if a label is compatible with a type, -1 if it is not, 0 if that is unknown.

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
    """Raise `ProblemError` for a type that is neither the knowledge base's nor coarse."""
    coarse = set(_NAMES)
    known = coarse.union(name.casefold() for name in types)
    unknown = [name for name in wanted if name.casefold() not in known]
    if unknown:
        own = ", ".join(sorted(types)) or "none"
        raise ProblemError(
            f"types: the knowledge base has no {', '.join(map(repr, unknown))}; its types are "
            f"{own}, and coarse ones {', '.join(sorted(coarse))}."
        )


def of_types(types: Iterable[str], wanted: Sequence[str]) -> Booleans:
    """Which types are wanted, by their own name or by that of their coarse type.

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
