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
from ..tokens.entities import EntityDecoder
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
        """The model.

        Not called `model`, which spaCy reads of every component, also before there is one.
        """
        if not self._content:
            if not self.path:
                raise ProblemError(f"{self.name}: it has no model; set its path.")
            self._content = Path(self.path).read_bytes()
        return CrfSuiteModel.open(self._content)

    @cached_property
    def entities(self) -> EntityDecoder:
        """What decodes the model's scores where its labels are those of entities."""
        file = self.chain.file
        return EntityDecoder(file.labels, transitions=file.transitions, probabilities=False)

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one document."""
        from ...decoders.chain import max_marginal_margins

        model = self.chain
        items = list(self.features(doc))
        if len(items) != len(doc):
            raise ProblemError(
                f"{self.name}: the features are of {len(items)} tokens, the document has "
                f"{len(doc)}."
            )
        encoded = model.encode([items])
        emissions = model.emissions(encoded).astype(np.float32)
        if self.target == "ent":
            found = self.entities.decode(emissions)
            doc.ents = [Span(doc, of.start, of.end, label=of.label) for of in found.entities]
            certificate, chain = found.certificate, self.entities.model
        else:
            (solution,) = model.decode(encoded)
            for token, label in zip(doc, solution.labels.tolist(), strict=True):
                token.tag_ = model.file.labels[label]
            certificate, chain = solution.certificate, model.chain_model
        extensions.record_certificates(doc, self.name, [certificate])
        if self.margins:
            margins = max_marginal_margins(chain, emissions).tolist()
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
        for made in ("chain", "entities"):
            self.__dict__.pop(made, None)
