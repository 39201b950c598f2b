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
from .pipeline import exact_class
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
        tokenizer = self._network.tokenizer
        inner = tokenizer.model_max_length - tokenizer.num_special_tokens_to_add()
        windows = self._network(
            [doc.text for doc in docs],
            stride=min(self.stride, inner // 2),
            batch_size=self.batch_size,
        )
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
        return EntityDecoder(self._network.model.config.id2label, self.scheme)

    @cached_property
    def _network(self) -> Any:
        """The pipeline of ``transformers`` that scores the windows of texts."""
        torch = needed("torch", "transformers")
        transformers = needed("transformers", "transformers")
        tokenizer = transformers.AutoTokenizer.from_pretrained(self.model)
        if not tokenizer.is_fast:
            raise ProblemError(f"model: {self.model!r} has no fast tokenizer, which is needed.")
        tokenizer.model_max_length = min(tokenizer.model_max_length, LONGEST)
        return exact_class()(
            model=transformers.AutoModelForTokenClassification.from_pretrained(self.model),
            tokenizer=tokenizer,
            framework="pt",
            device="cuda" if torch.cuda.is_available() else "cpu",
            aggregation_strategy="simple",
        )
