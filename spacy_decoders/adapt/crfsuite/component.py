"""``crfsuite_tagger``: tags or entities by a model of CRFsuite's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from spacy.tokens import Doc, Span

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

    def parts(self) -> dict[str, tuple[Callable[[], bytes], Callable[[bytes], None]]]:
        """What is saved: the model too."""
        return {**super().parts(), "model.crfsuite": (self._content_of_model, self._take_model)}

    def _content_of_model(self) -> bytes:
        _ = self.chain
        return self._content

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
