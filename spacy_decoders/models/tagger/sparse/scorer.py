"""The thinc model: emissions from hashed features, alone or beside a network's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc
from thinc.api import Model, with_array
from thinc.types import Floats2d

from ....errors import ProblemError
from ...clusters.sources import WordClusters
from ..scorer import CHAIN_WEIGHTS, ChainScores, chain_weights, grown, output_layer, penalise
from .batches import DocBatch
from .features import FeatureReader, TokenFeatures
from .gazetteer import Gazetteer
from .templates import (
    ENTITY_TEMPLATES,
    GROUP_TEMPLATES,
    JOINT_TEMPLATES,
    NAME_TEMPLATES,
    TAG_TEMPLATES,
)
from .weights import Learning, SparseWeights

__all__ = ["LabelParts", "Templates", "build_sparse_chain_scorer", "build_sparse_emissions"]

Scorer: TypeAlias = "Model[list[Doc], ChainScores]"
Emitter: TypeAlias = "Model[list[Doc], list[Floats2d]]"
Templates: TypeAlias = "Literal['tags', 'entities', 'names', 'groups', 'joint'] | Sequence[str]"

_PRESETS: dict[str, Sequence[str]] = {
    "tags": TAG_TEMPLATES,
    "entities": ENTITY_TEMPLATES,
    "names": NAME_TEMPLATES,
    "groups": GROUP_TEMPLATES,
    "joint": JOINT_TEMPLATES,
}


class LabelParts:
    """Adds up the scores of parts to those of labels.

    Parameters
    ----------
    labels
        The parts of each label, one for each target.

    Raises
    ------
    ProblemError
        If labels have different numbers of parts.

    Examples
    --------
    >>> parts = LabelParts([("NN", "O"), ("NNP", "O"), ("NNP", "B-PER")])
    >>> len(parts)
    4
    >>> parts.joined(np.array([[1, 10, 2, 20]], dtype=np.float32)).tolist()
    [[11.0, 12.0, 22.0]]
    """

    def __init__(self, labels: Sequence[Sequence[str]]) -> None:
        if len(set(map(len, labels))) > 1:
            raise ProblemError("labels: each should have one part for each target.")
        # in the order of labels, so that new ones at the end bring new parts at the end
        numbers: dict[tuple[int, str], int] = {}
        columns = [
            [numbers.setdefault((target, part), len(numbers)) for target, part in enumerate(label)]
            for label in labels
        ]
        self._columns = np.array(columns, dtype=np.int64).reshape(len(labels), -1)
        self._size = len(numbers)

    def __len__(self) -> int:
        return self._size

    def joined(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """**Shape (n, labels)**: from the scores of parts, **shape (n, parts)**."""
        total = np.zeros((len(scores), len(self._columns)), dtype=np.float32)
        for columns in self._columns.T:
            total += scores[:, columns]
        return total

    def divided(self, gradient: NDArray[np.float32]) -> NDArray[np.float32]:
        """**Shape (n, parts)**: the gradient of parts, from that of labels."""
        of_parts = np.zeros((len(self._columns), len(self)), dtype=np.float32)
        for columns in self._columns.T:
            of_parts[np.arange(len(columns)), columns] = 1.0
        return gradient @ of_parts


def build_sparse_chain_scorer(
    templates: Templates = "tags",
    clusters: WordClusters | None = None,
    gazetteer: Gazetteer | None = None,
    groups: WordClusters | None = None,
    features: TokenFeatures | None = None,
    tok2vec: Model[list[Doc], list[Floats2d]] | None = None,
    learning: Learning | None = None,
    lowered: float = 0.0,
    transition_l2: float = 0.0,
    alone: float = 0.0,
    factored: bool = False,
    nO: int | None = None,
) -> Scorer:
    """Build a linear-chain scorer over hashed features.

    It serves wherever :func:`~spacy_decoders.models.tagger.scorer.build_chain_scorer` does, takes
    a hundredth of the time of a network, and trains in a minute.

    Parameters
    ----------
    templates
        "tags", "entities", "names" (entities, with a look at the whole document), "groups" (the
        same, with `groups`), "joint" (tags and entities), or a list of templates, such as
        ``"lower[-1..1]"``: see :func:`~.templates.plan_of`.
    clusters, gazetteer
        Word clusters and lists of names, read when the model is initialised.
    groups
        A second table of clusters, such as those of word vectors.
    features
        Further features of each token, as strings.
    tok2vec
        A network whose emissions are added: both are trained together.
    learning
        How the weights are learned and saved.
    lowered
        The share of documents that training reads in lower case.
    transition_l2
        Weight of the squared norms of transition, start and end scores, in the loss of each
        token.
    alone
        With a `tok2vec`: the share of documents at which training lets either the features or the
        network do alone, so that each is right by itself.
    factored
        Whether the features of a label of several targets are those of its parts: a few dozen
        weights by feature instead of hundreds, and nothing has to be learnt twice. What parts
        have to do with each other is left to the transitions.
    nO
        The number of labels; taken from the data if None.
    """
    if not 0.0 <= alone <= 1.0:
        raise ProblemError(f"alone: expected a share from 0 to 1, got {alone}.")
    if not transition_l2 >= 0.0:
        raise ProblemError(f"transition_l2: expected at least 0, got {transition_l2}.")
    sparse = build_sparse_emissions(
        templates, clusters, gazetteer, groups, features, learning, lowered, nO
    )
    chain = chain_weights(nO)
    layers: list[Model[Any, Any]] = [sparse, chain]
    if tok2vec is not None:
        output = output_layer(nO, tok2vec.maybe_get_dim("nO"))
        layers += [tok2vec, with_array(output)]
    model: Scorer = Model(
        "sparse_chain_scorer",
        _forward,
        init=_init,
        layers=layers,
        refs={"output_layer": sparse, "chain": chain, "tok2vec": tok2vec},
        attrs={
            "transition_l2": transition_l2,
            "alone": alone,
            "random": np.random.default_rng(0),
            "resize_output": _resize,
            "describe_labels": _describe if factored else None,
        },
    )
    return model


def build_sparse_emissions(
    templates: Templates = "tags",
    clusters: WordClusters | None = None,
    gazetteer: Gazetteer | None = None,
    groups: WordClusters | None = None,
    features: TokenFeatures | None = None,
    learning: Learning | None = None,
    lowered: float = 0.0,
    nO: int | None = None,
) -> Emitter:
    """Build the layer that adds up the weights of each token's features.

    Parameters are those of :func:`build_sparse_chain_scorer`.

    Raises
    ------
    ProblemError
        If `lowered` is out of range.
    """
    if not 0.0 <= lowered <= 1.0:
        raise ProblemError(f"lowered: expected a share from 0 to 1, got {lowered}.")
    chosen = _PRESETS[templates] if isinstance(templates, str) else tuple(templates)
    weights = SparseWeights(learning or Learning())
    reader = FeatureReader(chosen, features)
    model: Emitter = Model(
        "sparse_emissions",
        _emit,
        init=_init_emissions,
        dims={"nO": nO},
        shims=[weights],
        attrs={
            "reader": reader,
            "clusters": clusters,
            "gazetteer": gazetteer,
            "groups": groups,
            "lowered": lowered,
            "parts": None,
            "dropout_rate": 0.0,  # spaCy sets it at each update
        },
    )
    return model


def _emit(
    model: Emitter, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    reader: FeatureReader = model.attrs["reader"]
    parts: LabelParts | None = model.attrs["parts"]
    weights = cast(SparseWeights, model.shims[0])
    batch = DocBatch.of(docs)
    asarray: Any = model.ops.asarray
    if not is_train:
        found = reader.emissions(batch, weights)
        found = found if parts is None else parts.joined(found)
        return [asarray(of_doc) for of_doc in batch.split(found)], lambda gradient: docs
    rate = model.attrs["dropout_rate"]
    rows = reader.rows(reader.in_lower_case(batch, model.attrs["lowered"]), weights)
    rows = reader.without_some(rows, rate)
    scale = np.float32(1.0 / (1.0 - rate))

    def backprop(gradient: list[Floats2d]) -> list[Doc]:
        of_all = np.concatenate([model.ops.to_numpy(g) for g in gradient])
        weights.accumulate(rows, scale * (of_all if parts is None else parts.divided(of_all)))
        return docs

    found = scale * weights.emissions(rows)
    found = found if parts is None else parts.joined(found)
    return [asarray(of_doc) for of_doc in batch.split(found)], backprop


def _init_emissions(model: Emitter, X: Any = None, Y: Any = None) -> None:
    weights = cast(SparseWeights, model.shims[0])
    clusters, groups = model.attrs["clusters"], model.attrs["groups"]
    if clusters is not None:
        weights.clusters = clusters.read()
    if groups is not None:
        weights.groups = groups.read()
    gazetteer = model.attrs["gazetteer"]
    if gazetteer is not None:
        weights.phrases = gazetteer.read()
    if model.has_dim("nO"):
        weights.set_size(_width(model))


def _width(model: Emitter) -> int:
    """Return how many weights a feature has."""
    parts: LabelParts | None = model.attrs["parts"]
    return model.get_dim("nO") if parts is None else len(parts)


def _describe(model: Scorer, labels: Sequence[Sequence[str]]) -> None:
    """Tell what the labels are made of; labels of one part are as they were."""
    several = len(labels) > 0 and len(labels[0]) > 1
    model.layers[0].attrs["parts"] = LabelParts(labels) if several else None


def _forward(
    model: Scorer, docs: list[Doc], is_train: bool
) -> tuple[ChainScores, Callable[[ChainScores], Any]]:
    sparse, chain, *network = model.layers
    emissions, backprop_sparse = sparse(docs, is_train)
    backprop_network: Callable[[Any], Any] | None = None
    if network:
        tok2vec, output = network
        vectors, backprop_tok2vec = tok2vec(docs, is_train)
        deep, backprop_output = output(vectors, is_train)
        parts = _parts(model, len(docs), is_train)
        emissions = [
            a * of_sparse + b * of_network
            for (a, b), of_sparse, of_network in zip(parts, emissions, deep, strict=True)
        ]
        of_sparse_alone = backprop_sparse

        def backprop_sparse(gradient: Any) -> Any:
            return of_sparse_alone([a * g for (a, _), g in zip(parts, gradient, strict=True)])

        def backprop_network(gradient: Any) -> Any:
            scaled = [b * g for (_, b), g in zip(parts, gradient, strict=True)]
            return backprop_tok2vec(backprop_output(scaled))

    shared: dict[str, Any] = {name: chain.get_param(name) for name in CHAIN_WEIGHTS}
    scores = ChainScores(emissions, **shared)

    def backprop(gradient: ChainScores) -> Any:
        tokens = sum(len(rows) for rows in gradient.emissions)
        for name in CHAIN_WEIGHTS:
            chain.inc_grad(name, getattr(gradient, name))
            penalise(chain, name, model.attrs["transition_l2"] * tokens)
        given = backprop_sparse(gradient.emissions)
        return given if backprop_network is None else backprop_network(gradient.emissions)

    return scores, backprop


def _parts(model: Scorer, documents: int, is_train: bool) -> list[tuple[float, float]]:
    """What counts of the features and of the network for each document.

    In training one of them has to do by chance, as if it were both: each learns to be right by
    itself, and what they have in common is not learnt by the faster one alone.
    """
    share = model.attrs["alone"] if is_train else 0.0
    if not share:
        return [(1.0, 1.0)] * documents
    chances: list[float] = model.attrs["random"].random(documents).tolist()
    return [
        (2.0, 0.0) if chance < share / 2 else (0.0, 2.0) if chance < share else (1.0, 1.0)
        for chance in chances
    ]


def _init(model: Scorer, X: list[Doc] | None = None, Y: ChainScores | None = None) -> None:
    """Set the dimensions; `Y` has the number of labels."""
    sparse, chain, *network = model.layers
    if Y is not None and not sparse.has_dim("nO"):
        sparse.set_dim("nO", len(Y.start))
    sparse.initialize()
    chain.set_dim("nO", sparse.get_dim("nO"))
    chain.initialize()
    if network:
        tok2vec, with_output = network
        output = with_output.layers[0]
        output.set_dim("nO", sparse.get_dim("nO"))
        tok2vec.initialize(X=X)
        if not output.has_dim("nI"):
            output.set_dim("nI", tok2vec.get_dim("nO"))
        with_output.initialize()


def _resize(model: Scorer, size: int) -> Scorer:
    """Make room for new labels behind the present ones, whose weights stay as they are."""
    sparse, chain, *network = model.layers
    sparse.set_dim("nO", size, force=True)
    cast(SparseWeights, sparse.shims[0]).set_size(_width(sparse))
    larger = grown(chain, chain_weights(size))
    model.layers[1] = larger
    model.set_ref("chain", larger)
    if network:
        output = network[1].layers[0]
        wider = grown(output, output_layer(size, output.maybe_get_dim("nI")))
        model.layers[3] = with_array(wider)
    return model
