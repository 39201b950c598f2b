"""``@architectures``: the models of our components, under the names that configs use."""

from __future__ import annotations

from typing import Any

import spacy
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

__all__ = ["arc_scorer", "bilstm_encoder", "chain_scorer", "word_selection"]


@spacy.registry.architectures("spacy-decoders.ChainScorer.v1")
def chain_scorer(
    tok2vec: Model[list[Doc], list[Floats2d]],
    emission_l2: float = 0.0,
    transition_l2: float = 0.0,
    nO: int | None = None,
) -> Model[list[Doc], Any]:
    """Linear-chain scores; see :func:`~spacy_decoders.models.tagger.scorer.build_chain_scorer`."""
    from ..models.tagger.scorer import build_chain_scorer

    return build_chain_scorer(tok2vec, emission_l2, transition_l2, nO)


@spacy.registry.architectures("spacy-decoders.ArcScorer.v1")
def arc_scorer(
    tok2vec: Model[list[Doc], list[Floats2d]],
    lstm_width: int | None = None,
    arc_width: int = 128,
    label_width: int = 48,
    relatives_width: int | None = None,
    boundary_width: int = 32,
    factor_rows: int = 2**18,
) -> Model[list[Doc], Floats2d]:
    """Scores of trees; see :func:`~spacy_decoders.models.parser.arc_scorer.ArcScorer`."""
    from ..models.parser.arc_scorer import ArcScorer

    return ArcScorer(
        tok2vec,
        lstm_width=lstm_width,
        arc_width=arc_width,
        label_width=label_width,
        relatives_width=relatives_width,
        boundary_width=boundary_width,
        factor_rows=factor_rows,
    )


@spacy.registry.architectures("spacy-decoders.BiLSTM.v1")
def bilstm_encoder(width: int, lstm_width: int) -> Model[list[Floats2d], list[Floats2d]]:
    """A BiLSTM over token vectors; see :func:`~spacy_decoders.models.bilstm.BiLSTM`."""
    from ..models.bilstm import BiLSTM

    return BiLSTM(lstm_width, nI=width)


@spacy.registry.architectures("spacy-decoders.WordSelection.v1")
def word_selection(features: list[str] | None = None) -> Model[Any, Any]:
    """Log-odds of headline words; see
    :func:`~spacy_decoders.models.headline.word_selection.build_word_selection`.
    """
    from ..models.headline.word_selection import build_word_selection

    return build_word_selection(features)
