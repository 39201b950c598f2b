"""``crfsuite_tagger``: tags or entities by a CRFsuite model."""

from collections.abc import Iterable
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import TypeVar

import numpy as np
from spacy.attrs import IS_SPACE
from spacy.tokens import Doc, Span

from ...components import extensions
from ...errors import ProblemError
from ..adapted_pipe import AdaptedPipe
from ..factories import CrfSuiteOptions
from ..tokens.entities import EntityDecoder
from .model import CrfSuiteModel

__all__ = ["CrfSuitePipe"]

Self = TypeVar("Self", bound="CrfSuitePipe")

#: The key of `cfg` under which the model file is saved.
MODEL = "model.crfsuite"

#: The tag of white space, as spaCy's attribute rulers set it.
WHITE_SPACE = "_SP"


class CrfSuitePipe(CrfSuiteOptions, AdaptedPipe):
    """Tags documents; the options are those of :class:`~..factories.CrfSuiteOptions`.

    The model file is saved with the component. The certificate of each text is in
    ``doc._.certificates[name]``, and its margins, if wanted, are in ``token._.tag_margin``. White
    space has the tag ``_SP``, and is in no entity.
    """

    @cached_property
    def chain(self) -> CrfSuiteModel:
        """The model; not called `model`, which spaCy reads of every component, loaded or not."""
        if MODEL not in self.cfg:
            if not self.path:
                raise ProblemError(f"{self.name}: it has no model; set its path.")
            self.cfg[MODEL] = Path(self.path).read_bytes()
        return CrfSuiteModel.open(self.cfg[MODEL])

    @cached_property
    def entities(self) -> EntityDecoder:
        """The decoder of the model's scores if its labels are those of entities."""
        file = self.chain.file
        return EntityDecoder(file.labels, transitions=file.transitions, probabilities=False)

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one document."""
        from ...decoders.chain import max_marginal_margins

        model = self.chain
        items = list(self.features(doc))
        if len(items) != len(doc):
            raise ProblemError(
                f"{self.name}: `features` returned those of {len(items)} tokens for a document "
                f"of {len(doc)}."
            )
        spaces = doc.to_array(IS_SPACE).astype(bool)
        # in training, words follow each other without white space
        scored = ~spaces | (self.target == "ent")
        if self.target == "ent":
            emissions = model.emissions(model.encode([items]))
            emissions = self.entities.outside(emissions, spaces).astype(np.float32)
            found = self.entities.decode(emissions)
            doc.ents = [Span(doc, of.start, of.end, label=of.label) for of in found.entities]
            certificate, chain = found.certificate, self.entities.model
        else:
            encoded = model.encode([compress(items, scored)])
            emissions = model.emissions(encoded).astype(np.float32)
            (solution,) = model.decode(encoded)
            labels = iter(solution.labels.tolist())
            for token in doc:
                token.tag_ = WHITE_SPACE if token.is_space else model.file.labels[next(labels)]
            certificate, chain = solution.certificate, model.chain_model
        extensions.record_certificates(doc, self.name, [certificate])
        if self.margins:
            margins = np.full(len(doc), np.inf)
            margins[scored] = max_marginal_margins(chain, emissions)
            extensions.record_margins(doc, self.name, "tag_margin", margins.tolist())
        return doc

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Save the component to bytes, with its model."""
        _ = self.chain
        return super().to_bytes(exclude=exclude)

    def from_bytes(self: Self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Load the component from bytes, with the saved model instead of the file at `path`."""
        for made in ("chain", "entities"):
            self.__dict__.pop(made, None)
        return super().from_bytes(bytes_data, exclude=exclude)
