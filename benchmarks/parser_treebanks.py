"""branch_and_bound_parser beside spaCy's own parser on five treebanks, after a short training.

Both get the same tok2vec, steps, batches, dropout, learning rate and seeds; spaCy's learns tags
beside the trees, too. Ours is trained with the families of factors of its config, and decoded with
and without them:

    python benchmarks/parser_treebanks.py [--quick] [--steps 260] [--seeds 1]
    python benchmarks/parser_treebanks.py --families

The second trains it on two of the treebanks once for each family, to see what each adds: families
learn from the same network, which they do not change.

Sentences and tokens are the treebank's; raw text comes in documents of ten sentences. Latin has a
training part only: its last 200 sentences are held out.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from math import isnan, nan
from pathlib import Path
from statistics import mean
from typing import Any

import timing  # first: it sets the threads
from parser import LSTM, SPACY, configuration
from pipelines import bare, trained
from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example

from spacy_decoders.registry.readers import conllu_corpus

FOLDER = "parsing/"
#: The files, their language, and whether trees are decoded without crossing arcs.
TREEBANKS = {
    "Italian-ParTUT": ("UD_Italian-ParTUT/it_partut-ud-{}.conllu.gz", "it", True),
    "Hungarian-Szeged": ("UD_Hungarian-Szeged/hu_szeged-ud-{}.conllu.gz", "hu", False),
    "Latin-Perseus": ("UD_Latin-Perseus/la_perseus-ud-train.conllu.gz", "xx", False),
    "Danish-DDT": ("cdt-danish-ddt/da_ddt_{}.conll.gz", "da", False),
    "English-EWT": ("UD_English-EWT/en_ewt-ud-{}.conllu.gz", "en", True),
}
HELD_OUT = 200
#: Where each family is tried: one treebank without crossing arcs, and one with.
ABLATED = ("Italian-ParTUT", "Hungarian-Szeged")
#: The families of the config.
ALL = ("arcs", "grandparents", "siblings")
#: What is tried, beside what: each set of families has one more than the other.
FAMILIES: dict[tuple[str, ...], tuple[str, ...]] = {
    ("arcs",): (),
    ("arcs", "grandparents"): ("arcs",),
    ALL: ("arcs", "grandparents"),
    (*ALL, "combs"): ALL,
    (*ALL, "patterns"): ALL,
}
LENGTHS = ((1, 10), (11, 20), (21, 30), (31, 1000))


def pattern(name: str, *steps: tuple[str, str, str]) -> dict[str, Any]:
    """A pattern whose weight is learned: rows (earlier token, operator, label) from the top on."""
    tokens = [{"RIGHT_ID": "0", "RIGHT_ATTRS": {}}]
    for number, (left, operator, dep) in enumerate(steps, start=1):
        link = {"LEFT_ID": left, "REL_OP": operator}
        tokens.append({**link, "RIGHT_ID": str(number), "RIGHT_ATTRS": {"DEP": dep}})
    return {"name": name, "pattern": tokens}


#: Hand-made patterns in the labels of Universal Dependencies.
PATTERNS = [
    pattern("two subjects", ("0", ">", "nsubj"), ("0", ">", "nsubj")),
    pattern("two objects", ("0", ">", "obj"), ("0", ">", "obj")),
    pattern("subject and object", ("0", ">", "nsubj"), ("0", ">", "obj")),
    pattern("conjunct with its word", ("0", ">++", "conj"), ("1", ">--", "cc")),
    pattern("three conjuncts", ("0", ">++", "conj"), ("1", "$++", "conj")),
    pattern("modifier with its word", ("0", ">", "nmod"), ("1", ">", "case")),
    pattern("modifier of a modifier", ("0", ">++", "nmod"), ("1", ">++", "nmod")),
    pattern("clause with its word", ("0", ">", "advcl"), ("1", ">--", "mark")),
]


def files_of(name: str, data: Path, folder: Path) -> tuple[Path, Path]:
    """Return the training part of a treebank, and that which it is measured on."""
    pattern = str(data / FOLDER / TREEBANKS[name][0])
    if "{}" in pattern:
        return Path(pattern.format("train")), Path(pattern.format("dev"))
    import gzip

    with gzip.open(pattern, "rt", encoding="utf8") as file:
        blocks = file.read().strip().split("\n\n")
    parts = folder / f"{name}-train.conllu", folder / f"{name}-dev.conllu"
    for path, of_part in zip(parts, (blocks[:-HELD_OUT], blocks[-HELD_OUT:]), strict=True):
        path.write_text("\n\n".join(of_part) + "\n\n", encoding="utf8")
    return parts


def config_of(
    name: str,
    side: str,
    files: tuple[Path, Path],
    steps: int,
    seed: int,
    families: Sequence[str] = (),
) -> Any:
    """The config of one side on one treebank."""
    _, lang, projective = TREEBANKS[name]
    config = configuration(Path(), steps, side)
    config["paths"].update(train=str(files[0]), dev=str(files[1]))
    config["nlp"]["lang"] = lang
    config["system"]["seed"] = seed
    config["training"].update(dropout=0.1, eval_frequency=steps)
    config["corpora"]["dev"]["limit"] = 50  # the last step is the best of the two that are judged
    if side != SPACY:
        factors = [family for family in families if family != "patterns"]
        patterns = PATTERNS if "patterns" in families else []
        options = {"factors": factors, "patterns": patterns, "projective": projective}
        config["components"]["parser"].update(options)
    return config


def parsed(nlp: Language, golds: list[Doc], *, raw: bool) -> list[Example]:
    """The gold documents beside what a pipeline makes of their tokens or of their text."""
    docs = [
        nlp.make_doc(gold.text) if raw else bare(nlp.vocab, gold, sentences=True) for gold in golds
    ]
    return [Example(doc, gold) for doc, gold in zip(nlp.pipe(docs), golds, strict=True)]


def measured(nlp: Language, dev: Path) -> dict[str, float]:
    """Scores in per cent, on given sentences and on raw text."""

    def golds(sentences: int) -> list[Doc]:
        corpus = conllu_corpus(dev, n_sents=sentences)
        return [example.reference for example in corpus(nlp)]

    examples = parsed(nlp, golds(1), raw=False)
    scores = _attached(examples)
    for least, most in LENGTHS:
        among = [one for one in examples if least <= len(one.reference) <= most]
        scores[f"LAS, {least}-{most}"] = _attached(among)["LAS"]
    right = [
        token.dep_ == gold.dep_
        for one in examples
        for token, gold in zip(one.predicted, one.reference, strict=True)
        if gold.dep_ != "punct" and token.head.i == gold.head.i
    ]
    scores["labels of right heads"] = 100 * mean(right)
    raw = parsed(nlp, golds(10), raw=True)
    of_raw = _attached(raw)
    scores.update({"raw UAS": of_raw["UAS"], "raw LAS": of_raw["LAS"]})
    found = Scorer.score_spans(raw, "sents", has_annotation=lambda doc: True, getter=_sents)
    scores["raw sentence F"] = 100 * (found["sents_f"] or 0.0)
    status = [of["status"] for one in raw for of in one.predicted._.certificates.get("parser", ())]
    scores["raw certified"] = 100 * mean(of == "optimal" for of in status) if status else nan
    return scores


def _sents(doc: Doc, attribute: str) -> list[Any]:
    return list(doc.sents) if attribute == "sents" else getattr(doc, attribute)


def _attached(examples: list[Example]) -> dict[str, float]:
    found = Scorer.score_deps(examples, "dep", ignore_labels=("p", "punct"))
    return {"UAS": 100 * (found["dep_uas"] or 0.0), "LAS": 100 * (found["dep_las"] or 0.0)}


COLUMNS = ["UAS", "LAS", "labels of right heads"]
COLUMNS += [f"LAS, {least}-{most}" for least, most in LENGTHS]
COLUMNS += ["raw UAS", "raw LAS", "raw sentence F", "raw certified"]
NETWORK, FACTORS = "arcs alone", "all factors"

Scores = dict[str, float]


class Trainings:
    """The pipelines of all sides, and what is measured of them."""

    def __init__(self, data: Path, folder: Path, cache: Path, steps: int, retrain: bool) -> None:
        self.data, self.folder, self.cache = data, folder, cache
        self.steps, self.retrain = steps, retrain

    def spacy(self, name: str, seed: int) -> Scores:
        """Scores of spaCy's parser."""
        files = files_of(name, self.data, self.folder)
        config = config_of(name, SPACY, files, self.steps, seed)
        nlp = trained(config, self.cache / f"{name}-spacy-{seed}", retrain=self.retrain)
        return measured(nlp, files[1])

    def ours(self, name: str, families: Sequence[str], seed: int) -> tuple[Scores, Scores]:
        """Scores of our parser by its network alone, and with families of factors."""
        files = files_of(name, self.data, self.folder)
        config = config_of(name, LSTM, files, self.steps, seed, families)
        place = self.cache / f"{name}-{'-'.join(families)}-{seed}"
        nlp = trained(config, place, retrain=self.retrain)
        with_factors = measured(nlp, files[1])
        pipe: Any = nlp.get_pipe("parser")
        pipe.configure(factors=())
        return measured(nlp, files[1]), with_factors


