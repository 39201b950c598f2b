"""A drop-in for the token classification pipeline of ``transformers``."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ProblemError
from ...extras import needed
from .entities import EntityDecoder
from .words import scores_at

__all__ = ["exact_class", "exact_pipeline"]


def exact_pipeline(pipe: Any, decoder: EntityDecoder | None = None) -> Any:
    """Return a token classification pipeline that decodes exactly.

    It is called as the given one is, and returns what that returns with an
    ``aggregation_strategy``, which is of no effect here: dicts with `entity_group`, `word`,
    `start`, `end`, and as `score` the probability of the entity. Each has the `status` of its
    text's certificate, too. With a `stride`, the windows of a long text are merged and decoded
    as one.

    Parameters
    ----------
    pipe
        What ``transformers.pipeline("token-classification", ...)`` returns, with a fast
        tokenizer. It stays as it is; the model and the tokenizer are shared.
    decoder
        With transitions, for example; None for the labels of the model and its rules alone.

    Raises
    ------
    DecodersError
        If ``transformers`` is not installed.
    ProblemError
        If `pipe` is something else, or its tokenizer is a slow one.
    """
    exact = exact_class()
    if not isinstance(pipe, exact.__mro__[1]):
        raise ProblemError(
            'pipe: expected what transformers.pipeline("token-classification", ...) returns, got '
            f"{type(pipe).__name__}."
        )
    if not pipe.tokenizer.is_fast:
        raise ProblemError(
            "pipe: its tokenizer tells no offsets; load a fast one, with use_fast=True."
        )
    found = copy.copy(pipe)
    found.__class__ = exact
    found.entity_decoder = decoder or EntityDecoder(pipe.model.config.id2label)
    return found


def as_array(values: Any) -> NDArray[Any]:
    """Return a tensor, of any device and precision, as an array."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values.float() if values.is_floating_point() else values
    return np.asarray(values)


def _word_starts(tokenizer: Any, text: str) -> list[tuple[int, int]]:
    """Return first character, and the one after the last, of each word of the tokenizer's."""
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    words: list[tuple[int, int]] = []
    before = None
    for word, (begin, end) in zip(encoded.word_ids(), encoded["offset_mapping"], strict=True):
        if word is None or begin == end:
            continue
        if word != before:
            words.append((begin, end))
        else:
            words[-1] = (words[-1][0], end)
        before = word
    return words


@cache
def exact_class() -> Any:
    """Make the class where it is first needed: its parent is that of another library."""
    parent: Any = needed("transformers", "transformers").TokenClassificationPipeline

    class ExactTokenClassificationPipeline(parent):  # type: ignore[misc]
        """Entities by exact decoding, in place of an aggregation strategy.

        Without a decoder it gives the windows of each text, as :func:`.words.scores_at` takes
        them.
        """

        entity_decoder: EntityDecoder | None = None

        def postprocess(self, all_outputs: list[dict[str, Any]], **_: Any) -> list[Any]:
            """Turn the windows of one text into its entities."""
            text = all_outputs[0]["sentence"]
            windows = [(as_array(out["logits"])[0], _places(out, text)) for out in all_outputs]
            if self.entity_decoder is None:
                return windows
            words = all_outputs[0].get("word_to_chars_map") or _word_starts(self.tokenizer, text)
            found = self.entity_decoder.decode(scores_at(windows, [begin for begin, _ in words]))
            return [
                {
                    "entity_group": entity.label,
                    "score": entity.probability,
                    "word": text[words[entity.start][0] : words[entity.end - 1][1]],
                    "start": words[entity.start][0],
                    "end": words[entity.end - 1][1],
                    "status": found.certificate.status,
                }
                for entity in found.entities
            ]

    return ExactTokenClassificationPipeline


def _places(output: dict[str, Any], text: str) -> list[int | None]:
    """Where each subword of a window begins in the text, None for special tokens.

    A subword that has taken the blank before it along begins behind that.
    """
    offsets = as_array(output["offset_mapping"])[0].tolist()
    special = as_array(output["special_tokens_mask"])[0].tolist()
    words, chars = output.get("word_ids"), output.get("word_to_chars_map")
    places: list[int | None] = []
    for number, (begin, end) in enumerate(offsets):
        shift = 0
        if words is not None and chars is not None and words[number] is not None:
            shift = chars[words[number]][0]  # offsets are within the word
        piece = text[begin + shift : end + shift]
        blanks = len(piece) - len(piece.lstrip()) if piece.strip() else 0
        places.append(None if special[number] or not piece else begin + shift + blanks)
    return places
