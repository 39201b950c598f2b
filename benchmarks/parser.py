"""branch_and_bound_parser beside spaCy's own parser: accuracy, and speed from end to end.

All are trained here with the same tok2vec, steps, batches, seed and learning rate, spaCy's
together with its tagger, and measured in turns over the same texts:

    python benchmarks/parser.py [--quick]

Accuracy is that of `spacy evaluate --gold-preproc` (gold tokens, one sentence a document)
and of raw text, ten sentences a document. Trained pipelines are kept in results/cache;
`--retrain` trains them anew.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from time import thread_time
from typing import Any

import timing  # first: it sets the threads
from pipelines import evaluated, sentences_of, trained
from plots import bars
from spacy import util
from spacy.language import Language
from spacy.tokens import Doc

from spacy_decoders.decoders.tree import Eisner
from spacy_decoders.registry.readers import conllu_corpus

CONFIG = timing.HERE.parent / "configs" / "branch_and_bound_parser.cfg"
TREEBANK = "parsing/UD_English-EWT/en_ewt-ud-{}.conllu.gz"
SPACY, CNN, LSTM = "spaCy parser", "CNN", "CNN + BiLSTM"
STEPS = 2800
DECODING = ("beam", "k", "seconds")
SCORES = ("dep_uas", "dep_las", "sents_f", "certified")


def configuration(data: Path, steps: int, name: str) -> Any:
    """The config of one side; they differ in the components over the tok2vec only."""
    config = util.load_config(CONFIG)
    config["paths"].update(
        train=str(data / TREEBANK.format("train")), dev=str(data / TREEBANK.format("dev"))
    )
    config["training"].update(max_steps=steps, eval_frequency=max(50, steps // 4))
    config["training"]["optimizer"]["learn_rate"]["total_steps"] = steps
    config["training"]["before_to_disk"] = None  # it would choose factors on what is measured
    parser = config["components"]["parser"]
    parser["factors_start"] = steps // 2
    if name == SPACY:
        parser = config["components"].pop("parser")
        # its own recipe: one tok2vec for tagger and parser, dropout .1, weight decay
        config["components"]["tok2vec"] = {
            "factory": "tok2vec",
            "model": parser["model"]["tok2vec"],
        }
        listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96, "upstream": "*"}
        config["components"]["tok2vec"]["model"]["embed"]["width"] = 96
        for part in ("tagger", "parser"):
            config["components"][part] = {"factory": part, "model": {"tok2vec": listener}}
        config["components"]["tagger"]["model"]["@architectures"] = "spacy.Tagger.v2"
        config["components"]["parser"]["model"].update(
            {
                "@architectures": "spacy.TransitionBasedParser.v2",
                "state_type": "parser",
                "extra_state_tokens": False,
                "hidden_width": 128,
                "maxout_pieces": 3,
                "use_upper": True,
            }
        )
        config["nlp"]["pipeline"] = ["tok2vec", "tagger", "parser"]
        config["training"]["dropout"] = 0.1
        config["training"]["optimizer"].update(beta2=0.999, L2=0.01, L2_is_weight_decay=True)
        config["training"]["score_weights"] = {"dep_uas": 0.5, "dep_las": 0.5}
    elif name == CNN:
        # what the BiLSTM would tell comes from likely heads and dependents
        parser["model"].update(lstm_width=None, relatives_width=48)
    return config


def dev(data: Path, nlp: Language, limit: int) -> list[Doc]:
    """The gold documents of the development part, ten sentences each."""
    corpus = conllu_corpus(data / TREEBANK.format("dev"), n_sents=10, limit=limit)
    return [example.reference for example in corpus(nlp)]


@contextmanager
def without_factors(nlp: Language) -> Iterator[None]:
    """The same trained parser by its arcs alone."""
    pipe: Any = nlp.get_pipe("parser")
    factors, decoder = pipe.factors, pipe.decoder
    pipe.configure(factors=(), decoder=Eisner())
    try:
        yield
    finally:
        pipe.configure(factors=factors, decoder=decoder)


Scores = dict[str, float]


def compare(
    report: timing.Report, scores: dict[str, tuple[Scores, Scores]], speed: dict[str, float]
) -> None:
    """State every target and what was reached."""
    add = report.target
    spacy, spacy_raw = scores[SPACY]
    cnn = scores[f"{CNN}, all factors"][0]
    lstm, raw = scores[f"{LSTM}, all factors"]
    add("UAS, CNN alone: spaCy + 1", spacy["dep_uas"] + 1.0, cnn["dep_uas"], unit="")
    add("LAS, CNN alone: above spaCy", spacy["dep_las"], cnn["dep_las"], unit="")
    add("UAS, BiLSTM", 87.3, lstm["dep_uas"], unit="")
    add("UAS, BiLSTM: aim", 88.5, lstm["dep_uas"], unit="")
    add("LAS, BiLSTM", 82.9, lstm["dep_las"], unit="")
    for name in (CNN, LSTM):
        arcs, everything = (
            scores[f"{name}, {parts}"][0]["dep_uas"] for parts in ("arcs alone", "all factors")
        )
        add(f"factors over arcs, UAS, {name}", 0.0, everything - arcs, unit="points")
    add("raw text, UAS", 83.1, raw["dep_uas"], unit="")
    add("raw text, UAS: above spaCy here", spacy_raw["dep_uas"], raw["dep_uas"], unit="")
    add("raw text, LAS", 79.2, raw["dep_las"], unit="")
    add("raw text, LAS: above spaCy here", spacy_raw["dep_las"], raw["dep_las"], unit="")
    add("raw text, SENTS F", 75.0, raw["sents_f"], unit="")
    for parts, wanted in (("arcs alone", 1.0), ("all factors", 0.5)):
        for name in (CNN, LSTM):
            ratio = speed[f"{name}, {parts}"] / speed[SPACY]
            add(f"words/s over spaCy's, {name}, {parts}", wanted, ratio)


def main() -> None:
    """Train, evaluate, time, report."""
    arguments = timing.arguments(__doc__.splitlines()[0])
    arguments.add_argument("--steps", type=int, default=0, help="training steps")
    arguments.add_argument("--retrain", action="store_true", help="train anew")
    options = arguments.parse_args()
    steps = options.steps or (100 if options.quick else STEPS)
    report = timing.Report("parser", options.results, {"steps": steps})
    cache = options.results / "cache" / f"parser-{steps}"
    pipelines = {}
    for name in (SPACY, CNN, LSTM):
        config = configuration(options.data, steps, name)
        # a pipeline of the cache decodes as the config says today
        parser = config["components"]["parser"]
        decoding = {f"components.parser.{key}": parser[key] for key in DECODING if key in parser}
        folder = cache / name.replace(" ", "").lower()
        pipelines[name] = trained(config, folder, retrain=options.retrain, options=decoding)
    golds = dev(options.data, pipelines[SPACY], 100 if options.quick else 0)
    sentences = sentences_of(golds)
    words = sum(map(len, golds))

    sides: dict[str, tuple[Language, bool]] = {SPACY: (pipelines[SPACY], True)}
    for name in (CNN, LSTM):
        sides[f"{name}, arcs alone"] = (pipelines[name], False)
        sides[f"{name}, all factors"] = (pipelines[name], True)
    scores: dict[str, tuple[Scores, Scores]] = {}
    tasks: dict[str, Any] = {}
    texts = [gold.text for gold in golds]
    for name, (nlp, with_factors) in sides.items():

        def run(nlp: Language = nlp, with_factors: bool = with_factors) -> None:
            with nullcontext() if with_factors else without_factors(nlp):
                list(nlp.pipe(texts))

        with nullcontext() if with_factors else without_factors(nlp):
            scores[name] = (
                evaluated(nlp, sentences, SCORES),
                evaluated(nlp, golds, SCORES, raw=True),
            )
        tasks[name] = run
    seconds = timing.interleaved(tasks, repeats=3 if options.quick else 5, clock=thread_time)
    report.table(
        f"{TREEBANK.format('dev')}: {words:,} words, {steps} steps each",
        ["parser", "UAS", "LAS", "raw UAS", "raw LAS", "raw SENTS F", "certified %", "words/s"],
        [
            [
                name,
                *(round(gold[key], 2) for key in ("dep_uas", "dep_las")),
                *(round(raw[key], 2) for key in ("dep_uas", "dep_las", "sents_f")),
                None if name == SPACY else round(raw["certified"], 2),
                words / seconds[name],
            ]
            for name, (gold, raw) in scores.items()
        ],
    )
    speed = {name: words / seconds[name] for name in seconds}
    compare(report, scores, speed)
    bars(
        report.path(".png"),
        "From text to trees, one thread",
        "words a second",
        speed,
        log=False,
        peers=(SPACY,),
    )
    report.close()


if __name__ == "__main__":
    sys.exit(main())
