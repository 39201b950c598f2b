"""Probabilities: how calibrated they are, what they rank, and what they cost.

    python benchmarks/confidence.py [--quick] [--parts tags entities trees]

`tags` and `entities` train the sparse configs on EWT and UNER train, `trees` takes the shipped
parser, trained on EWT train. Each is calibrated on one half of the dev part's documents and
measured on the other. What annotation they save is printed by ``projects/active_learning``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import fast_lane
import harness
import numpy as np
from numpy.typing import NDArray
from pipelines import bare, trained
from spacy import util
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

import spacy_decoders
from spacy_decoders.components.factories.factory import HASH_EMBED_CNN
from spacy_decoders.components.probabilities import CalibratedPipe
from spacy_decoders.models.calibration_fitting import (
    Answers,
    auroc,
    errors_among_least_certain,
    reliability,
)

CONFIGS = Path(__file__).resolve().parents[1] / "configs"
PARTS = ("tags", "entities", "trees")
COLUMNS = ["answers", "count", "right %", "ECE before", "ECE after", "of chance"]
COLUMNS += ["AUROC", "errors in 10%"]


class Part(NamedTuple):
    """A component that is measured, and the gold documents of dev."""

    nlp: Language
    name: str
    golds: list[Doc]


def pipeline(part: str, options: Any) -> Part:
    """Train or load what is measured."""
    if part == "trees":
        nlp = spacy_decoders.load()
        for name in nlp.pipe_names:
            if name != "parser":
                nlp.remove_pipe(name)
        golds = fast_lane.dev_part("tags", options, 10)
        return Part(nlp, "parser", golds)
    name = "tagger" if part == "tags" else "entities"
    overrides = fast_lane.paths(part, options)
    config = util.load_config(CONFIGS / f"fast_{name}.cfg", overrides=overrides)
    nlp = trained(config, options.results / "cache" / f"confidence-{part}", retrain=False)
    return Part(nlp, name, fast_lane.dev_part(part, options, 10))


def examples_of(nlp: Language, golds: Sequence[Doc], *, raw: bool) -> list[Example]:
    """Pairs of a document without annotation and its gold standard."""
    return [
        Example(nlp.make_doc(gold.text) if raw else bare(nlp.vocab, gold), gold) for gold in golds
    ]


def calibration(report: harness.Report, title: str, part: Part) -> None:
    """Calibrate on one half of the documents, measure on the other."""
    pipe: Any = part.nlp.get_pipe(part.name)
    assert isinstance(pipe, CalibratedPipe)
    raw = part.name == "parser"
    fit, held = (examples_of(part.nlp, part.golds[i::2], raw=raw) for i in (0, 1))
    pipe.calibration = {}
    scores = pipe.predict([example.predicted for example in held])
    decoded = pipe.decoded(held, scores)
    before = pipe.answers(held, scores, decoded)
    began = process_time()
    pipe.calibrate(fit)
    seconds = process_time() - began
    after = pipe.answers(held, scores, decoded)
    rows = []
    if "other_entities" in after:
        after["likely_entities"] = _joined(after["entities"], after["other_entities"])
        before["likely_entities"] = _joined(before["entities"], before["other_entities"])
    for kind, answers in after.items():
        rows.append(row_of(kind, before[kind], answers))
    report.table(
        f"{title}: calibrated on half of dev in {seconds:.0f} s, the other half", COLUMNS, rows
    )
    report.facts[f"calibration of {title}"] = pipe.calibration


def row_of(kind: str, before: Answers, after: Answers) -> list[Any]:
    """A row of the `COLUMNS`, by the answers before and after calibration.

    They may differ in number: calibration moves entities past the least likely that counts.
    """
    return [
        kind,
        len(after.right),
        100.0 * after.right.mean(),
        100.0 * reliability(before).error,
        100.0 * reliability(after).error,
        100.0 * by_chance(after.probabilities),
        auroc(after),
        100.0 * errors_among_least_certain(after),
    ]


def by_chance(probabilities: NDArray[np.float64], draws: int = 100) -> float:
    """The error that perfectly calibrated probabilities of so many answers have on average."""
    rng = np.random.default_rng(0)
    errors = [
        reliability(Answers(probabilities, rng.random(len(probabilities)) < probabilities)).error
        for _ in range(draws)
    ]
    return float(np.mean(errors))


def _joined(one: Answers, other: Answers) -> Answers:
    """The probabilities of both, and whether they were right."""
    return Answers(
        np.concatenate([one.probabilities, other.probabilities]),
        np.concatenate([one.right, other.right]),
    )


def speed(report: harness.Report, title: str, part: Part, quick: bool) -> None:
    """What probabilities add to a component, beside what its model and decoding take."""
    pipe: Any = part.nlp.get_pipe(part.name)
    docs = [example.predicted for example in examples_of(part.nlp, part.golds, raw=False)]
    words = sum(map(len, docs))

    def run(**options: Any) -> None:
        fresh = [doc.copy() for doc in docs]
        pipe.configure(**options)
        for _ in pipe.pipe(fresh, batch_size=128):
            pass

    everything: dict[str, Any] = {"probabilities": True}
    nothing: dict[str, Any] = {"probabilities": False}
    if hasattr(pipe, "entity_alternatives") and "ent" in pipe.targets:
        everything["entity_alternatives"], nothing["entity_alternatives"] = 0.05, None
    # what spaCy's pipelines have by default: its weights cost the same whatever they are
    tok2vec = util.registry.resolve({"model": HASH_EMBED_CNN})["model"]
    tok2vec.initialize(X=docs[:1])
    tasks = {
        "tok2vec": lambda: tok2vec.predict(docs),
        "model": lambda: pipe.model.predict(docs),
        "plain": lambda: run(**nothing),
        "probabilities": lambda: run(**everything),
    }
    seconds = harness.interleaved(tasks, repeats=3 if quick else 5, clock=process_time)
    run(**nothing)
    microseconds = {name: 1e6 * of / words for name, of in seconds.items()}
    added = microseconds["probabilities"] - microseconds["plain"]
    report.table(
        f"{title}: microseconds a token, {words:,} tokens",
        ["a tok2vec", "model", "component", "with probabilities", "added", "added / tok2vec"],
        [[*microseconds.values(), added, added / microseconds["tok2vec"]]],
    )


def main() -> None:
    """Measure the parts that are asked for."""
    arguments = harness.arguments(__doc__.splitlines()[0])
    arguments.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS)
    options = arguments.parse_args()
    report = harness.Report("confidence", options.results)
    for part in options.parts:
        measured = pipeline(part, options)
        calibration(report, part, measured)
        speed(report, part, measured, options.quick)
    report.close()


if __name__ == "__main__":
    sys.exit(main())