def compare(report: timing.Report, trainings: Trainings, seeds: int) -> None:
    """Our parser beside spaCy's on all treebanks."""
    rows, gains = [], []
    for name in TREEBANKS:
        found: dict[str, list[Scores]] = {SPACY: [], NETWORK: [], FACTORS: []}
        for seed in range(seeds):
            found[SPACY].append(trainings.spacy(name, seed))
            network, factors = trainings.ours(name, ALL, seed)
            found[NETWORK].append(network)
            found[FACTORS].append(factors)
        means = {
            side: {key: mean(one[key] for one in of_seeds) for key in COLUMNS}
            for side, of_seeds in found.items()
        }
        rows += [[name, side, *_row(scores)] for side, scores in means.items()]
        gains.append({side: scores["LAS"] - means[SPACY]["LAS"] for side, scores in means.items()})
        print(*rows[-3:], sep="\n", flush=True)
        for side in (NETWORK, FACTORS):
            report.target(f"{name}: LAS over spaCy's, {side}", 0.0, gains[-1][side], unit="points")
    report.table(
        f"Five treebanks, {trainings.steps} steps, {seeds} seed(s), in per cent",
        ["treebank", "parser", *COLUMNS],
        rows,
    )
    for side in (NETWORK, FACTORS):
        of_all = mean(gain[side] for gain in gains)
        report.target(f"LAS over spaCy's, mean of five, {side}", 1.0, of_all, unit="points")


