"""exact_tagger beside spaCy's own tagger: accuracy, and speed from end to end.

    python benchmarks/tagger.py [--steps 3000] [--loss crf]

Both are trained here on UD English-EWT with the same tok2vec, steps, batches, seed and learning
rate, and measured in turns over the same texts. Trained pipelines are kept in results/cache;
`--retrain` trains them anew.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import thread_time
from typing import Any

import harness  # isort: skip - first: it sets the threads

from pipelines import evaluated, trained
from spacy import util
from spacy.language import Language

from spacy_decoders.registry.readers import conllu_corpus

CONFIG = harness.HERE.parent / "configs" / "exact_tagger.cfg"
TREEBANK = Path("parsing", "UD_English-EWT")
SPACY = "spaCy's tagger"


def configuration(data: Path, steps: int, loss: str | None) -> Any:
    """The config of our tagger with a loss, or of spaCy's: they differ in the component only."""
    config = util.load_config(CONFIG)
    files = {
        part: str(data / TREEBANK / f"en_ewt-ud-{part}.conllu.gz") for part in ("train", "dev")
    }
    config["paths"].update(files)
    config["training"].update(max_steps=steps, eval_frequency=max(50, steps // 12))
    config["training"]["optimizer"]["learn_rate"]["total_steps"] = steps
    tagger = config["components"]["tagger"]
    if loss is None:
        model = {"@architectures": "spacy.Tagger.v2", "tok2vec": tagger["model"]["tok2vec"]}
        config["components"]["tagger"] = {"factory": "tagger", "model": model}
    else:
        tagger["loss"] = loss
    return config


def main() -> None:
    """Train, evaluate, time, report."""
    parser = harness.arguments(__doc__.splitlines()[0])
    parser.add_argument("--loss", choices=["crf", "margin", "perceptron"], default="crf")
    parser.add_argument("--steps", type=int, default=0, help="training steps")
    parser.add_argument("--retrain", action="store_true", help="train anew")
    options = parser.parse_args()
    steps = options.steps or (150 if options.quick else 3000)
    report = harness.Report("tagger-tag", options.results, {"steps": steps})
    cache = options.results / "cache" / f"tagger-tag-{steps}"
    pipelines: dict[str, Language] = {}
    for name, loss in ((SPACY, None), (f"exact_tagger ({options.loss})", options.loss)):
        config = configuration(options.data, steps, loss)
        pipelines[name] = trained(config, cache / (loss or "spacy"), retrain=options.retrain)
    dev = options.data / TREEBANK / "en_ewt-ud-dev.conllu.gz"
    corpus = conllu_corpus(dev, n_sents=10, limit=400 if options.quick else 0)
    golds = [example.reference for example in corpus(pipelines[SPACY])]
    # short turns: whatever else the machine does meanwhile then meets both alike
    texts = [gold.text for gold in golds[:80]]
    words = sum(map(len, golds[:80]))
    seconds = harness.interleaved(
        {name: lambda nlp=nlp: list(nlp.pipe(texts)) for name, nlp in pipelines.items()},
        repeats=7 if options.quick else 25,
        clock=thread_time,
    )
    rows = []
    for name, nlp in pipelines.items():
        scores = evaluated(nlp, golds, ("tag_acc", "certified"))
        certified = None if name == SPACY else scores["certified"]
        ratio = seconds[name] / seconds[SPACY]
        rows.append([name, f"{scores['tag_acc']:.2f}", certified, words / seconds[name], ratio])
    report.table(
        f"{dev.name}: {steps} steps each; timed on {words:,} words",
        ["pipeline", "TAG", "certified %", "words/s", "time ratio"],
        rows,
    )
    report.close()


if __name__ == "__main__":
    sys.exit(main())
