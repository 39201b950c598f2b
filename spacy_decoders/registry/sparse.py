"""``@architectures`` and ``@misc`` of the sparse model and of word clusters."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from .deferred import Deferred


def sparse_chain_scorer(
    templates: Literal["tags", "entities", "names", "groups", "joint"] | list[str] = "tags",
    clusters: Any = None,
    gazetteer: Any = None,
    groups: Any = None,
    features: Callable[[Doc], Sequence[Iterable[str]]] | None = None,
    tok2vec: Model[list[Doc], list[Floats2d]] | None = None,
    bits: int = 20,
    learn_rate: float = 0.1,
    l1: float = 1e-4,
    l2: float = 1e-3,
    transition_l2: float = 0.0,
    lowered: float = 0.0,
    weight_bits: Literal[8, 16] = 8,
    least: float = 0.01,
    alone: float = 0.0,
    factored: bool = False,
    nO: int | None = None,
) -> Model[list[Doc], Any]:
    """Linear-chain scores from hashed features.

    Parameters
    ----------
    templates, clusters, gazetteer, groups, features, tok2vec, lowered, transition_l2, alone,
    factored, nO
        See :func:`~spacy_decoders.models.tagger.sparse.scorer.build_sparse_chain_scorer`.
    bits, learn_rate, l1, l2, weight_bits, least
        See :class:`~spacy_decoders.models.tagger.sparse.weights.Learning`.
    """
    from ..models.tagger.sparse.scorer import build_sparse_chain_scorer
    from ..models.tagger.sparse.weights import Learning

    return build_sparse_chain_scorer(
        templates,
        clusters,
        gazetteer,
        groups,
        features,
        tok2vec,
        Learning(bits, learn_rate, l1, l2, weight_bits, least),
        lowered,
        transition_l2,
        alone,
        factored,
        nO,
    )


tensor_vectors = Deferred("models.tagger.tensors:build_tensor_vectors")
cluster_embed = Deferred("models.clusters.embed:build_cluster_embed")
word_clusters = Deferred("models.clusters.sources:WordClusters")
word_vectors = Deferred("models.clusters.sources:WordVectors")
gazetteer = Deferred("models.tagger.sparse.gazetteer:Gazetteer")
