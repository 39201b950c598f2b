"""The factory of ``exact_tagger``, which spaCy imports when it looks for components."""

from typing import Any, Literal, cast, get_args

from ...decoders.protocols import ChainDecoding
from ...errors import ProblemError
from ...models.tagger.losses import Loss
from ..constraints.constraint import constraints_about
from ..option_checks import alternatives, decoder_of, number, strings
from ..options import WithOptions, option
from .factory import HASH_EMBED_CNN, register_factory

__all__ = ["TaggerOptions", "Target", "make_exact_tagger"]

Target = Literal["tag", "pos", "morph", "ent"]
TARGETS: tuple[Target, ...] = get_args(Target)


def _checked_target(name: str, value: Any) -> Target | tuple[Target, ...]:
    """One target, or several different ones."""
    targets: Any = (value,) if isinstance(value, str) else strings(name, value)
    if not targets or len(set(targets)) < len(targets) or not set(targets) <= set(TARGETS):
        raise ProblemError(
            f"{name}: expected one of {', '.join(TARGETS)} or a list of different ones, "
            f"got {value!r}."
        )
    return cast("Target", value) if isinstance(value, str) else targets


class TaggerOptions(WithOptions):
    """The options of ``exact_tagger``.

    Attributes
    ----------
    target
        The attribute to tag: "tag", "pos", "morph", "ent" (named entities), or several of them
        jointly, by one chain over the combinations seen in training.
    loss
        "crf", "margin" or "perceptron".
    overwrite
        Whether to overwrite existing annotation; if not, it is kept, and the rest is decoded
        exactly under that constraint.
    margins
        Whether to set ``token._.tag_margin`` (with other targets ``morph_margin``, ``pos_margin``
        or ``ent_margin``): the best score minus that of the best labelling in which this token has
        another label.
    k_best
        How many labellings to put into ``doc._.taggings``, if more than 1. They are found by
        forward dominance, whichever the `decoder` is, and their certificates name it.
    constraints
        Demands on labels and entities where patterns, phrases or spans match: dictionaries, or
        objects of :class:`~spacy_decoders.components.constraints.Constraint`.
    probabilities
        Whether to set ``token._.tag_prob`` (or ``morph_prob``, ``pos_prob``), ``ent._.prob`` and
        ``doc._.probabilities``: exact marginals of the chain, calibrated by ``python -m spacy
        decoders calibrate``.
    entity_alternatives
        List all entities of at least this probability in ``doc._.entity_alternatives``,
        overlapping and nested ones too. None for no list.
    min_prob
        Write no entity, and no tag, that is less probable than this. What is decoded and
        certified does not change.
    decoder
        Any chain decoder of ``@decoders``.
    """

    target: Target | list[Target] = option(
        "tag",
        _checked_target,
        fixed="a trained model has the labels of its target; make another component for another.",
    )
    loss: Loss = option("crf")
    overwrite: bool = option(True)
    margins: bool = option(False)
    k_best: int = option(1, alternatives)
    constraints: list[dict[str, Any]] = option([], constraints_about("labels", "entities"))
    probabilities: bool = option(False)
    entity_alternatives: float | None = option(None, number(least=1e-6, most=1.0))
    min_prob: float | None = option(None, number(least=0.0, most=1.0))
    decoder: ChainDecoding = option(
        {"@decoders": "spacy-decoders.ForwardDominance.v1"}, decoder_of("chain"), saved=False
    )


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
    # for other targets set the weights of their scores in [training.score_weights]
    scores={
        "tag_acc": 1.0,
        "pos_acc": None,
        "morph_acc": None,
        "morph_per_feat": None,
        "ents_f": None,
        "ents_p": None,
        "ents_r": None,
        "ents_per_type": None,
    },
)  # fmt: skip
