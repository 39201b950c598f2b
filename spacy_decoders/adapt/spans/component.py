"""``best_spans``: the best of the spans that a span categoriser scored."""

from __future__ import annotations

import numpy as np
from spacy.tokens import Doc, SpanGroup

from ...components import extensions
from ...errors import ProblemError
from ..adapted_pipe import AdaptedPipe
from ..factories import BestSpansOptions
from .documents import log_odds
from .problem import SpanProblem
from .scheduling import BestSpans

__all__ = ["BestSpansPipe"]


class BestSpansPipe(BestSpansOptions, AdaptedPipe):
    """Chooses spans; the options are those of :class:`~..factories.BestSpansOptions`.

    The probability of a chosen span is in ``span._.prob``, the certificate in
    ``doc._.certificates[name]``.

    Examples
    --------
    >>> import spacy
    >>> from spacy.tokens import Span, SpanGroup
    >>> nlp = spacy.blank("en")
    >>> chooser = nlp.add_pipe("best_spans")
    >>> doc = nlp.make_doc("New York Times building")
    >>> spans = [Span(doc, 0, 2, "GPE"), Span(doc, 0, 3, "ORG"), Span(doc, 3, 4, "FAC")]
    >>> doc.spans["sc"] = SpanGroup(doc, spans=spans, attrs={"scores": [0.7, 0.9, 0.6]})
    >>> [(ent.text, ent.label_) for ent in chooser(doc).ents]
    [('New York Times', 'ORG'), ('building', 'FAC')]
    """

    def __call__(self, doc: Doc) -> Doc:
        """Choose the spans of one document; one without scored spans stays as it is."""
        if self.spans_key not in doc.spans:
            return doc
        group = doc.spans[self.spans_key]
        likely = group.attrs.get("scores")
        if likely is None:
            raise ProblemError(
                f"{self.name}: doc.spans[{self.spans_key!r}] has no attrs['scores'], the "
                "probabilities of its spans."
            )
        spans = list(group)
        problem = SpanProblem(
            [(span.start, span.end) for span in spans],  # type: ignore[arg-type]
            log_odds(np.asarray(likely, dtype=np.float64), self.threshold),
            [span.label_ for span in spans],
            nested=self.nested,
            apart=self.apart,
            once=self.once,
        )
        solution = BestSpans().decode(problem)
        numbers = solution.chosen.tolist()
        chosen = [spans[k] for k in numbers]
        if self.output_key is None:
            doc.ents = chosen
        else:
            scores = {"scores": np.asarray(likely)[numbers]}
            doc.spans[self.output_key] = SpanGroup(doc, spans=chosen, attrs=scores)
        for k in numbers:
            spans[k]._.prob = float(likely[k])
        extensions.record_certificates(doc, self.name, [solution.certificate])
        return doc
