"""What each part brings against its absence: quality, speed, and the lines that it takes.

    python benchmarks/ablations.py [--only NAME ...] [--quick]

One table. Every option, feature, kernel and special case is switched off in turn, and judged on
documents that are paired: a difference within two standard errors (bootstrap over documents) is
noise. Weights are not trained again without a part, unless a row is judged by training, so that
what a part brings is overstated rather than understated. Decoders that could take one another's
place are compared by the scripts of their cores. ``time without`` is the time of the whole
trial without the part, over that with it, in turns: above 1, the part saves time.

A part stays if it brings more than the noise, or is 1.3 times as fast as the general way. Write a
row here before you write a part: its name, the judge, what switches it off. A new option of a
component needs a row, or a place among the `DEMANDS`; a test compares them with the factories.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import harness  # isort: skip - first: it sets the threads

import judges
import numpy as np
from switching import (
    COLUMNS,
    LINKER,
    Ablation,
    Switch,
    Trial,
    attributes,
    evidence,
    factory,
    option,
    options,
    overrides,
    rows_of,
    table,
    together,
)

from spacy_decoders.components.factories.branch_and_bound_parser import ParserOptions
from spacy_decoders.components.factories.exact_tagger import TaggerOptions
from spacy_decoders.components.factories.graph_entity_linker import LinkerOptions
from spacy_decoders.components.factories.headline_generator import HeadlineOptions
from spacy_decoders.components.headline import reading
from spacy_decoders.components.linker.candidates import TextCandidates
from spacy_decoders.decoders.representatives import ExactRepresentatives
from spacy_decoders.decoders.tree import BranchAndBound
from spacy_decoders.knowledge.pair_costs import DirectLink, GraphDistance
from spacy_decoders.models.linker.weights import FEATURES

#: Options that say what is asked for, and have no right or wrong of their own: what is written
#: where, demands on the result, limits of work; and decoders, which other scripts compare.
DEMANDS: Mapping[str, tuple[str, ...]] = {
    "tagger": ("constraints", "decoder", "overwrite", "target"),
    "parser": ("constraints", "decoder", "overwrite", "iterations", "seconds"),
    "linker": (
        "mentions", "spans_key", "concepts_key", "labels_discard", "types", "kb_id", "shown",
        "iterations", "seconds", "store_kb", "overwrite", "constraints", "kb",
    ),
    "headline": (
        "length", "max_chars", "n_best", "spans_key", "required", "iterations", "seconds",
    ),
}  # fmt: skip

#: Whose options the parts of a component are.
FACTORIES: Mapping[str, Any] = {
    "tagger": TaggerOptions,
    "parser": ParserOptions,
    "linker": LinkerOptions,
    "headline": HeadlineOptions,
}


def alone(target: str, templates: str) -> Switch:
    """Tags, or entities, by a chain of their own."""
    return overrides(
        components__tagger__target=[target], components__tagger__model__templates=templates
    )


def tagger_model(name: str, value: Any) -> Switch:
    return overrides(**{f"components__tagger__model__{name}": value})


def entity_model(name: str, value: Any) -> Switch:
    return overrides(**{f"components__entities__model__{name}": value})


OF = [
    {
        "name": "of belongs to the noun before",
        "weight": 1.0,
        "pattern": [
            {"RIGHT_ID": "head", "RIGHT_ATTRS": {}},
            {"LEFT_ID": "head", "REL_OP": ">++", "RIGHT_ID": "n", "RIGHT_ATTRS": {"DEP": "nmod"}},
            {"LEFT_ID": "n", "REL_OP": ">--", "RIGHT_ID": "of", "RIGHT_ATTRS": {"LOWER": "of"}},
        ],
    }
]
FACTORS = "components__parser__factors"
SENTENCES = options("headline", mode="sentence", min_prob=0.0)
_READING = "spacy_decoders.components.headline.reading"
_PATHS = "spacy_decoders.decoders.path.lagrangian_search"
_LINKER = "spacy_decoders.components.linker"
_SPARSE = "spacy_decoders.models.tagger.sparse.features"


def without_kind(name: str, of: Callable[[str], dict[str, bool]] = reading.form_of) -> Switch:
    """Take away a kind of tokens: no text is of it."""
    assert name in of(""), f"there is no kind {name!r} any more"
    return attributes(_READING, **{of.__name__: lambda text: {**of(text), name: False}})


#: What takes the place of a rule of tokens that is left out.
NEVER = "(?!)"

ABLATIONS = (
    # -- tokens
    *(
        Ablation(f"tokens.{name}", judges.raw_tokens, attributes(**{name: value}))
        for name, value in (
            ("INVISIBLE", NEVER),
            ("RUNS", []),
            ("ENDS", []),
            ("BEGINS", []),
            ("BETWEEN", []),
            ("TELEPHONE", NEVER),
            ("TIME", NEVER),
            ("TAG", NEVER),
            ("PREFIXES", NEVER),
            ("ABBREVIATIONS", []),
            ("JOINED", {}),
            ("NO_EXCEPTIONS", ()),
            ("STOP_AND_MARK", NEVER),
        )
    ),
    # -- tags and entities
    option("tagger", "margins", judges.tokens, on=True),
    option("tagger", "k_best", judges.tokens, on=3, files=["decoders/chain/alternatives.py"]),
    option(
        "tagger", "probabilities", judges.tokens, on=True, files=["decoders/chain/posterior.py"]
    ),
    option("tagger", "entity_alternatives", judges.tokens, on=0.05, pipe="entities"),
    option("tagger", "min_prob", judges.tokens, on=0.5, pipe="entities"),
    Ablation("tagger.loss (margin)", judges.tags, overrides(components__tagger__loss="margin")),
    Ablation(
        "tagger.loss (perceptron)", judges.tags, overrides(components__tagger__loss="perceptron")
    ),
    *(
        Ablation(
            f"tagger.target, jointly: {kind} alone", judges.tags_and_names, alone(target, kind)
        )
        for target, kind in (("tag", "tags"), ("ent", "entities"))
    ),
    *(
        Ablation(f"tagger.model: {name} ({value})", judges.tags, tagger_model(name, value))
        for name, value in (("clusters", None), ("transition_l2", 0.0), ("l1", 0.0), ("l2", 0.0))
    ),
    *(
        Ablation(f"tagger.model: {name} ({value})", judges.names, entity_model(name, value))
        for name, value in (("clusters", None), ("lowered", 0.0), ("least", 0.0))
    ),
    Ablation(
        "tagger.lists of names",
        judges.tokens,
        table("entities", "phrases"),
        files=("models/tagger/sparse/gazetteer.py",),
    ),
    Ablation("tagger.clusters of words in entities", judges.tokens, table("entities", "clusters")),
    Ablation("tagger.groups of words in entities", judges.tokens, table("entities", "groups")),
    Ablation(
        "tagger.other mentions in the document",
        judges.tokens,
        attributes(_SPARSE, note_mentions=lambda *given: None),
    ),
    Ablation(
        "tagger.dense up to 16 labels",
        judges.chains,
        attributes("spacy_decoders.decoders.chain.forward_dominance", LANES=0),
    ),
    # -- trees
    option("parser", "rules", judges.tokens, off=[], files=["decoders/tree/rule*.py"]),
    option("parser", "certain", judges.tokens, off=0.0, files=["decoders/tree/sentences.py"]),
    option("parser", "boundary_offset", judges.tokens, off=0.0),
    option("parser", "boundary_weight", judges.tokens, on=1.5),
    option("parser", "paragraphs", judges.tokens, off=False),
    option("parser", "projective", judges.tokens, off=False),
    option("parser", "tensor", judges.tokens, off=False),
    option("parser", "head_margins", judges.tokens, on=True),
    option(
        "parser",
        "probabilities",
        judges.tokens,
        on=True,
        files=["decoders/tree/probabilities.py", "decoders/tree/kernels/probabilities.py"],
    ),
    option("parser", "min_prob", judges.tokens, on=0.3),
    option("parser", "k_best", judges.tokens, on=3, files=["decoders/tree/ranking.py"]),
    option("parser", "patterns", judges.tokens, on=OF, files=["models/parser/pattern*.py"]),
    Ablation(
        "parser.factors",
        judges.treebanks,
        overrides(**{FACTORS: ["arcs"]}),
        files=("models/parser/factors.py",),
    ),
    Ablation(
        "parser.factors: siblings",
        judges.treebanks,
        overrides(**{FACTORS: ["arcs", "grandparents"]}),
    ),
    Ablation(
        "parser.factors: grandparents",
        judges.treebanks,
        overrides(**{FACTORS: ["arcs", "siblings"]}),
    ),
    Ablation(
        "parser.factors_start", judges.treebanks, overrides(components__parser__factors_start=0)
    ),
    Ablation("parser.beam", judges.treebanks, None, overrides(components__parser__beam=10.0)),
    Ablation(
        "parser.compiled inference",
        judges.tokens,
        attributes(
            "spacy_decoders.models.inference.tok2vec.Tok2VecInference",
            predict=lambda self, layer, docs: layer.predict(docs),
        ),
        files=("models/inference/**/*.py",),
    ),
    Ablation(
        "parser.matrix unit",
        judges.tokens,
        attributes("spacy_decoders.models.inference.products", has_tiles=lambda: False),
        files=("models/inference/kernels/tiles.py",),
    ),
    Ablation(
        "parser.products of integers",
        judges.tokens,
        attributes("spacy_decoders.models.inference.products", has_pairs=lambda: False),
    ),
    Ablation(
        "parser.rules of a batch together",
        judges.tokens,
        attributes(
            "spacy_decoders.models.parser.decoding.TreeParser",
            first_trees=lambda self, sentences, rules: [None] * len(sentences),
        ),
    ),
    Ablation(
        "parser.labels of few arcs first",
        judges.tokens,
        attributes("spacy_decoders.models.parser.labels", _SELDOM=np.inf),
    ),
    Ablation(
        "parser.second-order charts",
        judges.trees,
        attributes(decoder=BranchAndBound(backbone="first-order")),
    ),
    # -- what stands between
    Ablation(
        "attribute ruler, cached",
        judges.tokens,
        factory("attribute_ruler", "attribute_ruler"),
        files=("components/attribute_ruler.py",),
    ),
    Ablation(
        "lemmatizer, listed words",
        judges.tokens,
        factory("lemmatizer", "lemmatizer"),
        files=("components/lemmatizer.py",),
    ),
    # -- links
    *(
        Ablation(f"linker.model: {name}", judge, evidence(name))
        for name in FEATURES
        for judge in (judges.candidates, judges.concepts)
    ),
    option("linker", "form_weight", judges.candidates, pipe=LINKER, off=0.0),
    option("linker", "max_candidates", judges.concepts, off=1000),
    option("linker", "min_prob", judges.concepts, on=0.5),
    option("linker", "window", judges.candidates, pipe=LINKER, off=10_000),
    option("linker", "candidates", judges.concepts, off=TextCandidates()),
    *(
        option("linker", "pairs", judge, pipe=pipe, off=other())
        for other in (DirectLink, GraphDistance)
        for judge, pipe in ((judges.candidates, LINKER), (judges.concepts, "linker"))
    ),
    *(
        Ablation(f"linker.{name}", judges.concepts, attributes(f"{_LINKER}.{module}", **values))
        for name, module, values in (
            ("bare names", "features", {"_bare_names": lambda *given: ()}),
            (
                "family names",
                "features",
                {"_other_bearers": lambda *given: np.zeros(given[3].keys.shape, bool)},
            ),
            ("labels of places", "features", {"_contradicted": lambda *given: False}),
            ("small letters", "features", {"_RARELY": 0.3, "_WORD": 0.3}),
            ("inflections", "mentions", {"singular": lambda span, text: text}),
        )
    ),
    Ablation(
        "linker.dominance",
        judges.candidates,
        attributes(
            "spacy_decoders.models.linker.together",
            undominated=lambda offsets, *others: np.ones(offsets[-1], bool),
        ),
    ),
    Ablation(
        "linker.decoder, margins",
        judges.representatives,
        attributes(decoder=ExactRepresentatives(exact_margins=False)),
        files=("decoders/representatives/margins.py",),
    ),
    Ablation(
        "linker.decoder, local search from 16 starts",
        judges.representatives,
        attributes(decoder=ExactRepresentatives(starts=1, margin_work=200_000)),
    ),
    # -- headlines
    option(
        "headline",
        "mode",
        judges.headlines,
        off="phrases",
        files=["components/headline/[ms]e*.py", "decoders/path/subtree.py"],
    ),
    option("headline", "mode", judges.headlines, off="sentence"),
    Ablation(
        "headline.mode (words)",
        judges.headlines,
        options("headline", mode="words"),
        options("headline", min_prob=0.0),
    ),
    option("headline", "min_prob", judges.headlines, off=0.0),
    *(
        Ablation(
            f"headline.{name}, single words",
            judges.headlines,
            options("headline", mode="words", **{name: value}),
            options("headline", mode="words"),
        )
        for name, value in (("ordering", 0.0), ("contiguity", 0.0), ("auxiliaries", []))
    ),
    *(
        Ablation(
            f"headline.meaning, {name}", judges.headlines, together(SENTENCES, switch), SENTENCES
        )
        for name, switch in (
            ("limits and negations", without_kind("kept")),
            ("what a negation reaches", without_kind("negation")),
            ("conjunctions", without_kind("joint", reading.relation_of)),
            ("articles of measures", without_kind("unmarked", reading.relation_of)),
            ("conditions", without_kind("exception")),
            ("questions", without_kind("asking", reading.features_of)),
            ("marks", without_kind("mark")),
            ("judgements", without_kind("judged", reading.relation_of)),
        )
    ),
    Ablation(
        "headline.decoder, prices",
        judges.paths,
        attributes(f"{_PATHS}.LagrangianSearch", _price=lambda self: None),
    ),
)


def without_figure() -> dict[str, set[str]]:
    """Options of the components that no row is about, and rows about options that have left."""
    odd = {}
    for component, kind in FACTORIES.items():
        names = {part.name for part in ABLATIONS if part.name.startswith(f"{component}.")}
        told = {name.partition(".")[2].split(" ")[0].rstrip(":,") for name in names}
        told |= set(DEMANDS[component])
        given = set(kind.option_defaults())
        gone = set(DEMANDS[component]) - given
        odd[component] = (given - told) | gone
    return {component: names for component, names in odd.items() if names}


def main() -> None:
    """Switch off, measure, tell."""
    arguments = harness.arguments(__doc__.splitlines()[0])
    arguments.add_argument("--only", nargs="+", help="beginnings of names", default=[""])
    given = arguments.parse_args()
    chosen = [part for part in ABLATIONS if part.name.startswith(tuple(given.only))]
    if not chosen:
        arguments.error(f"--only: no part begins so; there are {[p.name for p in ABLATIONS]}")
    report = harness.Report("ablations", given.results)
    rows = kept(report.path(".json"), {part.name for part in chosen})
    trials: dict[Any, list[Trial]] = {}
    for part in sorted(chosen, key=lambda part: part.judge.__name__):
        if part.judge not in trials:
            trials = {part.judge: part.judge(given)}  # one at a time, for the sake of memory
        for trial in trials[part.judge]:
            for row in rows_of(part, trial):
                row[1] += " (quick)" if given.quick else ""
                print(*map(harness.shown, row), sep=" | ", flush=True)
                rows.append(row)
    order = [part.name for part in ABLATIONS]
    rows.sort(key=lambda row: order.index(row[0]))
    report.table("Each part, and its absence", COLUMNS, rows)
    report.close()


def kept(path: Path, measured: set[str]) -> list[list[Any]]:
    """The rows of earlier runs about parts that there still are, and that this one leaves out."""
    if not path.exists():
        return []
    (table,) = json.loads(path.read_text("utf8"))["tables"]
    there = {part.name for part in ABLATIONS} - measured
    return [row for row in table["rows"] if row[0] in there]


if __name__ == "__main__":
    sys.exit(main())
