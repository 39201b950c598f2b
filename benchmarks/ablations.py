"""What each part brings against its absence: quality, speed, and the lines that it takes.

    python benchmarks/ablations.py [--only pipeline decoders trees linker families] [--quick]

Every option, feature and special case is switched off in turn in the pipeline as shipped, and
judged on data with the documents of each set paired: a difference within two standard errors
(bootstrap over documents) is noise. Weights are not trained again without the part, unless it says
so, so that what a part brings is overstated rather than understated. Decoders that could take one
another's place decode the same scores in turns; `families` trains parsers of two languages once
for each family of factors.

A part stays if it brings more than the noise, or is 1.3 times as fast as the general way. Write a
row here before you write a part.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from pkgutil import resolve_name
from statistics import mean
from time import thread_time
from typing import Any, NamedTuple

import timing  # isort: skip - first: it sets the threads

import english
import numpy as np
import parser as parsers
import spacy
from linking_data import WIKIDATA, link_sets, linked, pipeline
from numpy.typing import NDArray
from pipelines import bare, trained
from spacy.language import Language
from spacy.tokens import Doc

import spacy_decoders
from spacy_decoders.registry.readers import column_corpus, conllu_corpus

PACKAGE = Path(spacy_decoders.__file__).parent
SECTIONS = ("pipeline", "decoders", "trees", "linker", "families")

#: Of each document and score, what counts for it and out of how much: **shape (documents, 2)**.
Counts = dict[str, NDArray[np.float64]]
#: Changes a pipeline, and puts back what it changed.
Switch = Callable[[Language], Any]


class Part(NamedTuple):
    """What is switched off, the files that are for it alone, and how."""

    name: str
    files: tuple[str, ...]
    off: Switch


def lines(patterns: Sequence[str]) -> int | None:
    """The lines of the files that a part takes; None if it has no file of its own."""
    files = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    if patterns and not files:
        raise FileNotFoundError(f"no file of the package matches {patterns}: mend the row.")
    return sum(len(path.read_text("utf8").splitlines()) for path in files) or None


# -- the pipeline as shipped


def option(component: str, **off: Any) -> Switch:
    """Set options of a component."""

    @contextmanager
    def switch(nlp: Language) -> Iterator[None]:
        pipe: Any = nlp.get_pipe(component)
        before = {name: getattr(pipe, name) for name in off}
        pipe.configure(**off)
        try:
            yield
        finally:
            pipe.configure(**before)

    return switch


def patched(owner: str, name: str, stand_in: Any) -> Switch:
    """Let something else stand for an attribute of a module or a class."""

    @contextmanager
    def switch(nlp: Language) -> Iterator[None]:
        place = resolve_name(owner)
        before = getattr(place, name)
        setattr(place, name, stand_in)
        try:
            yield
        finally:
            setattr(place, name, before)

    return switch


def replaced(component: str, factory: str) -> Switch:
    """Let spaCy's own component do the work of ours."""

    @contextmanager
    def switch(nlp: Language) -> Iterator[None]:
        ours: Any = nlp.get_pipe(component)
        theirs: Any = nlp.create_pipe(factory)
        theirs.from_bytes(ours.to_bytes())
        place = nlp.pipe_names.index(component)
        name, _ = nlp._components[place]
        nlp._components[place] = (name, theirs)
        try:
            yield
        finally:
            nlp._components[place] = (name, ours)

    return switch


def without_table(component: str, table: str) -> Switch:
    """Take a table of words out of the weights of a tagger."""

    @contextmanager
    def switch(nlp: Language) -> Iterator[None]:
        pipe: Any = nlp.get_pipe(component)
        (weights,) = (shim for layer in pipe.model.layers for shim in layer.shims)
        before = getattr(weights, table)
        setattr(weights, table, None)
        try:
            yield
        finally:
            setattr(weights, table, before)

    return switch


