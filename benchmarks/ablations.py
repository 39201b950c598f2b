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
from spacy_decoders.knowledge.pair_costs import GraphDistance
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
_LINKER = "spacy_decoders.components.linker"
_PRODUCTS = "spacy_decoders.models.inference.products"


def without_kind(name: str, of: Callable[[str], dict[str, bool]] = reading.form_of) -> Switch:
    """Take away a kind of tokens: no text is of it."""
    assert name in of(""), f"there is no kind {name!r} any more"
    return attributes(_READING, **{of.__name__: lambda text: {**of(text), name: False}})


#: What takes the place of a rule of tokens that is left out.
NEVER = "(?!)"

#: Kernels and shortcuts: who judges them, where they stand, if not in what is judged, and what
#: takes their place; files that are for them alone.
PATCHES: Mapping[str, tuple[Any, ...]] = {
    "tagger.other mentions in the document": (
        judges.tokens, "spacy_decoders.models.tagger.sparse.features",
        {"note_mentions": lambda *given: None},
    ),
    "tagger.dense up to 16 labels": (
        judges.chains, "spacy_decoders.decoders.chain.forward_dominance", {"LANES": 0},
    ),
    "tagger.saved sums of squares": (
        judges.taught_further, "spacy_decoders.models.tagger.sparse.weights.SparseWeights",
        {"squares": lambda self: np.ones(1 << self.learning.bits, np.float32)},
    ),
    "parser.signs of comparison": (
        judges.tokens, "spacy_decoders.components.parser.trees", {"SIGNS": frozenset()},
    ),
    "parser.compiled inference": (
        judges.tokens, "spacy_decoders.models.inference.tok2vec.Tok2VecInference",
        {"predict": lambda self, layer, docs: layer.predict(docs)}, "models/inference/**/*.py",
    ),
    "parser.matrix unit": (
        judges.tokens, _PRODUCTS, {"has_tiles": lambda: False},
        "models/inference/kernels/tiles.py",
    ),
    "parser.products of integers": (judges.tokens, _PRODUCTS, {"has_pairs": lambda: False}),
    "parser.rules of a batch together": (
        judges.tokens, "spacy_decoders.models.parser.decoding.TreeParser",
        {"first_trees": lambda self, sentences, rules: [None] * len(sentences)},
    ),
    "parser.labels of few arcs first": (
        judges.tokens, "spacy_decoders.models.parser.labels", {"_SELDOM": np.inf},
    ),
    "parser.second-order charts": (
        judges.trees, "", {"decoder": BranchAndBound(backbone="first-order")},
    ),
    "linker.dominance": (
        judges.candidates, "spacy_decoders.models.linker.together",
        {"undominated": lambda offsets, *others: np.ones(offsets[-1], bool)},
    ),
    "linker.decoder, margins": (
        judges.representatives, "", {"decoder": ExactRepresentatives(exact_margins=False)},
        "decoders/representatives/margins.py",
    ),
    "linker.decoder, local search from 16 starts": (
        judges.representatives, "",
        {"decoder": ExactRepresentatives(starts=1, margin_work=200_000)},
    ),
    "headline.decoder, prices": (
        judges.paths, "spacy_decoders.decoders.path.lagrangian_search.LagrangianSearch",
        {"_price": lambda self: None},
    ),
}  # fmt: skip

ABLATIONS = (
    # -- tokens
    *(
        Ablation(f"tokens.{name}", judges.raw_tokens, attributes(**{name: nothing}))
        for names, nothing in (
            ("INVISIBLE TELEPHONE TIME TAG PREFIXES STOP_AND_MARK", NEVER),
            ("RUNS ENDS BEGINS BETWEEN ABBREVIATIONS", []),
            ("JOINED", {}),
            ("NO_EXCEPTIONS", ()),
        )
        for name in names.split()
    ),
    # -- tags and entities
    option("tagger", "margins", judges.tokens, on=True),
    option("tagger", "k_best", judges.tokens, on=3, files=["decoders/chain/alternatives.py"]),
    option(
        "tagger", "probabilities", judges.tokens, on=True, files=["decoders/chain/posterior.py"]
    ),
    option("tagger", "entity_alternatives", judges.tokens, on=0.05, pipe="entities"),
    option("tagger", "min_prob", judges.tokens, on=0.5, pipe="entities"),
    *(
        Ablation(f"tagger.loss ({loss})", judges.tags, overrides(components__tagger__loss=loss))
        for loss in ("margin", "perceptron")
    ),
    *(
        Ablation(
            f"tagger.target, jointly: {kind} alone", judges.tags_and_names, alone(target, kind)
        )
        for target, kind in (("tag", "tags"), ("ent", "entities"))
    ),
    *(
        Ablation(
            f"tagger.model: {name} ({value})",
            judges.tags if of == "tagger" else judges.names,
            overrides(**{f"components__{of}__model__{name}": value}),
        )
        for of, name, value in (
            ("tagger", "clusters", None),
            ("tagger", "transition_l2", 0.0),
            ("tagger", "l1", 0.0),
            ("tagger", "l2", 0.0),
            ("entities", "clusters", None),
            ("entities", "lowered", 0.0),
            ("entities", "least", 0.0),
        )
    ),
    *(
        Ablation(f"tagger.{told}", judges.tokens, table("entities", name), files=files)
        for told, name, *files in (
            ("lists of names", "phrases", "models/tagger/sparse/gazetteer.py"),
            ("clusters of words in entities", "clusters"),
            ("groups of words in entities", "groups"),
        )
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
        "parser", "probabilities", judges.tokens, on=True, files=["decoders/tree/**/probabil*.py"]
    ),
    option("parser", "min_prob", judges.tokens, on=0.3),
    option("parser", "k_best", judges.tokens, on=3, files=["decoders/tree/ranking.py"]),
    option("parser", "patterns", judges.tokens, on=OF, files=["models/parser/pattern*.py"]),
    *(
        Ablation(f"parser.factors{told}", judges.treebanks, overrides(**{FACTORS: kept}), files=of)
        for told, kept, *of in (
            ("", ["arcs"], "models/parser/factors.py"),
            (": siblings", ["arcs", "grandparents"]),
            (": grandparents", ["arcs", "siblings"]),
        )
    ),
    Ablation(
        "parser.factors_start", judges.treebanks, overrides(components__parser__factors_start=0)
    ),
    Ablation("parser.beam", judges.treebanks, None, overrides(components__parser__beam=10.0)),
    # -- what stands between
    *(
        Ablation(told, judges.tokens, factory(name, name), files=(f"components/{name}.py",))
        for told, name in (
            ("attribute ruler, cached", "attribute_ruler"),
            ("lemmatizer, listed words", "lemmatizer"),
        )
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
        option("linker", "pairs", judge, pipe=pipe, off=GraphDistance())
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
            ("signs of comparison", without_kind("comparing")),
            ("judgements", without_kind("judged", reading.relation_of)),
        )
    ),
    *(
        Ablation(name, judge, attributes(place, **values), files=files)
        for name, (judge, place, values, *files) in PATCHES.items()
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


def kept(path: Path, measured: set[str]) -> list[list[Any]]:
    """The rows of earlier runs about parts that there still are, and that this one leaves out."""
    if not path.exists():
        return []
    (table,) = json.loads(path.read_text("utf8"))["tables"]
    there = {part.name for part in ABLATIONS} - measured
    return [row for row in table["rows"] if row[0] in there]


if __name__ == "__main__":
    sys.exit(main())
