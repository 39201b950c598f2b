"""The factories of components for other models, and their options, imported by spaCy."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from ..components.factories.factory import HASH_EMBED_CNN, register_factory
from ..components.options import WithOptions, option
from ..components.tagger.entity_scheme import Scheme

__all__ = [
    "BestSpansOptions",
    "CrfSuiteOptions",
    "ExactSenterOptions",
    "TokenClassifierOptions",
    "make_best_spans",
    "make_crfsuite_tagger",
    "make_exact_senter",
    "make_exact_token_classifier",
]


class BestSpansOptions(WithOptions):
    """The options of ``best_spans``."""

    spans_key: str = option("sc")
    """Where the scored spans are in ``doc.spans``; their probabilities are in the group's
    ``attrs["scores"]``, as ``spancat`` sets them."""
    output_key: str | None = option(None)
    """Where to put the chosen spans in ``doc.spans``; None for ``doc.ents``."""
    threshold: Annotated[float, Field(gt=0.0, lt=1.0)] = option(0.5)
    """The probability above which a span is worth choosing."""


class TokenClassifierOptions(WithOptions):
    """The options of ``exact_token_classifier``."""

    model: str = option("", fixed="it is loaded once; make another component for another model.")
    """A folder or the name of a model, for ``AutoModelForTokenClassification``."""
    rename: dict[str, str] = option({})
    """New names for entity types: ``{"PER": "PERSON"}``."""
    scheme: Scheme = option("auto", fixed="it is that of the model's labels.")
    """What the prefixes of labels mean."""
    stride: NonNegativeInt = option(64)
    """Subwords that two windows of a long text share."""
    batch_size: PositiveInt = option(16)
    """Windows in a batch of the network."""
    overwrite: bool = option(True)
    """Whether to replace entities that are set already; otherwise they are kept, and others
    decoded around them."""


class CrfSuiteOptions(WithOptions):
    """The options of ``crfsuite_tagger``."""

    features: Callable[..., Any] = option(None)
    """A registered function that returns the one that takes a Doc and returns the features of each
    token, as in training, in a form that ``python-crfsuite`` takes."""
    path: str = option("", fixed="it is read once; make another component for another model.")
    """The model file. It is saved with the component, so that a loaded pipeline does not need
    it."""
    target: Literal["tag", "ent"] = option("tag", fixed="it is what the model's labels are.")
    """Whether labels are tags, or entities in BIO or BILOU, which are then always legal."""
    margins: bool = option(False)
    """Whether to set ``token._.tag_margin``."""


class ExactSenterOptions(WithOptions):
    """The options of ``exact_senter``, a sentence recognizer that is decoded as a chain.

    Its `model`, `scorer` and training are those of spaCy's ``senter``.
    """

    overwrite: bool = option(False)
    """Whether to replace boundaries that are set already."""


make_best_spans = register_factory(
    "best_spans",
    "adapt.spans:BestSpansPipe",
    BestSpansOptions,
    assigns=["doc.ents", "doc.spans", "doc._.certificates"],
    requires=["doc.spans"],
)

make_exact_token_classifier = register_factory(
    "exact_token_classifier",
    "adapt.tokens.pipeline:TokenClassifierPipe",
    TokenClassifierOptions,
    assigns=["doc.ents", "token.ent_iob", "token.ent_type", "doc._.certificates"],
)

make_crfsuite_tagger = register_factory(
    "crfsuite_tagger",
    "adapt.crfsuite.component:CrfSuitePipe",
    CrfSuiteOptions,
    required=["features"],
    assigns=["token.tag", "doc.ents", "token._.tag_margin", "doc._.certificates"],
)


make_exact_senter = register_factory(
    "exact_senter",
    "adapt.pipelines:ExactSenter",
    ExactSenterOptions,
    model={
        "@architectures": "spacy.Tagger.v2",
        "tok2vec": {**HASH_EMBED_CNN, "width": 12, "depth": 1, "maxout_pieces": 2},
    },
    scorer="spacy.senter_scorer.v1",
    assigns=["token.is_sent_start", "doc._.certificates"],
    scores={"sents_f": 1.0, "sents_p": 0.0, "sents_r": 0.0},
)