PIPELINE = (
    Part("rules of trees", ("decoders/tree/rule*.py",), option("parser", rules=[])),
    Part("boundaries within the proof", (), option("parser", certain=0.0)),
    Part("offset of boundaries (1.25)", (), option("parser", boundary_offset=0.0)),
    Part("weight of boundaries (1.0)", (), option("parser", boundary_weight=1.5)),
    Part("paragraphs", (), option("parser", paragraphs=False)),
    Part(
        "no start within quotes and brackets",
        (),
        patched(
            "spacy_decoders.components.parser.rules",
            "unparted",
            lambda doc: np.zeros(0, dtype=int),
        ),
    ),
    Part(
        "compiled inference",
        ("models/inference/**/*.py",),
        patched(
            "spacy_decoders.models.inference.tok2vec.Tok2VecInference",
            "predict",
            lambda self, layer, docs: layer.predict(docs),
        ),
    ),
    Part(
        "cached attribute ruler",
        ("components/attribute_ruler.py",),
        replaced("attribute_ruler", "attribute_ruler"),
    ),
    Part(
        "entities: lists of names",
        ("models/tagger/sparse/**/gazetteer.py",),
        without_table("entities", "phrases"),
    ),
    Part("entities: clusters of words", (), without_table("entities", "clusters")),
    Part("entities: groups of words", (), without_table("entities", "groups")),
    Part(
        "entities: other mentions in the document",
        ("models/tagger/sparse/kernels/mentions.py",),
        patched(
            "spacy_decoders.models.tagger.sparse.features",
            "note_mentions",
            lambda form, lower, documents, initial, own: None,
        ),
    ),
    Part("listed lemmatizer", ("components/lemmatizer.py",), replaced("lemmatizer", "lemmatizer")),
)


def counts_of(doc: Doc, gold: Doc) -> dict[str, tuple[float, float]]:
    """What a document has right, of what gold annotates, and out of how much."""

    def of_tokens(tokens: Sequence[bool]) -> tuple[float, float]:
        return float(sum(tokens)), float(len(tokens))

    def of_sets(found: set[Any], wanted: set[Any]) -> tuple[float, float]:
        return 2.0 * len(found & wanted), float(len(found) + len(wanted))

    pairs = list(zip(doc, gold, strict=True))
    found: dict[str, tuple[float, float]] = {}
    if gold.has_annotation("TAG"):
        found["TAG"] = of_tokens([a.tag_ == b.tag_ for a, b in pairs])
    if gold.has_annotation("LEMMA"):
        found["lemmas"] = of_tokens([a.lemma_ == b.lemma_ for a, b in pairs])
    if gold.has_annotation("DEP"):
        heads = [(a.head.i == b.head.i, a.dep_ == b.dep_) for a, b in pairs if b.dep_ != "punct"]
        found["LAS"] = of_tokens([head and label for head, label in heads])
        spans = [{(sent.start, sent.end) for sent in one.sents} for one in (doc, gold)]
        found["sentences F"] = of_sets(*spans)
    if gold.has_annotation("ENT_IOB"):
        found["entities F"] = of_sets(english.entities(doc), english.entities(gold))
    return found


def judged(nlp: Language, golds: Sequence[Doc]) -> tuple[Counts, float]:
    """Counts on the gold tokens of documents, and the seconds that they took."""
    docs = [bare(nlp.vocab, gold) for gold in golds]
    began = thread_time()
    docs = list(nlp.pipe(docs))
    seconds = thread_time() - began
    counted = [counts_of(doc, gold) for doc, gold in zip(docs, golds, strict=True)]
    return {key: np.array([of[key] for of in counted]) for key in counted[0]}, seconds


def difference(
    with_it: NDArray[np.float64], without: NDArray[np.float64]
) -> tuple[float, float, float]:
    """A score in per cent, the same without the part, and the standard error between the two."""
    drawn = np.random.default_rng(0).integers(len(with_it), size=(500, len(with_it)))
    resampled = []
    for counts in (with_it, without):
        sums = counts[drawn].sum(axis=1)
        resampled.append(100.0 * sums[:, 0] / np.maximum(1.0, sums[:, 1]))
    means = [
        100.0 * float(counts[:, 0].sum() / max(1.0, counts[:, 1].sum()))
        for counts in (with_it, without)
    ]
    return means[0], means[1], float((resampled[0] - resampled[1]).std())


