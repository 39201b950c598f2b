"""``@architectures`` and ``@misc`` of the sparse model and of word clusters."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import spacy
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

__all__ = ["cluster_embed", "gazetteer", "sparse_chain_scorer", "tensor_vectors", "word_clusters"]


@spacy.registry.architectures("spacy-decoders.SparseChainScorer.v1")
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


@spacy.registry.misc("spacy-decoders.WordClusters.v1")
def word_clusters(
    lang: str | None = None,
    path: Path | None = None,
    kind: Literal["clusters", "groups"] = "clusters",
) -> Any:
    """Word clusters; see :class:`~spacy_decoders.models.clusters.sources.WordClusters`."""
    from ..models.clusters.sources import WordClusters

    return WordClusters(lang, path, kind)


@spacy.registry.misc("spacy-decoders.WordVectors.v1")
def word_vectors(
    lang: str | None = None, path: Path | None = None, words: int = 50_000, parts: int = 32
) -> Any:
    """Word vectors; see :class:`~spacy_decoders.models.clusters.vectors.WordVectors`."""
    from ..models.clusters.vectors import WordVectors

    return WordVectors(lang, path, words, parts)


@spacy.registry.misc("spacy-decoders.Gazetteer.v1")
def gazetteer(paths: dict[str, Path], lang: str = "en") -> Any:
    """Lists of names; see :class:`~spacy_decoders.models.tagger.sparse.gazetteer.Gazetteer`."""
    from ..models.tagger.sparse.gazetteer import Gazetteer

    return Gazetteer(paths, lang)


@spacy.registry.architectures("spacy-decoders.TensorVectors.v1")
def tensor_vectors(width: int, absent: float = 0.1) -> Model[list[Doc], list[Floats2d]]:
    """Token vectors that another component wrote to ``doc.tensor``; see
    :func:`~spacy_decoders.models.tagger.tensors.build_tensor_vectors`.
    """
    from ..models.tagger.tensors import build_tensor_vectors

    return build_tensor_vectors(width, absent)


@spacy.registry.architectures("spacy-decoders.ClusterEmbed.v1")
def cluster_embed(
    embed: Model[list[Doc], list[Floats2d]],
    clusters: Any,
    width: int,
    rows: int = 1000,
    cluster_width: int = 32,
    vectors: Any = None,
) -> Model[list[Doc], list[Floats2d]]:
    """Clusters and vectors of words for a network; see
    :func:`~spacy_decoders.models.clusters.embed.build_cluster_embed`.
    """
    from ..models.clusters.embed import build_cluster_embed

    return build_cluster_embed(embed, clusters, width, rows, cluster_width, vectors)
