"""branch_and_bound_parser beside spaCy's own parser: accuracy on treebanks, and speed.

    python benchmarks/parser.py [--quick] [--steps 260] [--seeds 1] [--treebanks English-EWT ...]
    python benchmarks/parser.py --speed

The first trains both with the same tok2vec, steps, batches, dropout, learning rate and seeds;
spaCy's learns tags beside the trees, too. Ours is trained with the families of factors of its
config, and decoded with and without them. Sentences and tokens are the treebank's; raw text comes
in documents of ten sentences. Latin has a training part only: its last 200 sentences are held out.

The second times the shipped parser on raw text, beside a parser of spaCy's with a tok2vec of its
own of the same kind, width and depth, trained briefly: how many transitions it takes hardly
depends on that. Ours is timed without its rules and without joint boundaries, too.

Trained pipelines are kept in results/cache; `--retrain` trains them anew.
"""

from __future__ import annotations

import gzip
import tempfile
from math import isnan, nan
from pathlib import Path
from statistics import mean
from typing import Any, cast

import harness  # first: it sets the threads
import numpy as np
from numpy.typing import NDArray
from pipelines import bare, configured, golds_of, trained
from spacy import util
from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import get_current_ops, set_current_ops

import spacy_decoders
from spacy_decoders.models.inference.products import with_own_products

CONFIG = harness.HERE.parent / "configs" / "branch_and_bound_parser.cfg"
FOLDER = "parsing/"
#: The files, their language, and whether trees are decoded without crossing arcs.
TREEBANKS = {
    "Italian-ParTUT": ("UD_Italian-ParTUT/it_partut-ud-{}.conllu.gz", "it", True),
    "Hungarian-Szeged": ("UD_Hungarian-Szeged/hu_szeged-ud-{}.conllu.gz", "hu", False),
    "Latin-Perseus": ("UD_Latin-Perseus/la_perseus-ud-train.conllu.gz", "xx", False),
    "Danish-DDT": ("cdt-danish-ddt/da_ddt_{}.conll.gz", "da", False),
    "English-EWT": ("UD_English-EWT/en_ewt-ud-{}.conllu.gz", "en", True),
    "French-Sequoia": ("UD_French-Sequoia/fr_sequoia-ud-{}.conllu.gz", "fr", True),
    "Turkish-IMST": ("UD_Turkish-IMST/tr_imst-ud-{}.conllu.gz", "tr", False),
}
HELD_OUT = 200
LENGTHS = ((1, 10), (11, 20), (21, 30), (31, 1000))
SPACY, NETWORK, FACTORS = "spaCy parser", "arcs alone", "all factors"
#: What the shipped parser is timed without.
VARIANTS: dict[str, dict[str, Any]] = {
    "as shipped": {},
    "without rules": {"rules": ()},
    "boundaries apart": {"certain": 0.0},
    "arcs alone": {"rules": (), "certain": 0.0},
}
#: The second is of the heads that spaCy's parser and ours, with all factors, have right.
RIGHT, SHARED = "labels of right heads", "labels of shared heads"
COLUMNS = ["UAS", "LAS", RIGHT, SHARED]
COLUMNS += [f"LAS, {least}-{most}" for least, most in LENGTHS]
COLUMNS += ["raw UAS", "raw LAS", "raw sentence F", "raw certified"]

Scores = dict[str, float]


def files_of(name: str, data: Path, folder: Path) -> tuple[Path, Path]:
    """Return the training part of a treebank, and that which it is measured on."""
    pattern = str(data / FOLDER / TREEBANKS[name][0])
    if "{}" in pattern:
        return Path(pattern.format("train")), Path(pattern.format("dev"))
    with gzip.open(pattern, "rt", encoding="utf8") as file:
        blocks = file.read().strip().split("\n\n")
    parts = folder / f"{name}-train.conllu", folder / f"{name}-dev.conllu"
    for path, of_part in zip(parts, (blocks[:-HELD_OUT], blocks[-HELD_OUT:]), strict=True):
        path.write_text("\n\n".join(of_part) + "\n\n", encoding="utf8")
    return parts


