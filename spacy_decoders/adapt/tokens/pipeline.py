"""Token classifiers of ``transformers``: a drop-in pipeline, and ``exact_token_classifier``."""

import copy
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, partial
from typing import Any

from spacy.attrs import IS_SPACE
from spacy.tokens import Doc, Span
from spacy.util import minibatch

from ...arrays import Floats, as_array
from ...components import extensions
from ...errors import ProblemError
from ...extras import needed
from ..adapted_pipe import AdaptedPipe
from ..factories import TokenClassifierOptions
from .entities import EntityDecoder
from .words import scores_at

__all__ = ["TokenClassifierPipe", "exact_pipeline"]


#: The most subwords of a window, whatever the tokenizer's limit.
LONGEST = 512


def exact_pipeline(pipe: Any, decoder: EntityDecoder | None = None) -> Any:
    """Return a token classification pipeline that decodes exactly.

    It is called like the given one, and returns dicts as that does with an
    ``aggregation_strategy``, which is ignored here: `entity_group`, `word`, `start`, `end`, and as
    `score` the probability of the entity; also the `status` of the text's certificate. The windows
    of a long text are merged and decoded as one; they share `stride` subwords, or else 64.

    Parameters
    ----------
    pipe
        What ``transformers.pipeline("token-classification", ...)`` returns, with a fast
        tokenizer. It is not changed; the model and the tokenizer are shared.
    decoder
        Such as one with transitions, or with ``scheme="IO"`` for labels without prefixes; by
        default one for the labels of the model.

    Raises
    ------
    DecodersError
        If ``transformers`` is not installed.
    ProblemError
        If `pipe` is something else, its tokenizer is a slow one, or its labels have no prefixes.
    """
    exact = exact_class()
    if not isinstance(pipe, exact.__mro__[1]):
        raise ProblemError(
            'pipe: expected what transformers.pipeline("token-classification", ...) returns, got '
            f"{type(pipe).__name__}."
        )
    if not pipe.tokenizer.is_fast:
        raise ProblemError(
            "pipe: its tokenizer has no offsets; load a fast one, with use_fast=True."
        )
    found = copy.copy(pipe)
    found.__class__ = exact
    found.tokenizer = _padding(pipe.tokenizer)
    found.entity_decoder = decoder or EntityDecoder(pipe.model.config.id2label)
    return found


def _padding(tokenizer: Any) -> Any:
    """Return a tokenizer that can fill up the last window; what it fills it with is masked."""
    if tokenizer.pad_token is None:
        tokenizer = copy.deepcopy(tokenizer)
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    return tokenizer


def _word_starts(tokenizer: Any, text: str) -> list[tuple[int, int]]:
    """Return the first character of each word of the tokenizer, and the one after its last."""
    encoded = tokenizer(text, add_special_tokens=False, verbose=False)
    words = sorted({word for word in encoded.word_ids() if word is not None})
    places = map(encoded.word_to_chars, words)
    return [(begin, end) for begin, end in places if begin < end]


