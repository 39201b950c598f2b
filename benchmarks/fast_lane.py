"""Tags and entities: hashed features, CRFsuite beside them, and the network beside spaCy's tagger.

    python benchmarks/fast_lane.py [--quick] [--parts tags entities crfsuite network]

`tags` and `entities` train the two configs and time them; `crfsuite` trains python-crfsuite on the
very same features; `network` trains exact_tagger and spaCy's tagger on EWT with the same tok2vec,
steps, batches, seed and learning rate, and times them in turns over the same texts. Those are kept
in results/cache.
"""

from __future__ import annotations

import tempfile
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any

import harness
from pipelines import EWT, GUM, UNER, bare, dev_of, evaluated, f_score, golds_of, trained
from spacy import util
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training.iob_utils import (
    biluo_tags_to_spans,
    biluo_to_iob,
    doc_to_biluo_tags,
    iob_to_biluo,
)

from spacy_decoders.components.tagger.decoding import unit_lengths
from spacy_decoders.decoders.chain import ForwardDominance
from spacy_decoders.models.tagger.sparse.features import DocBatch

CONFIGS = Path(__file__).resolve().parents[1] / "configs"
PARTS = ("tags", "entities", "crfsuite", "network")
#: The configs of parts, each of a single component.
CONFIG_OF = {
    "tags": "fast_tagger",
    "entities": "fast_entities",
    "joint": "fast_joint",
    "network": "exact_tagger",
}
FILES = {"tags": EWT, "entities": UNER, "joint": GUM, "network": EWT}
#: Of each part the score of its dev part.
SCORE = {"tags": "tag_acc", "entities": "ents_f"}


def config_of(part: str, options: Any, **overrides: Any) -> Any:
    """The config of a part, with its files, and fewer epochs for a quick pass."""
    train, dev = (str(options.data / FILES[part].format(x)) for x in ("train", "dev"))
    train += ".gz" if train.endswith(".iob2") else ""
    quick = {"training.max_epochs": 1} if options.quick else {}
    given = {"paths.train": train, "paths.dev": dev, **quick, **overrides}
    return util.load_config(CONFIGS / f"{CONFIG_OF[part]}.cfg", overrides=given)


def dev_part(part: str, options: Any, sentences: int) -> list[Doc]:
    """The dev part, so many sentences a document."""
    return dev_of(FILES[part], options, sentences=sentences)