def config_of(
    name: str, side: str, files: tuple[Path, Path], steps: int, seed: int = 0
) -> dict[str, Any]:
    """The config of one side on one treebank; they differ in the components over tok2vec only."""
    _, lang, projective = TREEBANKS[name]
    config = util.load_config(CONFIG)
    config["paths"].update(train=str(files[0]), dev=str(files[1]))
    config["nlp"]["lang"] = lang
    config["system"]["seed"] = seed
    config["training"].update(max_steps=steps, dropout=0.1, eval_frequency=steps)
    config["training"]["optimizer"]["learn_rate"]["total_steps"] = steps
    config["training"]["before_to_disk"] = None  # it would choose factors on what is measured
    config["corpora"]["dev"]["limit"] = 50  # the last step is the best of the two that are judged
    parser = config["components"]["parser"]
    if side != SPACY:
        parser.update(factors_start=steps // 2, projective=projective)
        return config
    # its own recipe: one tok2vec for tagger and parser, weight decay
    del config["components"]["parser"]
    tok2vec = parser["model"]["tok2vec"]
    tok2vec["embed"]["width"] = 96
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96, "upstream": "*"}
    config["components"]["tok2vec"] = {"factory": "tok2vec", "model": tok2vec}
    models: dict[str, dict[str, Any]] = {
        "tagger": {"@architectures": "spacy.Tagger.v2"},
        "parser": {
            "@architectures": "spacy.TransitionBasedParser.v2",
            "state_type": "parser",
            "extra_state_tokens": False,
            "hidden_width": 128,
            "maxout_pieces": 3,
            "use_upper": True,
        },
    }
    for part, model in models.items():
        config["components"][part] = {"factory": part, "model": {**model, "tok2vec": listener}}
    config["nlp"]["pipeline"] = ["tok2vec", *models]
    config["training"]["optimizer"].update(beta2=0.999, L2=0.01, L2_is_weight_decay=True)
    config["training"]["score_weights"] = {"dep_uas": 0.5, "dep_las": 0.5}
    return config


def parsed(nlp: Language, golds: list[Doc], *, raw: bool) -> list[Example]:
    """The gold documents beside what a pipeline makes of their tokens or of their text."""
    docs = [
        nlp.make_doc(gold.text) if raw else bare(nlp.vocab, gold, sentences=True) for gold in golds
    ]
    return [Example(doc, gold) for doc, gold in zip(nlp.pipe(docs), golds, strict=True)]


def measured(nlp: Language, dev: Path) -> tuple[Scores, NDArray[np.bool_]]:
    """Scores in per cent, on given sentences and on raw text; which heads and labels are right."""
    examples = parsed(nlp, golds_of(dev, sentences=1, lang=nlp.lang), raw=False)
    scores = _attached(examples)
    for least, most in LENGTHS:
        among = [one for one in examples if least <= len(one.reference) <= most]
        scores[f"LAS, {least}-{most}"] = _attached(among)["LAS"]
    right = np.array(
        [
            (token.head.i == gold.head.i, token.dep_ == gold.dep_)
            for one in examples
            for token, gold in zip(one.predicted, one.reference, strict=True)
            if gold.dep_ != "punct"
        ]
    )
    scores[RIGHT] = 100 * right[right[:, 0], 1].mean()
    raw = parsed(nlp, golds_of(dev, lang=nlp.lang), raw=True)
    of_raw = _attached(raw)
    scores.update({"raw UAS": of_raw["UAS"], "raw LAS": of_raw["LAS"]})
    found = Scorer.score_spans(raw, "sents", has_annotation=lambda doc: True)
    scores["raw sentence F"] = 100 * (found["sents_f"] or 0.0)
    status = [of["status"] for one in raw for of in one.predicted._.certificates.get("parser", ())]
    scores["raw certified"] = 100 * mean(of == "optimal" for of in status) if status else nan
    return scores, right


def _attached(examples: list[Example]) -> Scores:
    """Scores of heads and labels, punctuation included."""
    found = Scorer.score_deps(examples, "dep")
    return {"UAS": 100 * (found["dep_uas"] or 0.0), "LAS": 100 * (found["dep_las"] or 0.0)}


