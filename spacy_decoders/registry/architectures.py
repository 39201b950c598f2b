"""``@architectures``: the models of our components, under the names that configs use."""

from __future__ import annotations

from typing import Any

import spacy
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

__all__ = ["chain_scorer"]


@spacy.registry.architectures("spacy-decoders.ChainScorer.v1")
def chain_scorer(
    tok2vec: Model[list[Doc], list[Floats2d]],
    emission_l2: float = 0.0,
    transition_l2: float = 0.0,
    nO: int | None = None,
) -> Model[list[Doc], Any]:
    """Linear-chain scores; see :func:`~spacy_decoders.models.chain_scorer.build_chain_scorer`."""
    from ..models.chain_scorer import build_chain_scorer

    return build_chain_scorer(tok2vec, emission_l2, transition_l2, nO)
