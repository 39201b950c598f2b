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
    """The options of ``branch_and_bound_parser``."""

    factors: list[Family] = option(["arcs", "grandparents", "siblings"])
    """Families of factors scored by discrete templates: "arcs", "grandparents", "siblings".
    Eisner and ChuLiuEdmonds take none but "arcs"."""
    factors_start: NonNegativeInt = option(1000)
    """Number of updates after which the factors are trained, on the errors of the arcs."""
    patterns: list[dict[str, Any]] = option([], arc_patterns)
    """Hand-made patterns of one to three arcs, each in the form of spaCy's ``DependencyMatcher``
    with a `name`, and a `weight` that it adds to the score of a tree wherever the tree has it.
    BranchAndBound alone takes them."""
    beam: NonNegativeFloat | None = option(None)
    """Score factors over those arcs only through which the best tree by single arcs scores at
    most this far below the best of all: faster, as tokens with large margins keep one head and
    ambiguous ones many, and certified among the trees of these ("pruned"); 10 keeps three per
    token. None for all."""
    certain: NonNegativeFloat = option(4.0)
    """Boundaries of sentences are decided together with the trees, under one certificate, where
    their log-odds are at most this far from 0; beyond, and where they are set, they are taken
    as given. 0 leaves all of them to the boundary layer."""
    boundary_offset: float = option(0.0)
    """What is added to the log-odds of boundaries: above 0, more sentences begin."""
    boundary_weight: PositiveFloat = option(1.5)
    """What the log-odds of boundaries are multiplied by beside the scores of trees."""
    paragraphs: bool = option(True)
    """Whether a sentence begins behind a blank line, and a list item at the front of a line, and
    none right behind an opening quotation mark or bracket, or at a closing one, in every tree;
    boundaries that are set, and arcs that are given, go before."""
    rules: list[Any] = option([], tree_rules)
    """What every tree satisfies, by proof: a list of dicts, such as ``{"labels": ["obj"],
    "at_most": 1}``, and ``"universal-dependencies"``, which stands for several."""
    constraints: list[dict[str, Any]] = option([], constraints_about("trees"))
    """Heads, roots and labels of tokens where patterns, phrases or spans match: dictionaries, or
    objects of :class:`~spacy_decoders.components.constraints.Constraint`."""
    overwrite: bool = option(True)
    """Whether heads and labels that are set already are replaced; else the best tree that has
    them is found."""
    projective: bool = option(True)
    """Whether arcs may not cross."""
    iterations: PositiveInt | None = option(500)
    """Work for one sentence, in passes of dynamic programming (of `PriceAndCut`, in linear
    programs); after that, the best tree so far is returned with its gap. None for no limit.
    The same sentence gets the same tree on any machine."""
    seconds: PositiveFloat | None = option(None)
    """Time for one sentence, as a further limit; the result then depends on the machine and its
    load. None for no limit."""
    head_margins: bool = option(False)
    """Whether to set ``token._.head_margin``: the best tree's score minus that of the best
    tree in which the token has another head."""
    probabilities: bool = option(False)
    """Whether to set ``token._.head_prob``, ``token._.dep_prob`` (of head and label together),
    ``token._.sent_start_prob`` and ``doc._.probabilities``: exact marginals of the arc scores,
    calibrated by ``python -m spacy decoders calibrate``."""
    min_prob: Share | None = option(None)
    """Leave out arcs that are less probable than this, with their label: ``token.has_head()``
    is false there, and ``token.head`` the token itself. What is decoded and certified does
    not change, nor do sentences."""
    tensor: bool = option(False)
    """Whether to write the encoder's vectors to ``doc.tensor``, where taggers behind the parser
    read them (`spacy-decoders.TensorVectors.v1`). A tensor of another width is left alone."""
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