def of_pipeline(report: timing.Report, options: Any) -> None:
    """Switch off parts of the pipeline as shipped, on the dev parts of EWT, UNER and GUM."""
    blank, limit = spacy.blank("en"), 300 if options.quick else 0
    treebank = conllu_corpus(options.data / english.TREEBANK, n_sents=10, limit=limit)
    columns = ["-", "form", "ent", "-", "-"]
    named = column_corpus(options.data / english.NAMED, columns, n_sents=10, limit=limit)
    sets = {
        "EWT dev": [example.reference for example in treebank(blank)],
        "UNER dev": [example.reference for example in named(blank)],
        "GUM dev": [tagged(*row) for row in english.gum(options.data / english.GUM, blank, limit)],
    }
    nlp = spacy_decoders.load()
    nlp.disable_pipe("linker")
    nlp.disable_pipe("headline")
    rows = []
    for name, golds in sets.items():
        for part in PIPELINE:
            taken: dict[str, list[float]] = {"with": [], "without": []}
            for turn in range(3):  # the first one compiles and fills tables
                whole, seconds = judged(nlp, golds)
                with part.off(nlp):
                    without, slower = judged(nlp, golds)
                if turn:
                    taken["with"].append(seconds)
                    taken["without"].append(slower)
            ratio = min(taken["without"]) / min(taken["with"])
            for key, counts in whole.items():
                if (counts == without[key]).all():
                    continue  # what a part has nothing to do with
                scores = difference(counts, without[key])
                cells = [*scores[:2], scores[0] - scores[1], scores[2]]
                rows.append([part.name, f"{name}, {key}", *cells, ratio, lines(part.files)])
            if not rows or rows[-1][0] != part.name or not rows[-1][1].startswith(name):
                none = [None, None, 0.0, 0.0]
                rows.append([part.name, f"{name}, all scores", *none, ratio, lines(part.files)])
    report.table("The pipeline as shipped, gold tokens, sentences found", COLUMNS, rows)


COLUMNS = ["part", "on", "with it", "without", "brings", "standard error", "time without", "lines"]


def tagged(genre: str, tags: Sequence[str], gold: Doc) -> Doc:
    """A document of GUM with its tags."""
    for token, tag in zip(gold, tags, strict=True):
        token.tag_ = tag
    return gold


# -- decoders that could take one another's place


def of_decoders(report: timing.Report, options: Any) -> None:
    """Decode the taggers' scores of EWT dev by each chain decoder, in turns."""
    from spacy_decoders.components.tagger.decoding import unit_lengths
    from spacy_decoders.decoders.chain import ColumnGeneration, ForwardDominance, Viterbi

    nlp = spacy_decoders.load()
    corpus = conllu_corpus(
        options.data / english.TREEBANK, n_sents=10, limit=300 if options.quick else 0
    )
    docs = [bare(nlp.vocab, example.reference) for example in corpus(nlp)]
    for doc in docs:
        nlp.get_pipe("parser")(doc)
    rows = []
    for name in ("tagger", "morphologizer", "entities"):
        pipe: Any = nlp.get_pipe(name)
        scores = pipe.predict(docs)
        emissions = np.concatenate([of_doc for of_doc, _ in scores])
        lengths = [n for doc in docs for n in unit_lengths(doc)]
        chain = scores[0][1]
        tasks = {
            type(
                decoder
            ).__name__: lambda decoder=decoder, chain=chain, rows=emissions, at=lengths: (
                decoder.decode_batch(chain, rows, at)
            )
            for decoder in (ForwardDominance(), Viterbi(), ColumnGeneration())
        }
        seconds = timing.interleaved(tasks, 5, clock=thread_time)
        for decoder, taken in seconds.items():
            proven = mean(found.certificate.is_optimal for found in tasks[decoder]())
            cells = [1e9 * taken / len(emissions), 100 * proven]
            rows.append([name, emissions.shape[1], decoder, *cells])
    report.table(
        "Chains: the taggers' scores of EWT dev",
        ["component", "labels", "decoder", "ns a token", "certified %"],
        rows,
    )


