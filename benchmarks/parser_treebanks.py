"""branch_and_bound_parser beside spaCy's own parser on five treebanks, after a short training.

Both get the same tok2vec, steps, batches, dropout, learning rate and seeds; ours is trained and
decoded by its arcs alone, with labels and boundaries. spaCy's learns tags beside the trees, too:

    python benchmarks/parser_treebanks.py [--quick] [--steps 260] [--seeds 1]

Sentences and tokens are the treebank's; raw text comes in documents of ten sentences. Latin has a
training part only: its last 200 sentences are held out.
"""

from __future__ import annotations

import sys
import tempfile
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
    "English-EWT": ("UD_English-EWT/en_ewt-ud-{}.conllu.gz", "en", True),
    "Italian-ParTUT": ("UD_Italian-ParTUT/it_partut-ud-{}.conllu.gz", "it", True),
    "Hungarian-Szeged": ("UD_Hungarian-Szeged/hu_szeged-ud-{}.conllu.gz", "hu", False),
    "Danish-DDT": ("cdt-danish-ddt/da_ddt_{}.conll.gz", "da", False),
    "Latin-Perseus": ("UD_Latin-Perseus/la_perseus-ud-train.conllu.gz", "xx", False),
}
HELD_OUT = 200
LENGTHS = ((1, 10), (11, 20), (21, 30), (31, 1000))


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


def config_of(name: str, side: str, files: tuple[Path, Path], steps: int, seed: int) -> Any:
    """The config of one side on one treebank."""
    _, lang, projective = TREEBANKS[name]
    config = configuration(Path(), steps, side)
    config["paths"].update(train=str(files[0]), dev=str(files[1]))
    config["nlp"]["lang"] = lang
    config["system"]["seed"] = seed
    config["training"].update(dropout=0.1, eval_frequency=steps)
    if side != SPACY:
        decoder = "Eisner" if projective else "ChuLiuEdmonds"
        config["components"]["parser"].update(
            factors=[],
            projective=projective,
            decoder={"@decoders": f"spacy-decoders.{decoder}.v1"},
        )
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
    return scores


def _sents(doc: Doc, attribute: str) -> list[Any]:
    return list(doc.sents) if attribute == "sents" else getattr(doc, attribute)


def _attached(examples: list[Example]) -> dict[str, float]:
    found = Scorer.score_deps(examples, "dep", ignore_labels=("p", "punct"))
    return {"UAS": 100 * (found["dep_uas"] or 0.0), "LAS": 100 * (found["dep_las"] or 0.0)}


def main() -> None:
    """Train both on each treebank, measure, report."""
    arguments = timing.arguments(__doc__.splitlines()[0])
    arguments.add_argument("--steps", type=int, default=260, help="training steps")
    arguments.add_argument("--seeds", type=int, default=1, help="trainings of each")
    arguments.add_argument("--retrain", action="store_true", help="train anew")
    options = arguments.parse_args()
    steps = 40 if options.quick else options.steps
    settings = {"steps": steps, "seeds": options.seeds}
    report = timing.Report("parser_treebanks", options.results, settings)
    cache = options.results / "cache" / f"parser-treebanks-{steps}"
    columns = ["UAS", "LAS", "labels of right heads"]
    columns += [f"LAS, {least}-{most}" for least, most in LENGTHS]
    columns += ["raw UAS", "raw LAS", "raw sentence F"]
    rows, gains = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in TREEBANKS:
            files = files_of(name, options.data, Path(folder))
            of_sides = {}
            for side in (SPACY, LSTM):
                found = []
                for seed in range(options.seeds):
                    config = config_of(name, side, files, steps, seed)
                    place = cache / f"{name}-{side.replace(' ', '').lower()}-{seed}"
                    nlp = trained(config, place, retrain=options.retrain)
                    found.append(measured(nlp, files[1]))
                of_sides[side] = {key: mean(one[key] for one in found) for key in columns}
                rows.append([name, side, *(round(of_sides[side][key], 2) for key in columns)])
            gains.append(of_sides[LSTM]["LAS"] - of_sides[SPACY]["LAS"])
            report.target(f"{name}: LAS over spaCy's", 0.0, gains[-1], unit="points")
    report.table(
        f"Five treebanks, {steps} steps, {options.seeds} seed(s), in per cent",
        ["treebank", "parser", *columns],
        rows,
    )
    report.target("LAS over spaCy's, mean of five", 1.0, mean(gains), unit="points")
    report.close()


if __name__ == "__main__":
    sys.exit(main())
