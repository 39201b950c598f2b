"""The factory of ``exact_tagger``, which spaCy imports when it looks for components."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from ...decoders.protocols import ChainDecoding
from ...models.tagger.losses import Loss
from ..constraints.constraint import constraints_about
from ..option_checks import Alternatives, Share, decoder_of
from ..options import WithOptions, option
from .factory import HASH_EMBED_CNN, register_factory

__all__ = ["TaggerOptions", "Target", "make_exact_tagger"]

Target = Literal["tag", "pos", "morph", "ent"]


def _different(targets: list[Target]) -> list[Target]:
    if len(set(targets)) < len(targets):
        raise ValueError("expected different targets")
    return targets


_Targets = Annotated[list[Target], Field(min_length=1), AfterValidator(_different)]


class TaggerOptions(WithOptions):
    """The options of the tagger; its page in ``docs/components`` says more of each."""

    target: Target | _Targets = option(
        "tag",
        fixed="a trained model has the labels of its target; make another component for another.",
    )
    """What to tag: "tag", "pos", "morph", "ent" (named entities), or several of them jointly."""
    loss: Loss = option("crf")
    """"crf", "margin" or "perceptron"."""
    overwrite: bool = option(True)
    """Whether to replace existing annotation; otherwise it is kept, as a constraint."""
    margins: bool = option(False)
    """Whether to set ``token._.tag_margin``, or that of another target."""
    k_best: Alternatives = option(1)
    """Write the k best labellings to ``doc._.taggings`` if greater than 1."""
    constraints: list[dict[str, Any]] = option([], constraints_about("labels", "entities"))
    """Demands on labels and entities where patterns, phrases or spans match."""
    probabilities: bool = option(False)
    """Whether to set ``token._.tag_prob`` or the like, ``ent._.prob``, ``doc._.probabilities``."""
    entity_alternatives: Annotated[float, Field(ge=1e-6, le=1.0)] | None = option(None)
    """List entities of at least this probability in ``doc._.entity_alternatives``."""
    min_prob: Share | None = option(None)
    """Entities and tags that are less probable than this are left out."""
    decoder: ChainDecoding = option(
        {"@decoders": "spacy-decoders.ForwardDominance.v1"}, decoder_of("chain")
    )
    """Any chain decoder of ``@decoders``."""


make_exact_tagger = register_factory(
    "exact_tagger",
    "components.tagger.tagger:ExactTagger",
    TaggerOptions,
    model={"@architectures": "spacy-decoders.ChainScorer.v1", "tok2vec": HASH_EMBED_CNN},
    scorer="spacy-decoders.tagger_scorer.v1",
    assigns=[
        "token.tag", "token.pos", "token.morph", "doc.ents", "token.ent_iob", "token.ent_type",
        "token._.tag_margin", "token._.morph_margin", "token._.pos_margin", "token._.ent_margin",
        "token._.tag_prob", "token._.morph_prob", "token._.pos_prob", "span._.prob",
        "doc._.probabilities",
        "doc._.entity_alternatives", "doc._.taggings", "doc._.certificates", "doc._.conflicts",
    ],
    # a component has the scores of its targets; spaCy ignores the others
    scores={
        "tag_acc": 1.0,
        "pos_acc": 1.0,
        "morph_acc": 1.0,
        "morph_per_feat": None,
        "ents_f": 1.0,
        "ents_p": None,
        "ents_r": None,
        "ents_per_type": None,
    },
)  # fmt: skip
