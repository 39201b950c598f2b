"""The factory of ``branch_and_bound_parser``, which spaCy imports when it looks for components."""

from typing import Any

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from ...decoders.protocols import TreeDecoding
from ...models.parser.factors import Family
from ...models.parser.patterns import arc_patterns
from ..constraints.constraint import constraints_about
from ..option_checks import Alternatives, Share, decoder_of
from ..options import WithOptions, option
from ..tree_rules import tree_rules
from .factory import HASH_EMBED_CNN, register_factory

__all__ = ["ParserOptions", "make_branch_and_bound_parser"]


class ParserOptions(WithOptions):
    """The options of the parser; its page in ``docs/components`` says more of each."""

    factors: list[Family] = option(["arcs", "grandparents", "siblings"])
    """Families of factors scored by discrete templates: "arcs", "grandparents", "siblings"."""
    factors_start: NonNegativeInt = option(1000)
    """Updates after which the factors are trained, on the errors of the arcs."""
    patterns: list[dict[str, Any]] = option([], arc_patterns)
    """Hand-made patterns of one to three arcs, each with a `weight` in the score of a tree."""
    beam: NonNegativeFloat | None = option(None)
    """How much the best tree through an arc may lose for factors over it; None for all arcs."""
    certain: NonNegativeFloat = option(4.0)
    """Log-odds up to which boundaries are decided together with the trees."""
    boundary_offset: float = option(0.0)
    """Added to the log-odds of boundaries: above 0, more sentences begin."""
    boundary_weight: PositiveFloat = option(1.5)
    """The weight of the log-odds of boundaries relative to the scores of trees."""
    paragraphs: bool = option(True)
    """Whether blank lines, list items, quotation marks and brackets say where sentences begin."""
    rules: list[Any] = option([], tree_rules)
    """Rules that every tree satisfies, by proof."""
    constraints: list[dict[str, Any]] = option([], constraints_about("trees"))
    """Heads, roots and labels of tokens where patterns, phrases or spans match."""
    overwrite: bool = option(True)
    """Whether to replace heads and labels that are set already; otherwise they are demands."""
    projective: bool = option(True)
    """Whether arcs must not cross."""
    iterations: PositiveInt | None = option(500)
    """The most passes of dynamic programming for one sentence; None for no limit."""
    seconds: PositiveFloat | None = option(None)
    """The most seconds for one sentence, as a further limit; None for no limit."""
    head_margins: bool = option(False)
    """Whether to set ``token._.head_margin``."""
    probabilities: bool = option(False)
    """Whether to set ``token._.head_prob``, ``dep_prob`` and ``sent_start_prob``."""
    min_prob: Share | None = option(None)
    """Arcs that are less probable than this are left out, with their labels."""
    tensor: bool = option(False)
    """Whether to write the encoder's vectors to ``doc.tensor``, for taggers after the parser."""
    k_best: Alternatives = option(1)
    """Write the k best trees of each sentence to ``doc._.parses`` if greater than 1."""
    decoder: TreeDecoding = option(
        {"@decoders": "spacy-decoders.BranchAndBound.v1"}, decoder_of("tree")
    )
    """A tree decoder: Eisner, ChuLiuEdmonds, SecondOrder, BranchAndBound, PriceAndCut."""


make_branch_and_bound_parser = register_factory(
    "branch_and_bound_parser",
    "components.parser.parser:BranchAndBoundParser",
    ParserOptions,
    model={"@architectures": "spacy-decoders.ArcScorer.v1", "tok2vec": HASH_EMBED_CNN},
    scorer="spacy-decoders.parser_scorer.v1",
    assigns=[
        "token.dep", "token.head", "token.is_sent_start", "doc.sents", "token._.head_prob",
        "token._.dep_prob", "token._.sent_start_prob", "doc._.probabilities", "doc._.certificates",
        "doc._.conflicts",
    ],
    scores={
        "dep_uas": 0.5,
        "dep_las": 0.5,
        "dep_las_per_type": None,
        "sents_p": None,
        "sents_r": None,
        "sents_f": 0.0,
    },
)  # fmt: skip