def on_treebank(name: str, folder: Path, options: Any) -> dict[str, Scores]:
    """Scores of all sides on one treebank, means over the seeds."""
    files = files_of(name, options.data, folder)
    cache = options.results / "cache" / f"parser-{options.steps}"
    found: dict[str, list[Scores]] = {SPACY: [], NETWORK: [], FACTORS: []}
    for seed in range(options.seeds):
        scored: dict[str, tuple[Scores, NDArray[np.bool_]]] = {}
        for side in (SPACY, FACTORS):
            config = config_of(name, side, files, options.steps, seed)
            kept = cache / f"{name}-{side.split()[0].lower()}-{seed}"
            nlp = trained(config, kept, retrain=options.retrain)
            scored[side] = measured(nlp, files[1])
            if side == FACTORS:
                with configured(nlp.get_pipe("parser"), factors=()):
                    scored[NETWORK] = measured(nlp, files[1])
        shared = scored[SPACY][1][:, 0] & scored[FACTORS][1][:, 0]
        for side, (scores, right) in scored.items():
            own = shared & right[:, 0]
            found[side].append({**scores, SHARED: 100 * right[own, 1].mean()})
    return {
        side: {key: mean(one[key] for one in of_seeds) for key in COLUMNS}
        for side, of_seeds in found.items()
    }


def on_treebanks(report: harness.Report, options: Any) -> None:
    """Our parser beside spaCy's on each treebank."""
    rows: list[list[Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.treebanks:
            means = on_treebank(name, Path(folder), options)
            for side, scores in means.items():
                cells = [None if isnan(scores[key]) else round(scores[key], 2) for key in COLUMNS]
                rows.append([name, side, *cells])
            print(*rows[-3:], sep="\n", flush=True)
    report.table(
        f"{len(rows) // 3} treebanks, {options.steps} steps, {options.seeds} seed(s), in per cent",
        ["treebank", "parser", *COLUMNS],
        rows,
    )


def speed(report: harness.Report, options: Any) -> None:
    """The shipped parser beside spaCy's on raw text, words a second of processor time."""
    ops = get_current_ops()
    ours = spacy_decoders.load(enable=["parser"])
    steps = 20 if options.quick else 200
    files = files_of("English-EWT", options.data, Path())
    config = config_of("English-EWT", SPACY, files, steps)
    shipped: Any = ours.config["components"]["parser"]["model"]["tok2vec"]
    config["components"]["tok2vec"]["model"] = shipped
    # a parser alone, like the one beside it
    del config["components"]["tagger"]
    config["nlp"]["pipeline"] = ["tok2vec", "parser"]
    folder = options.results / "cache" / f"parser-speed-{steps}"
    trained(config, folder, retrain=options.retrain)
    set_current_ops(ops)  # both multiply matrices as an installation does without further ado
    theirs, by_numpy = (util.load_model(folder / "model-best") for _ in range(2))
    for _, pipe in by_numpy.components:
        with_own_products(cast(Any, pipe).model)
    golds = golds_of(files[1], limit=60 if options.quick else 0)
    words, texts = sum(map(len, golds)), [gold.text for gold in golds]

    def run(changes: dict[str, Any]) -> None:
        with configured(ours.get_pipe("parser"), **changes):
            list(ours.pipe(texts))

    tasks: dict[str, Any] = {SPACY: lambda: list(theirs.pipe(texts))}
    tasks[f"{SPACY}, by numpy's products as ours"] = lambda: list(by_numpy.pipe(texts))
    for name, changes in VARIANTS.items():
        tasks[name] = lambda changes=changes: run(changes)
    seconds = harness.interleaved(tasks, repeats=3, settled=True)
    report.table(
        f"EWT dev: {words:,} words of raw text, {len(texts)} documents",
        ["parser", "words/s", "over spaCy's", "time over that of arcs alone"],
        [
            [name, words / taken, seconds[SPACY] / taken, taken / seconds["arcs alone"]]
            for name, taken in seconds.items()
        ],
    )


def main() -> None:
    """Train, evaluate, time, report."""
    arguments = harness.arguments(__doc__.splitlines()[0])
    arguments.add_argument("--steps", type=int, default=260, help="training steps")
    arguments.add_argument("--seeds", type=int, default=1, help="trainings of each")
    arguments.add_argument("--retrain", action="store_true", help="train anew")
    arguments.add_argument("--treebanks", nargs="+", choices=TREEBANKS, default=list(TREEBANKS))
    arguments.add_argument("--speed", action="store_true", help="time the shipped parser instead")
    options = arguments.parse_args()
    if options.quick:
        options.steps = 40
    name = "parser-speed" if options.speed else "parser"
    report = harness.Report(
        name, options.results, {"steps": options.steps, "seeds": options.seeds}
    )
    (speed if options.speed else on_treebanks)(report, options)


if __name__ == "__main__":
    main()
