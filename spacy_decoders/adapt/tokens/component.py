"""``exact_token_classifier``: entities by a token classifier of ``transformers``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span
from spacy.util import minibatch

from ...components import extensions
from ...errors import ProblemError
from ...extras import needed
from ..adapted_pipe import AdaptedPipe
from ..factories import TokenClassifierOptions
from .entities import EntityDecoder
from .pipeline import as_array
from .words import scores_at

__all__ = ["TokenClassifierPipe"]

Floats = NDArray[np.float64]

#: The most subwords of a window, where the tokenizer knows no limit of its own.
LONGEST = 512


class TokenClassifierPipe(TokenClassifierOptions, AdaptedPipe):
    """Finds entities; the options are those of :class:`~..factories.TokenClassifierOptions`.

    The network runs where PyTorch finds a GPU, and its scores are copied once. The model is
    loaded when it is first needed, from where its name says, each time that a pipeline is loaded.
    The probability of an entity is in ``ent._.prob``, the certificate of a text in
    ``doc._.certificates[name]``.
    """

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one document."""
        self.annotate(doc, self.scores([doc])[0])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate a stream; a document that fails goes to the error handler, alone."""
        handle_error = self.get_error_handler()
        for docs in minibatch(stream, size=batch_size):
            try:
                scored: Sequence[Floats | None] = self.scores(docs)
            except Exception:
                scored = [None] * len(docs)  # apart, a bad document costs no other
            for doc, scores in zip(docs, scored, strict=True):
                try:
                    self.annotate(doc, self.scores([doc])[0] if scores is None else scores)
                except Exception as error:
                    handle_error(self.name, self, [doc], error)
                else:
                    yield doc

    def scores(self, docs: Sequence[Doc]) -> list[Floats]:
        """Return the log-probabilities of the labels of each document's tokens: **(n, L)**."""
        windows = self._windows([doc.text for doc in docs])
        # of subwords for spaCy's tokens in which they begin
        return [
            scores_at(of_doc, [token.idx for token in doc])
            for doc, of_doc in zip(docs, windows, strict=True)
        ]

    def annotate(self, doc: Doc, scores: Floats) -> None:
        """Decode the scores of a document's tokens, and write its entities."""
        rules = self.decoder.rules
        scores = scores.copy()
        outside = rules.names.index("O")
        kept = [] if self.overwrite else list(doc.ents)
        free = np.array([not token.is_space for token in doc], dtype=bool)
        for span in kept:
            free[span.start : span.end] = False
        others = np.arange(len(rules)) != outside
        scores[np.ix_(~free, others)] = -np.inf
        found = self.decoder.decode(scores)
        chosen = []
        for entity in found.entities:
            label = self.rename.get(entity.label, entity.label)
            chosen.append(Span(doc, entity.start, entity.end, label=label))
        doc.ents = [*kept, *chosen]
        for span, entity in zip(chosen, found.entities, strict=True):
            span._.prob = entity.probability
        extensions.record_certificates(doc, self.name, [found.certificate])

    @cached_property
    def decoder(self) -> EntityDecoder:
        """What decodes the scores; assign one with transitions of its own."""
        return EntityDecoder(self._network.config.id2label, self.scheme)

    @cached_property
    def _network(self) -> Any:
        torch = needed("torch", "transformers")
        auto = needed("transformers", "transformers").AutoModelForTokenClassification
        network = auto.from_pretrained(self.model).eval()
        return network.to("cuda" if torch.cuda.is_available() else "cpu")

    @cached_property
    def _tokenizer(self) -> Any:
        auto = needed("transformers", "transformers").AutoTokenizer
        tokenizer = auto.from_pretrained(self.model)
        if not tokenizer.is_fast:
            raise ProblemError(f"model: {self.model!r} has no fast tokenizer, which is needed.")
        return tokenizer

    def _windows(self, texts: list[str]) -> list[list[tuple[Floats, list[int | None]]]]:
        """Score the windows of each text: logits, and where each subword begins in the text."""
        windows: list[list[tuple[Floats, list[int | None]]]] = [[] for _ in texts]
        if not texts:
            return windows
        torch = needed("torch", "transformers")
        longest = min(self._tokenizer.model_max_length, LONGEST)
        inner = longest - self._tokenizer.num_special_tokens_to_add()
        encoded = self._tokenizer(
            texts,
            truncation=True,
            max_length=longest,
            stride=min(self.stride, inner // 2),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
            padding=True,
            return_tensors="pt",
        )
        owners = as_array(encoded.pop("overflow_to_sample_mapping")).tolist()
        offsets = as_array(encoded.pop("offset_mapping")).tolist()
        special = as_array(encoded.pop("special_tokens_mask")).tolist()
        device = next(self._network.parameters()).device
        logits = []
        for begin in range(0, len(owners), self.batch_size):
            part = {k: v[begin : begin + self.batch_size].to(device) for k, v in encoded.items()}
            with torch.inference_mode():
                logits.append(as_array(self._network(**part).logits))
        rows = iter(np.concatenate(logits))
        for owner, of_window, of_special in zip(owners, offsets, special, strict=True):
            text_of_owner = texts[owner]
            places = [
                None if hidden or begin == end else _first_letter(text_of_owner, begin, end)
                for (begin, end), hidden in zip(of_window, of_special, strict=True)
            ]
            windows[owner].append((next(rows).astype(np.float64), places))
        return windows


def _first_letter(text: str, begin: int, end: int) -> int:
    """Where a subword begins that may have taken the blank before it along."""
    piece = text[begin:end]
    return begin + len(piece) - len(piece.lstrip()) if piece.strip() else begin
