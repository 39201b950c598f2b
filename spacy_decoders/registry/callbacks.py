"""``@callbacks`` for the ``[nlp]`` block of a config."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import spacy
from spacy.language import Language
from spacy.training import Example

from ..errors import ProblemError
from ..models.layers import layers_of

__all__ = ["calibrate", "copy_tok2vec", "fast_products", "universal_noun_chunks"]


def fast_products() -> Callable[[Language | type[Language]], Language | type[Language]]:
    """Multiply matrices with numpy's BLAS instead of thinc's own, in the whole pipeline.

    As ``[nlp.after_pipeline_creation]``. On a processor that OpenBLAS knows well its products are
    up to three times as fast, with other roundings; on a GPU nothing changes. Set
    ``OPENBLAS_NUM_THREADS=1`` where several processes share the cores.

    As ``[nlp.before_creation]`` it changes thinc's own setting, and with it all pipelines that
    the process makes from then on.
    """
    return _use_fast_products


def _use_fast_products(made: Language | type[Language]) -> Language | type[Language]:
    from thinc.api import NumpyOps, get_current_ops, set_current_ops

    fast = NumpyOps(use_blis=False)
    if isinstance(made, Language):
        for layer in layers_of(made):
            if isinstance(layer.ops, NumpyOps):
                layer.ops = fast
    elif isinstance(get_current_ops(), NumpyOps):
        set_current_ops(fast)
    return made


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

    As ``[training.before_to_disk]``. The calibrations are saved with the components.

    Parameters
    ----------
    corpus
        The examples, such as ``${corpora.dev}``: a reader.
    components
        The names of those to calibrate; by default all that have probabilities.
    """
    return partial(_calibrate, corpus=corpus, components=components)


def _calibrate(
    nlp: Language, *, corpus: Callable[[Language], Iterable[Example]], components: list[str]
) -> Language:
    from ..components.probabilities import calibrate_pipeline

    calibrate_pipeline(nlp, corpus(nlp), components=components)
    return nlp


def copy_tok2vec(pipeline: str | None, source: str, target: str) -> Callable[[Language], Language]:
    """Start a component's tok2vec from that of a component trained on more data.

    As ``[initialize.after_init]``. Both must have a private tok2vec of the same shape.

    Parameters
    ----------
    pipeline
        The trained pipeline; null leaves the weights at random.
    source
        Its component to copy from.
    target
        The component to copy to.
    """
    return partial(_copy_tok2vec, pipeline=pipeline, source=source, target=target)


def _copy_tok2vec(nlp: Language, *, pipeline: str | None, source: str, target: str) -> Language:
    if pipeline is None:
        return nlp
    given = _parameters(spacy.load(pipeline, exclude=["vocab"]), source)
    wanted = _parameters(nlp, target)
    shapes = [[value.shape for _, _, value in of] for of in (given, wanted)]
    if shapes[0] != shapes[1]:
        raise ProblemError(
            f"source: the tok2vec of {source!r} in {pipeline} is of another shape than "
            f"that of {target!r}; give both the same layers, widths and rows."
        )
    for (_, _, value), (layer, name, _) in zip(given, wanted, strict=True):
        # a pipeline may be stored in half precision, in which nothing trains
        layer.set_param(name, value.astype("float32"))
    return nlp


def _parameters(nlp: Language, component: str) -> list[tuple[Any, str, Any]]:
    """Each parameter of a component's tok2vec: its layer, name and value."""
    pipe: Any = nlp.get_pipe(component)
    layers = pipe.model.get_ref("tok2vec").walk()
    return [(layer, name, layer.get_param(name)) for layer in layers for name in layer.param_names]