def crfsuite(xs: list[Any], golds: list[Doc], options: Any) -> tuple[Any, float]:
    """Train CRFsuite by L-BFGS; with the CPU seconds that it took."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for x, gold in zip(xs, golds, strict=True):
        trainer.append(x, biluo_to_iob(doc_to_biluo_tags(gold)))
    trainer.set_params({"c1": 0.1, "c2": 0.5, "max_iterations": 10 if options.quick else 80})
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "model"))
        _, seconds = harness.timed(lambda: trainer.train(path))
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
    return tagger, seconds


def entity_f(golds: list[Doc], labels: list[list[str]]) -> float:
    """F of entities, per cent."""
    theirs = (
        biluo_tags_to_spans(gold, iob_to_biluo(of)) for gold, of in zip(golds, labels, strict=True)
    )
    return f_score(
        [{(ent.start, ent.end, ent.label_) for ent in ents} for ents in (found, gold.ents)]
        for found, gold in zip(theirs, golds, strict=True)
    )


def fresh(part: str, options: Any, **overrides: Any) -> tuple[Language, dict[str, float]]:
    """Train a config anew; with CPU seconds, initialising included, and the size of the model."""
    folder = options.results / "cache" / f"fast-{part}"
    nlp, taken = harness.timed(
        lambda: trained(config_of(part, options, **overrides), folder, retrain=True)
    )
    model = folder / "model-best" / nlp.pipe_names[-1] / "model"
    return nlp, {"training": taken, "megabytes": model.stat().st_size / 1e6}


def copies(golds: list[Doc]) -> list[Doc]:
    """Fresh documents of the tokens alone."""
    return [bare(gold.vocab, gold) for gold in golds]


def words_a_second(nlp: Language, golds: list[Doc], repeats: int) -> dict[str, float]:
    """The component alone, in documents of ten sentences: at first, and when words are known."""
    pipe: Any = nlp.get_pipe(nlp.pipe_names[-1])
    layer = pipe.model.layers[0]
    layer.attrs["reader"] = deepcopy(layer.attrs["reader"])  # which has met no word
    fresh = [copies(golds) for _ in range(repeats + 1)]
    words = sum(map(len, golds))
    seconds = [
        harness.timed(lambda docs=docs: list(nlp.pipe(docs, batch_size=1000)))[1] for docs in fresh
    ]
    return {"words met first": words / seconds[0], "words known": words / min(seconds[1:])}


def scoring(nlp: Language, golds: list[Doc], repeats: int) -> float:
    """Nanoseconds a token, at best, of features, emissions and decoding with its proof."""
    pipe: Any = nlp.get_pipe(nlp.pipe_names[-1])
    layer = pipe.model.layers[0]
    reader, weights = layer.attrs["reader"], layer.shims[0]
    docs = copies(golds)
    batch = DocBatch.of(docs)
    model = pipe.predict(docs)[0][1]
    lengths = [n for doc in docs for n in unit_lengths(doc)]

    def decode() -> Any:
        return ForwardDominance().decode_batch(model, reader.emissions(batch, weights), lengths)

    return 1e9 * min(harness.timed(decode)[1] for _ in range(repeats)) / len(batch.words)


def measure(part: str, options: Any, report: harness.Report) -> None:
    """Train, evaluate and time one part."""
    nlp, facts = fresh(part, options)
    key = SCORE[part]
    rows = []
    for sentences, shown in ((1, False), (10, False), (10, True)):
        golds = dev_part(part, options, sentences)
        scores = evaluated(nlp, golds, (key, "certified"), sentences=shown)
        found = f"{scores[key]:.2f}", f"{scores['certified']:.1f}"
        rows.append([sentences, "shown" if shown else "not shown", *found])
    columns = ["sentences a document", "boundaries", key, "certified %"]
    report.table(f"{part}: dev", columns, rows)
    repeats = 3 if options.quick else 7
    speed = words_a_second(nlp, golds, repeats)
    report.table(f"{part}: words a second, one core", list(speed), [list(speed.values())])
    report.table(f"{part}: training", list(facts), [list(facts.values())])


def compare_with_crfsuite(options: Any, report: harness.Report) -> None:
    """CRFsuite on the rows that our templates fall to: the very same features."""
    sentences = {f"corpora.{corpus}.n_sents": 1 for corpus in ("train", "dev")}
    sentences["corpora.train.random_sents"] = False
    sentences["corpora.train.gold_sents_share"] = 1.0
    as_written = {"components.entities.model.lowered": 0.0}
    nlp, facts = fresh("entities", options, **sentences, **as_written)
    pipe: Any = nlp.get_pipe("entities")
    layer = pipe.model.layers[0]
    reader, weights = layer.attrs["reader"], layer.shims[0]

    def features(docs: list[Doc]) -> list[list[list[str]]]:
        batch = DocBatch.of(copies(docs))
        rows = reader.rows(batch, weights).tolist()
        strings = [[str(row) for row in of_token if row >= 0] for of_token in rows]
        return [strings[begin:stop] for begin, stop in pairwise(batch.documents.tolist())]

    train = options.data / (UNER.format("train") + ".gz")
    golds = golds_of(train, sentences=1, limit=1000 if options.quick else 0)
    dev = dev_part("entities", options, 1)
    words = sum(map(len, dev))
    peer, seconds = crfsuite(features(golds), golds, options)
    ours = evaluated(nlp, dev, ("ents_f",))["ents_f"]
    xs = features(dev)
    found, tagging = harness.timed(lambda: [peer.tag(x) for x in xs])
    ours_a_second = 1e9 / scoring(nlp, dev, 5)
    theirs = entity_f(dev, found)
    report.table(
        "entities on identical features, dev",
        ["", "F", "tokens/s, features given or not", "training s"],
        [
            ["CRFsuite", f"{theirs:.2f}", words / tagging, seconds],
            ["ours, features included", f"{ours:.2f}", ours_a_second, facts["training"]],
        ],
    )


def compare_with_spacy(options: Any, report: harness.Report) -> None:
    """Train both taggers over a network of their own, and time them in short turns."""
    steps = 150 if options.quick else 1800
    pipelines: dict[str, Language] = {}
    for name, own in (("spaCy's tagger", False), ("exact_tagger", True)):
        config = config_of("network", options)
        config["training"].update(max_steps=steps, eval_frequency=max(50, steps // 12))
        config["training"]["optimizer"]["learn_rate"]["total_steps"] = steps
        if not own:
            tok2vec = config["components"]["tagger"]["model"]["tok2vec"]
            model = {"@architectures": "spacy.Tagger.v2", "tok2vec": tok2vec}
            config["components"]["tagger"] = {"factory": "tagger", "model": model}
        folder = options.results / "cache" / f"network-{steps}"
        folder /= config["components"]["tagger"]["factory"]
        pipelines[name] = trained(config, folder, retrain=False)
    golds = dev_part("tags", options, 10)
    texts, words = [gold.text for gold in golds[:80]], sum(map(len, golds[:80]))
    seconds = harness.interleaved(
        {name: lambda nlp=nlp: list(nlp.pipe(texts)) for name, nlp in pipelines.items()},
        repeats=7 if options.quick else 25,
        settled=True,
    )
    rows = []
    for name, nlp in pipelines.items():
        scores = evaluated(nlp, golds, ("tag_acc", "certified"))
        ratio = seconds[name] / seconds["spaCy's tagger"]
        rows.append([name, *scores.values(), words / seconds[name], ratio])
    report.table(
        f"network: EWT dev, {steps} steps each, timed on {words:,} words",
        ["pipeline", "TAG", "certified %", "words/s", "time ratio"],
        rows,
    )


def main() -> None:
    """Run the parts asked for."""
    parser = harness.arguments(__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    report = harness.Report("fast_lane", options.results, {"parts": options.parts})
    for part in options.parts:
        if part == "crfsuite":
            compare_with_crfsuite(options, report)
        elif part == "network":
            compare_with_spacy(options, report)
        else:
            measure(part, options, report)


if __name__ == "__main__":
    main()
