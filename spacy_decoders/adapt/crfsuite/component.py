"""``crfsuite_tagger``: tags or entities by a model of CRFsuite's."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import srsly
from spacy.tokens import Doc, Span
from spacy.util import from_bytes, from_disk, to_bytes, to_disk

from ...components import extensions
from ...errors import ProblemError
from ..adapted_pipe import AdaptedPipe
from ..factories import CrfSuiteOptions
from ..tokens.scheme import EntityScheme
from .model import CrfSuiteModel

__all__ = ["CrfSuitePipe"]


class CrfSuitePipe(CrfSuiteOptions, AdaptedPipe):
    """Tags documents; the options are those of :class:`~..factories.CrfSuiteOptions`.

    The model's file is saved with the component. The certificate of each text is in
    ``doc._.certificates[name]``, its margins in ``token._.tag_margin`` if they are asked for.
    """

    def __init__(self, vocab: Any, name: str, **options: Any) -> None:
        super().__init__(vocab, name, **options)
        self._content = b""
        self._model: CrfSuiteModel | None = None

    @property
    def chain(self) -> CrfSuiteModel:
        """The model, with the rules of its entities' scheme.

        Not called `model`, which spaCy reads of every component, also before there is one.
        """
        if self._model is None:
            content = self._content or (Path(self.path).read_bytes() if self.path else b"")
            if not content:
                raise ProblemError(f"{self.name}: it has no model; set its path.")
            self._content = content
            model = CrfSuiteModel.open(content)
            self._model = _legal(model) if self.target == "ent" else model
        return self._model

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one document."""
        model = self.chain
        items = list(self.features(doc))
        if len(items) != len(doc):
            raise ProblemError(
                f"{self.name}: the features are of {len(items)} tokens, the document has "
                f"{len(doc)}."
            )
        encoded = model.encode([items])
        solution = model.decode(encoded)[0]
        if self.target == "ent":
            found = EntityScheme(model.labels()).entities(solution.labels)
            doc.ents = [Span(doc, start, end, label=kind) for start, end, kind in found]
        else:
            for token, label in zip(doc, solution.labels.tolist(), strict=True):
                token.tag_ = model.file.labels[label]
        extensions.record_certificates(doc, self.name, [solution.certificate])
        if self.margins:
            margins = model.margins(encoded).tolist()
            extensions.record_margins(doc, self.name, "tag_margin", margins)
        return doc

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Save the model and what was changed to bytes."""
        _ = self.chain
        parts = {"cfg": lambda: srsly.json_dumps(self.cfg), "model": lambda: self._content}
        saved: bytes = to_bytes(parts, exclude)
        return saved

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> CrfSuitePipe:
        """Load the model and what was changed from bytes."""
        parts = {
            "cfg": lambda saved: self._take(srsly.json_loads(saved)),
            "model": self._take_model,
        }
        from_bytes(bytes_data, parts, exclude)
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the model and what was changed to a folder."""
        _ = self.chain
        parts = {
            "cfg": lambda file: srsly.write_json(file, self.cfg),
            "model.crfsuite": lambda file: file.write_bytes(self._content),
        }
        to_disk(path, parts, exclude)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> CrfSuitePipe:
        """Load the model and what was changed from a folder."""
        parts = {
            "cfg": lambda file: self._take(srsly.read_json(file)),
            "model.crfsuite": lambda file: self._take_model(file.read_bytes()),
        }
        from_disk(path, parts, exclude)
        return self

    def _take_model(self, content: bytes) -> None:
        self._content, self._model = content, None


def _legal(model: CrfSuiteModel) -> CrfSuiteModel:
    """Forbid what the scheme of the labels does not allow."""
    names = model.labels()
    scheme = EntityScheme(names)
    forbidden = [(names[x], names[y]) for x, y in np.argwhere(~scheme.can_follow).tolist()]
    first = [name for name, allowed in zip(names, scheme.can_start, strict=True) if allowed]
    last = [name for name, allowed in zip(names, scheme.can_end, strict=True) if allowed]
    return model.with_rules(forbidden, first, last)