def ablate(report: timing.Report, trainings: Trainings, seeds: int) -> None:
    """What each family of factors adds."""
    rows = []
    for name in ABLATED:
        of_families: dict[tuple[str, ...], Scores] = {}
        for families, fewer in FAMILIES.items():
            both = [trainings.ours(name, families, seed) for seed in range(seeds)]
            means = [
                {key: mean(scores[of][key] for scores in both) for key in COLUMNS} for of in (0, 1)
            ]
            if not of_families:
                of_families[()] = means[0]
                rows.append([name, "network", *_row(means[0]), None])
                print(rows[-1], flush=True)
            of_families[families] = means[1]
            gain = round(means[1]["LAS"] - of_families[fewer]["LAS"], 2)
            added = " + ".join((*fewer, families[-1]))
            rows.append([name, added, *_row(means[1]), gain])
            print(rows[-1], flush=True)
    report.table(
        f"Each family of factors, {trainings.steps} steps, {seeds} seed(s), in per cent",
        ["treebank", "families", *COLUMNS, "LAS gained"],
        rows,
    )


def _row(scores: Scores) -> list[float | None]:
    return [None if isnan(scores[key]) else round(scores[key], 2) for key in COLUMNS]


def main() -> None:
    """Train both on each treebank, measure, report."""
    arguments = timing.arguments(__doc__.splitlines()[0])
    arguments.add_argument("--steps", type=int, default=260, help="training steps")
    arguments.add_argument("--seeds", type=int, default=1, help="trainings of each")
    arguments.add_argument("--retrain", action="store_true", help="train anew")
    arguments.add_argument("--families", action="store_true", help="one family after the other")
    options = arguments.parse_args()
    steps = 40 if options.quick else options.steps
    settings = {"steps": steps, "seeds": options.seeds}
    name = "parser_families" if options.families else "parser_treebanks"
    report = timing.Report(name, options.results, settings)
    cache = options.results / "cache" / f"parser-treebanks-{steps}"
    with tempfile.TemporaryDirectory() as folder:
        trainings = Trainings(options.data, Path(folder), cache, steps, options.retrain)
        (ablate if options.families else compare)(report, trainings, options.seeds)
    report.close()


if __name__ == "__main__":
    sys.exit(main())
