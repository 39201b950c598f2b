"""What exact decoding changes for the scores of other models.

    python benchmarks/adapters.py

Trained scores as the source gives them, decoded as the source decodes and exactly: how much is
illegal, what the objective gains, what a token takes. CRFsuite's models are those of ``usaddress``
and ``probablepeople``; other scores come from spaCy's own network, trained here for a minute on
public data.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import Report, arguments, interleaved, timed  # isort: skip - before numpy

import numpy as np
import probablepeople
import pycrfsuite
import spacy
import usaddress
from pipelines import f_score
from spacy.tokens import Doc
from spacy.training import Example

from spacy_decoders.adapt.crfsuite import CrfSuiteModel
from spacy_decoders.adapt.pipelines import exact_tagger_from
from spacy_decoders.adapt.tokens import EntityDecoder
from spacy_decoders.adapt.tokens.words import log_softmax
from spacy_decoders.readers.sentences import read_columns
from tests.adapt.addresses import addresses, names

Scored = list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]


def main() -> None:
    """Measure all sources."""
    options = arguments(__doc__.splitlines()[0]).parse_args()
    report = Report("adapters", options.results)
    repeats = 3 if options.quick else 7
    crfsuite(report, 1000 if options.quick else 10_000, repeats)
    tokens(report, options.data, 60 if options.quick else 900, repeats)
    tagger(report, options.data, 40 if options.quick else 300)


def microseconds(tasks: dict[str, Callable[[], object]], units: int, repeats: int) -> list[float]:
    """Return what one unit takes in each task; only this thread's own time counts."""
    taken = interleaved(tasks, repeats)
    return [1e6 * seconds / units for seconds in taken.values()]


# --- CRFsuite


def crfsuite(report: Report, count: int, repeats: int) -> None:
    """Compare labels and times with those of CRFsuite itself."""
    people = Path(probablepeople.__file__).parent
    models = {"usaddress": (usaddress.MODEL_PATH, usaddress, addresses)}
    for kind in ("generic", "person", "company"):
        path = people / f"{kind}_learned_settings.crfsuite"
        models[f"probablepeople, {kind}"] = (path, probablepeople, names)
    rows = []
    for name, (path, package, texts) in models.items():
        features = [package.tokens2features(package.tokenize(text)) for text in texts(count)]
        model, tagger = CrfSuiteModel.open(path), pycrfsuite.Tagger()
        tagger.open(str(path))
        encoded = model.encode(features)
        theirs = [pycrfsuite.ItemSequence(sequence) for sequence in features]
        found = model.decode(encoded)
        ours = [model.file.labels[label] for label in found.labels.tolist()]
        same = ours == [label for sequence in theirs for label in tagger.tag(sequence)]
        proven = float(np.mean([one.status == "optimal" for one in found.certificates]))
        their_time, our_time = microseconds(
            {
                "theirs": lambda tagger=tagger, theirs=theirs: [tagger.tag(s) for s in theirs],
                "ours": lambda model=model, encoded=encoded: model.decode(encoded),
            },
            len(ours),
            repeats,
        )
        times = [their_time, our_time, their_time / our_time]
        rows.append([name, len(features), len(ours), same, proven, *times])
    report.table(
        "CRFsuite: microseconds a token, features encoded before, certificates made",
        ["model", "inputs", "tokens", "same labels", "proven", "CRFsuite", "ours", "faster"],
        rows,
    )


# --- token classifiers


def tokens(report: Report, data: Path, steps: int, repeats: int) -> None:
    """Count entities that break the scheme, and what the objective and F gain."""
    kinds = ("PER", "LOC", "ORG")
    labels = ["O", *(f"{prefix}-{kind}" for kind in kinds for prefix in "BI")]
    trained, sample = _trained_entities(data, labels, steps)
    plain = EntityDecoder(labels, probabilities=False)
    learned = plain.learned(*zip(*sample, strict=True))
    likely = EntityDecoder(labels)
    rows = [
        _entity_row("trained", trained, plain, likely, repeats),
        _entity_row("trained, with transitions", trained, learned, likely, repeats),
    ]
    report.table(
        "Token classifiers: argmax, repaired where it breaks the scheme, and exact decoding; "
        "microseconds a token",
        [
            *("scores", "breaks before", "after", "least gain", "F before", "F after"),
            *("argmax", "exact", "with probabilities"),
        ],
        rows,
    )


