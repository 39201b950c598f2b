"""``@callbacks`` for the ``[nlp]`` block of a config."""

from collections.abc import Callable, Iterable
from functools import partial

from spacy.language import Language
from spacy.training import Example

__all__ = ["calibrate", "universal_noun_chunks"]


def universal_noun_chunks() -> Callable[[Language], Language]:
    """Find noun chunks in trees with universal dependencies, as ours are.

    As ``[nlp.after_creation]``. spaCy's own noun chunks of English look for other labels, such
    as ``dobj`` and ``pobj``, and leave out most objects. Parts of speech must be set.
    """
    from ..components.parser.noun_chunks import use_noun_chunks

    return use_noun_chunks


def calibrate(
    corpus: Callable[[Language], Iterable[Example]],
    components: list[str] = [],  # noqa: B006
) -> Callable[[Language], Language]:
    """Calibrate probabilities on held-out examples whenever the pipeline is saved.

    As ``[training.before_to_disk]``. The calibrations are saved with the components: those of the
    names that are given, or all that have probabilities. The corpus is a reader, such as
    ``${corpora.dev}``.
    """
    return partial(_calibrate, corpus=corpus, components=components)


def _calibrate(
    nlp: Language, *, corpus: Callable[[Language], Iterable[Example]], components: list[str]
) -> Language:
    from ..components.probabilities import calibrate_pipeline

    calibrate_pipeline(nlp, corpus(nlp), components=components)
    return nlp
