"""exact_tagger beside spaCy's own tagger: accuracy, and speed from end to end.

Both are trained here with the same tok2vec, steps, batches, seed and learning rate, and
measured in turns over the same texts:

    python benchmarks/tagger.py                # tags of UD English-EWT
    python benchmarks/tagger.py --case joint   # tags and named entities of GUM, jointly

Trained pipelines are kept in results/cache; `--retrain` trains them anew.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from time import thread_time
from typing import Any

import timing  # isort: skip - first: it sets the threads

import numpy as np
from pipelines import evaluated, trained
from plots import bars
from spacy import util
from spacy.language import Language
from spacy.tokens import Doc

CONFIGS = timing.HERE.parent / "configs"
SPACY_TAGGER = {"@architectures": "spacy.Tagger.v2"}
SPACY_NER = {
    "@architectures": "spacy.TransitionBasedParser.v2",
    "state_type": "ner",
    "extra_state_tokens": False,
    "hidden_width": 64,
    "maxout_pieces": 2,
    "use_upper": True,
}


@dataclass(frozen=True)
class Case:
    """A treebank and the pipelines that are compared on it."""

    config: str
    train: str
    dev: str
    steps: int
    baseline: tuple[str, ...]


CASES = {
    "tag": Case(
        "exact_tagger.cfg",
        "parsing/UD_English-EWT/en_ewt-ud-train.conllu.gz",
        "parsing/UD_English-EWT/en_ewt-ud-dev.conllu.gz",
        3000,
        ("tagger",),
    ),
    "joint": Case(
        "joint_tagger.cfg",
        "tagging/gum-posner/train.tsv.gz",
        "tagging/gum-posner/dev.tsv.gz",
        2000,
        ("tagger", "ner"),
    ),
}


def configuration(case: Case, data: Path, steps: int, *, ours: bool, loss: str) -> Any:
    """The config of one side: they differ in the components over the tok2vec only."""
    config = util.load_config(CONFIGS / case.config)
    config["paths"].update(train=str(data / case.train), dev=str(data / case.dev))
    config["training"].update(max_steps=steps, eval_frequency=max(50, steps // 12))
    config["training"]["optimizer"]["learn_rate"]["total_steps"] = steps
    listener = config["components"]["tagger"]["model"]["tok2vec"]
    if ours:
        config["components"]["tagger"]["loss"] = loss
        return config
    models = {"tagger": SPACY_TAGGER, "ner": SPACY_NER}
    for name in case.baseline:
        model = {**models[name], "tok2vec": dict(listener)}
        config["components"][name] = {"factory": name, "model": model}
    config["nlp"]["pipeline"] = ["tok2vec", *case.baseline]
    return config


def references(config: Any, nlp: Language, limit: int) -> list[Doc]:
    """The gold documents of dev."""
    corpora = util.registry.resolve({"corpora": config.interpolate()["corpora"]})["corpora"]
    return [example.reference for example in corpora["dev"](nlp)][: limit or None]


def share_around_decoder(nlp: Language, texts: list[str], repeats: int) -> dict[str, float]:
    """Seconds of the tagger's parts: those of tok2vec, scoring, decoding, and all around it."""
    tok2vec, tagger = nlp.get_pipe("tok2vec"), nlp.get_pipe(nlp.pipe_names[-1])
    docs = [nlp.make_doc(text) for text in texts]
    tok2vec.set_annotations(docs, tok2vec.predict(docs))
    scores = tagger.predict(docs)
    emissions = np.concatenate([rows for rows, _ in scores])
    lengths = [len(rows) for rows, _ in scores]
    seconds = timing.interleaved(
        {
            "tok2vec": lambda: tok2vec.predict(docs),
            "scores": lambda: tagger.predict(docs),
            "decoder": lambda: tagger.decoder.decode_batch(scores[0][1], emissions, lengths),
            "tagger": lambda: list(tagger.pipe(docs, batch_size=len(docs))),
        },
        repeats=repeats,
        clock=thread_time,
    )
    around = seconds["tagger"] - seconds["scores"] - seconds["decoder"]
    return {**seconds, "around the decoder": around}


def main() -> None:
    """Train, evaluate, time, report."""
    parser = timing.arguments(__doc__.splitlines()[0])
    parser.add_argument("--case", choices=sorted(CASES), default="tag")
    parser.add_argument("--loss", choices=["crf", "margin", "perceptron"], default="crf")
    parser.add_argument("--steps", type=int, default=0, help="training steps")
    parser.add_argument("--retrain", action="store_true", help="train anew")
    options = parser.parse_args()
    case = CASES[options.case]
    steps = options.steps or (150 if options.quick else case.steps)
    report = timing.Report(f"tagger-{options.case}", options.results, {"steps": steps})
    cache = options.results / "cache" / f"tagger-{options.case}-{steps}"
    pipelines: dict[str, Language] = {}
    scores: dict[str, dict[str, float]] = {}
    golds: dict[str, list[Doc]] = {}
    for ours in (False, True):
        name = f"exact_tagger ({options.loss})" if ours else " + ".join(case.baseline)
        config = configuration(case, options.data, steps, ours=ours, loss=options.loss)
        folder = cache / (options.loss if ours else "spacy")
        nlp = pipelines[name] = trained(config, folder, retrain=options.retrain)
        golds[name] = references(config, nlp, 40 if options.quick else 0)
        scores[name] = evaluated(nlp, golds[name], ("tag_acc", "ents_f", "certified"))

    # short turns: whatever else the machine does meanwhile then meets both alike
    timed = next(iter(golds.values()))[:80]
    texts = [gold.text for gold in timed]
    words = sum(map(len, timed))
    seconds = timing.interleaved(
        {name: lambda nlp=nlp: list(nlp.pipe(texts)) for name, nlp in pipelines.items()},
        repeats=7 if options.quick else 25,
        clock=thread_time,
    )
    baseline, exact = pipelines
    report.table(
        f"{case.dev}: {steps} steps each; timed on {words:,} words",
        ["pipeline", "TAG", "ENTS F", "certified %", "words/s", "time ratio"],
        [
            [
                name,
                f"{scores[name]['tag_acc']:.2f}",
                f"{scores[name]['ents_f']:.2f}" if options.case == "joint" else None,
                f"{scores[name]['certified']:.1f}" if name == exact else None,
                words / seconds[name],
                seconds[name] / seconds[baseline],
            ]
            for name in pipelines
        ],
    )
    parts = share_around_decoder(pipelines[exact], texts, 7 if options.quick else 25)
    report.table(
        "Where the time of exact_tagger goes",
        ["part", "microseconds a word", "of tok2vec, %"],
        [[k, 1e6 * v / words, 100 * v / parts["tok2vec"]] for k, v in parts.items()],
    )
    bars(
        report.path(".png"),
        "From text to tags, one thread",
        "words a second",
        {name: words / seconds[name] for name in pipelines},
        log=False,
        peers=(baseline,),
    )
    report.close()


if __name__ == "__main__":
    sys.exit(main())
