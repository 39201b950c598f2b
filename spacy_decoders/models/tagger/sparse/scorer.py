"""The thinc model: emissions from hashed features, alone or added to a network's."""

from collections.abc import Callable, Sequence
from itertools import chain, pairwise
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ....arrays import Floats32
from ....errors import ProblemError
from ...clusters.sources import WordClusters
from ..scorer import SPARSE, ChainScores, chain_scorer, chain_weights, network_emissions
from .features import DocBatch, FeatureReader, TokenFeatures
from .gazetteer import Gazetteer
from .templates import PRESETS
from .weights import Learning, SparseWeights

__all__ = ["build_sparse_chain_scorer", "label_parts"]

Scorer: TypeAlias = "Model[list[Doc], ChainScores]"
Emitter: TypeAlias = "Model[list[Doc], list[Floats2d]]"
Templates: TypeAlias = Literal["tags", "entities", "names", "groups", "joint"] | list[str]


def label_parts(labels: Sequence[Sequence[str]]) -> Floats32:
    """**Shape (labels, parts)**: 1 for the parts of each label, one for each target.

    Raises `ProblemError` if labels have different numbers of parts.

    Examples
    --------
    >>> label_parts([("NN", "O"), ("NNP", "O"), ("NNP", "B-PER")]).astype(int).tolist()
    [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    """
    if len(set(map(len, labels))) > 1:
        raise ProblemError("labels: each should have one part for each target.")
    listed = [list(enumerate(label)) for label in labels]
    parts = dict.fromkeys(chain.from_iterable(listed))
    return np.array([[part in own for part in parts] for own in listed], dtype=np.float32)


def build_sparse_chain_scorer(
    templates: Templates = "tags",
    clusters: WordClusters | None = None,
    gazetteer: Gazetteer | None = None,
    groups: WordClusters | None = None,
    features: TokenFeatures | None = None,
    tok2vec: Model[list[Doc], list[Floats2d]] | None = None,
    bits: int = 20,
    learn_rate: float = 0.1,
    l1: float = 1e-4,
    l2: float = 1e-3,
    transition_l2: float = 0.0,
    lowered: float = 0.0,
    least: float = 0.01,
    factored: bool = False,
    nO: int | None = None,
) -> Scorer:
    """Build a linear-chain scorer on hashed features.

    It can replace :func:`~spacy_decoders.models.tagger.scorer.build_chain_scorer`, takes a
    hundredth of the time of a network, and trains in a minute.

    Parameters
    ----------
    templates
        "tags", "entities", "names" (entities, with features of the whole document), "groups" (the
        same, with `groups`), "joint" (tags and entities), or a list of templates, such as
        ``"lower[-1..1]"``: see :func:`~.templates.plan_of`.
    clusters, gazetteer
        Word clusters and lists of names, read when the model is initialised.
    groups
        A second table of clusters, such as of word vectors.
    features
        Further features, as strings: a function from a Doc to a list for each token.
    tok2vec
        A network whose emissions are added; both are trained together.
    bits, learn_rate, l1, l2, least
        See :class:`~.weights.Learning`.
    transition_l2
        Weight of the squared norms of transition, start and end scores in the loss of each
        token.
    lowered
        The share of documents that are lower-cased in training.
    factored
        Whether the weights of a label of several targets are sums over its parts: a few dozen
        weights for each feature instead of hundreds, and nothing has to be learnt twice. Relations
        between the parts are left to the transitions.
    nO
        The number of labels; taken from the data if None.

    Raises
    ------
    ProblemError
        If a value is out of range.
    """
    if not 0.0 <= lowered <= 1.0:
        raise ProblemError(f"lowered: expected a share from 0 to 1, got {lowered}.")
    chosen = PRESETS[templates] if isinstance(templates, str) else tuple(templates)
    weights = SparseWeights(Learning(bits, learn_rate, l1, l2, least))
    sparse: Emitter = Model(
        SPARSE,
        _emit,
        init=_init_emissions,
        dims={"nO": nO},
        shims=[weights],
        attrs={
            "reader": FeatureReader(chosen, features),
            "clusters": clusters,
            "gazetteer": gazetteer,
            "groups": groups,
            "lowered": lowered,
            "parts": None,
            "dropout_rate": 0.0,  # spaCy sets it at each update
        },
    )
    layers: list[Model[Any, Any]] = [sparse, chain_weights(nO)]
    if tok2vec is not None:
        layers += [tok2vec, network_emissions(nO, tok2vec.maybe_get_dim("nO"))]
    describe = _describe if factored else None
    return chain_scorer(
        "sparse_chain_scorer", layers, sparse, transition_l2, describe_labels=describe
    )


def _emit(
    model: Emitter, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    reader: FeatureReader = model.attrs["reader"]
    parts: Floats32 | None = model.attrs["parts"]
    weights = cast(SparseWeights, model.shims[0])
    batch = DocBatch.of(docs)
    rate = model.attrs["dropout_rate"] if is_train else 0.0
    scale = np.float32(1.0 / (1.0 - rate))
    if is_train:
        rows = reader.rows(reader.in_lower_case(batch, model.attrs["lowered"]), weights)
        rows = reader.without_some(rows, rate)
        found = scale * weights.emissions(rows)
    else:
        found = reader.emissions(batch, weights)
    if parts is not None:
        found = found @ parts.T

    def backprop(gradient: list[Floats2d]) -> list[Doc]:
        of_all = np.concatenate([model.ops.to_numpy(of_doc) for of_doc in gradient])
        weights.accumulate(rows, scale * (of_all if parts is None else of_all @ parts))
        return docs

    asarray: Any = model.ops.asarray
    ends: list[int] = batch.documents.tolist()
    return [asarray(found[begin:stop]) for begin, stop in pairwise(ends)], backprop


def _init_emissions(model: Emitter, X: Any = None, Y: Any = None) -> None:
    weights = cast(SparseWeights, model.shims[0])
    sources = {"clusters": "clusters", "groups": "groups", "gazetteer": "phrases"}
    for name, part in sources.items():
        source = model.attrs[name]
        if source is not None:
            setattr(weights, part, source.read())
    # weights for all labels, or for all their parts
    parts: Floats32 | None = model.attrs["parts"]
    weights.set_size(model.get_dim("nO") if parts is None else parts.shape[1])


def _describe(model: Scorer, labels: Sequence[Sequence[str]]) -> None:
    """Set the parts of labels, None if each has only one."""
    several = len(labels) > 0 and len(labels[0]) > 1
    model.layers[0].attrs["parts"] = label_parts(labels) if several else None
