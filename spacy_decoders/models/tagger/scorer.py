"""The scores of chains as a thinc model: emissions from a tok2vec, transitions as weights."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from spacy.tokens import Doc
from thinc.api import Linear, Model, with_array, zero_init
from thinc.types import Floats1d, Floats2d

from ...errors import ProblemError
from ..inference.products import with_own_products

__all__ = [
    "SPARSE", "ChainScores", "build_chain_scorer", "chain_scorer", "chain_weights",
    "network_emissions",
]  # fmt: skip


@dataclass(frozen=True)
class ChainScores:
    """The scores of a batch of documents, or their gradients."""

    #: For each document, **shape (tokens, L)**.
    emissions: list[Floats2d]
    #: **Shape (L, L)**, from-row to column; the same for all documents.
    transitions: Floats2d
    #: **Shape (L,)**.
    start: Floats1d
    end: Floats1d


Scorer: TypeAlias = "Model[list[Doc], ChainScores]"

#: The name of the layer of emissions from sparse features.
SPARSE = "sparse_emissions"


def build_chain_scorer(
    tok2vec: Model[list[Doc], list[Floats2d]],
    transition_l2: float = 0.0,
    nO: int | None = None,
) -> Scorer:
    """Build a linear-chain scorer on any tok2vec.

    Emissions are a linear layer on the token vectors; transitions, start and end scores
    are weights of the model too (its layer ``"chain"``), and so are trained, averaged, saved
    and sourced like any others.

    Parameters
    ----------
    tok2vec
        Token vectors: a private layer or a listener.
    transition_l2
        Weight of the squared norm of transition, start and end scores in the loss of each token.
        Stronger regularisation gives flatter transitions, with which the exact decoders are faster
        ([1]_, figure 2).
    nO
        The number of labels; taken from the data if None.

    References
    ----------
    .. [1] Belanger, Passos, Riedel, McCallum (2012), MAP Inference in Chains using Column
       Generation.
    """
    network = network_emissions(nO, tok2vec.maybe_get_dim("nO"))
    layers = [tok2vec, network, chain_weights(nO)]
    return chain_scorer("chain_scorer", layers, network.layers[0], transition_l2)


def chain_scorer(
    name: str,
    layers: list[Model[Any, Any]],
    output_layer: Model[Any, Any],
    transition_l2: float,
    **attrs: Any,
) -> Scorer:
    """Build a scorer whose emissions come from a network, from sparse features, or from both.

    The layers are in the order in which they are saved: a network, its
    :func:`network_emissions` and :func:`chain_weights`; or `SPARSE` emissions,
    :func:`chain_weights` and optionally a network with its emissions. `output_layer` is the layer
    that has the number of labels as a dimension.
    """
    if not transition_l2 >= 0.0:
        raise ProblemError(f"transition_l2: expected at least 0, got {transition_l2}.")
    attrs["transition_l2"] = transition_l2
    model: Scorer = Model(name, _forward, init=_init, layers=layers, attrs=attrs)
    _, tok2vec, _, chain = _parts(model)
    refs = {"output_layer": output_layer, "chain": chain, "tok2vec": tok2vec}
    for name, layer in refs.items():
        model.set_ref(name, layer)
    return model


def _parts(model: Scorer) -> tuple[Any, Any, Any, Any]:
    """Return sparse emissions, a network, its emissions, and the chain; None for absent ones."""
    # by position, since a copy of a model has no references
    layers: list[Any] = model.layers
    first, *others = layers
    if first.name != SPARSE:
        network, chain = others
        return None, first, network, chain
    chain, tok2vec, network = (*others, None, None)[:3]
    return first, tok2vec, network, chain


def _forward(
    model: Scorer, docs: list[Doc], is_train: bool
) -> tuple[ChainScores, Callable[[ChainScores], Any]]:
    """Score the documents; the backward pass takes gradients of the same shape."""
    sparse, tok2vec, network, chain = _parts(model)
    emissions: Any = None
    backprops: list[Callable[[Any], Any]] = []
    if sparse is not None:
        emissions, backprop_sparse = sparse(docs, is_train)
        backprops.append(backprop_sparse)
    if tok2vec is not None:
        vectors, backprop_vectors = tok2vec(docs, is_train)
        found, backprop_network = network(vectors, is_train)
        if emissions is None:
            emissions = found
        else:
            for own, more in zip(emissions, found, strict=True):
                own += more
        backprops.append(lambda gradient: backprop_vectors(backprop_network(gradient)))

    def backprop(gradient: ChainScores) -> Any:
        penalty = model.attrs["transition_l2"] * sum(len(rows) for rows in gradient.emissions)
        for name in CHAIN_WEIGHTS:
            chain.inc_grad(name, getattr(gradient, name))
            if penalty:
                chain.inc_grad(name, chain.get_param(name) * penalty)
        return [backprop_one(gradient.emissions) for backprop_one in backprops][-1]

    return ChainScores(emissions, *map(chain.get_param, CHAIN_WEIGHTS)), backprop


def _init(model: Scorer, X: list[Doc] | None = None, Y: ChainScores | None = None) -> None:
    """Set the dimensions and initialise the layers; `Y` gives the number of labels."""
    sparse, tok2vec, network, chain = _parts(model)
    output = model.get_ref("output_layer")
    if Y is not None and not output.has_dim("nO"):
        output.set_dim("nO", len(Y.start))
    if sparse is not None:
        sparse.initialize()
    if tok2vec is not None:
        tok2vec.initialize(X=X)
        (linear,) = network.layers
        linear.set_dim("nO", output.get_dim("nO"))
        if not linear.has_dim("nI"):
            linear.set_dim("nI", tok2vec.get_dim("nO"))
        network.initialize()
    chain.set_dim("nO", output.get_dim("nO"))
    chain.initialize()


#: The parameters of :func:`chain_weights`, in the order of :class:`ChainScores`.
CHAIN_WEIGHTS = ("transitions", "start", "end")


def network_emissions(nO: int | None, nI: int | None) -> Model[Any, Any]:
    """Build the linear layer from token vectors to emissions, initially zero."""
    linear: Model[Any, Any] = Linear(nO, nI, init_W=zero_init)
    return with_own_products(with_array(linear))


def chain_weights(nO: int | None) -> Model[Any, Any]:
    """Build a layer that only holds the scores shared by all tokens."""
    return Model(
        "chain_weights",
        _no_forward,
        init=_init_chain_weights,
        dims={"nO": nO},
        params=dict.fromkeys(CHAIN_WEIGHTS),
    )


def _no_forward(model: Model[Any, Any], X: Any, is_train: bool) -> Any:
    raise NotImplementedError("chain_weights has no input: chain_scorer reads its weights.")


def _init_chain_weights(model: Model[Any, Any], X: Any = None, Y: Any = None) -> None:
    size = model.get_dim("nO")
    model.set_param("transitions", model.ops.alloc2f(size, size))
    model.set_param("start", model.ops.alloc1f(size))
    model.set_param("end", model.ops.alloc1f(size))
