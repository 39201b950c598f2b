"""``crfsuite_tagger``: tags or entities by a model of CRFsuite's."""

from __future__ import annotations

from functools import cached_property
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

    _content = b""

    @cached_property
    def chain(self) -> CrfSuiteModel:
        """The model, with the rules of its entities' scheme.

        Not called `model`, which spaCy reads of every component, also before there is one.
        """
        if not self._content:
            if not self.path:
                raise ProblemError(f"{self.name}: it has no model; set its path.")
            self._content = Path(self.path).read_bytes()
        model = CrfSuiteModel.open(self._content)
        return _legal(model) if self.target == "ent" else model

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

    def saved_parts(self) -> dict[str, Any]:
        """What is saved: the model too."""
        _ = self.chain
        return {**super().saved_parts(), "model.crfsuite": self._content}

    def take_parts(self, parts: dict[str, Any]) -> None:
        """Take what was saved, in place of the file at `path`."""
        super().take_parts(parts)
        self._content = parts["model.crfsuite"]
        self.__dict__.pop("chain", None)


def _legal(model: CrfSuiteModel) -> CrfSuiteModel:
    """Forbid what the scheme of the labels does not allow."""
    names = model.labels()
    scheme = EntityScheme(names)
    forbidden = [(names[x], names[y]) for x, y in np.argwhere(~scheme.can_follow).tolist()]
    first = [name for name, allowed in zip(names, scheme.can_start, strict=True) if allowed]
    last = [name for name, allowed in zip(names, scheme.can_end, strict=True) if allowed]
    return model.with_rules(forbidden, first, last)
