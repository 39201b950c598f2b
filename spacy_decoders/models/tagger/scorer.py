"""The scores of a chain as a thinc model: emissions from a tok2vec, transitions as weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from spacy.tokens import Doc
from thinc.api import Linear, Model, with_array, zero_init
from thinc.types import Floats1d, Floats2d

from ...errors import ProblemError

__all__ = [
    "CHAIN_WEIGHTS",
    "ChainScores",
    "build_chain_scorer",
    "chain_weights",
    "grown",
    "output_layer",
    "penalise",
    "resize",
]


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


def build_chain_scorer(
    tok2vec: Model[list[Doc], list[Floats2d]],
    emission_l2: float = 0.0,
    transition_l2: float = 0.0,
    nO: int | None = None,
) -> Scorer:
    """Build a linear-chain scorer over any tok2vec.

    Emissions are a linear layer over the token vectors; transitions, start and end scores
    are weights of the model too (its layer ``"chain"``), and so are trained, averaged, saved
    and sourced like any other.

    Parameters
    ----------
    tok2vec
        Token vectors: a private layer or a listener.
    emission_l2, transition_l2
        Weights of the squared norms of the emission layer, and of the transition, start and
        end scores, in the loss of each token. A stronger `transition_l2` trains flatter
        transitions, over which the exact decoders are faster ([1]_, figure 2).
    nO
        The number of labels; taken from the data if None.

    References
    ----------
    .. [1] Belanger, Passos, Riedel, McCallum (2012), MAP Inference in Chains using Column
       Generation.
    """
    for name, value in (("emission_l2", emission_l2), ("transition_l2", transition_l2)):
        if not value >= 0.0:
            raise ProblemError(f"{name}: expected at least 0, got {value}.")
    output = output_layer(nO, tok2vec.maybe_get_dim("nO"))
    weights = chain_weights(nO)
    model: Scorer = Model(
        "chain_scorer",
        forward,
        init=init,
        layers=[tok2vec, with_array(output), weights],
        refs={"tok2vec": tok2vec, "output_layer": output, "chain": weights},
        attrs={
            "emission_l2": emission_l2,
            "transition_l2": transition_l2,
            "resize_output": resize,
        },
    )
    return model


def forward(
    model: Scorer, docs: list[Doc], is_train: bool
) -> tuple[ChainScores, Callable[[ChainScores], Any]]:
    """Score the documents; the backward pass takes gradients of the same shape."""
    tok2vec, output, chain = model.layers
    vectors, backprop_tok2vec = tok2vec(docs, is_train)
    emissions, backprop_output = output(vectors, is_train)
    weights: dict[str, Any] = {name: chain.get_param(name) for name in CHAIN_WEIGHTS}
    scores = ChainScores(emissions, **weights)

    def backprop(gradient: ChainScores) -> Any:
        tokens = sum(len(rows) for rows in gradient.emissions)
        for name in CHAIN_WEIGHTS:
            chain.inc_grad(name, getattr(gradient, name))
            penalise(chain, name, model.attrs["transition_l2"] * tokens)
        penalise(model.get_ref("output_layer"), "W", model.attrs["emission_l2"] * tokens)
        return backprop_tok2vec(backprop_output(gradient.emissions))

    return scores, backprop


def init(model: Scorer, X: list[Doc] | None = None, Y: ChainScores | None = None) -> None:
    """Set the dimensions and start from zero transitions; `Y` gives the number of labels."""
    tok2vec, with_output, chain = model.layers
    output = model.get_ref("output_layer")
    if Y is not None and not output.has_dim("nO"):
        output.set_dim("nO", len(Y.start))
    tok2vec.initialize(X=X)
    if not output.has_dim("nI"):
        output.set_dim("nI", tok2vec.get_dim("nO"))
    with_output.initialize()
    chain.set_dim("nO", output.get_dim("nO"))
    chain.initialize()


def resize(model: Scorer, size: int) -> Scorer:
    """Append new labels; the weights of the present ones are kept.

    The layers are replaced by larger ones, which are new to an optimizer.
    """
    output, chain = model.get_ref("output_layer"), model.get_ref("chain")
    larger_output = grown(output, output_layer(size, output.maybe_get_dim("nI")))
    larger_chain = grown(chain, chain_weights(size))
    model.layers[1:] = [with_array(larger_output), larger_chain]
    model.set_ref("output_layer", larger_output)
    model.set_ref("chain", larger_chain)
    return model


def grown(layer: Model[Any, Any], larger: Model[Any, Any]) -> Model[Any, Any]:
    """Return the larger layer with the weights of a smaller one, and zeros."""
    if layer.has_param(layer.param_names[0]):
        larger.initialize()
        for name in layer.param_names:
            present: Any = layer.get_param(name)
            weights: Any = larger.get_param(name)
            weights[tuple(slice(0, length) for length in present.shape)] = present
    return larger


#: The parameters of the layer "chain".
CHAIN_WEIGHTS = ("transitions", "start", "end")


def output_layer(nO: int | None, nI: int | None) -> Model[Any, Any]:
    """From token vectors to emissions, at first all zero."""
    return cast("Model[Any, Any]", Linear(nO, nI, init_W=zero_init))


def chain_weights(nO: int | None) -> Model[Any, Any]:
    """A layer that only holds the scores shared by all tokens."""
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


def penalise(layer: Model[Any, Any], name: str, weight: float) -> None:
    """Add the gradient of half the squared norm of a parameter, times a weight."""
    if weight:
        layer.inc_grad(name, layer.get_param(name) * weight)