def of_trees(report: timing.Report, options: Any) -> None:
    """Decode trees with factors by each tree decoder and setting, in turns."""
    import tree_scores

    from spacy_decoders.decoders.tree import BranchAndBound, SecondOrder, TreeProblem

    rows = []
    for treebank in ("ewt", "danish"):
        model = tree_scores.load(treebank, options.data)
        for low, high in ((5, 20), (21, 45)):
            chosen = [one for one in model.held_out if low <= one.n <= high]
            chosen = chosen[: 40 if options.quick else 200]
            problems = [model.problem(one, families=("arcs", "grandparents")) for one in chosen]
            ways: dict[str, Callable[[TreeProblem], Any]] = {
                "BranchAndBound": BranchAndBound().decode,
                "first-order charts": BranchAndBound(backbone="first-order").decode,
            }
            if all(problem.projective for problem in problems):
                ways["SecondOrder"] = SecondOrder().decode
            tasks = {
                name: lambda way=way, problems=problems: [way(one) for one in problems]
                for name, way in ways.items()
            }
            seconds = timing.interleaved(tasks, 3, clock=thread_time)
            for name, taken in seconds.items():
                proven = mean(found.certificate.is_optimal for found in tasks[name]())
                cells = [1e3 * taken / len(problems), 100 * proven]
                rows.append([treebank, f"{low}-{high}", name, *cells])
    report.table(
        "Trees: arcs and grandparents",
        ["treebank", "tokens", "decoder", "ms a sentence", "certified %"],
        rows,
    )


# -- links

#: Weights of the linker that are set to 0 in turn.
WEIGHTS = ("pairs", "popularity", "context", "title", "case", "words", "type")


def of_linker(report: timing.Report, options: Any) -> None:
    """Leave out one kind of evidence at a time."""
    cache = options.results / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    sets = link_sets(options.data / "linking", cache, ("testa",))
    sets = [one for one in sets if one.name.startswith("aida") or one.name in WIKIDATA]
    architecture = {"@architectures": "spacy-decoders.LinkWeights.v1"}
    rows = []
    for data in sets:
        whole = linked(data, pipeline(data), thread_time)
        for weight in WEIGHTS:
            without = linked(
                data, pipeline(data, model={**architecture, weight: 0.0}), thread_time
            )
            counts = [
                np.stack([np.array(of.right, float), np.ones(len(of.right))], axis=1)
                for of in (whole, without)
            ]
            scores = difference(counts[0], counts[1])
            slower = sum(without.seconds) / sum(whole.seconds)
            rows.append(
                [weight, data.name, *scores[:2], scores[0] - scores[1], scores[2], slower, None]
            )
    report.table("Evidence of the linker, given candidates", COLUMNS, rows)


# -- families of factors, which are trained

#: Where each family is tried: one treebank without crossing arcs, and one with.
ABLATED = ("Italian-ParTUT", "Hungarian-Szeged")
ALL = ("arcs", "grandparents", "siblings")
#: What is tried, beside what: each set of families has one more than the other.
FAMILIES: Mapping[tuple[str, ...], tuple[str, ...]] = {
    ("arcs",): (),
    ("arcs", "grandparents"): ("arcs",),
    ALL: ("arcs", "grandparents"),
}


def of_families(report: timing.Report, options: Any) -> None:
    """What each family of factors adds; all learn from the same network."""
    rows = []
    steps = 40 if options.quick else 260
    with tempfile.TemporaryDirectory() as folder:
        for name in ABLATED:
            files = parsers.files_of(name, options.data, Path(folder))
            scores: dict[tuple[str, ...], dict[str, float]] = {}
            for families, fewer in FAMILIES.items():
                config = parsers.config_of(name, parsers.FACTORS, files, steps)
                config["components"]["parser"]["factors"] = list(families)
                kept = options.results / "cache" / f"families-{steps}" / f"{name}-{len(families)}"
                nlp = trained(config, kept, retrain=False)
                scores[families] = parsers.measured(nlp, files[1])
                with parsers.changed(nlp, {"factors": ()}):
                    scores.setdefault((), parsers.measured(nlp, files[1]))
                gained = scores[families]["LAS"] - scores[fewer]["LAS"]
                rows.append([name, families[-1], *parsers.row_of(scores[families]), gained])
    report.table(
        f"Families of factors, {steps} steps, trained with each",
        ["treebank", "with", *parsers.COLUMNS, "LAS gained"],
        rows,
    )


def main() -> None:
    """Switch off, measure, report."""
    arguments = timing.arguments(__doc__.splitlines()[0])
    arguments.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    options = arguments.parse_args()
    report = timing.Report("ablations", options.results)
    of = {
        "pipeline": of_pipeline,
        "decoders": of_decoders,
        "trees": of_trees,
        "linker": of_linker,
        "families": of_families,
    }
    for section in options.only:
        of[section](report, options)
    report.close()


if __name__ == "__main__":
    sys.exit(main())