def _entity_row(
    name: str, scored: Scored, decoder: EntityDecoder, likely: EntityDecoder, repeats: int
) -> list[Any]:
    scores = [rows for rows, _ in scored]
    rules, model = decoder.rules, decoder.model
    greedy = [rows.argmax(axis=1) for rows in scores]
    found = decoder.decode_batch(scores)
    gains = []
    for rows, before, after in zip(scores, greedy, found, strict=True):
        scaled = (rows * decoder.scale).astype(np.float32)
        worth = model.score(scaled, _repaired(before, rules))
        gains.append((after.certificate.score or 0.0) - worth)
    gold = [set(rules.entities(right)) for _, right in scored]

    def f_of(labels: list[Any]) -> float | None:
        entities = (set(rules.entities(of)) for of in labels)
        return f_score(zip(entities, gold, strict=True)) / 100 if any(gold) else None

    times = microseconds(
        {
            "argmax": lambda: [rows.argmax(axis=1) for rows in scores],
            "exact": lambda: decoder.decode_batch(scores),
            "probabilities": lambda: likely.decode_batch(scores),
        },
        sum(map(len, scores)),
        repeats,
    )
    both = greedy, [one.labels for one in found]
    breaks = [sum(_breaks(labels, rules) for labels in of) for of in both]
    return [name, *breaks, float(min(gains)), *map(f_of, both), *times]


def _breaks(labels: np.ndarray[Any, Any], rules: Any) -> int:
    """Count the places where labels break BIO."""
    inner = ~rules.can_follow[labels[:-1], labels[1:]]
    return int(inner.sum() + (~rules.can_start[labels[:1]]).sum())


def _repaired(labels: np.ndarray[Any, Any], rules: Any) -> np.ndarray[Any, Any]:
    """Let each entity that begins with I begin with B, as aggregation strategies read it."""
    fixed = labels.copy()
    for begin, _, kind in rules.entities(labels):
        fixed[begin] = rules.names.index(f"B-{kind}")
    return fixed


def _trained_entities(data: Path, labels: list[str], steps: int) -> tuple[Scored, Scored]:
    """Train a token classifier for a minute: test sentences, and a sample to learn from."""
    folder = data / "tagging" / "UNER_English-EWT"
    columns = ["-", "form", "ent", "-", "-"]
    train = list(read_columns(folder / "en_ewt-ud-train.iob2.gz", columns))
    dev = list(read_columns(folder / "en_ewt-ud-dev.iob2", columns))
    nlp = spacy.blank("en")
    known = set(labels)

    def pairs(sentences: list[Any]) -> list[tuple[tuple[str, ...], list[str]]]:
        return [
            (one.words, [label if label in known else "O" for label in one.ents])
            for one in sentences
        ]

    rest = [one for number, one in enumerate(train) if number % 12]
    numbers = _train_tagger(nlp, pairs(rest), steps)
    held = pairs(train[::12])  # of all kinds of texts, as are those to test on
    order = [numbers.index(label) for label in labels]
    return _scores(nlp, pairs(dev), order, labels), _scores(nlp, held, order, labels)


def _train_tagger(nlp: Any, sentences: list[Any], steps: int) -> list[str]:
    """Train spaCy's tagger, a softmax over each token; returns its labels."""
    spacy.util.fix_random_seed(0)
    nlp.add_pipe("tagger")
    rng = np.random.default_rng(0)

    sample = _examples(nlp, sentences[:3000])
    optimizer = nlp.initialize(lambda: sample)
    for _ in range(steps):
        drawn = [sentences[number] for number in rng.integers(0, len(sentences), 48)]
        nlp.update(_examples(nlp, drawn), sgd=optimizer, drop=0.1)
    return list(nlp.get_pipe("tagger").labels)


def _examples(nlp: Any, sentences: list[Any]) -> list[Example]:
    return [
        Example.from_dict(Doc(nlp.vocab, words=words), {"words": words, "tags": tags})
        for words, tags in sentences
    ]


def _scores(nlp: Any, sentences: list[Any], order: list[int], labels: list[str]) -> Scored:
    model = nlp.get_pipe("tagger").model
    docs = [Doc(nlp.vocab, words=words) for words, _ in sentences]
    return [
        (log_softmax(rows[:, order]), np.array([labels.index(tag) for tag in tags]))
        for rows, (_, tags) in zip(model.predict(docs), sentences, strict=True)
        if len(rows)
    ]


# --- spaCy's tagger


def tagger(report: Report, data: Path, steps: int) -> None:
    """Learn transitions over a trained tagger of spaCy's, and compare accuracies."""
    sentences = list(read_columns(data / "tagging" / "wsj" / "train.tsv.gz", ["form", "tag"]))
    pairs = [(one.words, list(one.tags)) for one in sentences]
    nlp = spacy.blank("en")
    _train_tagger(nlp, pairs[:2200], steps)

    before = nlp.evaluate(_examples(nlp, pairs[2800:]))["tag_acc"]
    sample = _examples(nlp, pairs[2200:2800])
    learned, seconds = timed(lambda: exact_tagger_from(nlp, "tagger", sample), time.thread_time)
    scores = nlp.evaluate(_examples(nlp, pairs[2800:]))
    assert learned is not None
    report.table(
        "spaCy's tagger on WSJ: 2,200 sentences for the network, 600 for transitions",
        ["accuracy before", "with transitions", "proven", "seconds to learn"],
        [[before, scores["tag_acc"], scores["certified"], seconds]],
    )


if __name__ == "__main__":
    main()
