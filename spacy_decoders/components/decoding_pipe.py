"""The base class of all components: score a batch, decode and annotate one document at a time."""

import gc
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import compress
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from spacy.pipeline import TrainablePipe
from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import raise_error, registry
from spacy.vocab import Vocab
from thinc.api import Model

from ..errors import ProblemError, StorageError
from ..files import file_digest
from ..models.saved import damaged, widen_weights
from ..models.tagger.tensors import tensor_widths
from ..one_thread import one_thread
from .options import WithOptions

__all__ = ["CHECKSUMS", "DecodingPipe"]

#: The name of the file with the checksums of a component's others.
CHECKSUMS = "checksums.json"

Self = TypeVar("Self", bound="DecodingPipe")


class DecodingPipe(WithOptions, TrainablePipe):
    """A trainable pipe in which a failing document does not affect the others of its batch.

    Its options are validated attributes; changed ones are saved with it.

    A subclass also inherits from the class of its options. It implements `predict` (one item of
    scores for each document of a batch), `decode_together` (a structure for each item) and
    `annotate` (a structure onto its document), besides the training methods of ``TrainablePipe``.
    `cfg` has settings that are saved beside the model, `options` the options that differ from
    the defaults of the config.
    """

    #: Words that complete a batch, however few documents these are. A batch that passes from one
    #: component to the next finds the cache with the other's weights; more than this would not
    #: fit into it.
    batch_words: ClassVar[int] = 8000

    #: The width of tensors that the model reads if there are any; None if it reads none.
    _tensor_width: int | None = None
    #: That read by listeners of spaCy, which silently replace missing tensors by zeros.
    _listened_width: int | None = None

    #: Replaced by spaCy's ``set_error_handler``.
    error_handler: Callable[..., Any] = staticmethod(raise_error)

    def __init__(
        self,
        vocab: Vocab,
        model: Any,
        name: str,
        *,
        cfg: dict[str, Any],
        scorer: Callable[..., dict[str, Any]] | None = None,
        **options: Any,
    ) -> None:
        self.vocab = vocab
        self.model = model
        self.name = name
        self.scorer = scorer
        self.cfg = cfg
        #: The topics of earlier warnings.
        self._warned: set[Any] = set()
        self._kinds = {key: type(value) for key, value in cfg.items()}
        missing = {key: of for key, of in self.option_defaults().items() if key not in options}
        self.configure(**registry.resolve({"options": missing})["options"], **options)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "model" and not isinstance(value, Model):
            raise ProblemError(f"model: expected a thinc model; got {value!r}.")
        super().__setattr__(name, value)
        if name == "model":  # once: walking through it takes longer than decoding a sentence
            self._tensor_width = next(iter(tensor_widths(value)), None)
            self._listened_width = next(iter(tensor_widths(value, Tok2VecListener.name)), None)

    def decode_together(self, docs: Sequence[Doc], scores: Sequence[Any]) -> list[Any]:
        """Decode the scores of each document into a structure with its certificates."""
        raise NotImplementedError(f"{type(self).__name__} must implement decode_together().")

    def annotate(self, doc: Doc, decoded: Any) -> None:
        """Write a structure and its certificates to the document."""
        raise NotImplementedError(f"{type(self).__name__} must implement annotate().")

    def set_annotations(self, docs: Iterable[Doc], scores: Iterable[Any]) -> None:
        """Decode documents, and annotate each; the first failure is raised."""
        given = list(docs)
        for doc, decoded in zip(given, self.decode_together(given, list(scores)), strict=True):
            self.annotate(doc, decoded)

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one document; if it fails, it is returned as the error handler leaves it."""
        self.warn_of_missing_vectors([doc])
        for _ in self._annotated([doc]):
            pass
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate a stream; only a document that fails goes to the error handler.

        `batch_size` is the most documents that are scored together, unless `batch_words` are
        reached before.
        """
        for docs in _batches(stream, batch_size, self.batch_words):
            self.warn_of_missing_vectors(docs)
            yield from self._annotated(docs)

    def lack_vectors(self, docs: Sequence[Doc]) -> list[bool]:
        """Whether each document lacks the tensor that a layer of the model reads."""
        return _lacking(docs, self._tensor_width)

    def warn_of_missing_vectors(self, docs: Sequence[Doc]) -> None:
        """Warn once per pipeline that documents lack the token vectors that the model reads."""
        width = self._tensor_width or self._listened_width
        lacking = next(compress(docs, _lacking(docs, width)), None)
        if lacking is None:
            return
        if self._listened_width and not tensor_widths(self.model, Tok2VecListener.name):
            self._listened_width = None  # nlp.replace_listeners has changed the model
            return
        shape = lacking.tensor.shape
        is_there = f"has the shape {shape}, not {(len(lacking), width)}"
        worth = "works without them, and less well" if self._tensor_width else "guesses without"
        self.warn_once(
            f"doc.tensor {is_there if 0 not in shape else 'is missing'}, the token vectors that a "
            f"component before it writes; {self.name} {worth}. Enable that component (tok2vec, or "
            "a parser with `tensor = true`), and keep it before this one, and what writes another "
            "doc.tensor behind it; in training, name it in annotating_components.",
            topic=id(docs[0].vocab),  # pipelines that source a component share the object
        )

    def warn_of_unknown_labels(self, labels: Iterable[str]) -> None:
        """Warn once that examples have labels that a trained component can't learn any more."""
        unknown = sorted(set(labels))
        if unknown:
            more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
            self.warn_once(
                f"the examples have labels that it lacks ({', '.join(unknown[:5])}{more}; later "
                "ones are not reported); none of them is learnt. Train a new component on "
                "examples of all labels: in the config, with `factory` in place of `source`.",
                topic="labels",
            )

    def warn_once(self, message: str, *, topic: Any) -> None:
        """Warn, with the component's name, unless it has warned of this topic before."""
        if topic not in self._warned:
            self._warned.add(topic)
            warnings.warn(f"{self.name}: {message}", UserWarning, stacklevel=3)

    def _annotated(self, docs: Sequence[Doc]) -> Iterator[Doc]:
        handle_error = self.get_error_handler()
        failures: list[Exception | None] | None = None
        try:
            # around all: other threads would evict their data from the cache
            with one_thread(), _uncollected():
                decoded = self.decode_together(docs, self.predict(docs))
                failures = [self._failure(*own) for own in zip(docs, decoded, strict=True)]
        except Exception as error:
            if len(docs) == 1:
                handle_error(self.name, self, list(docs), error)
                return
        if failures is None:
            # retry one by one, so that the document that made the batch fail costs no other
            for doc in docs:
                yield from self._annotated([doc])
            return
        for doc, failure in zip(docs, failures, strict=True):
            if failure is None:
                yield doc
            else:
                handle_error(self.name, self, [doc], failure)

    def _failure(self, doc: Doc, decoded: Any) -> Exception | None:
        """Annotate a document; return the error, if any."""
        try:
            self.annotate(doc, decoded)
        except Exception as error:
            return error
        return None

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score examples by the scorer, which gets the component's name."""
        return super().score(examples, **{"component": self.name, **kwargs})

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Save the component to bytes."""
        self._warn_of_unsaved_changes(on_disk=False)
        return super().to_bytes(exclude=tuple(exclude))

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the component to a folder."""
        self._warn_of_unsaved_changes(on_disk=True)
        super().to_disk(path, exclude=tuple(exclude))
        # the checksums of its files, beside them
        files = sorted(of for of in Path(path).iterdir() if of.is_file() and of.name != CHECKSUMS)
        content = json.dumps({of.name: file_digest(of) for of in files}, indent=1)
        Path(path, CHECKSUMS).write_text(content + "\n", encoding="utf8")

    def from_bytes(self: Self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Load the component from bytes; damaged ones raise `StorageError`."""
        with _loading(self.name):
            super().from_bytes(bytes_data, exclude=tuple(exclude))
            self._restore()
        return self

    def from_disk(self: Self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Load the component from a folder; damaged files raise `StorageError`."""
        with _loading(path):
            _check_files(Path(path))
            super().from_disk(path, exclude=tuple(exclude))
            self._restore()
        return self

    def _restore(self) -> None:
        widen_weights(self.model.walk())
        self.check_settings()
        self.restore_options()

    def check_settings(self) -> None:
        """Raise if the settings that were loaded are invalid."""
        for key, kind in self._kinds.items():
            value = self.cfg[key]
            if type(value) is not kind:
                raise damaged(f"cfg, {key}", f"expected {kind.__name__}, got {value!r:.40}")
            if kind is list and not all(isinstance(name, str) for name in value):
                raise damaged(f"cfg, {key}", f"expected names, got {value!r:.40}")

    def _warn_of_unsaved_changes(self, *, on_disk: bool) -> None:
        for option, fix in self.unsaved_changes(on_disk=on_disk).items():
            warnings.warn(
                f"{self.name}: its {option} was changed and is not saved with it; {fix}, or the "
                "pipeline will be loaded with that of the config.",
                stacklevel=4,
            )


def _lacking(docs: Sequence[Doc], width: int | None) -> list[bool]:
    if width is None:
        return [False] * len(docs)
    return [len(doc) > 0 and doc.tensor.shape != (len(doc), width) for doc in docs]


def _batches(stream: Iterable[Doc], size: int, words: int) -> Iterator[list[Doc]]:
    """Cut a stream into batches that end when they have so many documents, or words."""
    batch: list[Doc] = []
    count = 0
    for doc in stream:
        batch.append(doc)
        count += len(doc)
        if len(batch) == size or count >= words:
            yield batch
            batch, count = [], 0
    if batch:
        yield batch


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep Python's collector from running within a batch, which leaves it next to nothing.

    What a batch holds for a while would make it search all objects of a pipeline every few
    batches. Only one thread at a time may be inside.
    """
    collects = gc.isenabled()
    try:
        gc.disable()  # here, so that no interrupt comes between
        yield
    finally:
        if collects:
            gc.enable()


@contextmanager
def _loading(place: object) -> Iterator[None]:
    """Make all errors of loading a component name the place.

    Raises `StorageError` if a file is damaged; missing ones raise ``OSError``.
    """
    try:
        yield
    except OSError:
        raise
    except ProblemError as error:
        if str(place) in str(error):
            raise
        raise type(error)(f"{place}: {error}") from error
    # thinc and spaCy check little, and may raise anything on damaged bytes
    except Exception as error:
        raise StorageError(
            f"{place}: the saved component is damaged, or does not fit its config "
            f"({type(error).__name__}: {error!s:.200}); copy it again, or use the config that it "
            "was saved with."
        ) from error


def _check_files(folder: Path) -> None:
    """Raise `StorageError` if a file does not match its checksum, if there are checksums."""
    path = folder / CHECKSUMS
    digests = json.loads(path.read_text(encoding="utf8")) if path.is_file() else {}
    for name, digest in digests.items():
        file = folder / name
        if not file.is_file() or file_digest(file) != digest:
            raise StorageError(
                f"{file}: it was changed since it was saved (its checksum differs); copy it "
                f"again, or remove {CHECKSUMS} if you changed it yourself."
            )