@cache
def exact_class() -> Any:
    """Make the class when it is first needed, since its parent is of an optional library."""
    parent: Any = needed("transformers", "transformers").TokenClassificationPipeline

    class ExactTokenClassificationPipeline(parent):  # type: ignore[misc]
        """Entities by exact decoding, in place of an aggregation strategy.

        Without a decoder it returns the windows of each text, for :func:`.words.scores_at`.
        """

        entity_decoder: EntityDecoder | None = None
        #: How many subwords two windows share, unless the pipeline has a stride.
        shared = 64

        def preprocess(self, sentence: Any, offset_mapping: Any = None, **options: Any) -> Any:
            """Cut a text into windows that overlap, whether a stride is given or not."""
            tokenizer = self.tokenizer
            # that of a tokenizer which knows none is 1e30
            longest = limit if (limit := tokenizer.model_max_length) < 1e9 else LONGEST
            inner = longest - tokenizer.num_special_tokens_to_add()
            windows = {"return_overflowing_tokens": True, "padding": True, "max_length": longest}
            windows["stride"] = min(self.shared, inner // 2)
            # the parent changes them
            options["tokenizer_params"] = windows | options.get("tokenizer_params", {})
            yield from super().preprocess(sentence, offset_mapping, **options)

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
    """The first character of each subword of a window, None for special tokens.

    A space that the tokenizer has put into a subword is skipped.
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


class TokenClassifierPipe(TokenClassifierOptions, AdaptedPipe):
    """Finds entities; the options are those of :class:`~..factories.TokenClassifierOptions`.

    The network runs on a GPU if PyTorch finds one. The model is not saved with the component, but
    loaded by its name when it is first needed. The probability of an entity is in ``ent._.prob``,
    the certificate of a text in ``doc._.certificates[name]``.
    """

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one document."""
        self.annotate(doc, self.scores([doc])[0])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate a stream; a document that fails goes to the error handler alone."""
        handle_error = self.get_error_handler()
        for docs in minibatch(stream, size=batch_size):
            try:
                scored: Sequence[Floats | None] = self.scores(docs)
            except Exception:
                scored = [None] * len(docs)  # score each apart: a bad document costs no other
            for doc, scores in zip(docs, scored, strict=True):
                try:
                    self.annotate(doc, self.scores([doc])[0] if scores is None else scores)
                except Exception as error:
                    handle_error(self.name, self, [doc], error)
                else:
                    yield doc

    def scores(self, docs: Sequence[Doc]) -> list[Floats]:
        """Return the log-probabilities of the labels of each document's tokens: **(n, L)**."""
        network = self._network.pipeline
        network.shared = self.stride
        windows = network([doc.text for doc in docs], batch_size=self.batch_size)
        # a token has the scores of the first subword that begins in it
        return [
            scores_at(of_doc, [token.idx for token in doc])
            for doc, of_doc in zip(docs, windows, strict=True)
        ]

    def annotate(self, doc: Doc, scores: Floats) -> None:
        """Decode the scores of a document's tokens, and write its entities."""
        kept = [] if self.overwrite else list(doc.ents)
        taken = doc.to_array(IS_SPACE).astype(bool)
        for span in kept:
            taken[span.start : span.end] = True
        found = self.decoder.decode(self.decoder.outside(scores, taken))
        chosen = []
        for entity in found.entities:
            label = self.rename.get(entity.label, entity.label)
            chosen.append(Span(doc, entity.start, entity.end, label=label))
            chosen[-1]._.prob = entity.probability
        doc.ents = [*kept, *chosen]
        extensions.record_certificates(doc, self.name, [found.certificate])

    @cached_property
    def decoder(self) -> EntityDecoder:
        """The decoder of the scores, which may be replaced by one with transitions."""
        return EntityDecoder(self._network.pipeline.model.config.id2label, self.scheme)

    @cached_property
    def _network(self) -> "_Network":
        return _Network(self.model)


class _Network:
    """A model of ``transformers``; a process that it is sent to loads it anew, by its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __reduce__(self) -> tuple[type["_Network"], tuple[str]]:
        return _Network, (self.name,)

    @cached_property
    def pipeline(self) -> Any:
        """What scores the windows of texts."""
        torch = needed("torch", "transformers")
        if hasattr(os, "register_at_fork"):
            # its threads do not survive a fork: a child that has several waits for them forever
            os.register_at_fork(after_in_child=partial(torch.set_num_threads, 1))
        transformers = needed("transformers", "transformers")
        tokenizer = transformers.AutoTokenizer.from_pretrained(self.name)
        if not tokenizer.is_fast:
            raise ProblemError(f"model: {self.name!r} has no fast tokenizer; choose another.")
        tokenizer.model_max_length = min(tokenizer.model_max_length, LONGEST)
        return exact_class()(
            model=transformers.AutoModelForTokenClassification.from_pretrained(self.name),
            tokenizer=_padding(tokenizer),
            framework="pt",
            device="cuda" if torch.cuda.is_available() else "cpu",
        )
