"""``@callbacks`` for the ``[nlp]`` block of a config."""

from __future__ import annotations

from collections.abc import Callable

import spacy
from spacy.language import Language

__all__ = ["fast_products"]


@spacy.registry.callbacks("spacy-decoders.FastProducts.v1")
def fast_products() -> Callable[[type[Language]], type[Language]]:
    """Multiply matrices with numpy's BLAS instead of thinc's own, for all of the pipeline.

    As ``[nlp.before_creation]``. On a processor that OpenBLAS knows well its products are up
    to three times as fast; on a GPU nothing changes. Set ``OPENBLAS_NUM_THREADS=1`` where
    several processes share the cores.
    """
    return _use_fast_products


def _use_fast_products(language: type[Language]) -> type[Language]:
    from thinc.api import NumpyOps, get_current_ops, set_current_ops

    if isinstance(get_current_ops(), NumpyOps):
        set_current_ops(NumpyOps(use_blis=False))
    return language
